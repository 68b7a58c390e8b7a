//! Failures for people: the lists programs get as details, as lines; the actions programs get by
//! name, as commands to type.

use serde_json::Value;
use windlass_types::Problem;

use super::{texts, warning};
use crate::output::{Printer, Table, Tone, one_line};

/// Details that are lists of paths, and how many of each are shown.
const PATHS: [&str; 2] = ["sample_paths", "conflicts"];
const SHOWN: usize = 20;

/// Details that only programs want, or that are shown in another way.
const UNSHOWN: [&str; 9] = [
    "reason_code",
    "next_actions",
    "warnings",
    "sample_paths",
    "conflicts",
    "issues",
    "summary",
    "hint",
    "command",
];

/// Prints a failure. `command` makes a command line of a sub-command.
pub(in crate::commands::pack) fn failure(
    printer: &Printer,
    problem: &Problem,
    command: impl Fn(&str) -> String,
) {
    let details = problem.details();
    for text in texts(details.get("warnings")) {
        warning(printer, text);
    }
    if let Some(issues) = details.get("issues").and_then(Value::as_array) {
        printer.notice_table(&issue_table(issues));
    }
    for list in PATHS {
        for path in texts(details.get(list)).into_iter().take(SHOWN) {
            printer.notice(&format!("  {}", one_line(path)));
        }
    }
    printer.problem(&for_people(problem, command));
}

/// What to do about a failure, in words. `command` makes a command line of a sub-command.
pub(in crate::commands::pack) fn advised(
    problem: &Problem,
    command: impl Fn(&str) -> String,
) -> Vec<String> {
    for_people(problem, command).next_actions().to_vec()
}

fn issue_table(issues: &[Value]) -> Table {
    let mut table = Table::new(&["RULE", "PATH", "MESSAGE"]);
    for issue in issues {
        let text = |name: &str| issue.get(name).and_then(Value::as_str).unwrap_or_default();
        table.toned_row([
            (Tone::Warn, text("rule").to_owned()),
            (Tone::Plain, text("path").to_owned()),
            (Tone::Plain, text("message").to_owned()),
        ]);
    }
    table
}

fn for_people(problem: &Problem, command: impl Fn(&str) -> String) -> Problem {
    let details = problem.details();
    let mut shown = Problem::new(problem.code(), problem.message());
    for (key, value) in details {
        if !UNSHOWN.contains(&key.as_str()) && !key.ends_with("_posix") {
            shown = shown.with(key, value.clone());
        }
    }
    let hint = details.get("hint").and_then(Value::as_str);
    if let Some(hint) = hint.filter(|hint| !problem.message().contains(hint)) {
        shown = shown.next(hint);
    }
    for action in problem.next_actions() {
        if let Some(text) = advice(action, &command) {
            shown = shown.next(text);
        }
    }
    shown
}

/// What a named action means to a person; `None` where it says nothing new.
fn advice(action: &str, command: &impl Fn(&str) -> String) -> Option<String> {
    let text = match action {
        "retry_command" | "retry_with_snapshot" | "retry_deploy_apply" | "retry_import_apply" | "retry_policy_lint"
        | "rebuild_with_target_feature" => return None,
        "retry_with_yes" => "repeat the command with --yes".to_owned(),
        "call_deploy" => command("deploy"),
        "retry_with_adopt" => {
            "look at the files, then add --adopt, or --adopt-path FILE for some, or --skip-unadopted"
                .to_owned()
        }
        "resolve_desired_state_conflict" => {
            "let only one of the modules write this path".to_owned()
        }
        "run_init" => command("init"),
        "retry_with_repo" => "pass the repository with --repo DIR".to_owned(),
        "fix_config" | "fix_config_version" => "correct agentpack.yaml".to_owned(),
        "upgrade_agentpack" => "use a newer version".to_owned(),
        "fix_arguments" => command("help"),
        "list_snapshots" => command("snapshots list"),
        "retry_with_keep" => "set how many to keep with --keep COUNT".to_owned(),
        "retry_with_older_than" => "or their minimum age with --older-than DAYS".to_owned(),
        "retry_with_known_profile" => "choose a profile of the manifest with --profile".to_owned(),
        "retry_command_to_finish_undo" => {
            "repeat the command; it first undoes what was started".to_owned()
        }
        "wait_for_other_run" => "wait for the other command, then repeat this one".to_owned(),
        "delete_checkout" => "delete the checkout; it is fetched again".to_owned(),
        "inspect_git_error" => "see the output of git above".to_owned(),
        "remove_journal" => "look at the files, then delete the journal".to_owned(),
        "restore_from_backup" => "restore the file from a backup".to_owned(),
        "run_lock" => command("lock"),
        "run_update" | "regenerate_lockfile" => command("update --lock"),
        // Without the arguments: one of them may be what is wrong.
        "inspect_help_json" => "see the help of the command".to_owned(),
        "retry_with_supported_target" => "name one of the targets listed above".to_owned(),
        "edit_manifest_targets" => "correct `targets` in agentpack.yaml".to_owned(),
        "run_overlay_edit" => command("overlay edit MODULE"),
        "init_git_repo" => command("init --git"),
        "commit_or_stash" => "commit or stash what is changed in the repository".to_owned(),
        "resolve_overlay_conflicts" => "edit the files with conflict markers".to_owned(),
        "retry_overlay_rebase" => command("overlay rebase MODULE"),
        "regenerate_patch" => "create the patch again, against the current upstream".to_owned(),
        "switch_to_dir_overlay" => command("overlay edit MODULE --kind dir"),
        "checkout_branch" => "check out a branch".to_owned(),
        "set_git_remote" => command("remote set URL"),
        "install_git" => "install git".to_owned(),
        "retry_in_tty" => "run it in a terminal".to_owned(),
        "retry_without_guided" => command("init"),
        "resolve_import_conflict" => {
            "move what is in the way in the repository, or rename the source".to_owned()
        }
        "fix_policy_violations" => "correct the files named above".to_owned(),
        "create_policy_config" => "write agentpack.org.yaml".to_owned(),
        "fix_policy_config" | "fix_policy_config_version" => {
            "correct agentpack.org.yaml".to_owned()
        }
        "fix_permissions" => "make the path readable and writable for you".to_owned(),
        "fix_path" => "choose another path".to_owned(),
        "fix_codex_home" => "set CODEX_HOME as it was at the last deployment".to_owned(),
        "set_codex_home_option" => {
            "or set codex_home in the options of codex in agentpack.yaml".to_owned()
        }
        "shorten_path" => "choose a shorter path".to_owned(),
        "enable_long_paths" => "enable long paths on this system".to_owned(),
        "free_disk_space" => "free some disk space".to_owned(),
        other if is_name(other) => other.replace('_', " "),
        // A command or a sentence: as it is.
        other => other.to_owned(),
    };
    Some(text)
}

