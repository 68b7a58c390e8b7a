//! Completion by the program itself: the short script that makes a shell ask it, and its answers,
//! which know the runs, keys and operations of this home.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Command;
use clap_complete::{
    CompleteEnv, Shell,
    engine::{ArgValueCandidates, CompletionCandidate},
    env::Shells,
};
use serde_json::Value;
use windlass_config::{Environment, env};
use windlass_process::Ended;

use crate::cli::Program;

/// The variable a shell sets when it asks.
const VARIABLE: &str = env::WINDLASS_COMPLETE.name;
/// A shell does not wait longer for ids.
const TIMEOUT: Duration = Duration::from_secs(2);
/// More ids than this are no help.
const MOST: &str = "50";

/// Values of an argument that only a list of this program tells.
struct Known {
    /// Groups of commands in which the argument means this.
    groups: &'static [&'static str],
    /// How the argument is called in help.
    argument: &'static str,
    /// The command that lists the values.
    list: &'static [&'static str],
    items: &'static str,
    value: &'static str,
    /// What is said of each.
    help: &'static str,
}

const RUNS: [&str; 5] = ["runs", "list", "--json", "--limit", MOST];
const OPERATIONS: [&str; 3] = ["ops", "list", "--json"];

/// In a group that is not named here, a run is one of the group's own operations.
const RUN: Known = Known {
    groups: &["runs", "webhooks"],
    argument: "RUN",
    list: &RUNS,
    items: "runs",
    value: "run_id",
    help: "title",
};

const KNOWN: [Known; 3] = [
    Known {
        groups: &["ops", "policy", "audit"],
        argument: "OPERATION",
        list: &OPERATIONS,
        items: "operations",
        value: "name",
        help: "title",
    },
    Known {
        groups: &["keys", "webhooks"],
        argument: "KEY",
        list: &["keys", "list", "--json"],
        items: "keys",
        value: "key_id",
        help: "name",
    },
    Known {
        groups: &["errors"],
        argument: "CODE",
        list: &["errors", "--json"],
        items: "codes",
        value: "name",
        help: "summary",
    },
];

