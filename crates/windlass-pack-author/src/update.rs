//! `update`: locks when there is no lockfile or when asked to, then fetches.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use windlass_pack_model::{PackHome, fault, lockfile::LOCKFILE};
use windlass_types::{Problem, Timestamp};

use crate::{
    Authored, FetchData, ModuleSources,
    authored::shown,
    fetch, lock,
    repository::{is_free, lockfile_missing, require_lockfile},
};

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateRequest {
    /// Lock even if there is a lockfile.
    pub lock: bool,
    /// Do not lock.
    pub no_lock: bool,
    /// Do not fetch.
    pub no_fetch: bool,
}

/// The steps to take. Without one, nothing is written and no consent is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSteps {
    /// Whether to lock.
    pub lock: bool,
    /// Whether to fetch.
    pub fetch: bool,
}

impl DueSteps {
    /// Whether there is a step at all.
    pub const fn any(self) -> bool {
        self.lock || self.fetch
    }
}

impl UpdateRequest {
    /// The steps that are due in a repository. What is not wanted beats what is.
    pub fn due(&self, repo: &Path) -> Result<DueSteps, Problem> {
        let missing = is_free(&repo.join(LOCKFILE))?;
        let due = DueSteps {
            lock: (missing || self.lock) && !self.no_lock,
            fetch: !self.no_fetch,
        };
        if due.fetch && missing && !due.lock {
            return Err(
                lockfile_missing(repo).with("hint", "leave out --no-lock, or run lock first")
            );
        }
        Ok(due)
    }
}

/// The `data` of `update`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateData {
    /// The lockfile.
    pub lockfile: String,
    /// The same with `/`.
    pub lockfile_posix: String,
    /// The cache.
    pub store: String,
    /// The same with `/`.
    pub store_posix: String,
    /// What was done, in order.
    pub steps: Vec<UpdateStep>,
    /// How many modules were brought in or verified.
    pub git_modules_fetched: usize,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateStep {
    /// `lock` or `fetch`.
    pub name: &'static str,
    /// Whether it went well; one that did not ends the command.
    pub ok: bool,
    /// The `data` of the step's own command.
    pub detail: Value,
}

/// Takes the steps that are due.
pub fn update(
    sources: &ModuleSources<'_>,
    due: DueSteps,
    now: Timestamp,
) -> Result<Authored<UpdateData>, Problem> {
    let mut steps = Vec::new();
    let mut outcome = Authored::inside(sources.repo, (), Vec::new());
    let mut locked = None;
    if due.lock {
        let done = lock(sources, now)?;
        let data = &done.outcome.data;
        steps.push(UpdateStep {
            name: "lock",
            ok: true,
            detail: json!({
                "lockfile": data.lockfile,
                "lockfile_posix": data.lockfile_posix,
                "modules": data.modules,
            }),
        });
        outcome.writes = done.outcome.writes;
        outcome.roots = done.outcome.roots;
        outcome.warnings = done.outcome.warnings;
        locked = Some(done.lockfile);
    }
    let mut fetched = 0;
    if due.fetch {
        let lockfile = match locked {
            Some(lockfile) => lockfile,
            None => require_lockfile(sources.repo)?,
        };
        let data = fetch(sources, &lockfile)?;
        fetched = data.git_modules_fetched;
        steps.push(UpdateStep {
            name: "fetch",
            ok: true,
            detail: json!({
                "store": data.store,
                "store_posix": data.store_posix,
                "git_modules_fetched": fetched,
            }),
        });
    }
    Ok(Authored {
        data: data(sources.repo, sources.checkouts.home(), steps, fetched),
        writes: outcome.writes,
        roots: outcome.roots,
        warnings: outcome.warnings,
    })
}

fn data(repo: &Path, home: &PackHome, steps: Vec<UpdateStep>, fetched: usize) -> UpdateData {
    let lockfile = repo.join(LOCKFILE);
    let store = FetchData::new(home, fetched);
    UpdateData {
        lockfile: shown(&lockfile),
        lockfile_posix: fault::posix(&lockfile),
        store: store.store,
        store_posix: store.store_posix,
        steps,
        git_modules_fetched: fetched,
    }
}
