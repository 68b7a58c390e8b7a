//! What people and scripts type is understood.

use clap::Parser as _;

use super::*;
use crate::cli::{Cli, Command};

fn parse(line: &str) -> Result<LaunchCommand, clap::Error> {
    let cli = Cli::try_parse_from(format!("windlass launch {line}").split(' '))?;
    match cli.command {
        Command::Launch(command) => Ok(*command.0),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_people_type_is_understood() {
    for (line, need) in [
        (
            "start --product . --site ../site --allow content/docs/x",
            Need::Long,
        ),
        (
            "start --product https://git.example/a/b --ref v1 --site git@git.example:s --site-ref main --allow a b --allow c --name N --profile ci --tier rich --section docs kb --max-fixes 5 --key k --no-wait",
            Need::Long,
        ),
        ("start --config run.yaml --agent", Need::Long),
        ("start -c -", Need::Long),
        ("start --product . --site s", Need::Long),
        ("status latest --json", Need::Short),
        ("artifact r_2026 page_plan.json --out x", Need::Short),
        ("artifact latest", Need::Short),
        ("validate latest", Need::Long),
        ("fix latest --all", Need::Long),
        ("resume latest", Need::Long),
        ("cancel latest", Need::Long),
        ("open-pr latest -y", Need::Long),
        (
            "list --state ready_for_pr --product acme --limit 5",
            Need::Short,
        ),
        ("ls", Need::Short),
        ("watch latest --stay --after 12", Need::Long),
    ] {
        let command = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(command.need(), need, "{line}");
    }
}

#[test]
fn invalid_combinations_are_refused() {
    for line in [
        "",
        "start",
        "start --product .",
        "start --site .",
        "start --config x --profile staging",
        "start --config x --tier huge",
        "start --config x --section news",
        "start --config x --max-fixes -1",
        "status",
        "artifact latest --out x",
        "list --limit 0",
        "list --limit 1001",
        "open_pr latest",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}
