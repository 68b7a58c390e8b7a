//! What goes into a package, before it is packed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::package::tree::{Found, Node};

/// Where the bytes of an entry are.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// One file of a package.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub path: String,
    pub body: Body,
    pub executable: bool,
}

/// The files of a package by their path, and what they were made from.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    entries: BTreeMap<String, Entry>,
    /// The handler as Lambda writes it.
    pub handler: Option<String>,
    /// The file that is started, for images.
    pub start: String,
    /// Every file whose contents the package depends on.
    pub inputs: Vec<PathBuf>,
    /// Folders with made files; they live as long as this.
    pub made: Vec<TempDir>,
}

impl Staged {
    /// Adds an entry; one that is there already stays.
    pub fn add(&mut self, entry: Entry) {
        self.entries.entry(entry.path.clone()).or_insert(entry);
    }

    /// Adds a found file under another path; its contents are an input.
    pub fn add_found(&mut self, path: String, found: Found) {
        if let Node::File { source, executable } = found.node {
            self.inputs.push(source.clone());
            self.add(Entry {
                path,
                body: Body::File(source),
                executable,
            });
        }
    }

    /// Leaves out what is excluded.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|path, _| keep(path));
    }

    /// All entries, sorted by path; the failure is a sentence.
    pub fn entries(&self) -> Result<Vec<Entry>, String> {
        if let Some(path) = self.entries.keys().find(|path| is_odd(path)) {
            return Err(format!("the name {path:?} cannot be in a package"));
        }
        Ok(self.entries.values().cloned().collect())
    }
}

/// Names that are unpacked differently on different systems, or out of the folder.
fn is_odd(path: &str) -> bool {
    path.is_empty()
        || path.starts_with('/')
        || path.contains('\\')
        || path.chars().any(char::is_control)
        || path
            .split('/')
            .any(|segment| matches!(segment, "" | "." | ".."))
}
