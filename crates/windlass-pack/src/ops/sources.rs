//! `lock`, `fetch`, `update`: which commits modules come from, and having them here.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::{
    GitCheckouts, ManifestFile, ModuleSources, UpdateRequest, fetch as fetch_locked,
    lock as lock_modules, read_manifest, require_lockfile, update as update_sources,
};
use windlass_pack_deploy::state::StatCache;
use windlass_types::Problem;

use super::{Shop, manifest::finish, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.change(
            "lock",
            "Lock module sources",
            "Resolves every module to a commit or content and writes the lockfile.",
            lock,
        ),
        shop.change(
            "fetch",
            "Fetch locked sources",
            "Checks out every locked git source and verifies its content.",
            fetch,
        ),
        shop.change(
            "update",
            "Lock and fetch",
            "Locks where needed, then fetches.",
            update,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct SourcesInput {
    #[serde(flatten)]
    common: Common,
    /// Lock even when there is a lockfile.
    #[serde(default)]
    lock: bool,
    /// Fetch, which is the default.
    #[serde(default, rename = "fetch")]
    _fetch: bool,
    /// Do not lock.
    #[serde(default)]
    no_lock: bool,
    /// Do not fetch.
    #[serde(default)]
    no_fetch: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

/// Opens the sources of a repository for some work. A dry run checks out beside the cache and
/// leaves nothing behind.
fn with_sources<T>(
    pack: &Pack,
    moment: &Moment,
    input: &SourcesInput,
    work: impl FnOnce(&ModuleSources<'_>) -> Result<T, Problem>,
) -> Result<(T, Vec<String>), Problem> {
    let repo = pack.repo(&input.common, moment);
    let ManifestFile {
        manifest, warnings, ..
    } = read_manifest(&repo)?;
    let state = pack.state();
    let temporary = tempfile::tempdir()
        .map_err(|error| windlass_pack_model::fault::io("make", &std::env::temp_dir(), &error))?;
    let checkouts = match input.dry_run {
        true => GitCheckouts::passing(state.home(), &*pack.git, temporary.path()),
        false => GitCheckouts::new(state.home(), &*pack.git),
    };
    let hashes = StatCache::open(pack.environment.stat_cache.clone(), moment.now);
    let done = work(&ModuleSources {
        repo: &repo,
        manifest: &manifest,
        checkouts: &checkouts,
        hashes: &hashes,
    })?;
    Ok((done, warnings.iter().map(ToString::to_string).collect()))
}

fn lock(pack: &Pack, moment: &Moment, input: SourcesInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "lock")?;
    let (mut locked, warnings) = with_sources(pack, moment, &input, |sources| {
        lock_modules(sources, moment.now)
    })?;
    locked.outcome.warnings.extend(warnings);
    finish(pack, moment, &locked.outcome, input.dry_run)
}

fn fetch(pack: &Pack, moment: &Moment, input: SourcesInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "fetch")?;
    let lockfile = require_lockfile(&pack.repo(&input.common, moment))?;
    let (data, warnings) = with_sources(pack, moment, &input, |sources| {
        fetch_locked(sources, &lockfile)
    })?;
    Ok(with_warnings(value(&data)?, warnings))
}

fn update(pack: &Pack, moment: &Moment, input: SourcesInput) -> Result<Value, Problem> {
    let request = UpdateRequest {
        lock: input.lock,
        no_lock: input.no_lock,
        no_fetch: input.no_fetch,
    };
    let due = request.due(&pack.repo(&input.common, moment))?;
    if due.lock || due.fetch {
        require_yes(input.yes || input.dry_run, "update")?;
    }
    let (mut authored, warnings) = with_sources(pack, moment, &input, |sources| {
        update_sources(sources, due, moment.now)
    })?;
    authored.warnings.extend(warnings);
    finish(pack, moment, &authored, input.dry_run)
}
