//! `windlass pack help`: every command, for people, as Markdown, or as JSON.
//!
//! Everything is read off the argument definitions. With `--json`, positional arguments are of
//! the kind `positional` (0.9.1 calls them options).

use clap::{Arg, ArgAction, Args, Command, CommandFactory as _};
use serde_json::{Map, Value, json};
use windlass_types::{Problem, code};

use super::{Program, consent::MUTATING, guided::TARGETS, program::Agentpack};
use crate::{
    Host,
    cli::Cli,
    output::{Mode, Printer},
    session::Report,
};

/// Commands whose output is not an envelope.
const WITHOUT_JSON: [&str; 3] = ["completions", "mcp serve", "tui"];

const NOTES: [&str; 3] = [
    "recommended: doctor -> update -> preview -> deploy --apply",
    "recommended: status -> evolve propose -> review -> deploy --apply",
    "in --json mode, mutating commands require --yes",
];

#[derive(Args, Debug)]
pub(crate) struct HelpArgs {
    /// Describe just this command.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Print a page of Markdown.
    #[arg(long)]
    markdown: bool,
}

impl HelpArgs {
    pub(super) fn run(
        &self,
        host: &dyn Host,
        printer: &Printer,
        program: Program,
    ) -> Result<Report, Problem> {
        let mut root = tree(program);
        let found = find(&mut root, &self.command)?;
        let markdown = self
            .markdown
            .then(|| host.command_page(found, program.group_command()));
        if printer.mode() == Mode::Human {
            match &markdown {
                Some(page) => printer.raw(page),
                None => {
                    let text = found.render_long_help();
                    let text = if printer.colours_data() {
                        text.ansi().to_string()
                    } else {
                        text.to_string()
                    };
                    printer.raw(&text);
                }
            }
            return Ok(Report::new("help", Value::Null));
        }
        let mut data = describe();
        if let (Some(page), Value::Object(data)) = (markdown, &mut data) {
            data.insert("markdown".to_owned(), page.into());
        }
        Ok(Report::new("help", data))
    }
}

/// The argument tree, as it looks under a name.
fn tree(program: Program) -> Command {
    let mut root = match program {
        Program::Windlass => Cli::command(),
        Program::Agentpack => Agentpack::command(),
    };
    root.build();
    match (program, root.find_subcommand("pack")) {
        (Program::Windlass, Some(pack)) => pack.clone(),
        _ => root,
    }
}

fn find<'a>(root: &'a mut Command, path: &[String]) -> Result<&'a mut Command, Problem> {
    let mut command = root;
    for word in path {
        let known: Vec<String> = leaves(command);
        command = command.find_subcommand_mut(word).ok_or_else(|| {
            Problem::new(
                &code::E_UNEXPECTED,
                format!(
                    "there is no command {word:?}; there are {}",
                    known.join(", ")
                ),
            )
            .with("reason_code", "usage")
            .next("inspect_help_json")
        })?;
    }
    Ok(command)
}

fn leaves(command: &Command) -> Vec<String> {
    let names = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    names.collect()
}

/// The data of `help --json`.
fn describe() -> Value {
    let mut root = Agentpack::command();
    root.build();
    let globals: Vec<&Arg> = root
        .get_arguments()
        .filter(|arg| !is_builtin(arg))
        .collect();
    let mut commands = Vec::new();
    for command in root.get_subcommands() {
        collect(command, &mut Vec::new(), &globals, &mut commands);
    }
    let fixing = commands
        .iter()
        .find(|command| command["id"] == "doctor")
        .cloned();
    if let Some(Value::Object(mut fixing)) = fixing {
        fixing.insert("id".to_owned(), json!("doctor --fix"));
        fixing.insert("mutating".to_owned(), json!(true));
        commands.push(Value::Object(fixing));
    }
    commands.sort_by(|left, right| left["id"].as_str().cmp(&right["id"].as_str()));
    let mut global_args: Vec<Value> = globals.iter().map(|arg| argument(arg)).collect();
    global_args.sort_by(|left, right| left["id"].as_str().cmp(&right["id"].as_str()));
    json!({
        "commands": commands,
        "global_args": global_args,
        "mutating_commands": MUTATING,
        "targets": TARGETS,
        "notes": NOTES,
    })
}

fn collect(command: &Command, path: &mut Vec<String>, globals: &[&Arg], found: &mut Vec<Value>) {
    path.push(command.get_name().to_owned());
    if command.get_subcommands().next().is_some() {
        // The help of a group is the help of its commands.
        for sub in command
            .get_subcommands()
            .filter(|sub| sub.get_name() != "help")
        {
            collect(sub, path, globals, found);
        }
    } else {
        let id = path.join(" ");
        let is_own = |arg: &&Arg| {
            !is_builtin(arg) && !globals.iter().any(|global| global.get_id() == arg.get_id())
        };
        let mut args: Vec<Value> = command
            .get_arguments()
            .filter(is_own)
            .filter(|arg| !arg.is_hide_set())
            .map(argument)
            .collect();
        args.sort_by_key(|arg| {
            let kind = arg["kind"].as_str().unwrap_or_default();
            let rank = ["positional", "option", "flag"]
                .iter()
                .position(|known| *known == kind);
            (rank, arg["id"].as_str().unwrap_or_default().to_owned())
        });
        found.push(json!({
            "id": id,
            "path": path,
            "mutating": MUTATING.contains(&id.as_str()),
            "supports_json": !WITHOUT_JSON.contains(&id.as_str()),
            "args": args,
        }));
    }
    path.pop();
}

fn is_builtin(arg: &Arg) -> bool {
    arg.get_id() == "help" || arg.get_id() == "version"
}

fn argument(arg: &Arg) -> Value {
    let kind = if arg.is_positional() {
        "positional"
    } else if matches!(
        arg.get_action(),
        ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count
    ) {
        "flag"
    } else {
        "option"
    };
    let mut described = Map::from_iter([
        ("id".to_owned(), json!(arg.get_id().as_str())),
        ("kind".to_owned(), json!(kind)),
        ("required".to_owned(), json!(arg.is_required_set())),
    ]);
    if let Some(long) = arg.get_long() {
        described.insert("long".to_owned(), json!(long));
    }
    if let Some(short) = arg.get_short() {
        described.insert("short".to_owned(), json!(short.to_string()));
    }
    Value::Object(described)
}

#[cfg(test)]
#[path = "help_tests.rs"]
mod tests;
