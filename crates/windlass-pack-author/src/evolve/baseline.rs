//! The baseline and the other metadata of an overlay that is made or brought up to date now.

use windlass_pack_deploy::render::SourceTree;
use windlass_pack_model::{
    Baseline, Module, OverlayConfig, OverlayKind, Source, Upstream, lockfile, overlay,
    source::leaves_repository,
};
use windlass_ports::git::is_commit_id;
use windlass_types::Problem;

use crate::evolve::{
    context::Context,
    fault_git,
    overlay::{BASELINE, CONFIG, MODULE_ID, metadata_file},
    writes::Writes,
};

/// The baseline of a module's files as they are now.
pub(crate) fn current(
    context: &Context<'_>,
    module: &Module,
    source: &SourceTree,
) -> Result<Baseline, Problem> {
    let file_manifest = source.records();
    Ok(Baseline {
        version: overlay::BASELINE_VERSION,
        created_at: context.now.to_owned(),
        upstream_sha256: lockfile::module_hash(&file_manifest),
        file_manifest,
        upstream: upstream(context, module, source)?,
    })
}

/// Adds the metadata files an overlay lacks.
pub(crate) fn complete(
    context: &Context<'_>,
    module: &Module,
    source: &SourceTree,
    overlay_dir: &std::path::Path,
    kind: OverlayKind,
    writes: &mut Writes,
) -> Result<(), Problem> {
    let baseline = metadata_file(overlay_dir, BASELINE);
    if std::fs::symlink_metadata(&baseline).is_err() {
        writes.put_if_absent(baseline, current(context, module, source)?.render());
    }
    writes.put_if_absent(
        metadata_file(overlay_dir, MODULE_ID),
        format!("{}\n", module.id),
    );
    let config = OverlayConfig {
        overlay_kind: kind,
        delete: Vec::new(),
    };
    writes.put_if_absent(metadata_file(overlay_dir, CONFIG), config.render());
    Ok(())
}

/// Where the module's files can be found again later; nothing when they lie outside the
/// repository.
pub(crate) fn upstream(
    context: &Context<'_>,
    module: &Module,
    source: &SourceTree,
) -> Result<Option<Upstream>, Problem> {
    match &module.source {
        Source::Git(git) => {
            let locked = context
                .input
                .lockfile
                .and_then(|lockfile| lockfile.module(&module.id))
                .and_then(|module| module.resolved_source.git.as_ref());
            if let Some(locked) = locked {
                return Ok(Some(Upstream::Git {
                    url: locked.url.clone(),
                    commit: locked.commit.clone(),
                    subdir: locked.subdir.clone(),
                }));
            }
            // Checkouts lie in directories named after their commit.
            let checked_out = source
                .path
                .ancestors()
                .filter_map(|dir| dir.file_name()?.to_str())
                .find(|name| is_commit_id(name));
            let commit = match checked_out {
                Some(commit) => commit.to_owned(),
                None => context
                    .git
                    .resolve(&git.url, &git.reference)
                    .map_err(|error| fault_git::problem(&error, context.input.repo))?,
            };
            Ok(Some(Upstream::Git {
                url: git.url.clone(),
                commit,
                subdir: git.subdir.clone(),
            }))
        }
        Source::LocalPath { path } if leaves_repository(path).is_some() => Ok(None),
        Source::LocalPath { .. } => {
            let repo = context.input.repo;
            let real = std::fs::canonicalize(repo).unwrap_or_else(|_| repo.to_owned());
            let Ok(below) = source.path.strip_prefix(&real) else {
                return Ok(None);
            };
            let (repo_git_rev, repo_dirty) = revision(context);
            Ok(Some(Upstream::LocalPath {
                repo_rel_path: windlass_pack_model::fault::posix(below),
                repo_git_rev,
                repo_dirty,
            }))
        }
    }
}

/// The repository's commit and whether there are uncommitted changes; nothing outside of git. An
/// overlay can be made without git, it just cannot be rebased then.
fn revision(context: &Context<'_>) -> (Option<String>, Option<bool>) {
    let repo = context.input.repo;
    match context.git.toplevel(repo) {
        Ok(Some(_)) => {}
        _ => return (None, None),
    }
    let commit = context.git.head(repo).ok().and_then(|head| head.commit);
    let dirty = context.git.is_clean(repo).ok().map(|clean| !clean);
    (commit, dirty)
}
