//! Branch and commit of a plain repository, from `HEAD`, loose and packed references.

use std::io::ErrorKind;

use windlass_ports::git::{Head, check_reference, is_commit_id};

use super::Certainty;
use super::discover::Repository;

pub fn head(repository: &Repository) -> Certainty<Head> {
    let Some(reference) = repository.head.strip_prefix("ref: ") else {
        return Certainty::Certain(Head {
            branch: None,
            commit: Some(repository.head.to_ascii_lowercase()),
        });
    };
    // Also keeps `..` out of the path below.
    let branch = match reference.strip_prefix("refs/heads/") {
        Some(branch) if check_reference(branch).is_ok() => branch.to_owned(),
        _ => return Certainty::Unsure,
    };
    let commit = match loose(repository, reference) {
        Certainty::Certain(None) => packed(repository, reference),
        found => found,
    };
    match commit {
        Certainty::Certain(commit) => Certainty::Certain(Head {
            branch: Some(branch),
            commit,
        }),
        Certainty::Unsure => Certainty::Unsure,
    }
}

fn loose(repository: &Repository, reference: &str) -> Certainty<Option<String>> {
    match fs_err::read_to_string(repository.git_dir.join(reference)) {
        Ok(text) => match text.strip_suffix('\n') {
            Some(id) if is_commit_id(id) => Certainty::Certain(Some(id.to_owned())),
            _ => Certainty::Unsure,
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Certainty::Certain(None),
        Err(_) => Certainty::Unsure,
    }
}

fn packed(repository: &Repository, reference: &str) -> Certainty<Option<String>> {
    let text = match fs_err::read_to_string(repository.git_dir.join("packed-refs")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Certainty::Certain(None),
        Err(_) => return Certainty::Unsure,
    };
    // `<id> <reference>`; lines that start with `#` or `^` have another form.
    let found = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(id, name)| *name == reference && is_commit_id(id));
    Certainty::Certain(found.map(|(id, _)| id.to_owned()))
}
