//! `windlass pack watch`: a plan, or a deployment, whenever the repository changes.
//!
//! A deployment from here never adopts a file, and never removes many without a person.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use windlass_types::{Problem, code};

use super::{
    PackOptions, Wire,
    context::{Context, Touches, parse},
    deploy::question,
    show::{PlanView, plan_text},
};
use crate::{
    commands::field,
    flow::Consent,
    output::{LogLevel, Mode, Tone, counted},
    session::{Ending, Report},
};

/// Changes that follow one another this closely count as one.
const QUIET: Duration = Duration::from_millis(300);
/// More deletions than this need a person.
const MANY: u64 = 20;
/// How many changed files are named.
const NAMED: usize = 3;

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Deploy after each change.
    #[arg(long)]
    pub(super) apply: bool,
}

impl WatchArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let repository = repository(context).await?;
        let (sender, mut changes) = unbounded_channel();
        let root = repository.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            for path in event.map(|event| touched(&root, event)).unwrap_or_default() {
                // The command may be ending.
                let _ = sender.send(path);
            }
        })
        .map_err(|error| unwatchable(&repository, &error))?;
        watcher
            .watch(&repository, RecursiveMode::Recursive)
            .map_err(|error| unwatchable(&repository, &error))?;
        let shown = context.view.path(&repository.display().to_string());
        context
            .printer()
            .notice(&format!("Watching {shown}; Ctrl-C ends."));
        let mut rounds = 0_u64;
        loop {
            self.round(context).await?;
            rounds += 1;
            let clock = || {
                let engine = context.session.engine();
                engine.clock.sleep_until(engine.now().after(QUIET))
            };
            let changed = tokio::select! {
                changed = settled(&mut changes, clock) => changed,
                () = context.session.interrupt.wait() => break,
            };
            if !context.printer().look_for_reader() {
                break;
            }
            let changed: Vec<String> = changed.into_iter().collect();
            context.printer().notice(&named(&changed));
        }
        let mut ended = Report::new("stopped", json!({ "rounds": rounds }));
        ended.ending = Ending::Streamed;
        Ok(ended)
    }

    /// One plan, and one deployment if asked for. What a person can fix does not end the watch.
    async fn round(&self, context: &Context<'_>) -> Result<(), Problem> {
        let outcome = match context.read("pack.plan", json!({})).await {
            Ok(data) => self.show_and_apply(context, data).await,
            Err(problem) => Err(("pack.plan", problem)),
        };
        match outcome {
            Ok(()) => Ok(()),
            Err((_, problem)) if problem.code() == &code::INTERRUPTED => Ok(()),
            Err((operation, problem)) => {
                let wire = wire(context, operation);
                match context.printer().mode() {
                    Mode::Human => wire.print_failure(context.printer(), &problem),
                    _ => self.stream(context, &wire.failure_document(&problem), problem.message()),
                }
                Ok(())
            }
        }
    }

    async fn show_and_apply(
        &self,
        context: &Context<'_>,
        data: Value,
    ) -> Result<(), (&'static str, Problem)> {
        let planned = |problem| ("pack.plan", problem);
        let plan: PlanView = parse(&data).map_err(planned)?;
        context.say(&plan_text(&plan, &context.view));
        context.warn(&data);
        if !self.apply || context.options.dry_run || plan.is_empty() {
            let document = wire(context, "pack.plan").success_document(data);
            self.stream(context, &document, &plan.summed_up());
            return Ok(());
        }
        let failed = |problem| ("pack.apply", problem);
        if !self.may_apply(context, &plan).await.map_err(failed)? {
            return Err(failed(held_back(&plan)));
        }
        let own = json!({ "adopt": false, "skip_unadopted": false });
        let data = context
            .send("pack.apply", own, Touches::Targets, true, false)
            .await
            .map_err(failed)?;
        let applied: PlanView = parse(&data).map_err(failed)?;
        context.say(&context.view.line(Tone::Good, "✓", &applied.done()));
        let document = wire(context, "pack.apply").success_document(data);
        self.stream(context, &document, &applied.done());
        Ok(())
    }

    /// `--yes` covers everything but many deletions; those and everything else are asked about.
    async fn may_apply(&self, context: &Context<'_>, plan: &PlanView) -> Result<bool, Problem> {
        if context.options.yes && plan.summary.delete <= MANY {
            return Ok(true);
        }
        let view = context.plan_consent("pack.apply", plan, question(plan));
        Ok(view.ask_only(context.session).await? == Consent::Given)
    }

    /// One line for a program.
    fn stream(&self, context: &Context<'_>, document: &Value, message: &str) {
        let printer = context.printer();
        match printer.mode() {
            Mode::Human => {}
            Mode::Json => printer.raw(&format!("{document}\n")),
            Mode::Agent => {
                let now = context.session.engine().now();
                printer.ndjson().log("pack", LogLevel::Info, message, now);
            }
        }
    }
}

