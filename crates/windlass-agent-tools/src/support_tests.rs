//! A session for tests: a work tree, a home, and ports that answer from memory.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use windlass_ports::{BlobError, BlobStore, BoxFuture, Clock, Entropy};
use windlass_process::Workplace;
use windlass_types::{Digest, Secret, Timestamp};

use crate::{
    Context, FileChange, Hiding, Outcome, Places, Ran, Secrets, Spills, Tasks, Tools, Veil,
};

/// A session in a temporary directory: `work` is the work tree, `home` the user's home.
pub(crate) struct Session {
    pub folder: TempDir,
    pub context: Context,
    pub tools: Tools,
    pub blobs: Arc<MemoryBlobs>,
}

impl Session {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        for name in ["work", "home/.windlass", "outside"] {
            fs_err::create_dir_all(real.join(name)).unwrap();
        }
        fs_err::write(real.join("outside/secret"), "outside\n").unwrap();
        let spills = Spills::create(&real.join("spills")).unwrap();
        let places = Places::open(
            &real.join("work"),
            &real.join("home"),
            &real.join("home/.windlass"),
        )
        .and_then(|places| places.and_readable(&real.join("spills")))
        .unwrap();
        let workplace = Workplace::below(&real.join("places"), "tools-").unwrap();
        let blobs = Arc::new(MemoryBlobs::default());
        let path = std::env::var_os("PATH").unwrap();
        let environment: Vec<(OsString, OsString)> = vec![("PATH".into(), path)];
        Self {
            folder,
            context: Context {
                places: Arc::new(places),
                blobs: blobs.clone(),
                spills: Arc::new(spills),
                hiding: Arc::new(HidesHunter),
                secrets: Some(Arc::new(Kept)),
                sandbox: None,
                environment: environment.into(),
                tasks: Arc::new(Tasks::new(workplace)),
                outbound: None,
                docs: None,
                skills: None,
                clock: Arc::new(Still),
                entropy: Arc::new(Counting(AtomicU64::new(1))),
                may_read_outside: false,
                is_attended: true,
                cancel: CancellationToken::new(),
                progress: None,
            },
            tools: Tools::standard(),
            blobs,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root().join("work").join(below)
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, below: &str) -> Vec<u8> {
        fs_err::read(self.path(below)).unwrap()
    }

    /// Checks, looks and runs.
    pub(crate) async fn ran(&self, tool: &str, input: Value) -> Ran {
        let call = windlass_ports::ToolCall::new("1", tool, input.to_string());
        let looked = self.tools.arguments(&call).and_then(|input| {
            self.tools.look(tool, &input, &self.context.places)?;
            Ok(input)
        });
        match looked {
            Ok(input) => self.tools.run(tool, input, &self.context).await,
            Err(unfit) => Ran::Done(crate::Failure::from(unfit).into()),
        }
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Outcome {
        match self.ran(tool, input).await {
            Ran::Done(outcome) => outcome,
            Ran::Asks(questions) => panic!("{questions:?}"),
        }
    }

    /// Calls that are refused with these codes and change nothing.
    pub(crate) async fn refuses(&self, tool: &str, calls: impl IntoIterator<Item = (Value, &str)>) {
        let before = snapshot(&self.path(""));
        for (input, expected) in calls {
            let outcome = self.call(tool, input.clone()).await;
            assert_eq!(code(&outcome), expected, "{input}: {}", text(&outcome));
            assert!(outcome.changes.is_empty());
        }
        assert_eq!(snapshot(&self.path("")), before);
    }

    /// Takes changes back, and compares the work tree with what it was.
    pub(crate) async fn undoes(&self, changes: &[FileChange], before: &BTreeMap<String, String>) {
        let undone = crate::undo(changes, &self.context.places, self.blobs.as_ref()).await;
        assert_eq!(undone.left, []);
        assert_eq!(&snapshot(&self.path("")), before);
    }

    /// The text of a call, its paths shortened.
    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        text(&self.call(tool, input).await).replace(self.root().to_str().unwrap(), "")
    }
}

/// All texts of an outcome, one below the other.
pub(crate) fn text(outcome: &Outcome) -> String {
    let texts = outcome.parts.iter().filter_map(|part| match part {
        windlass_ports::Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn code(outcome: &Outcome) -> &'static str {
    outcome.failed.map_or("", crate::Code::as_str)
}

/// Everything below a directory: files with content and mode, links with their text.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<String, String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs_err::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode();
            let what = if metadata.is_symlink() {
                format!("link {}", fs_err::read_link(&path).unwrap().display())
            } else if metadata.is_dir() {
                open.push(path.clone());
                format!("{mode:o}")
            } else {
                format!("{mode:o} {:?}", fs_err::read(&path).unwrap())
            };
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), what);
        }
    }
    found
}

#[derive(Default)]
pub(crate) struct MemoryBlobs(Mutex<BTreeMap<Digest, Vec<u8>>>);

impl BlobStore for MemoryBlobs {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Digest, BlobError>> {
        let digest = Digest::of(&bytes);
        self.0.lock().unwrap().insert(digest, bytes);
        Box::pin(async move { Ok(digest) })
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        let found = self.0.lock().unwrap().get(&digest).cloned();
        Box::pin(async move { found.ok_or(BlobError::Missing(digest)) })
    }
}

/// Hides `hunter2`, also where it is cut.
struct HidesHunter;

struct HunterVeil(Vec<u8>);

const HUNTER: &[u8] = b"hunter2";

impl Hiding for HidesHunter {
    fn begin(&self) -> Box<dyn Veil> {
        Box::new(HunterVeil(Vec::new()))
    }
}

impl Veil for HunterVeil {
    fn push(&mut self, piece: &[u8], told: &mut Vec<u8>) {
        self.0.extend_from_slice(piece);
        while let Some(at) = memchr::memmem::find(&self.0, HUNTER) {
            told.extend_from_slice(&self.0[..at]);
            told.extend_from_slice(b"[REDACTED_SECRET:test:aaaaaa]");
            self.0.drain(..at + HUNTER.len());
        }
        let keep = (1..HUNTER.len())
            .rev()
            .find(|length| self.0.ends_with(&HUNTER[..*length]));
        let ready = self.0.len() - keep.unwrap_or(0);
        told.extend(self.0.drain(..ready));
    }

    fn finish(&mut self, told: &mut Vec<u8>) {
        told.append(&mut self.0);
    }
}

struct Kept;

impl Secrets for Kept {
    fn keep(&self, kind: &str, value: Secret<String>) -> Result<String, String> {
        Ok(format!(
            "[REDACTED_SECRET:{kind}:len{:03}]",
            value.expose_secret().len()
        ))
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// Not random, but never the same twice.
pub(crate) struct Counting(pub AtomicU64);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for byte in buffer {
            let next = self.0.fetch_add(1, Ordering::Relaxed);
            *byte = (next.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
    }
}
