//! Naming a run: its id, the beginning of its id as long as that is unique, or `latest`.

use clap::Args;
use windlass_ports::RunFilter;
use windlass_types::{Problem, RunId, RunRecord, code};

use crate::session::Session;

const PAGE: usize = 500;
const PREFIX: &str = "run_";
const LATEST: &str = "latest";
/// How many candidates an ambiguous beginning shows.
const SHOWN: usize = 5;

// A run on the command line.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArg {
    /// The run: its id, the beginning of its id, or `latest`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

/// The id a text means.
pub(crate) async fn find_run(session: &Session, text: &str) -> Result<RunId, Problem> {
    let engine = session.engine();
    if text != LATEST
        && let Ok(run_id) = text.parse::<RunId>()
        && engine.store.run(&run_id).await?.is_some()
    {
        // Whether the caller may see it is the operation's business.
        return Ok(run_id);
    }
    let principal = session.principal();
    let owner = (!principal.sees_all_runs()).then(|| principal.id());
    let mut search = Search::new(text);
    let mut before = None;
    loop {
        let filter = RunFilter {
            principal: owner.clone(),
            before,
            limit: PAGE,
            ..RunFilter::default()
        };
        let page = engine.store.runs(filter).await?;
        before = page.next;
        if search.look_at(&page.runs) || before.is_none() {
            return search.finish();
        }
    }
}

/// What has been found so far.
struct Search<'a> {
    text: &'a str,
    found: Vec<RunId>,
}

impl<'a> Search<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    /// Looks at a page, newest first; returns whether nothing more needs to be looked at.
    fn look_at(&mut self, runs: &[RunRecord]) -> bool {
        if self.text == LATEST {
            // A child is newer than its parent, but the parent is what was started.
            self.found.extend(
                runs.iter()
                    .find(|run| run.parent.is_none())
                    .map(|run| run.run_id.clone()),
            );
            return !self.found.is_empty();
        }
        let ids = runs
            .iter()
            .map(|run| &run.run_id)
            .filter(|id| fits(id.as_str(), self.text));
        self.found.extend(ids.cloned());
        self.found.len() > SHOWN
    }

    fn finish(mut self) -> Result<RunId, Problem> {
        match self.found.len() {
            1 => Ok(self.found.remove(0)),
            0 if self.text == LATEST => {
                Err(Problem::new(&code::RUN_NOT_FOUND, "there are no runs yet")
                    .next("windlass tour"))
            }
            0 => Err(Problem::new(
                &code::RUN_NOT_FOUND,
                format!("no run is called {:?} or starts with it", self.text),
            )
            .with("run_id", self.text)
            .next("windlass runs list")),
            count => {
                let many = if count > SHOWN {
                    "several".to_owned()
                } else {
                    count.to_string()
                };
                let shown: Vec<&str> = self.found.iter().take(SHOWN).map(RunId::as_str).collect();
                Err(Problem::invalid(
                    "run",
                    "unique",
                    format!("{:?} is the beginning of {many} runs", self.text),
                )
                .with("runs", shown.join(" "))
                .next("use more of the id"))
            }
        }
    }
}

/// Whether an id begins so, with or without its prefix.
fn fits(id: &str, text: &str) -> bool {
    !text.is_empty()
        && (id.starts_with(text)
            || id
                .strip_prefix(PREFIX)
                .is_some_and(|rest| rest.starts_with(text)))
}

#[cfg(test)]
#[path = "run_ref_tests.rs"]
mod tests;