/// Where the repository is; `init` says so without writing anything.
async fn repository(context: &Context<'_>) -> Result<PathBuf, Problem> {
    let data = context
        .send("pack.init", json!({}), Touches::Repository, false, true)
        .await?;
    field(&data, "repo")
}

fn wire(context: &Context<'_>, operation: &str) -> Wire {
    Wire {
        operation: operation.to_owned(),
        input: Value::Null,
        program: context.view.program.clone(),
        contract: context.session.contract(operation),
        options: PackOptions {
            yes: false,
            dry_run: false,
            ..context.options.clone()
        },
    }
}

fn unwatchable(repository: &Path, error: &notify::Error) -> Problem {
    Problem::new(
        &code::E_UNEXPECTED,
        format!("{} cannot be watched: {error}", repository.display()),
    )
    .with("reason_code", "io_error")
    .next("run_init")
    .next("retry_with_repo")
}

fn held_back(plan: &PlanView) -> Problem {
    let message = if plan.summary.delete > MANY {
        format!(
            "{} files would be deleted, which needs a person; nothing was changed",
            plan.summary.delete
        )
    } else {
        "not confirmed; nothing was changed".to_owned()
    };
    Problem::new(&code::CONFIRM_REQUIRED, message)
        .with("reason_code", "confirm_required")
        .with("command", "deploy --apply")
        .with("deletes", plan.summary.delete)
        .next("call_deploy")
}

/// The files of the repository an event is about; git's own do not count, nor does reading.
fn touched(repository: &Path, event: Event) -> Vec<String> {
    if matches!(event.kind, EventKind::Access(_)) {
        return Vec::new();
    }
    let below = event.paths.into_iter().filter_map(|path| {
        let below = path.strip_prefix(repository).ok()?;
        let is_git = below
            .components()
            .next()
            .is_some_and(|first| first.as_os_str() == ".git");
        (!is_git).then(|| below.display().to_string())
    });
    below.collect()
}

/// The next changes, once none has followed for a while.
async fn settled<Pause: Future<Output = ()>>(
    changes: &mut UnboundedReceiver<String>,
    pause: impl Fn() -> Pause,
) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    let Some(first) = changes.recv().await else {
        // No sender is left: nothing will change.
        return std::future::pending().await;
    };
    changed.insert(first);
    loop {
        tokio::select! {
            biased;
            next = changes.recv() => match next {
                Some(path) => changed.insert(path),
                None => return changed,
            },
            () = pause() => return changed,
        };
    }
}

fn named(changed: &[String]) -> String {
    let names: Vec<&str> = changed.iter().take(NAMED).map(String::as_str).collect();
    let more = changed.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {}", counted(more, "more file"))
    } else {
        String::new()
    };
    format!(
        "\nchanged: {}{more}",
        crate::output::one_line(&names.join(", "))
    )
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
