//! The argument tree is sound, and what people type is understood.

use clap::{CommandFactory as _, Parser as _};

use super::*;

#[test]
fn the_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_and_argument_has_help() {
    fn look(command: &clap::Command, path: &str, missing: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        if command.get_about().is_none() {
            missing.push(path.clone());
        }
        for arg in command.get_arguments() {
            if arg.get_help().is_none() {
                missing.push(format!("{path} {}", arg.get_id()));
            }
        }
        for sub in command.get_subcommands() {
            look(sub, &path, missing);
        }
    }
    let mut missing = Vec::new();
    let mut tree = Cli::command();
    // Groups and their arguments are made when needed.
    tree.build();
    look(&tree, "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_people_type_is_understood() {
    for line in [
        "windlass ops list --json",
        "windlass ops call demo.plan --input @in.json",
        "windlass ops call runs.list -i {}",
        "windlass runs list --state waiting --state held --limit 5",
        "windlass runs watch latest --agent",
        "windlass runs approve run_1 --reason ok --detach",
        "windlass runs rollback 1a2b --yes",
        "windlass demo apply --dir d --file a=b --file c=d --delete e --pause 1.5 --approval --child -y",
        "windlass mcp serve",
        "windlass mcp serve --http 127.0.0.1:0 --no-auth --toolset runs,demo --tools lean",
        "windlass serve --listen [::1]:0",
        "windlass keys create ci --scope runs --scope approve --days 30",
        "windlass webhooks deliveries --state dead",
        "windlass policy check --operation demo.apply --target /srv --effect destructive",
        "windlass store prune --keep-days 30 --yes",
        "windlass errors",
        "windlass -vv --log-format json --home h --color never doctor",
        "windlass tour --chapter 1 --keep",
        "windlass tour --all",
        "windlass completions bash",
        "windlass internal generate out",
    ] {
        if let Err(error) = Cli::try_parse_from(line.split(' ')) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn invalid_combinations_are_refused() {
    for line in [
        "windlass --json --agent runs list",
        "windlass runs list --state gone",
        "windlass runs list --limit 0",
        "windlass mcp serve --no-auth",
        "windlass serve --listen localhost",
        "windlass demo plan",
        "windlass policy check --operation x --effect big",
        "windlass webhooks replay ../x",
        "windlass runs approve r --plan-digest xyz",
        "windlass --log-format xml doctor",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}

#[test]
fn near_misses_are_answered_with_what_was_meant() {
    let error = Cli::try_parse_from(["windlass", "runs", "lsit"]).unwrap_err();
    assert!(error.to_string().contains("'list'"), "{error}");
}

#[test]
fn long_commands_end_gracefully() {
    for (line, need) in [
        ("windlass runs list", Need::Short),
        ("windlass runs watch latest", Need::Long),
        ("windlass demo plan --dir d", Need::Short),
        ("windlass demo apply --dir d", Need::Long),
        ("windlass mcp serve", Need::Long),
        ("windlass store prune", Need::Long),
        ("windlass store check", Need::Short),
    ] {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(cli.command.need(), need, "{line}");
    }
}
