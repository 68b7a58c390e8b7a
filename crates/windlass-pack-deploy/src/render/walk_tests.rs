//! What a walk reads and what it leaves alone.

use std::{collections::HashMap, sync::Mutex};

use proptest::prelude::*;

use super::*;

/// Counts questions and remembers by path alone: good enough while files stay as they are.
#[derive(Default)]
struct Memory {
    known: Mutex<HashMap<PathBuf, Digest>>,
    hits: Mutex<usize>,
    read: Mutex<Vec<Vec<u8>>>,
}

impl HashCache for Memory {
    fn digest(&self, path: &Path, _: &Metadata) -> Option<Digest> {
        let found = self.known.lock().unwrap().get(path).copied();
        *self.hits.lock().unwrap() += usize::from(found.is_some());
        found
    }

    fn read(&self, digest: Digest, bytes: &[u8]) {
        assert_eq!(digest, Digest::of(bytes));
        self.read.lock().unwrap().push(bytes.to_vec());
    }

    fn remember(&self, path: &Path, metadata: &Metadata, digest: Digest) {
        assert!(metadata.is_file());
        self.known.lock().unwrap().insert(path.to_owned(), digest);
    }
}

fn walk(root: &Path, hashes: &dyn HashCache) -> Found {
    let fence = Fence::new(vec![root.to_owned()], false);
    Walk {
        fence: &fence,
        hashes,
        layer: Layer::Upstream,
        keep_text: &|path| path == "SKILL.md",
        read_hidden: true,
    }
    .directory(root)
    .unwrap()
}

fn tree() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (path, text) in [
        ("SKILL.md", "skill"),
        ("a/b/c.txt", "deep"),
        ("a/SKILL.md", "not the skill's own"),
        (".git/config", "never"),
        ("a/.git/config", "never"),
        (".agentpack/note", "hidden"),
    ] {
        let path = root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    (dir, root)
}

#[test]
fn text_is_kept_only_where_it_is_needed() {
    let (_dir, root) = tree();
    let found = walk(&root, &windlass_pack_model::NoHashCache);
    let kept: Vec<(&str, bool)> = found
        .tree
        .iter()
        .map(|(path, content)| (path.as_str(), matches!(content.body, Body::Memory(_))))
        .collect();
    assert_eq!(
        kept,
        [
            ("SKILL.md", true),
            ("a/SKILL.md", false),
            ("a/b/c.txt", false)
        ]
    );
    let hidden: Vec<&str> = found.hidden.keys().map(RelPath::as_str).collect();
    assert_eq!(hidden, [".agentpack/note"]);
}

#[test]
fn known_digests_are_not_computed_again() {
    let (_dir, root) = tree();
    let memory = Memory::default();
    let first = walk(&root, &memory);
    assert_eq!(*memory.hits.lock().unwrap(), 0);
    let second = walk(&root, &memory);
    assert_eq!(first.tree, second.tree);
    // Everything but the file whose text is needed anyway.
    assert_eq!(*memory.hits.lock().unwrap(), 3);
    assert_eq!(memory.read.lock().unwrap().len(), 3, "shown once");
}

#[test]
fn the_size_that_was_expected_does_not_matter() {
    let (_dir, root) = tree();
    let path = root.join("file");
    for len in [0, 1, 2, 1023, 1024, 4096] {
        let bytes: Vec<u8> = (0..len).map(|at: u32| at.to_le_bytes()[0]).collect();
        fs_err::write(&path, &bytes).unwrap();
        let mut buffer = Vec::new();
        for expected in [0, 1, u64::from(len), u64::from(len) + 1, 5000] {
            assert_eq!(
                read(&mut buffer, &path, expected).unwrap(),
                bytes,
                "{len} {expected}"
            );
        }
    }
}

#[test]
fn large_files_are_hashed_in_pieces() {
    let (_dir, root) = tree();
    let path = root.join("file");
    let bytes = vec![7; usize::try_from(WHOLE).unwrap() + 12_345];
    fs_err::write(&path, &bytes).unwrap();
    let mut buffer = Vec::new();
    let found = hash_large(&mut buffer, &path).unwrap();
    assert_eq!(found, (Digest::of(&bytes), bytes.len() as u64));
    assert!(buffer.len() < bytes.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_tree_is_read_as_it_was_written(
        files in proptest::collection::btree_map("[a-z]{1,3}(/[a-z]{4,6}){0,3}", ".{0,40}", 1..8)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut written = HashMap::new();
        for (path, text) in &files {
            let file = root.join(path);
            // A name may be a directory's already, or lie below a file.
            if fs_err::create_dir_all(file.parent().unwrap()).is_ok() && fs_err::write(&file, text).is_ok() {
                written.insert(path.clone(), Digest::of(text.as_bytes()));
            }
        }
        let found: HashMap<String, Digest> = walk(&root, &windlass_pack_model::NoHashCache)
            .tree
            .into_iter()
            .map(|(path, content)| (path.to_string(), content.digest))
            .collect();
        prop_assert_eq!(found, written);
    }
}
