//! Hostile paths against real folders and links: nothing outside the allowed paths is written.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use windlass_launch_model::AllowedPaths;

use super::*;
use crate::patch::{Edit, create_file, delete_file, edit_file};

/// What a link or a trick could reach.
const SECRET: &str = "secret\n";

/// A site with links of every kind in what may be written, and sibling folders that may not.
fn site() -> TempDir {
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() {
        TempDir::with_prefix_in("windlass-", memory)
    } else {
        TempDir::new()
    };
    let root = root.unwrap();
    for path in [
        "site/note/en/page.md",
        "site/note/english/page.md",
        "site/note/en2/page.md",
        "site/note/page.md",
        "site/page.md",
        "site/.git/config",
        "site/.github/workflows/ci.yml",
        "outside/page.md",
        "outside/hard.md",
        "outside/deep/page.md",
    ] {
        let file = root.path().join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, SECRET).unwrap();
    }
    let en = root.path().join("site/note/en");
    let outside = root.path().join("outside");
    symlink("../../../outside", en.join("link")).unwrap();
    symlink(&outside, en.join("abs")).unwrap();
    symlink("../english", en.join("beside")).unwrap();
    symlink("../../../outside/page.md", en.join("file.md")).unwrap();
    symlink(outside.join("none.md"), en.join("dangling.md")).unwrap();
    symlink("loop", en.join("loop")).unwrap();
    symlink("../../.git", en.join("repository")).unwrap();
    symlink(".", root.path().join("site/note/self")).unwrap();
    symlink("note/en", root.path().join("site/alias")).unwrap();
    std::fs::hard_link(outside.join("hard.md"), en.join("hard.md")).unwrap();
    root
}

/// Everything that must stay as it is: content, kind, and whether it is the same file.
fn kept(root: &Path) -> BTreeMap<PathBuf, (String, u64)> {
    let en = root.join("site/note/en");
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs_err::symlink_metadata(&path).unwrap();
            let is_link = about.is_symlink();
            if path.starts_with(&en) && path != en && !is_link {
                continue;
            }
            let content = if is_link {
                fs_err::read_link(&path).unwrap().display().to_string()
            } else if about.is_dir() {
                open.push(path.clone());
                "folder".to_owned()
            } else {
                fs_err::read_to_string(&path).unwrap()
            };
            found.insert(path, (content, about.ino()));
        }
    }
    found
}

/// Beginnings, ways between and names, each with its tricks; all of their combinations.
fn hostile_paths(root: &Path) -> BTreeSet<String> {
    let absolute = root.join("outside").display().to_string();
    let beginnings = [
        "note/en",
        "./note/en",
        "note/./en",
        "note//en",
        "/note/en",
        "//note/en",
        "note/en/..",
        "note/en/../en",
        "note/en/../english",
        "note/en/../../note/en",
        "note/en/../../../outside",
        "../site/note/en",
        "../outside",
        "note/EN",
        "NOTE/en",
        "Note/En",
        "note/english",
        "note/en2",
        "note/e",
        "note",
        "note/en.md",
        "note/en ",
        " note/en",
        "note\\en",
        "note/en\\..\\..",
        "note/en\0",
        "note%2fen",
        "note/en%2f..",
        ".git",
        "note/en/.git",
        "note/en/.GIT",
        "note/en/.git ",
        ".github",
        "note/en/.github",
        "C:/note/en",
        "~",
        "",
        ".",
        "..",
        "note/self/en",
        "alias",
        "note/en/link",
        "note/en/abs",
        "note/en/beside",
        "note/en/loop",
        "note/en/repository",
        "\u{ff4e}ote/en",
        "note/\u{202e}en",
        &absolute,
        "note/en\u{2215}..",
    ];
    let between = ["", "sub", "..", "../..", "link", "abs", ".", "../../.."];
    let long = "x".repeat(300);
    let names = [
        "a.md",
        "page.md",
        "../a.md",
        "../page.md",
        "../../outside/page.md",
        "file.md",
        "hard.md",
        "dangling.md",
        "link/page.md",
        "abs/page.md",
        "abs/new.md",
        "beside/page.md",
        "loop/a.md",
        "deep/page.md",
        "",
        ".",
        "..",
        "a\0.md",
        "a\\b.md",
        ".git/config",
        "config",
        "page.md/",
        "page.md/a.md",
        "PAGE.md",
        "workflows/ci.yml",
        &long,
    ];
    let mut paths = BTreeSet::new();
    for beginning in beginnings {
        for way in between {
            for name in names {
                let parts = [beginning, way, name];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                paths.insert(parts.join("/"));
            }
        }
    }
    paths
}

#[test]
fn ten_thousand_hostile_paths_write_nothing_outside() {
    let root = site();
    let dir = SiteDir::open(&root.path().join("site")).unwrap();
    let rule = AllowedPaths::new(&["note/en".to_owned()]).unwrap();
    let allowed = |path: &str| rule.admit(path).is_ok();
    // The gate may be as wide as can be: what is outside the site stays out of reach by itself.
    let anywhere = |_: &str| true;
    let before = kept(root.path());
    let paths = hostile_paths(root.path());
    let mut tried = 0;
    let mut written = BTreeSet::new();
    for path in &paths {
        let edit = Edit::Range {
            start: 1,
            end: 1,
            text: "changed\n".to_owned(),
        };
        let mut patches = vec![
            create_file("patch_001", path, "new\n"),
            delete_file("patch_001", path, SECRET.as_bytes()),
        ];
        patches.extend(edit_file("patch_001", path, SECRET, &edit).map(|made| made.0));
        for patch in patches {
            let bundle = PatchBundle {
                patches: vec![patch],
                ..PatchBundle::default()
            };
            let applied = apply_bundle(&dir, &bundle, &allowed);
            for changed in &applied.changed_paths {
                assert!(
                    changed.starts_with("note/en/"),
                    "{path:?} wrote {changed:?}"
                );
                written.insert(changed.clone());
            }
            tried += 1;
            if tried % 1000 == 0 {
                assert_eq!(kept(root.path()), before, "up to {path:?}");
            }
        }
    }
    assert_eq!(kept(root.path()), before);
    assert!(tried > 10_000 && paths.len() > 5_000, "{tried}");
    assert!(
        written.contains("note/en/a.md"),
        "the good ones are written"
    );
    assert!(written.contains("note/en/hard.md"), "the link is cut");

    let outside = |root: &Path| {
        let mut kept = kept(root);
        kept.retain(|path, _| !path.starts_with(root.join("site")));
        kept
    };
    let before = outside(root.path());
    for path in &paths {
        let bundle = PatchBundle {
            patches: vec![create_file("patch_001", path, "new\n")],
            ..PatchBundle::default()
        };
        apply_bundle(&dir, &bundle, &anywhere);
    }
    assert_eq!(outside(root.path()), before, "without a rule");
    let repository = fs_err::read_to_string(root.path().join("site/.git/config"));
    assert_eq!(repository.unwrap(), SECRET, "without a rule");
}
