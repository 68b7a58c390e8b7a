//! What `.gitignore` files leave out, read beneath open directories.

use std::path::{Path, PathBuf};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use windlass_files::Directory;

/// A longer file of rules is not one.
const MOST_BYTES: u64 = 1 << 20;

/// The rules in force in a directory, outermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Vec<Gitignore>);

impl Rules {
    /// Adds those of an open directory.
    pub(super) fn enter(&mut self, directory: &Directory, path: &Path) {
        for file in [".git/info/exclude", ".gitignore", ".ignore"] {
            // What cannot be read leaves nothing out.
            let Ok(Some(bytes)) = directory.read(Path::new(file), MOST_BYTES) else {
                continue;
            };
            let mut builder = GitignoreBuilder::new(path);
            for line in String::from_utf8_lossy(&bytes).lines() {
                // A line that is no pattern is skipped, as git does.
                let _ = builder.add_line(None, line);
            }
            if let Ok(rules) = builder.build() {
                self.0.push(rules);
            }
        }
    }

    /// Those of a root and of every directory between it and one below it.
    pub(super) fn down_to(root: &Directory, below: &Path) -> Self {
        let mut rules = Self::default();
        let mut path = PathBuf::new();
        rules.enter(root, root.path());
        for part in below.components() {
            path.push(part);
            let Ok(next) = root.directory(&path) else {
                break;
            };
            rules.enter(&next, &root.path().join(&path));
        }
        rules
    }

    /// Whether a path is left out. Git's own directory is.
    pub(super) fn hide(&self, path: &Path, is_directory: bool) -> bool {
        if path.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        for rules in self.0.iter().rev() {
            match rules.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// A pattern for names or paths, as in `.gitignore`.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Gitignore);

impl Pattern {
    pub(super) fn new(base: &Path, text: &str) -> Result<Self, String> {
        if text.trim().is_empty() || text.starts_with(['!', '#']) {
            return Err("it is empty, or begins with ! or #".to_owned());
        }
        let mut builder = GitignoreBuilder::new(base);
        builder
            .add_line(None, text)
            .map_err(|error| error.to_string())?;
        builder.build().map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn fits(&self, path: &Path) -> bool {
        self.0.matched(path, false).is_ignore()
    }
}