/// The script for a shell: it asks the program at each press of the key.
pub(crate) fn script(shell: Shell, program: Program) -> String {
    let name = program.command().get_name().to_owned();
    let shells = Shells::builtins();
    let mut bytes = Vec::new();
    if let Some(completer) = shells.completer(&shell.to_string()) {
        // Writing into memory does not fail.
        let _ = completer.write_registration(VARIABLE, &name, &name, &name, &mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Answers a shell that asks; `false` if this is an ordinary start.
pub(crate) fn answer(program: Program, args: &[OsString]) -> Result<bool, clap::Error> {
    let directory = std::env::current_dir().ok();
    CompleteEnv::with_factory(|| with_values(program.command()))
        .var(VARIABLE)
        .try_complete(args.iter().cloned(), directory.as_deref())
}

/// Whether a shell asks.
pub(crate) fn is_asked(environment: &Environment) -> bool {
    let shell = environment.get(&env::WINDLASS_COMPLETE);
    shell.is_some_and(|shell| shell != "0")
}

/// The tree with values for the arguments that have known ones.
fn with_values(mut tree: Command) -> Command {
    // Groups are made when they are called; here all of them are.
    tree.build();
    let groups: Vec<String> = tree
        .get_subcommands()
        .map(|group| group.get_name().to_owned())
        .collect();
    groups.into_iter().fold(tree, |tree, group| {
        let known = known_in(&group);
        tree.mut_subcommand(group, |command| with_known(command, &known))
    })
}

/// What is known in a group of commands, each with how the operations begin that are meant.
fn known_in(group: &str) -> Vec<(&'static Known, String)> {
    let named = KNOWN.iter().filter(|known| known.groups.contains(&group));
    let prefix = match RUN.groups.contains(&group) {
        true => String::new(),
        false => format!("{group}."),
    };
    named
        .map(|known| (known, String::new()))
        .chain([(&RUN, prefix)])
        .collect()
}

fn with_known(command: Command, known: &[(&'static Known, String)]) -> Command {
    command
        .mut_args(|argument| {
            let names = argument.get_value_names().unwrap_or_default();
            let found = known
                .iter()
                .find(|(known, _)| names.iter().any(|name| name.as_str() == known.argument));
            match found {
                Some((known, operations)) => {
                    let (known, operations): (&'static Known, _) = (known, operations.clone());
                    argument.add(ArgValueCandidates::new(move || known.values(&operations)))
                }
                None => argument,
            }
        })
        .mut_subcommands(|command| with_known(command, known))
}

impl Known {
    /// The values of this home; none where they cannot be listed at once.
    fn values(&self, operations: &str) -> Vec<CompletionCandidate> {
        let listed = std::env::current_exe()
            .ok()
            .and_then(|program| list(program, self.list));
        listed
            .map(|listed| self.candidates(&listed, operations))
            .unwrap_or_default()
    }

    fn candidates(&self, listed: &Value, operations: &str) -> Vec<CompletionCandidate> {
        let text = |item: &Value, key: &str| item[key].as_str().map(str::to_owned);
        let items = listed[self.items].as_array().into_iter().flatten();
        items
            .filter(|item| {
                let operation = item["operation"].as_str().unwrap_or_default();
                operation.starts_with(operations)
            })
            .enumerate()
            .filter_map(|(place, item)| {
                let candidate = CompletionCandidate::new(text(item, self.value)?);
                let help = text(item, self.help).map(Into::into);
                Some(candidate.help(help).display_order(Some(place)))
            })
            .collect()
    }
}

fn list(program: PathBuf, arguments: &[&str]) -> Option<Value> {
    let mut command = windlass_process::command(program);
    command.args(arguments);
    match windlass_process::run(&mut command, None, TIMEOUT).ok()? {
        Ended::Itself {
            code: Some(0),
            mut stdout,
            ..
        } => serde_json::from_slice(&stdout.all().ok()?).ok(),
        Ended::Itself { .. } | Ended::Stopped => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shell_gets_a_short_script_that_asks_the_program() {
        for shell in Shell::value_variants() {
            for program in Program::ALL {
                let script = script(*shell, program);
                let name = program.command().get_name().to_owned();
                assert!(script.contains(VARIABLE), "{shell}: {script}");
                assert!(script.contains(&name), "{shell}: {script}");
                assert!(script.lines().count() < 60, "{shell}");
            }
        }
    }

    #[test]
    fn a_shell_asks_by_naming_itself() {
        for (value, expected) in [("", false), ("0", false), ("zsh", true)] {
            let environment = Environment::from_pairs([(VARIABLE, value)]);
            assert_eq!(is_asked(&environment), expected, "{value:?}");
        }
        assert!(!is_asked(&Environment::default()));
    }

    #[test]
    fn runs_are_offered_with_their_titles_newest_first() {
        let listed = json!({ "runs": [
            { "run_id": "run_2", "operation": "site.start", "title": "site.start docs" },
            { "run_id": "run_1", "operation": "demo.apply", "title": "demo.apply /srv" },
        ] });
        let offered = |group: &str| -> Vec<String> {
            let known = known_in(group);
            let (known, operations) = known.last().unwrap();
            let shown = known
                .candidates(&listed, operations)
                .into_iter()
                .map(|one| {
                    let help = one.get_help().map(ToString::to_string);
                    format!(
                        "{} {}",
                        one.get_value().to_string_lossy(),
                        help.unwrap_or_default()
                    )
                });
            shown.collect()
        };
        assert_eq!(
            offered("runs"),
            ["run_2 site.start docs", "run_1 demo.apply /srv"]
        );
        assert_eq!(offered("site"), ["run_2 site.start docs"]);
    }

    #[test]
    fn every_known_argument_is_in_the_tree() {
        fn has(command: &Command, argument: &str) -> bool {
            let named = |one: &clap::Arg| {
                let names = one.get_value_names().unwrap_or_default();
                names.iter().any(|name| name.as_str() == argument)
            };
            command.get_arguments().any(named)
                || command.get_subcommands().any(|below| has(below, argument))
        }
        let mut tree = Program::Windlass.command();
        tree.build();
        for known in KNOWN.iter().chain([&RUN]) {
            for group in known.groups {
                let group = tree.find_subcommand(group).unwrap();
                assert!(has(group, known.argument), "{}", known.argument);
            }
        }
    }
}
