//! What people and scripts type is understood, and a yes is asked for in the right place.

use clap::Parser as _;

use super::*;
use crate::{
    cli::{Cli, Command},
    no_host::NoHost,
    output::{Captured, Mode},
};

fn pack(line: &str) -> PackArgs {
    let cli = Cli::try_parse_from(format!("windlass pack {line}").split(' '));
    match cli
        .unwrap_or_else(|error| panic!("{line}: {error}"))
        .command
    {
        Command::Pack(args) => args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_people_type_is_understood() {
    for line in [
        "init --guided --git --bootstrap",
        "import --apply --home-root /h",
        "add skill local:modules/x --id skill:x --tags a,b --targets codex,zed --allow-outside",
        "add mcp_server git:https://example.com/x.git#ref=main&subdir=a",
        "remove skill:x",
        "lock",
        "fetch",
        "update --lock --no-fetch",
        "plan --check",
        "diff",
        "preview --diff",
        "deploy --apply --adopt",
        "deploy --apply --adopt-path a --adopt-path **/*.md --skip-unadopted",
        "status --only missing,modified --only extra --check",
        "watch --apply",
        "rollback --to 1",
        "undo",
        "undo 12 --path a --path b",
        "uninstall --restore-originals",
        "snapshots list",
        "snapshots show 1",
        "snapshots prune --keep 5 --older-than 30d --include-originals",
        "doctor --fix --strict",
        "explain plan",
        "explain diff",
        "explain status",
        "evolve propose --module-id m --scope machine --branch b",
        "evolve restore --module-id m",
        "overlay edit m --scope project --kind patch --sparse",
        "overlay edit m --project --materialize",
        "overlay rebase m --scope machine --sparsify",
        "overlay path m",
        "bootstrap --scope user",
        "bootstrap --decline",
        "remote set git@example.com:x.git --name up",
        "sync --rebase --remote up",
        "record",
        "score",
        "policy lint --strict",
        "policy audit",
        "policy lock",
        "mcp serve --project /p",
        "tui",
        "help --markdown",
        "help overlay edit",
        "schema",
        "completions zsh",
    ] {
        pack(line);
        let globals = "--repo r --profile p --target t --machine m --yes --dry-run";
        let after = pack(&format!("{line} {globals}")).options;
        let before = pack(&format!("{globals} {line}")).options;
        for options in [after, before] {
            assert_eq!(
                (options.profile.as_deref(), options.target.as_deref()),
                (Some("p"), Some("t"))
            );
            assert!(options.yes && options.dry_run, "{line}");
        }
    }
}

#[test]
fn invalid_combinations_are_refused() {
    for line in [
        "",
        "nope",
        "add tool local:x",
        "add skill",
        "rollback",
        "status --only gone",
        "update --lock --no-lock",
        "update --fetch --no-fetch",
        "overlay edit m --sparse --materialize",
        "overlay edit m --scope everywhere",
        "deploy --adopt-path a",
        "deploy --apply --adopt --skip-unadopted",
        "snapshots prune",
        "snapshots prune --older-than soon",
        "bootstrap --scope all",
        "bootstrap --decline --scope user",
        "mcp",
    ] {
        let line = format!("windlass pack {line}");
        assert!(
            Cli::try_parse_from(line.trim().split(' ')).is_err(),
            "{line}"
        );
    }
}

/// The command a refusal names, or nothing.
fn refused(line: &str, mode: Mode) -> Option<String> {
    let captured = Captured::new(mode);
    let problem = pack(line).refuse_without_yes(&captured.printer).err()?;
    assert_eq!(problem.code().name, "CONFIRM_REQUIRED");
    assert_eq!(problem.details()["reason_code"], "confirm_required");
    assert_eq!(problem.next_actions(), ["retry_with_yes"]);
    problem.details()["command"].as_str().map(str::to_owned)
}

#[test]
fn programs_confirm_before_anything_is_read() {
    for (line, id) in [
        ("init", "init"),
        ("import --apply", "import --apply"),
        ("add skill local:x", "add"),
        ("remove x", "remove"),
        ("lock", "lock"),
        ("fetch", "fetch"),
        ("deploy --apply", "deploy --apply"),
        ("rollback --to 1", "rollback"),
        ("doctor --fix", "doctor --fix"),
        ("overlay edit m", "overlay edit"),
        ("overlay rebase m", "overlay rebase"),
        ("remote set u", "remote set"),
        ("sync", "sync"),
        ("record", "record"),
        ("policy lock", "policy lock"),
        ("snapshots prune --keep 1", "snapshots prune"),
        ("undo", "undo"),
        ("uninstall", "uninstall"),
        ("watch --apply", "watch --apply"),
    ] {
        for mode in [Mode::Json, Mode::Agent] {
            assert_eq!(refused(line, mode).as_deref(), Some(id), "{line}");
            assert_eq!(refused(&format!("{line} --yes"), mode), None, "{line}");
            assert_eq!(refused(&format!("{line} --dry-run"), mode), None, "{line}");
        }
        assert!(consent::MUTATING.contains(&id), "{id}");
    }
}

#[test]
fn what_only_the_operation_can_check_is_passed_through() {
    for line in ["evolve propose", "evolve restore", "bootstrap", "update"] {
        assert_eq!(refused(line, Mode::Json), None, "{line}");
        assert!(consent::MUTATING.contains(&line), "{line}");
    }
}

#[test]
fn reading_needs_no_yes() {
    for line in [
        "plan",
        "diff",
        "preview",
        "deploy",
        "status",
        "doctor",
        "import",
        "score",
        "watch",
        "explain plan",
        "overlay path m",
        "policy lint",
        "policy audit",
        "snapshots list",
        "snapshots show 1",
    ] {
        assert_eq!(refused(line, Mode::Json), None, "{line}");
    }
}

#[test]
fn must_6_without_a_terminal_rollback_needs_a_yes_and_the_repository_does_not() {
    for (line, id) in [
        ("rollback --to 1", Some("rollback")),
        ("deploy --apply", Some("deploy --apply")),
        ("import --apply", Some("import --apply")),
        ("undo", Some("undo")),
        ("uninstall", Some("uninstall")),
        // Scripts that write to the repository run as they did under 0.9.1.
        ("init", None),
        ("lock", None),
        ("add skill local:x", None),
        ("overlay edit m", None),
    ] {
        assert_eq!(refused(line, Mode::Human).as_deref(), id, "{line}");
    }
}

#[test]
fn questions_need_a_terminal() {
    let captured = Captured::new(Mode::Json);
    let problem = pack("init --guided")
        .before_opening(&NoHost, &captured.printer, Program::Windlass)
        .unwrap_err();
    assert_eq!(problem.code().name, "E_TTY_REQUIRED");
    assert_eq!(problem.details()["reason_code"], "tty_required");
    assert_eq!(problem.details()["stdout_is_terminal"], false);
    assert_eq!(
        problem.next_actions(),
        ["retry_in_tty", "retry_without_guided"]
    );
}

#[test]
fn help_and_schema_are_answered_without_opening_anything() {
    for line in ["help", "schema"] {
        let captured = Captured::new(Mode::Json);
        let args = pack(line);
        let report = args
            .before_opening(&NoHost, &captured.printer, Program::Agentpack)
            .unwrap()
            .unwrap();
        let document = args
            .wire(Program::Agentpack, &windlass_pack::PackContract)
            .success_document(report.data);
        assert_eq!(document["command"], line);
        assert!(
            document["data"]["commands"].is_array() || document["data"]["commands"].is_object()
        );
    }
}

#[test]
fn long_commands_end_gracefully() {
    for (line, need) in [
        ("plan", Need::Short),
        ("deploy", Need::Short),
        ("deploy --apply", Need::Long),
        ("lock", Need::Short),
        ("watch", Need::Long),
        ("mcp serve", Need::Long),
        ("init", Need::Short),
    ] {
        assert_eq!(pack(line).need(), need, "{line}");
    }
}
