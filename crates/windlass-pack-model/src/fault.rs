//! Failures with a stable code: one constructor per code, so that each carries the same
//! `reason_code` and `next_actions` wherever it arises.

use windlass_types::{
    Problem,
    code::{self, Code},
};

fn fault(code: &'static Code, reason: &str, next: &[&str], message: impl Into<String>) -> Problem {
    let problem = Problem::new(code, message).with("reason_code", reason);
    next.iter()
        .fold(problem, |problem, action| problem.next(*action))
}

macro_rules! faults {
    ($($name:ident: $code:ident, $reason:literal, [$($next:literal),*];)*) => {
        $(
            #[doc = concat!("`", stringify!($code), "`, `", $reason, "`.")]
            pub fn $name(message: impl Into<String>) -> Problem {
                fault(&code::$code, $reason, &[$($next),*], message)
            }
        )*
    };
}

faults! {
    confirm_required: CONFIRM_REQUIRED, "confirm_required", ["retry_with_yes"];
    token_required: CONFIRM_TOKEN_REQUIRED, "confirm_token_required", ["call_deploy", "retry_deploy_apply"];
    token_expired: CONFIRM_TOKEN_EXPIRED, "confirm_token_expired", ["call_deploy", "retry_deploy_apply"];
    token_mismatch: CONFIRM_TOKEN_MISMATCH, "confirm_token_mismatch", ["call_deploy", "retry_deploy_apply"];
    adopt_required: E_ADOPT_CONFIRM_REQUIRED, "adopt_confirm_required", ["retry_with_adopt"];
    desired_state_conflict: E_DESIRED_STATE_CONFLICT, "desired_state_conflict", ["resolve_desired_state_conflict", "retry_command"];
    config_missing: E_CONFIG_MISSING, "config_missing", ["run_init", "retry_with_repo", "retry_command"];
    config_invalid: E_CONFIG_INVALID, "config_invalid", ["fix_config", "retry_command"];
    config_unsupported_version: E_CONFIG_UNSUPPORTED_VERSION, "config_unsupported_version", ["upgrade_agentpack", "fix_config_version", "retry_command"];
    lockfile_missing: E_LOCKFILE_MISSING, "lockfile_missing", ["run_lock", "run_update", "retry_command"];
    lockfile_invalid: E_LOCKFILE_INVALID, "lockfile_invalid_json", ["regenerate_lockfile", "retry_command"];
    lockfile_unsupported_version: E_LOCKFILE_UNSUPPORTED_VERSION, "lockfile_unsupported_version", ["upgrade_agentpack", "regenerate_lockfile", "retry_command"];
    target_filter_unsupported: E_TARGET_UNSUPPORTED, "target_filter_unsupported", ["inspect_help_json", "retry_with_supported_target"];
    target_not_compiled: E_TARGET_UNSUPPORTED, "target_not_compiled", ["inspect_help_json", "edit_manifest_targets", "rebuild_with_target_feature", "retry_command"];
    overlay_not_found: E_OVERLAY_NOT_FOUND, "overlay_not_found", ["run_overlay_edit", "retry_command"];
    overlay_baseline_missing: E_OVERLAY_BASELINE_MISSING, "overlay_baseline_missing", ["run_overlay_edit", "retry_command"];
    overlay_baseline_unsupported: E_OVERLAY_BASELINE_UNSUPPORTED, "overlay_baseline_unsupported", ["init_git_repo", "commit_or_stash", "run_overlay_edit", "retry_command"];
    overlay_rebase_conflict: E_OVERLAY_REBASE_CONFLICT, "overlay_rebase_conflict", ["resolve_overlay_conflicts", "retry_overlay_rebase"];
    overlay_patch_apply_failed: E_OVERLAY_PATCH_APPLY_FAILED, "overlay_patch_apply_failed", ["regenerate_patch", "switch_to_dir_overlay", "retry_command"];
    git_repo_required: E_GIT_REPO_REQUIRED, "git_repo_required", ["init_git_repo", "retry_command"];
    git_worktree_dirty: E_GIT_WORKTREE_DIRTY, "git_worktree_dirty", ["commit_or_stash", "retry_command"];
    git_detached_head: E_GIT_DETACHED_HEAD, "git_detached_head", ["checkout_branch", "retry_command"];
    git_remote_missing: E_GIT_REMOTE_MISSING, "git_remote_missing", ["set_git_remote", "retry_command"];
    git_not_found: E_GIT_NOT_FOUND, "git_not_found", ["install_git", "retry_command"];
    tty_required: E_TTY_REQUIRED, "tty_required", ["retry_in_tty", "retry_without_guided"];
    import_conflict: E_IMPORT_CONFLICT, "import_conflict", ["resolve_import_conflict", "retry_import_apply"];
    policy_violations: E_POLICY_VIOLATIONS, "policy_violations", ["fix_policy_violations", "retry_policy_lint"];
    policy_config_missing: E_POLICY_CONFIG_MISSING, "policy_config_missing", ["create_policy_config", "retry_command"];
    policy_config_invalid: E_POLICY_CONFIG_INVALID, "policy_config_invalid", ["fix_policy_config", "retry_command"];
    policy_config_unsupported_version: E_POLICY_CONFIG_UNSUPPORTED_VERSION, "policy_config_unsupported_version", ["upgrade_agentpack", "fix_policy_config_version", "retry_command"];
    permission_denied: E_IO_PERMISSION_DENIED, "io_permission_denied", ["fix_permissions", "retry_command"];
    invalid_path: E_IO_INVALID_PATH, "io_invalid_path", ["fix_path", "retry_command"];
    path_too_long: E_IO_PATH_TOO_LONG, "io_path_too_long", ["shorten_path", "enable_long_paths", "retry_command"];
}

/// `E_UNEXPECTED` with its kind and what to try.
pub fn unexpected(reason: &str, next: &[&str], message: impl Into<String>) -> Problem {
    fault(&code::E_UNEXPECTED, reason, next, message)
}

/// The same failure, about a file.
pub fn at(problem: Problem, path: &std::path::Path) -> Problem {
    problem
        .with("path", path.display().to_string())
        .with("path_posix", posix(path))
}

/// A path with `/` between its components, as the `*_posix` fields of the formats have it.
pub fn posix(path: &std::path::Path) -> String {
    let shown = path.display().to_string();
    if cfg!(windows) {
        shown.replace('\\', "/")
    } else {
        shown
    }
}

/// Whether an error says that nothing is at the path; a file where a directory would have to be
/// counts as nothing.
pub fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// A failure of the file system at a path, by its cause.
pub fn io(action: &str, path: &std::path::Path, error: &std::io::Error) -> Problem {
    use std::io::ErrorKind;
    let message = format!("cannot {action} {}: {error}", path.display());
    let problem = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => permission_denied(message),
        ErrorKind::InvalidFilename => path_too_long(message),
        ErrorKind::InvalidInput => invalid_path(message),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            unexpected("disk_full", &["free_disk_space", "retry_command"], message)
        }
        _ => unexpected("io_error", &["retry_command"], message),
    };
    let problem = at(problem, path);
    match error.raw_os_error() {
        Some(number) => problem.with("raw_os_error", number),
        None => problem,
    }
}
