//! Every kind of link at every depth, also one that appears while files are written: nothing
//! outside the opened directory changes.

use std::{
    collections::BTreeMap,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use tempfile::TempDir;

use crate::{Access, Directory, FileError, write_named};

const FILE: &str = "a/b/c/file.txt";

/// A directory to write to, and one that must not change.
struct World {
    temp: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            temp: tempfile::tempdir().unwrap(),
        };
        for folder in ["root", "root/inside", "outside/b/c", "outside/c"] {
            fs_err::create_dir_all(world.path(folder)).unwrap();
        }
        for file in [
            "outside/file.txt",
            "outside/c/file.txt",
            "outside/b/c/file.txt",
        ] {
            fs_err::write(world.path(file), "theirs").unwrap();
        }
        fs_err::write(world.path("root/inside/file.txt"), "other").unwrap();
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.temp.path().join(below)
    }

    fn root(&self) -> Directory {
        Directory::open(&self.path("root")).unwrap()
    }

    /// Everything outside the root, and what links in the root could lead to.
    fn others(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.path("outside"), self.path("root/inside")];
        while let Some(folder) = open.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs_err::symlink_metadata(&path).unwrap();
                if metadata.is_dir() {
                    open.push(path.clone());
                }
                let bytes = fs_err::read(&path).unwrap_or_default();
                found.insert(path, (metadata.mode(), bytes));
            }
        }
        found
    }
}

/// The links: where each is, what it says.
fn links(world: &World) -> Vec<(&'static str, PathBuf)> {
    let outside = world.path("outside");
    let mut links = Vec::new();
    for (at, up) in [("a", ""), ("a/b", "../"), ("a/b/c", "../../")] {
        links.extend([
            (at, outside.clone()),
            (at, PathBuf::from(format!("{up}../outside"))),
            (at, world.path("root/inside")),
            (at, PathBuf::from(format!("{up}inside"))),
            (at, outside.join("nothing")),
            (at, PathBuf::from(at.rsplit('/').next().unwrap())),
            (at, outside.join("file.txt")),
        ]);
    }
    links.extend([
        (FILE, outside.join("file.txt")),
        (FILE, PathBuf::from("../../../../outside/file.txt")),
        (FILE, world.path("root/inside/file.txt")),
        (FILE, outside.join("new.txt")),
        (FILE, outside.clone()),
        (FILE, PathBuf::from("file.txt")),
    ]);
    links
}

type Act = fn(&Directory) -> Result<(), FileError>;

const ACTS: [(&str, Act); 7] = [
    ("write", |root| {
        root.write(Path::new(FILE), b"ours", Access::Usual)
    }),
    ("private", |root| {
        root.write(Path::new(FILE), b"ours", Access::Private)
    }),
    ("new", |root| {
        root.write_new(Path::new(FILE), b"ours", Access::Usual)
    }),
    ("create", |root| {
        let mut file = root.create_file(Path::new(FILE), Access::Usual)?;
        file.write_all(b"ours").unwrap();
        Ok(())
    }),
    ("append", |root| {
        let mut file = root.append_file(Path::new(FILE), Access::Usual)?;
        file.write_all(b"ours").unwrap();
        Ok(())
    }),
    ("make", |root| {
        root.make_directory(Path::new("a/b/c/file.txt/d"), Access::Usual)?;
        Ok(())
    }),
    ("read", |root| root.read(Path::new(FILE), 100).map(drop)),
];

#[test]
fn no_kind_of_link_is_written_through() {
    let count = links(&World::new()).len();
    for (name, act) in ACTS {
        for index in 0..count {
            let world = World::new();
            let (at, text) = links(&world).swap_remove(index);
            let link = world.path("root").join(at);
            fs_err::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&text, &link).unwrap();
            let before = world.others();
            let case = format!("{name}: {at} -> {}", text.display());

            match act(&world.root()) {
                Err(FileError::Link { path, leads_to }) => {
                    assert_eq!(path, link, "{case}");
                    assert!(leads_to.is_absolute(), "{case}");
                }
                // A name that is taken is refused before it is looked at.
                Err(FileError::Io { source, .. }) if name == "new" => {
                    assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists, "{case}");
                }
                other => panic!("{case}: {other:?}"),
            }
            assert_eq!(world.others(), before, "{case}");
            assert!(link.is_symlink(), "{case}");
        }
    }
}

#[test]
fn removing_takes_the_link_and_never_what_it_leads_to() {
    let world = World::new();
    let root = world.root();
    symlink(world.path("outside"), world.path("root/tree")).unwrap();
    fs_err::create_dir_all(world.path("root/made/deep")).unwrap();
    symlink(world.path("outside"), world.path("root/made/deep/out")).unwrap();
    symlink(world.path("outside/file.txt"), world.path("root/made/file")).unwrap();
    let before = world.others();
    assert!(root.remove_tree(Path::new("made")).unwrap());
    assert!(root.remove_tree(Path::new("tree")).unwrap());
    assert!(!root.remove_tree(Path::new("tree")).unwrap());
    symlink(world.path("outside"), world.path("root/tree")).unwrap();
    for below in ["tree/file.txt", "tree/b"] {
        let refused = root.remove_tree(Path::new(below)).unwrap_err();
        assert!(matches!(refused, FileError::Link { .. }), "{refused}");
    }
    assert_eq!(world.others(), before);
}

