//! `windlass pack init`.

use std::io::IsTerminal as _;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    context::{Context, Touches, parse},
    guided, wire,
};
use crate::{
    output::{Printer, Tone},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// Ask which targets and scope the manifest should have; needs a terminal.
    #[arg(long)]
    guided: bool,
    /// Make it a git repository too.
    #[arg(long)]
    git: bool,
    /// Install the files that let agents operate pack in it.
    #[arg(long)]
    bootstrap: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Initialised {
    repo: String,
    git: Option<Git>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Git {
    initialized: bool,
}

impl InitArgs {
    /// Refuses questions without a terminal.
    pub(super) fn needs_a_terminal(&self, printer: &Printer) -> Result<(), Problem> {
        let (stdin, stdout) = (std::io::stdin().is_terminal(), printer.data_is_seen());
        if self.guided && !(stdin && stdout) {
            return Err(wire::tty_required(stdin, stdout));
        }
        Ok(())
    }

    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let mut bootstrap = self.bootstrap;
        let mut guided = Value::Null;
        if self.guided {
            // An existing manifest is refused before any question is asked.
            let own = json!({ "git": self.git, "guided": guided::Answers::default() });
            context
                .send("pack.init", own, Touches::Repository, false, true)
                .await?;
            let answers = guided::ask(context, bootstrap).await?;
            bootstrap = answers.bootstrap;
            guided = json!(answers);
        }
        let own = json!({ "git": self.git, "bootstrap": bootstrap, "guided": guided });
        let data = context.write("pack.init", own, Touches::Repository).await?;
        let made: Initialised = parse(&data)?;
        let repo = context.view.path(&made.repo);
        let message = if context.options.dry_run {
            format!("{repo} would become a configuration repository")
        } else {
            format!("{repo} is a configuration repository")
        };
        context.say(&context.view.line(Tone::Good, "✓", &message));
        if made.git.is_some_and(|git| git.initialized) {
            context.say(&context.view.line(Tone::Good, "✓", "git repository"));
        }
        context.warn(&data);
        context.hint("import");
        context.hint("add TYPE SOURCE");
        Ok(Report::new(message, data))
    }
}
