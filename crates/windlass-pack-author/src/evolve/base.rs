//! Finds the file an overlay's edit started from: in a checkout of the baseline's commit, or in
//! the history of the config repository. What is found counts only if its digest is the
//! baseline's.

use std::{collections::BTreeMap, path::Path};

use windlass_pack_deploy::render::SourceTree;
use windlass_pack_model::{GitSource, Module, RelPath, Upstream, fault};
use windlass_ports::git::GitError;
use windlass_types::{Digest, Problem};

use crate::{
    evolve::{context::Context, fault_git, read},
    git_fault::chain,
};

/// A file that is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) path: &'a RelPath,
    pub(crate) digest: Digest,
    /// Where it should be.
    pub(crate) place: Option<&'a Upstream>,
}

/// Finds files, with one git process for all that lie in one revision.
pub(crate) fn find(
    context: &Context<'_>,
    module: &Module,
    source: &SourceTree,
    wanted: &[Wanted<'_>],
) -> Result<BTreeMap<RelPath, Vec<u8>>, Problem> {
    let mut found = BTreeMap::new();
    let mut places: Vec<(Option<&Upstream>, Vec<Wanted<'_>>)> = Vec::new();
    for wanted in wanted {
        // Nothing changed upstream: the file is at hand.
        if let Some(content) = source.tree.get(wanted.path)
            && content.digest == wanted.digest
        {
            found.insert(wanted.path.clone(), read::content(content)?);
            continue;
        }
        match places.iter_mut().find(|(place, _)| *place == wanted.place) {
            Some((_, list)) => list.push(*wanted),
            None => places.push((wanted.place, vec![*wanted])),
        }
    }
    for (place, list) in places {
        let contents = match place {
            Some(Upstream::Git {
                url,
                commit,
                subdir,
            }) => in_checkout(context, module, (url, commit, subdir), &list)?,
            Some(Upstream::LocalPath {
                repo_rel_path,
                repo_git_rev: Some(revision),
                ..
            }) => in_history(context, module, repo_rel_path, revision, &list)?,
            Some(Upstream::LocalPath { .. }) => {
                return Err(unsupported(
                    module,
                    "its baseline names no commit of the config repository",
                ));
            }
            None => {
                return Err(unsupported(
                    module,
                    "its baseline does not say where the upstream came from",
                ));
            }
        };
        for (wanted, content) in list.iter().zip(contents) {
            found.insert(wanted.path.clone(), check(module, wanted, content)?);
        }
    }
    Ok(found)
}

fn in_checkout(
    context: &Context<'_>,
    module: &Module,
    (url, commit, subdir): (&str, &str, &str),
    list: &[Wanted<'_>],
) -> Result<Vec<Option<Vec<u8>>>, Problem> {
    let source = GitSource {
        url: url.to_owned(),
        reference: commit.to_owned(),
        subdir: subdir.to_owned(),
        shallow: false,
    };
    let below = source.subdir_path().map_err(|error| {
        unsupported(
            module,
            &format!("the subdir of its baseline is not usable: {error}"),
        )
    })?;
    let checkout = context
        .input
        .checkouts
        .checkout(&module.id, &source, Some(commit))?;
    let root = match &below {
        Some(below) => below.under(&checkout),
        None => checkout,
    };
    list.iter()
        .map(|wanted| {
            let bytes = read::bytes_if_present(&wanted.path.under(&root))?;
            match bytes {
                None if is_itself(&root, wanted.path) => read::bytes_if_present(&root),
                bytes => Ok(bytes),
            }
        })
        .collect()
}

fn in_history(
    context: &Context<'_>,
    module: &Module,
    repo_rel_path: &str,
    revision: &str,
    list: &[Wanted<'_>],
) -> Result<Vec<Option<Vec<u8>>>, Problem> {
    let parts: Vec<&str> = repo_rel_path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let root = match parts.as_slice() {
        [] => None,
        parts => Some(RelPath::new(parts.join("/")).map_err(|error| {
            unsupported(
                module,
                &format!("the path of its baseline is not usable: {error}"),
            )
        })?),
    };
    // A module of one file is that file; any other is a directory.
    let candidates: Vec<Vec<String>> = list
        .iter()
        .map(|wanted| match &root {
            None => vec![wanted.path.to_string()],
            Some(root) if is_itself(Path::new(root.as_str()), wanted.path) => {
                vec![root.join(wanted.path).to_string(), root.to_string()]
            }
            Some(root) => vec![root.join(wanted.path).to_string()],
        })
        .collect();
    let paths: Vec<&Path> = candidates.iter().flatten().map(Path::new).collect();
    let repo = context.input.repo;
    let blobs = context
        .git
        .blobs(repo, revision, &paths)
        .map_err(|error| match error {
            GitError::NotInstalled => fault_git::problem(&error, repo),
            error => unsupported(
                module,
                &format!(
                    "commit {revision} of the config repository cannot be read: {}",
                    chain(&error)
                ),
            )
            .with("revision", revision),
        })?;
    let mut blobs = blobs.into_iter();
    Ok(candidates
        .iter()
        .map(|paths| {
            let of_file: Vec<_> = blobs.by_ref().take(paths.len()).collect();
            of_file.into_iter().flatten().next()
        })
        .collect())
}

/// Whether a path inside a module can be the module itself: a source of one file.
fn is_itself(root: &Path, path: &RelPath) -> bool {
    root.file_name().is_some_and(|name| name == path.as_str())
}

fn check(
    module: &Module,
    wanted: &Wanted<'_>,
    content: Option<Vec<u8>>,
) -> Result<Vec<u8>, Problem> {
    let digest = content.as_deref().map(Digest::of);
    match content {
        Some(bytes) if digest == Some(wanted.digest) => Ok(bytes),
        content => {
            let cause = match content {
                Some(_) => "a different file was found there",
                None => "the file is not there",
            };
            Err(unsupported(
                module,
                &format!(
                    "{} cannot be found as its baseline has it: {cause}",
                    wanted.path
                ),
            )
            .with("path", wanted.path.as_str())
            .with("expected_sha256", wanted.digest.to_string())
            .with("base_sha256", digest.map(|digest| digest.to_string())))
        }
    }
}

pub(crate) fn unsupported(module: &Module, cause: &str) -> Problem {
    fault::overlay_baseline_unsupported(format!(
        "the overlay of module {} cannot be rebased: {cause}",
        module.id
    ))
    .with("module_id", module.id.as_str())
    .with(
        "hint",
        "commit the config repository, delete .agentpack/baseline.json of the overlay and run overlay edit to write it again; the overlay keeps its files",
    )
}
