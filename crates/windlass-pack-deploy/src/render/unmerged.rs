//! Conflict markers that a stopped merge or rebase left in a file. Such a file is not deployed.
//!
//! A conflict is the whole sequence of marker lines. In Markdown one inside a code block may be an
//! example, so it counts only where a merge is known to be unfinished.

use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_pack_model::fault;
use windlass_types::Problem;

/// Most files and most lines a refusal names.
const NAMED: usize = 20;
const OPEN: &[u8] = b"<<<<<<< ";
const MIDDLE: &[u8] = b"=======";
const CLOSE: &[u8] = b">>>>>>> ";

/// A file with conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmerged {
    pub(crate) path: PathBuf,
    pub(crate) conflicts: Vec<Conflict>,
}

/// The place of one conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The line of its first marker, from one.
    pub(crate) line: usize,
    /// Whether it is inside a code block.
    fenced: bool,
}

/// The conflicts in a file.
pub(crate) fn conflicts(path: &Path, bytes: &[u8]) -> Vec<Conflict> {
    let mut found = Vec::new();
    if !bytes.windows(OPEN.len()).any(|window| window == OPEN) {
        return found;
    }
    let markdown = path
        .extension()
        .is_some_and(|extension| matches!(extension.to_str(), Some("md" | "mdc")));
    let mut fence: Option<&[u8]> = None;
    let mut open: Option<(usize, bool)> = None;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(OPEN) {
            open = Some((index + 1, false));
        } else if line == MIDDLE {
            open = open.map(|(start, _)| (start, true));
        } else if line.starts_with(CLOSE) {
            if let Some((line, true)) = open.take() {
                let fenced = fence.is_some();
                found.push(Conflict { line, fenced });
            }
        } else if markdown {
            let text = line.trim_ascii_start();
            for mark in [b"```".as_slice(), b"~~~"] {
                if text.starts_with(mark) {
                    fence = match fence {
                        None => Some(mark),
                        Some(begun) if begun == mark => None,
                        begun => begun,
                    };
                }
            }
        }
    }
    found
}

impl Unmerged {
    /// The file, if it may not be deployed.
    pub(crate) fn refused(mut self, merging: bool) -> Option<Self> {
        self.conflicts
            .retain(|conflict| merging || !conflict.fenced);
        (!self.conflicts.is_empty()).then_some(self)
    }

    fn lines(&self) -> Vec<usize> {
        let lines = self.conflicts.iter().map(|conflict| conflict.line);
        lines.take(NAMED).collect()
    }
}

/// Refuses files with conflicts, naming files and lines.
pub(crate) fn refuse(files: &[Unmerged]) -> Result<(), Problem> {
    if files.is_empty() {
        return Ok(());
    }
    let places: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let path = file.path.display();
            file.lines()
                .into_iter()
                .map(move |line| format!("{path}:{line}"))
        })
        .take(NAMED)
        .collect();
    let named: Vec<_> = files
        .iter()
        .take(NAMED)
        .map(|file| json!({ "path": file.path.display().to_string(), "lines": file.lines() }))
        .collect();
    Err(fault::config_invalid(format!(
        "conflict markers of an unfinished merge or rebase are left in {}; resolve the conflicts, then run the command again",
        places.join(", ")
    ))
    .with("unmerged", named))
}

/// Whether git says that a merge, rebase, cherry-pick or revert in a repository is unfinished.
pub(crate) fn is_merging(repo: &Path) -> bool {
    let dot_git = repo.join(".git");
    let git_dir = match fs_err::read_to_string(&dot_git) {
        // A worktree has a file there that names the directory.
        Ok(text) => match text.strip_prefix("gitdir:") {
            Some(named) => repo.join(named.trim()),
            None => return false,
        },
        Err(_) => dot_git,
    };
    [
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "rebase-merge",
        "rebase-apply",
    ]
    .iter()
    .any(|name| git_dir.join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_the_whole_sequence_of_markers() {
        let whole = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n";
        for (text, lines) in [
            (whole.to_owned(), vec![(1, false)]),
            (
                format!("a\n{whole}b\n{whole}"),
                vec![(2, false), (8, false)],
            ),
            (whole.replace('\n', "\r\n"), vec![(1, false)]),
            (
                whole.replace("a\n", "a\n||||||| base\nc\n"),
                vec![(1, false)],
            ),
            (format!("```\n{whole}```\n"), vec![(2, true)]),
            (format!("```\n~~~\n```\n{whole}"), vec![(4, false)]),
            ("Title\n=======\n".to_owned(), vec![]),
            ("<<<<<<< HEAD\nsaid in a text\n".to_owned(), vec![]),
            ("x <<<<<<< HEAD\n=======\n>>>>>>> main".to_owned(), vec![]),
            (">>>>>>> a\n=======\n<<<<<<< b\n".to_owned(), vec![]),
            (whole.trim_end().to_owned(), vec![(1, false)]),
        ] {
            let found = conflicts(Path::new("a.md"), text.as_bytes());
            let found: Vec<_> = found.iter().map(|it| (it.line, it.fenced)).collect();
            assert_eq!(found, lines, "{text}");
        }
        // A script has no code blocks.
        let script = format!("```\n{whole}");
        assert!(!conflicts(Path::new("a.sh"), script.as_bytes())[0].fenced);
    }
}
