//! What every service checks before it acts, and the faults all of them can have.

use windlass_ports::commit_service::{CommitRequest, PathRule, ServiceFault, Stage};
use windlass_ports::git::{check_reference, is_object_id};

/// The only branches that are made or deleted.
const OWN_BRANCHES: &str = "launch/";

/// A fault that repeating the call cannot cure.
pub fn fault(adapter: &'static str, stage: Stage, message: impl Into<String>) -> ServiceFault {
    ServiceFault {
        adapter,
        stage,
        http_status: None,
        service_code: None,
        message: message.into(),
        retryable: false,
        retry_after: None,
        path_not_allowed: None,
    }
}

/// The branch is there with something else on it.
pub fn branch_taken(adapter: &'static str, branch: &str, found: &str) -> ServiceFault {
    ServiceFault {
        service_code: Some("branch_exists".to_owned()),
        ..fault(
            adapter,
            Stage::Commit,
            format!(
                "the branch `{branch}` exists with other content (commit {found}); delete it or \
                 start a new run"
            ),
        )
    }
}

/// Branch, base and paths of a commit.
pub fn check_commit(
    adapter: &'static str,
    allowed: &PathRule,
    request: &CommitRequest,
) -> Result<(), ServiceFault> {
    let refuse = |message: String| Err(fault(adapter, Stage::Commit, message));
    check_branch(adapter, Stage::Commit, &request.branch_name)?;
    if !is_object_id(&request.base_ref) {
        return refuse(format!(
            "the base `{}` is not a full commit id",
            request.base_ref
        ));
    }
    if request.files.is_empty() {
        return refuse("there is nothing to commit".to_owned());
    }
    match request.files.iter().find(|file| !allowed(&file.path)) {
        None => Ok(()),
        Some(file) => Err(ServiceFault {
            path_not_allowed: Some(file.path.clone()),
            ..fault(
                adapter,
                Stage::Commit,
                format!(
                    "`{}` is outside of the allowed paths; nothing was committed",
                    file.path
                ),
            )
        }),
    }
}

/// A branch of a launch.
pub fn check_branch(adapter: &'static str, stage: Stage, branch: &str) -> Result<(), ServiceFault> {
    let usable = branch
        .strip_prefix(OWN_BRANCHES)
        .is_some_and(|rest| !rest.is_empty());
    if usable && check_reference(branch).is_ok() {
        return Ok(());
    }
    Err(fault(
        adapter,
        stage,
        format!("the branch `{branch}` is not one of a launch (`{OWN_BRANCHES}…`)"),
    ))
}
