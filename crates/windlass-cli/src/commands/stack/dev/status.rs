//! `windlass stack dev status`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        command::StackCall,
        show::{Screen, is, object, shown, text},
    },
    output::{Table, Tone},
};

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    target: Target,
}

impl StackCall for StatusArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target).request("stack.dev_status"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    let phase = text(output, "phase");
    if !phase.is_empty() {
        let tone = if is(output, "ready") {
            Tone::Good
        } else {
            Tone::Warn
        };
        screen.toned(tone, phase);
    }
    let mut table = Table::new(&["NAME", "WHAT", "WHERE"]);
    // A table may cut what is long, and this says what to do.
    let mut absent = Vec::new();
    for (what, key) in [
        ("workload", "workloads"),
        ("database", "databases"),
        ("elsewhere", "elsewhere"),
    ] {
        for (name, condition) in object(output, key).into_iter().flatten() {
            let said = match condition {
                Value::Object(_) => match text(condition, "url") {
                    "" => text(condition, "status").to_owned(),
                    url => url.to_owned(),
                },
                other => shown(other),
            };
            let said = match said.strip_prefix("not-local: ") {
                Some(why) => {
                    absent.push(format!("{name}: {why}"));
                    "not local".to_owned()
                }
                None => said,
            };
            let tone = match said.as_str() {
                _ if said.starts_with("error") => Tone::Bad,
                "starting" | "remote" | "not local" => Tone::Warn,
                _ if said.contains("://") => Tone::Active,
                _ => Tone::Good,
            };
            table.toned_row([
                (Tone::Plain, name.clone()),
                (Tone::Dim, what.to_owned()),
                (tone, said),
            ]);
        }
    }
    if !table.is_empty() {
        screen.table(&table);
    }
    for line in absent {
        screen.toned(Tone::Warn, &line);
    }
    let left = output.get("leftBehind").and_then(Value::as_array);
    if left.is_some_and(|left| !left.is_empty()) {
        screen.toned(
            Tone::Warn,
            "processes were left behind: `windlass stack dev stop` ends them",
        );
    }
}
