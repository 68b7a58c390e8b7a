//! `docs/reference/cli.md`: every command with its arguments, from the argument definitions.

use std::path::PathBuf;

use clap::{Arg, Command};

use super::{BANNER, Document, cell, cli_ref};

pub(super) fn document(root: &Command) -> Document {
    let mut page = format!("{BANNER}# Command line\n\n");
    page.push_str(
        "Every command takes the [global options](#global-options). Data goes to standard output, ",
    );
    page.push_str("everything else to standard error. [Exit codes](exit-codes.md) are the same for all commands.\n");
    page.push_str("\n## Global options\n\n");
    arguments(
        &mut page,
        root.get_arguments().filter(|arg| arg.is_global_set()),
    );
    for command in visible(root) {
        if command.get_name() == cli_ref::STACK {
            cli_ref::section(&mut page, command);
        } else {
            section(&mut page, command, "windlass", 2);
        }
    }
    (PathBuf::from("docs/reference/cli.md"), page)
}

/// A page about one command and those below it. The command tree is built.
pub fn markdown(command: &Command, name: &str) -> String {
    let mut page = format!("# `{name}`\n\n## Options of every command\n\n");
    let shared = |arg: &&Arg| arg.is_global_set() && arg.get_id() != "help";
    arguments(&mut page, command.get_arguments().filter(shared));
    for sub in visible(command) {
        section(&mut page, sub, name, 2);
    }
    page
}

pub(super) fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn section(page: &mut String, command: &Command, parent: &str, depth: usize) {
    let name = format!("{parent} {}", command.get_name());
    page.push_str(&format!("\n{} `{name}`\n\n", "#".repeat(depth)));
    about(page, command);
    if visible(command).next().is_none() {
        own_arguments(page, command, &name);
    }
    for sub in visible(command) {
        section(page, sub, &name, depth + 1);
    }
}

/// What a command is for, and its other names.
pub(super) fn about(page: &mut String, command: &Command) {
    let about = command.get_long_about().or(command.get_about());
    if let Some(about) = about {
        page.push_str(&format!("{}\n", sentence(&about.to_string())));
    }
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    if !aliases.is_empty() {
        page.push_str(&format!("\nAlso: `{}`.\n", aliases.join("`, `")));
    }
}

/// How a command is written, and its arguments.
pub(super) fn own_arguments(page: &mut String, command: &Command, name: &str) {
    let own = || {
        command
            .get_arguments()
            .filter(|arg| !arg.is_global_set() && !arg.is_hide_set())
    };
    let own = || own().filter(|arg| arg.get_id() != "help" && arg.get_id() != "version");
    page.push_str(&format!("\n```text\n{name}{}\n```\n", usage(own())));
    if own().next().is_some() {
        page.push('\n');
        arguments(page, own());
    }
}

fn usage<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let (mut options, mut words) = (false, String::new());
    for arg in args {
        if !arg.is_positional() && !arg.is_required_set() {
            options = true;
            continue;
        }
        let shown = shown(arg);
        words.push_str(&if arg.is_required_set() {
            format!(" {shown}")
        } else {
            format!(" [{shown}]")
        });
    }
    if options {
        format!(" [OPTIONS]{words}")
    } else {
        words
    }
}

fn shown(arg: &Arg) -> String {
    let value = || {
        let names: Vec<String> = arg
            .get_value_names()
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect();
        names.join(" ")
    };
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => return value(),
    };
    if arg.get_action().takes_values() {
        format!("{name} {}", value())
    } else {
        name
    }
}

fn arguments<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    page.push_str("| argument | what it does |\n|---|---|\n");
    for arg in args {
        let mut help = arg
            .get_long_help()
            .or(arg.get_help())
            .map(|help| sentence(&help.to_string()))
            .unwrap_or_default();
        let values: Vec<String> = arg
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !values.is_empty() {
            help.push_str(&format!(" One of {}.", values.join(", ")));
        }
        let defaults: Vec<String> = arg
            .get_default_values()
            .iter()
            .map(|value| format!("`{}`", value.to_string_lossy()))
            .collect();
        if !defaults.is_empty() && arg.get_action().takes_values() {
            help.push_str(&format!(" Default: {}.", defaults.join(", ")));
        }
        page.push_str(&format!("| `{}` | {} |\n", cell(&shown(arg)), cell(&help)));
    }
}

/// Short help comes without its full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?', ':']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
