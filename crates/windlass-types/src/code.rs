//! The registry of public error codes: the one list every surface renders from.
//!
//! A code says what kind of failure it is, which HTTP status and exit code it maps to,
//! and whether trying again unchanged can help. Contract envelopes translate these names
//! into their own; they never invent a failure that is not listed here.

use serde::Serialize;

/// Who can fix it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The caller's input or timing.
    User,
    /// Settings, files or the environment.
    Config,
    /// A rule, a scope, a missing confirmation.
    Policy,
    /// Something Windlass depends on.
    Upstream,
    /// A defect or a damaged store.
    Internal,
}

/// One public failure.
#[derive(Debug, Serialize)]
pub struct Code {
    /// The stable name on the wire.
    pub name: &'static str,
    /// Who can fix it.
    pub kind: Kind,
    /// HTTP status.
    pub http_status: u16,
    /// Process exit code.
    pub exit_code: u8,
    /// Whether the same call may succeed later without a change.
    pub retryable: bool,
    /// One sentence: what happened.
    pub summary: &'static str,
    /// What to do next; the body of the documentation page.
    pub remedy: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

impl Code {
    /// Looks a code up by its public name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|code| code.name == name)
    }
}

macro_rules! codes {
    ($($name:ident: $kind:ident, $http:literal, $exit:literal, $retry:literal, $summary:literal, $remedy:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $name: Code = Code {
                name: stringify!($name),
                kind: Kind::$kind,
                http_status: $http,
                exit_code: $exit,
                retryable: $retry,
                summary: $summary,
                remedy: $remedy,
            };
        )*
        /// Every code, in the order of this file.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    INVALID_INPUT: User, 400, 2, false,
        "The input does not match the operation's schema.",
        "Read `details.field` and `details.constraint`, correct the field, and call again. `windlass ops describe NAME` prints the schema with examples.";
    UNKNOWN_OPERATION: User, 404, 2, false,
        "No operation or tool has that name.",
        "`windlass ops list` prints every name; the message suggests the closest one.";
    RUN_NOT_FOUND: User, 404, 3, false,
        "No run with that id is visible to this caller.",
        "`windlass runs list` shows the runs you may see. A run started with another API key is not visible to yours.";
    ARTIFACT_NOT_FOUND: User, 404, 3, false,
        "The run has no artifact of that name.",
        "`windlass runs artifacts RUN` lists the names.";
    NOT_FOUND: User, 404, 3, false,
        "The thing named does not exist.",
        "Check the name; the list command of the same noun shows what exists.";
    ALREADY_EXISTS: User, 409, 5, false,
        "Something with that name already exists.",
        "Choose another name, or say that it may be replaced; `details.reason` says whether it exists or is waiting to be deleted.";
    READ_ONLY_VIOLATION: Policy, 403, 4, false,
        "The call would change something where only reading is allowed; it was not executed.",
        "`details.rule` names the rule that refused. Use a read-only form, or the operation that makes the change with its own confirmation.";
    DEPLOY_FAILED: Upstream, 502, 1, false,
        "A deployment failed after it had been accepted.",
        "`details.failure` names the resource that failed first, why, and what helps; CloudFormation has rolled back what was done unless rollback is switched off.";
    DELETE_FAILED: Upstream, 502, 1, false,
        "A stack could not be deleted completely.",
        "`details.failure` names what is in the way. Remove the cause and delete again, or keep those resources with `retainResources`.";
    ROLLBACK_FAILED: Upstream, 502, 1, false,
        "A stack could not be restored to an earlier state.",
        "`details.failure` names the resource that is in the way. Fix it and roll back again, or leave it out with `resourcesToSkip`.";
    ILLEGAL_STATE: User, 409, 5, false,
        "The run is in a state that does not allow this.",
        "`windlass runs show RUN` prints the state and what may be done next.";
    IDEMPOTENCY_CONFLICT: User, 409, 5, false,
        "The idempotency key was used before with different input.",
        "Use a new key for new input, or repeat the earlier input exactly.";
    CONFIRM_REQUIRED: Policy, 403, 4, false,
        "The change needs an explicit yes.",
        "Review the plan, then repeat the call with the confirmation (`--yes` on the command line, `yes: true` in a tool call).";
    CONFIRM_TOKEN_REQUIRED: Policy, 403, 4, false,
        "The change needs the confirm token of a reviewed plan.",
        "Call the plan operation first; its answer carries `confirm_token`. Pass that token to the apply operation.";
    CONFIRM_TOKEN_EXPIRED: Policy, 403, 4, false,
        "The confirm token is older than ten minutes.",
        "Plan again, review the plan, and apply with the new token.";
    CONFIRM_TOKEN_MISMATCH: Policy, 403, 4, false,
        "The confirm token does not belong to this caller, operation and plan.",
        "Something changed since the plan was made, or the token belongs to another caller. Plan again and review what differs.";
    CONFIRM_TOKEN_USED: Policy, 409, 4, false,
        "The confirm token has already been redeemed.",
        "Each token applies once. `details.run_id` names the run it started; watch that run, or plan again for a new change.";
    POLICY_DENIED: Policy, 403, 4, false,
        "A policy rule forbids this.",
        "`windlass policy check` shows the rule that decided. Change the policy file if the rule is wrong.";
    NOT_TRUSTED: Policy, 403, 4, false,
        "A program of a project or repository would have to run, and the user has not trusted that content.",
        "Review the project, then type `windlass trust DIR` in a terminal. `details.directory` is the directory, `details.changed` lists what differs from what was trusted before.";
    APPROVAL_REQUIRED: Policy, 403, 4, false,
        "Policy requires a person's approval, and nobody can be asked here.",
        "Run it from a terminal, pass an explicit yes as a principal that may approve, or name approvers in the policy file so that the run can wait for one of them.";
    APPROVAL_REJECTED: Policy, 409, 4, false,
        "A person reviewed the plan and rejected it.",
        "The rejection and its reason are in the run's journal. Plan again with a different input.";
    UNAUTHORIZED: Policy, 401, 4, false,
        "The API key is missing, unknown, revoked or expired.",
        "Send `Authorization: Bearer wlk_…`. `windlass keys create` creates a key.";
    FORBIDDEN: Policy, 403, 4, false,
        "The caller lacks the scope this operation needs.",
        "`details.required_scopes` names the scopes. `windlass keys create --scope …` creates a key that has them.";
    RATE_LIMITED: Policy, 429, 6, true,
        "Too many requests in a minute, jobs at once, or pipelines in an hour; `details.limit` says which.",
        "Wait for `Retry-After` seconds. The tier of the API key sets the limits.";
    PAYLOAD_TOO_LARGE: User, 413, 2, false,
        "The request is larger than this server reads.",
        "Send less in one call; large inputs belong in files or artifacts.";
    CANCELLED: User, 409, 1, false,
        "The run was cancelled.",
        "What had been applied was undone; the journal lists what could not be. Start a new run to try again.";
    STEP_FAILED: Upstream, 500, 1, false,
        "A step of the run failed and its effects were undone.",
        "`windlass runs show RUN` names the step and the cause. Fix the cause and start again.";
    TIMEOUT: Upstream, 504, 6, true,
        "The work did not finish in the time allowed.",
        "A durable run continues in the background: `windlass runs watch RUN` follows it.";
    UNDO_CONFLICT: User, 409, 5, false,
        "An effect cannot be undone, because its result was changed since.",
        "Look at the paths in `details`. What others changed since is left as it is; fix it by hand. The journal lists it as residue.";
    PATH_ESCAPE: User, 400, 2, false,
        "A path would leave the directory it must stay in.",
        "Use relative paths without `..`, and no symbolic links that point outside.";
    NONDETERMINISTIC: Internal, 500, 70, false,
        "The run's code took another path than its journal records.",
        "The run is held, nothing was changed. Resume it with the version of Windlass that started it, or release it with `windlass runs cancel RUN`: what it did then stays and is listed as residue.";
    BUSY: Upstream, 503, 6, true,
        "Another process holds what this needs.",
        "Wait, or find it with `windlass doctor`.";
    STORE_FULL: Config, 507, 7, true,
        "The disk with the Windlass home is full; nothing was acknowledged that is not on disk.",
        "Free space (`windlass store prune` helps), then repeat. Unfinished runs continue by themselves.";
    STORE_UNAVAILABLE: Config, 503, 7, true,
        "The store cannot be opened or written.",
        "`windlass doctor` says why: permissions, a read-only disk, another version's schema.";
    STORE_DAMAGED: Internal, 500, 7, false,
        "The store holds data that fails its integrity check; it is reported and never replayed.",
        "`windlass store check` lists what is damaged. Restore a backup made with `windlass store backup`.";
    CONFIG_INVALID: Config, 400, 2, false,
        "A settings or policy file cannot be read.",
        "The message names the file, line and column. Nothing starts with an invalid file.";
    TARGET_FORBIDDEN: Policy, 400, 4, false,
        "The address is private, loopback, link-local or otherwise not allowed as a target.",
        "Use a public https address, or allow private targets for this purpose in the settings.";
    UPSTREAM_ERROR: Upstream, 502, 6, true,
        "A service Windlass called did not answer as it should.",
        "`details` holds the status and the start of the answer. Try again later.";
    SCHEMA_VALIDATION_FAILED: User, 400, 2, false,
        "A configuration or an artifact does not fit its schema.",
        "`details.errors` lists every place as a JSON pointer with the rule it breaks. Correct them all and call again.";
    TOOLCHAIN_MISSING: Config, 424, 7, false,
        "A gate needs a program that is not installed, or a different version of it.",
        "`details.install_hint` says how to get it. Then call `launch_validate` (`windlass launch validate RUN`): the run continues where it stopped.";
    SANDBOX_UNAVAILABLE: Config, 424, 7, false,
        "This machine cannot enforce what the sandbox was asked for; nothing was run.",
        "`details.feature` names what is missing, and the hint what to do. `windlass sandbox --features` shows what this machine offers.";
    FIX_EXHAUSTED: User, 409, 1, false,
        "The issues that are left cannot be fixed by the run.",
        "`details.reason` says why: no attempt left, nothing fixable left, a fix without effect, or the patch budget spent. Fix what `details.open_issues` lists in the product or the site, and start a new run.";
    ALLOWED_PATHS_VIOLATION: Policy, 403, 4, false,
        "Something would have been written outside `allowed_paths`; nothing was.",
        "Allow the path in the run's configuration if it is meant to be written, and start a new run.";
    COMMIT_SERVICE_ERROR: Upstream, 502, 6, true,
        "The commit or the pull request was refused or failed.",
        "`details.stage`, `details.http_status` and `details.service_code` say what happened. The run stays READY_FOR_PR; call again once the cause is fixed.";
    INTERRUPTED: User, 499, 130, true,
        "The command was interrupted; the durable run continues or waits.",
        "`windlass runs watch RUN` picks it up again.";
    INTERNAL: Internal, 500, 70, false,
        "An unexpected failure inside Windlass.",
        "`details.cause_class` says where. Repeat with `--log-format json -v` and file the output.";
    // Contract 003 has names of its own; pack raises them directly.
    E_ADOPT_CONFIRM_REQUIRED: Policy, 409, 1, false,
        "The plan would overwrite files that pack does not manage.",
        "Look at the paths, then repeat the apply with adopt (or adopt single paths with --adopt-path). What is replaced can be restored with windlass pack undo.";
    E_DESIRED_STATE_CONFLICT: Config, 409, 1, false,
        "Two modules want different contents for one path.",
        "Rename, disable or restrict one of the modules named in the details, then repeat the command.";
    E_CONFIG_MISSING: Config, 404, 1, false,
        "There is no agentpack.yaml in the config repository.",
        "Create one with windlass pack init, or name the repository with --repo.";
    E_CONFIG_INVALID: Config, 422, 1, false,
        "The manifest, a module or an overlay is not valid.",
        "Fix the place the message names, then repeat the command.";
    E_CONFIG_UNSUPPORTED_VERSION: Config, 422, 1, false,
        "The manifest has a version this program does not know.",
        "Set version to 1, or use a newer Windlass.";
    E_LOCKFILE_MISSING: Config, 404, 1, false,
        "The lockfile is required and missing.",
        "Write it with windlass pack lock or windlass pack update.";
    E_LOCKFILE_INVALID: Config, 422, 1, false,
        "The lockfile cannot be read.",
        "Write it again with windlass pack lock.";
    E_LOCKFILE_UNSUPPORTED_VERSION: Config, 422, 1, false,
        "The lockfile has a version this program does not know.",
        "Write it again with windlass pack lock, or use a newer Windlass.";
    E_TARGET_UNSUPPORTED: User, 400, 1, false,
        "There is no such target.",
        "Choose one of the targets listed in the details.";
    E_OVERLAY_NOT_FOUND: User, 404, 1, false,
        "The module has no overlay in this scope.",
        "Create it with windlass pack overlay edit.";
    E_OVERLAY_BASELINE_MISSING: Config, 409, 1, false,
        "The overlay does not say which upstream it is based on.",
        "Create the metadata with windlass pack overlay edit.";
    E_OVERLAY_BASELINE_UNSUPPORTED: Config, 409, 1, false,
        "The upstream that an overlay is based on no longer exists.",
        "Commit the config repository so that a merge base exists, then edit the overlay again.";
    E_OVERLAY_REBASE_CONFLICT: User, 409, 1, false,
        "Upstream and overlay changed the same lines.",
        "Resolve the markers in the files named in the details, then rebase again.";
    E_OVERLAY_PATCH_APPLY_FAILED: Config, 409, 1, false,
        "A patch of an overlay does not apply to the file below it.",
        "Create the patch again, or turn the overlay into a directory overlay.";
    E_GIT_REPO_REQUIRED: Config, 409, 1, false,
        "The command needs the config repository to be a git repository.",
        "Run git init there, then repeat the command.";
    E_GIT_WORKTREE_DIRTY: User, 409, 1, false,
        "The config repository has changes that are not committed.",
        "Commit or stash them, then repeat the command.";
    E_GIT_DETACHED_HEAD: User, 409, 1, false,
        "The config repository is not on a branch.",
        "Check out a branch, then repeat the command.";
    E_GIT_REMOTE_MISSING: Config, 409, 1, false,
        "The config repository has no such remote.",
        "Add one with windlass pack remote set.";
    E_GIT_NOT_FOUND: Config, 424, 1, false,
        "The git program is required and not installed.",
        "Install git, then repeat the command.";
    E_TTY_REQUIRED: User, 400, 1, false,
        "The command asks questions and there is no terminal.",
        "Run it in a terminal, or without --guided.";
    E_IMPORT_CONFLICT: User, 409, 1, false,
        "An import would overwrite files of the config repository.",
        "Move or rename the paths in the details, then import again.";
    E_POLICY_VIOLATIONS: Policy, 422, 1, false,
        "The repository breaks rules of its policy.",
        "Fix the places listed in the details, then lint again.";
    E_POLICY_CONFIG_MISSING: Config, 404, 1, false,
        "There is no agentpack.org.yaml.",
        "Create it, then repeat the command.";
    E_POLICY_CONFIG_INVALID: Config, 422, 1, false,
        "agentpack.org.yaml is not valid.",
        "Fix the place the message names, then repeat the command.";
    E_POLICY_CONFIG_UNSUPPORTED_VERSION: Config, 422, 1, false,
        "agentpack.org.yaml has a version this program does not know.",
        "Set version to 1, or use a newer Windlass.";
    E_IO_PERMISSION_DENIED: Config, 403, 1, false,
        "A file or directory may not be read or written.",
        "Change its permissions or owner, then repeat the command.";
    E_IO_INVALID_PATH: Config, 422, 1, false,
        "A path is not valid on this system.",
        "Rename it, then repeat the command.";
    E_IO_PATH_TOO_LONG: Config, 422, 1, false,
        "A path is longer than this system allows.",
        "Shorten it, then repeat the command.";
    E_UNEXPECTED: Internal, 500, 1, false,
        "The command failed for a reason that has no specific code.",
        "The message names the cause and details.reason_code its kind; next_actions say what to try.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let mut names: Vec<_> = ALL.iter().map(|code| code.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(Code::by_name("RATE_LIMITED"), Some(&RATE_LIMITED));
        assert_eq!(Code::by_name("NOPE"), None);
    }

    #[test]
    fn no_failure_exits_with_success() {
        for code in ALL {
            assert_ne!(code.exit_code, 0, "{}", code.name);
            assert!(code.http_status >= 400, "{}", code.name);
        }
    }
}
