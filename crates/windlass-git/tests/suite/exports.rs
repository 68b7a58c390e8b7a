//! Commits written as plain files: byte for byte, and never out of their directory.

use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use windlass_ports::git::{Exported, Git as _, GitError};

use super::support::Home;

fn commit_all(home: &Home, repo: &Path) -> String {
    home.run(repo, &["add", "--all"]);
    home.run(repo, &["commit", "--quiet", "-m", "x"]);
    home.run(repo, &["rev-parse", "HEAD"])
}

#[test]
fn files_are_written_as_they_were_committed() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    for (path, text) in [
        (
            ".gitattributes",
            "* text eol=crlf filter=evil\n$Id$ ident\n",
        ),
        ("a/b/deep.txt", "one\ntwo\r\n"),
        ("name with \"quotes\"\nand é", "x"),
        ("empty", ""),
        ("-dash", "d"),
    ] {
        let place = repo.join(path);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::write(place, text).unwrap();
    }
    fs_err::set_permissions(repo.join("empty"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", repo.join("a/link")).unwrap();
    // Added past the attributes, so that the commit holds exactly these bytes.
    home.run(&repo, &["config", "filter.evil.clean", "cat"]);
    home.run(&repo, &["config", "core.safecrlf", "false"]);
    fs_err::rename(repo.join(".gitattributes"), home.path().join("held")).unwrap();
    commit_all(&home, &repo);
    fs_err::rename(home.path().join("held"), repo.join(".gitattributes")).unwrap();
    let first = home.run(&repo, &["rev-parse", "HEAD"]);
    let submodule = format!("160000,{first},sub/module");
    home.run(&repo, &["update-index", "--add", "--cacheinfo", &submodule]);
    home.run(&repo, &["add", ".gitattributes"]);
    home.run(&repo, &["commit", "--quiet", "-m", "y"]);
    let commit = home.run(&repo, &["rev-parse", "HEAD"]);

    let files = home.path().join("run/files");
    let exported = git.export(&repo, &commit, &files).unwrap();
    assert_eq!(
        exported,
        Exported {
            files: 7,
            bytes: 4 + 39 + 9 + 1 + 1 + 11,
            submodules: vec![PathBuf::from("sub/module")],
        }
    );
    let read = |path: &str| fs_err::read(files.join(path)).unwrap();
    assert_eq!(read("a/b/deep.txt"), b"one\ntwo\r\n");
    assert_eq!(read("name with \"quotes\"\nand é"), b"x");
    assert_eq!(read("-dash"), b"d");
    let mode = |path: &str| {
        fs_err::metadata(files.join(path))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(
        (mode("empty") & 0o111 != 0, mode("-dash") & 0o111),
        (true, 0)
    );
    let target = fs_err::read_link(files.join("a/link")).unwrap();
    assert_eq!(target, Path::new("/etc/passwd"));
    assert!(!files.join("sub").exists() && !files.join(".git").exists());
}

#[test]
fn a_directory_that_exists_stays_as_it_is() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    let commit = home.run(&repo, &["rev-parse", "HEAD"]);
    let files = home.path().join("files");
    fs_err::create_dir(&files).unwrap();
    let error = git.export(&repo, &commit, &files).unwrap_err();
    let GitError::Io { source, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs_err::read_dir(&files).unwrap().count(), 0);

    let absent = git.export(&repo, &"1".repeat(40), &home.path().join("none"));
    assert!(matches!(absent, Err(GitError::Missing { .. })));
    assert!(!home.path().join("none").exists());
}

/// A tree that git itself would not make: entries as `<mode> <name> <id>`, in any order.
fn raw_tree(home: &Home, repo: &Path, entries: &[(&str, &str, &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        for at in (0..id.len()).step_by(2) {
            bytes.push(u8::from_str_radix(&id[at..at + 2], 16).unwrap());
        }
    }
    let input = home.path().join("raw");
    fs_err::write(&input, bytes).unwrap();
    let output = Command::new("git")
        .current_dir(repo)
        .env_clear()
        .envs(home.variables(&[]))
        .args(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"])
        .stdin(Stdio::from(fs_err::File::open(input).unwrap().into_file()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn no_name_or_link_escapes_the_directory() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    let outside = home.path().join("outside");
    fs_err::create_dir(&outside).unwrap();
    home.write("raw-link", &outside.display().to_string());
    let blob = home.run(&repo, &["rev-parse", "HEAD:file"]);
    let link = home.run(&repo, &["hash-object", "-w", "../raw-link"]);
    let inner = raw_tree(&home, &repo, &[("100644", "x", &blob)]);
    let inner_link = raw_tree(&home, &repo, &[("120000", "x", &link)]);
    for entries in [
        vec![("40000", "..", inner.as_str())],
        vec![("100644", "..", &blob)],
        vec![("40000", ".git", &inner)],
        vec![("40000", ".GiT", &inner)],
        vec![("100644", "a/../../b", &blob)],
        vec![("100644", "/abs", &blob)],
        vec![("120000", "d", &link), ("40000", "d", &inner)],
        vec![("120000", "d", &link), ("40000", "d", &inner_link)],
        vec![("100644", "f", &blob), ("100644", "f", &blob)],
        vec![("120000", "f", &link), ("100644", "f", &blob)],
    ] {
        let tree = raw_tree(&home, &repo, &entries);
        let commit = home.run(&repo, &["commit-tree", "-m", "x", &tree]);
        let files = home.path().join("files");
        let error = git.export(&repo, &commit, &files).unwrap_err();
        assert!(
            matches!(error, GitError::Refused(_) | GitError::Io { .. }),
            "{entries:?}: {error}"
        );
        assert!(
            !files.exists() && !home.path().join("b").exists(),
            "{entries:?}"
        );
        assert_eq!(
            fs_err::read_dir(&outside).unwrap().count(),
            0,
            "{entries:?}"
        );
    }
    // Nothing half made stays behind.
    let left = fs_err::read_dir(home.path()).unwrap();
    let left = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".export-")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn thousands_of_files_are_written() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    for number in 0..2_500 {
        let place = repo.join(format!("d{}/f{number}", number % 50));
        if number < 50 {
            fs_err::create_dir(place.parent().unwrap()).unwrap();
        }
        fs_err::write(place, format!("{number}\n")).unwrap();
    }
    let commit = commit_all(&home, &repo);
    let files = home.path().join("files");
    let exported = git.export(&repo, &commit, &files).unwrap();
    assert_eq!(exported.files, 2_501);
    assert_eq!(
        fs_err::read_to_string(files.join("d49/f2499")).unwrap(),
        "2499\n"
    );
}