/// Whether an action is a name for programs: one word such as `fix_config`.
fn is_name(action: &str) -> bool {
    let of_names = |byte: u8| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    action.bytes().all(of_names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_types::code;

    use super::*;
    use crate::output::{Captured, Mode};

    fn printed(problem: &Problem) -> String {
        let captured = Captured::new(Mode::Human);
        failure(&captured.printer, problem, |words| {
            format!("windlass pack {words}")
        });
        captured.stderr()
    }

    #[test]
    fn unmanaged_files_are_listed() {
        let problem = Problem::new(
            &code::E_ADOPT_CONFIRM_REQUIRED,
            "2 existing files were not written by pack",
        )
        .with("reason_code", "adopt_confirm_required")
        .with("flag", "--adopt")
        .with("adopt_updates", 2)
        .with("sample_paths", json!(["/a", "/b"]))
        .with("sample_paths_posix", json!(["/a", "/b"]))
        .next("retry_with_adopt");
        insta::assert_snapshot!(printed(&problem), @r"
          /a
          /b
        error: 2 existing files were not written by pack
          code: E_ADOPT_CONFIRM_REQUIRED
          flag: --adopt
        hint: look at the files, then add --adopt, or --adopt-path FILE for some, or --skip-unadopted
        ");
    }

    #[test]
    fn violations_are_a_table_and_warnings_are_kept() {
        let problem = Problem::new(&code::E_POLICY_VIOLATIONS, "1 violation")
            .with("warnings", json!(["unknown key"]))
            .with(
                "issues",
                json!([{ "rule": "skill_frontmatter", "path": "modules/x/SKILL.md", "message": "no description" }]),
            )
            .next("fix_policy_violations")
            .next("retry_policy_lint");
        insta::assert_snapshot!(printed(&problem), @r"
        warning: unknown key
        RULE               PATH                MESSAGE
        skill_frontmatter  modules/x/SKILL.md  no description
        error: 1 violation
          code: E_POLICY_VIOLATIONS
        hint: correct the files named above
        ");
    }

    #[test]
    fn commands_are_shown_as_they_are() {
        let problem = Problem::new(
            &code::APPROVAL_REQUIRED,
            "run run_84f9 waits for an approval by local:ada",
        )
        .next("windlass runs approve run_84f9")
        .next("retry_with_yes")
        .next("retry_command")
        .next("look_somewhere_else");
        insta::assert_snapshot!(printed(&problem), @r"
        error: run run_84f9 waits for an approval by local:ada
          code: APPROVAL_REQUIRED
        hint: windlass runs approve run_84f9
        hint: repeat the command with --yes
        hint: look somewhere else
        ");
    }

    #[test]
    fn actions_become_commands() {
        let problem = Problem::new(&code::E_CONFIG_MISSING, "no agentpack.yaml in /r")
            .with("path", "/r/agentpack.yaml")
            .with("path_posix", "/r/agentpack.yaml")
            .next("run_init")
            .next("retry_with_repo")
            .next("retry_command");
        insta::assert_snapshot!(printed(&problem), @r"
        error: no agentpack.yaml in /r
          code: E_CONFIG_MISSING
          path: /r/agentpack.yaml
        hint: windlass pack init
        hint: pass the repository with --repo DIR
        ");
    }
}
