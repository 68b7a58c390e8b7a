//! Trees that mean harm or are simply odd.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::fixture::{Project, names};

fn folder(project: &Project) -> Result<Vec<String>, String> {
    let zip = project.zip("custom-artifact", json!({"packagePath": "dist"}));
    zip.map(|zip| names(&zip.path))
        .map_err(|problem| problem.message().to_owned())
}

#[test]
fn links_never_leave_the_project() {
    let inside = Project::new(&[("dist/a", "1"), ("shared/b", "2")]);
    symlink("../shared", inside.root().join("dist/linked")).unwrap();
    symlink("../shared/b", inside.root().join("dist/file")).unwrap();
    assert_eq!(folder(&inside).unwrap(), ["a", "file", "linked/b"]);

    let project = Project::new(&[("dist/a", "1")]);
    fs_err::write(project.outside("secret"), "s").unwrap();
    fs_err::create_dir(project.outside("project2")).unwrap();
    let link = project.root().join("dist/link");
    for (target, cause) in [
        (project.outside("secret"), "leads out of the project"),
        ("/etc/hostname".into(), "leads out of the project"),
        ("../../secret".into(), "leads out of the project"),
        // The project's name is a prefix of it.
        ("../../project2".into(), "leads out of the project"),
        ("nowhere".into(), "leads nowhere"),
        (".".into(), "a folder it is in"),
        ("link".into(), "leads nowhere"),
    ] {
        symlink(&target, &link).unwrap();
        let message = folder(&project).unwrap_err();
        assert!(message.contains(cause), "{target:?}: {message}");
        fs_err::remove_file(&link).unwrap();
    }
    symlink(project.outside("secret"), project.root().join("entry.py")).unwrap();
    let problem = project
        .buildpack(json!({"entryfilePath": "entry.py"}))
        .unwrap_err();
    assert!(
        problem.message().contains("outside the project"),
        "{problem}"
    );
    let problem =
        project.buildpack(json!({"entryfilePath": "dist/a.py", "includeFiles": ["../secret"]}));
    assert!(problem.is_err());
}

#[test]
fn unusual_names() {
    for (name, is_fine) in [
        ("日本 語.txt", true),
        ("-rf", true),
        ("a\u{301}", true),
        ("..x", true),
        ("back\\slash", false),
        ("new\nline", false),
        ("bell\u{7}", false),
    ] {
        let project = Project::new(&[(&format!("dist/{name}"), "x")]);
        assert_eq!(folder(&project).is_ok(), is_fine, "{name:?}");
    }
    let project = Project::new(&[("dist/a", "1")]);
    let name = OsStr::from_bytes(b"dist/\xff\xfe");
    fs_err::write(project.root().join(name), "x").unwrap();
    assert!(folder(&project).unwrap_err().contains("not UTF-8"));
}

#[test]
fn what_is_no_file_is_refused_not_read() {
    let project = Project::new(&[("dist/a", "1")]);
    let _socket = std::os::unix::net::UnixListener::bind(project.root().join("dist/s")).unwrap();
    assert!(
        folder(&project)
            .unwrap_err()
            .contains("neither a file nor a folder")
    );
}

#[test]
fn too_large_is_refused_before_it_is_read() {
    let project = Project::new(&[("dist/a", "1")]);
    // Sparse: a terabyte that takes no room.
    let file = fs_err::File::create(project.root().join("dist/huge.bin")).unwrap();
    file.set_len(1 << 40).unwrap();
    let message = folder(&project).unwrap_err();
    assert!(
        message.contains("more than the 250 MB") && message.contains("huge.bin"),
        "{message}"
    );

    let mut small = Project::new(&[("dist/a", "12345")]);
    small.limits.unzipped = 5;
    assert!(folder(&small).is_ok());
    small.limits.unzipped = 4;
    assert!(folder(&small).is_err());
    small.limits.unzipped = 5;
    small.limits.zipped = 10;
    assert!(folder(&small).unwrap_err().contains("its zip has"));
}
