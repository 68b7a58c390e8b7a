//! What a proof is given: a kind, worlds to act on, and what people answer.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use windlass_engine::Domain;
use windlass_ports::BoxFuture;
use windlass_types::{Digest, RunRecord, WaitingOn};

use crate::Process;

/// A run to be tried in every way.
pub struct ProofCase {
    /// The kind.
    pub kind: String,
    /// Fresh worlds to act on.
    pub world: Box<dyn WorldFactory>,
    /// What people answer.
    pub script: Script,
}

/// Makes a fresh world for every try.
pub trait WorldFactory: Send + Sync {
    /// A world that nothing has acted on.
    fn fresh(&self) -> Arc<dyn ProofWorld>;
}

impl<F> WorldFactory for F
where
    F: Fn() -> Arc<dyn ProofWorld> + Send + Sync,
{
    fn fresh(&self) -> Arc<dyn ProofWorld> {
        self()
    }
}

/// What runs act on.
pub trait ProofWorld: Send + Sync + 'static {
    /// The domains, acting on this world. Called once per process.
    fn domains(&self) -> Vec<Box<dyn Domain>>;

    /// The input of the run.
    fn input(&self) -> Value;

    /// The input of a run that needs others before it: they are made here, by a process that
    /// ends before the proof begins. Most runs need none.
    fn prepare<'a>(&'a self, _process: &'a mut Process) -> BoxFuture<'a, Value> {
        Box::pin(async { self.input() })
    }

    /// The digest of everything a run may change.
    fn state_hash(&self) -> Digest;

    /// The effects that took place, where the world records them; the same run must cause the same
    /// ones however often it was interrupted.
    fn effects(&self) -> Vec<String> {
        Vec::new()
    }

    /// The text without what differs from world to world, such as a scratch directory's name.
    fn normalise(&self, text: String) -> String {
        text
    }

    /// Whether an event of that name depends on process restarts, so that a run which was
    /// interrupted may have more of them.
    fn depends_on_restarts(&self, _event: &str) -> bool {
        false
    }

    /// Whether steps also work on other threads, so that time must not run ahead of them.
    fn uses_threads(&self) -> bool {
        false
    }
}

/// What a person or an outside system does about a wait.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Nothing, now or later.
    Nothing,
    /// Says yes to an approval.
    Approve,
    /// Says no to an approval.
    Reject,
    /// Sends the signal that is waited for.
    Signal(Value),
}

type Answer = dyn Fn(&RunRecord, &WaitingOn) -> Reaction + Send + Sync;

/// What people answer, as a function of what a run waits for.
#[derive(Clone)]
pub struct Script(Arc<Answer>);

impl Script {
    /// Answers as the function says; asked once per wait.
    pub fn new(
        answer: impl Fn(&RunRecord, &WaitingOn) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    /// Approves whatever is asked and sends no other signal.
    pub fn approve_all() -> Self {
        Self::new(|_, on| {
            if on.what == "approval" {
                Reaction::Approve
            } else {
                Reaction::Nothing
            }
        })
    }

    pub(super) fn react(&self, record: &RunRecord, on: &WaitingOn) -> Reaction {
        (self.0)(record, on)
    }
}

/// A scratch directory as a world: its state is the tree of files in it.
pub struct DirectoryWorld {
    directory: tempfile::TempDir,
    domains: fn() -> Vec<Box<dyn Domain>>,
    input: Value,
}

impl DirectoryWorld {
    /// Fresh directories with some files in them. `input` makes the run's input for a directory.
    pub fn factory(
        domains: fn() -> Vec<Box<dyn Domain>>,
        files: &'static [(&'static str, &'static str)],
        input: impl Fn(&Path) -> Value + Send + Sync + 'static,
    ) -> Box<dyn WorldFactory> {
        Box::new(move || {
            let directory = scratch().expect("a scratch directory can be made");
            for (name, content) in files {
                let path = directory.path().join(name);
                fs_err::create_dir_all(path.parent().expect("a file has a directory"))
                    .expect("it can be made");
                fs_err::write(path, content).expect("a scratch file can be written");
            }
            let input = input(directory.path());
            Arc::new(Self {
                directory,
                domains,
                input,
            }) as Arc<dyn ProofWorld>
        })
    }
}

/// A fresh directory, in memory where there is such a place: proofs flush thousands of files
/// whose survival nobody asks about.
fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

impl ProofWorld for DirectoryWorld {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        (self.domains)()
    }

    fn input(&self) -> Value {
        self.input.clone()
    }

    fn state_hash(&self) -> Digest {
        let mut listing = String::new();
        list(self.directory.path(), &PathBuf::new(), &mut listing);
        Digest::of(listing.as_bytes())
    }

    fn normalise(&self, text: String) -> String {
        text.replace(&self.directory.path().display().to_string(), "SCRATCH")
    }

    fn uses_threads(&self) -> bool {
        true
    }
}

/// One line per entry: its path, what it is, and the digest of its content.
fn list(root: &Path, below: &Path, listing: &mut String) {
    let mut entries: Vec<_> = fs_err::read_dir(root.join(below))
        .expect("the scratch directory can be read")
        .map(|entry| entry.expect("its entries can be read"))
        .collect();
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = below.join(entry.file_name());
        let kind = entry.file_type().expect("an entry has a type");
        let content = if kind.is_dir() {
            "directory".to_owned()
        } else if kind.is_symlink() {
            format!(
                "→ {}",
                fs_err::read_link(entry.path())
                    .expect("a link can be read")
                    .display()
            )
        } else {
            Digest::of(&fs_err::read(entry.path()).expect("a file can be read")).to_string()
        };
        writeln!(listing, "{} {content}", path.display()).expect("text can be written to a string");
        if kind.is_dir() {
            list(root, &path, listing);
        }
    }
}
