//! `docs/stack/cli-ref/`: a page per command of `windlass stack`, with the front matter that the
//! documentation is searched by.

use std::path::PathBuf;

use clap::Command;

use super::{
    BANNER, Document, cell,
    cli::{about, own_arguments, visible},
};

/// The command whose commands have pages.
pub(super) const STACK: &str = "stack";

const FOLDER: &str = "docs/stack/cli-ref";

pub(super) fn documents(root: &Command) -> Vec<Document> {
    let mut documents = Vec::new();
    for command in visible(root).filter(|command| command.get_name() == STACK) {
        for (words, command) in commands(command) {
            documents.push(page(&words, command));
        }
    }
    documents
}

/// The section of `cli.md`: one row per page.
pub(super) fn section(text: &mut String, stack: &Command) {
    text.push_str(&format!("\n## `windlass {STACK}`\n\n"));
    about(text, stack);
    text.push_str("\n| command | what it does |\n|---|---|\n");
    for (words, command) in commands(stack) {
        let purpose = command.get_about().map(ToString::to_string);
        text.push_str(&format!(
            "| [`windlass {STACK} {}`](../stack/cli-ref/{}.md) | {} |\n",
            words.join(" "),
            words.join("-"),
            cell(&purpose.unwrap_or_default())
        ));
    }
}

/// Every command that does something, by its words after `stack`.
fn commands(stack: &Command) -> Vec<(Vec<String>, &Command)> {
    let mut found = Vec::new();
    for command in visible(stack) {
        let name = command.get_name().to_owned();
        let mut below = visible(command).peekable();
        if below.peek().is_none() || !command.is_subcommand_required_set() {
            found.push((vec![name.clone()], command));
        }
        found.extend(below.map(|sub| (vec![name.clone(), sub.get_name().to_owned()], sub)));
    }
    found
}

fn page(words: &[String], command: &Command) -> Document {
    let name = format!("windlass {STACK} {}", words.join(" "));
    let mut tags: Vec<&str> = words.iter().map(String::as_str).collect();
    tags.extend(command.get_visible_aliases());
    tags.extend(["command", "flags", "command line"]);
    let mut text = format!(
        "---\ndocType: cli-ref\ntitle: {name}\ntags: [{}]\npriority: 3\nsource: generated from the arguments\n---\n\n{BANNER}# `{name}`\n\n",
        tags.join(", ")
    );
    about(&mut text, command);
    own_arguments(&mut text, command, &name);
    text.push_str(
        "\nFlags may be written in camel case too. `--json` prints one document, `--agent` one JSON object per line with the result last; neither says yes to anything. Exit codes: 0 it worked, 1 it did not, 2 the arguments are not right, 130 interrupted (a run that was started continues).\n",
    );
    let file = format!("{FOLDER}/{}.md", words.join("-"));
    (PathBuf::from(file), text)
}