#[test]
fn paths_stay_below_the_directory() {
    let world = World::new();
    for below in ["", "..", "../outside/x", "/etc/x", "a/../../x", "."] {
        let refused = world.root().write(Path::new(below), b"x", Access::Usual);
        assert!(matches!(refused, Err(FileError::Leaves { .. })), "{below}");
    }
}

#[test]
fn a_directory_that_becomes_a_link_is_never_written_through() {
    let world = World::new();
    let root = world.root();
    let before = world.others();
    let stop = AtomicBool::new(false);
    let (link, kept) = (world.path("root/a"), world.path("root/kept"));
    fs_err::create_dir_all(&link).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // Any of these fails when the writer was faster; the next round goes on.
                let _ = fs_err::rename(&link, &kept);
                let _ = symlink(world.path("outside"), &link);
                let _ = fs_err::remove_file(&link);
                let _ = fs_err::rename(&kept, &link);
                let _ = fs_err::remove_dir_all(&kept);
            }
        });
        let mut written = 0;
        for _ in 0..1_000 {
            written += usize::from(
                root.write(Path::new("a/b/c/file.txt"), b"ours", Access::Usual)
                    .is_ok(),
            );
        }
        stop.store(true, Ordering::Relaxed);
        assert!(written > 0);
    });
    assert_eq!(world.others(), before);
}

#[test]
fn an_open_directory_stays_the_same_when_its_path_leads_elsewhere() {
    let world = World::new();
    let root = world.root();
    let identity = root.identity().unwrap();
    fs_err::rename(world.path("root"), world.path("moved")).unwrap();
    symlink(world.path("outside"), world.path("root")).unwrap();
    root.write(Path::new("file.txt"), b"ours", Access::Usual)
        .unwrap();
    assert_eq!(fs_err::read(world.path("moved/file.txt")).unwrap(), b"ours");
    assert_eq!(
        fs_err::read(world.path("outside/file.txt")).unwrap(),
        b"theirs"
    );
    assert_ne!(world.root().identity().unwrap(), identity);
    let refused = Directory::open_exact(&world.path("root")).unwrap_err();
    assert!(matches!(refused, FileError::Link { .. }), "{refused}");
    let moved = Directory::open_exact(&world.path("moved")).unwrap();
    assert_eq!(moved.identity().unwrap(), identity);
}

#[test]
fn a_file_is_replaced_whole_with_the_mode_it_had() {
    let world = World::new();
    let root = world.root();
    let mode = |path: &str| fs_err::metadata(world.path(path)).unwrap().mode() & 0o777;
    root.write(Path::new("x/secret"), b"1", Access::Private)
        .unwrap();
    assert_eq!((mode("root/x"), mode("root/x/secret")), (0o700, 0o600));
    fs_err::write(world.path("root/tool"), "1").unwrap();
    fs_err::set_permissions(world.path("root/tool"), PermissionsExt::from_mode(0o751)).unwrap();
    fs_err::hard_link(world.path("root/tool"), world.path("outside/tool")).unwrap();
    root.write(Path::new("tool"), b"2", Access::Usual).unwrap();
    assert_eq!(mode("root/tool"), 0o751);
    // A hard link is cut, not written through.
    assert_eq!(fs_err::read(world.path("outside/tool")).unwrap(), b"1");
    root.write(Path::new("tool"), b"3", Access::Private)
        .unwrap();
    assert_eq!(mode("root/tool"), 0o600);
    fs_err::create_dir(world.path("root/folder")).unwrap();
    let refused = root.write(Path::new("folder"), b"x", Access::Usual);
    assert!(matches!(refused, Err(FileError::NotAFile { .. })));
    let mut names = root.names().unwrap();
    names.sort();
    assert_eq!(names, ["folder", "inside", "tool", "x"]);
}

#[test]
fn a_file_named_by_a_flag_is_not_written_through_a_link() {
    let world = World::new();
    let before = world.others();
    symlink(world.path("outside/file.txt"), world.path("root/out.json")).unwrap();
    let refused = write_named(&world.path("root/out.json"), b"x", Access::Usual).unwrap_err();
    assert!(
        refused.to_string().contains("outside/file.txt"),
        "{refused}"
    );
    // The directory of an absolute path is the user's choice.
    symlink(world.path("root/inside"), world.path("root/way")).unwrap();
    write_named(&world.path("root/way/new.json"), b"x", Access::Usual).unwrap();
    fs_err::remove_file(world.path("root/inside/new.json")).unwrap();
    assert_eq!(world.others(), before);
}
