//! Files: what lies outside cannot be changed, what is denied cannot be read, what is protected stays.

use windlass_ports::sandbox::Backend;

use crate::support::{Place, ways};

const REFUSED: [&str; 6] = ["EACCES", "EPERM", "EROFS", "EXDEV", "EBUSY", "ENOENT"];

#[test]
fn nothing_outside_is_changed() {
    let place = Place::new();
    let file = place.path("outside/file");
    let file = file.to_str().unwrap();
    let new = place.path("outside/new");
    let new = new.to_str().unwrap();
    let through_root = format!("/proc/self/root{file}");
    let link = place.path("project/link");
    std::os::unix::fs::symlink(file, &link).unwrap();
    let up = place.path("project/../outside/file");
    for way in ways() {
        let confinement = place.confinement();
        let lines = [
            &["write", file][..],
            &["append", file],
            &["truncate", file],
            &["create", new],
            &["mkdir", new],
            &["unlink", file],
            &["chmod", file],
            &["utime", file],
            &["write", link.to_str().unwrap()],
            &["truncate", link.to_str().unwrap()],
            &["write", up.to_str().unwrap()],
            &["write", &through_root],
            &["unlink", &through_root],
            &["link", file, "hard"],
            &["rename", file, "moved"],
            &["rename", "file", new],
            &["exchange", file, "file"],
            &["symlink", "/etc", new],
            &["create", "/etc/windlass-test"],
            &["create", "/root/windlass-test"],
            &["create", "/proc/sys/kernel/hostname"],
            &["write", "/proc/sys/kernel/core_pattern"],
            &["write", "/proc/sysrq-trigger"],
            &["create", "/dev/windlass-test"],
            &["create", "/run/windlass-test"],
        ];
        // Changing attributes is not a right that Landlock knows; the mounts refuse it.
        let known = |line: &&&[&str]| {
            way.backend != Backend::Landlock || !matches!(line[0], "chmod" | "utime")
        };
        let lines: Vec<&[&str]> = lines.iter().filter(known).copied().collect();
        for (line, answer) in way.attempts(&place, &confinement, &lines) {
            assert!(
                REFUSED.contains(&answer.as_str()),
                "{way:?} {line:?}: {answer}"
            );
        }
        assert_eq!(fs_err::read_to_string(file).unwrap(), "outside", "{way:?}");
        assert!(!place.path("outside/new").exists(), "{way:?}");
        assert_eq!(
            fs_err::read_to_string(place.path("project/file")).unwrap(),
            "project"
        );
    }
}

#[test]
fn the_project_and_temporary_files_can_be_changed() {
    let place = Place::new();
    fs_err::create_dir(place.path("project/src")).unwrap();
    crate::support::open_to_all(&place.path("project/src"));
    for way in ways() {
        let confinement = place.confinement();
        let script = "set -e
            echo new > src/a; mv src/a src/b; ln src/b src/c; ln -s b src/d; cat src/d; rm src/*
            mkdir src/deep; echo x > src/deep/e; rm -r src/deep; : > file; printf project > file
            t=$(mktemp); echo t > $t; cat $t; rm $t; test -w $TMPDIR; echo > /dev/null; echo e >&2";
        let printed = way.output(&place, &confinement, &["sh", "-c", script]);
        assert_eq!(printed, "new\nt", "{way:?}");
        // Opened again by name, also where it is a file outside of every root.
        let log = place.path("log");
        let mut command = way.command(
            &place,
            &confinement,
            &["sh", "-c", "echo out > /dev/stdout"],
        );
        let opened = fs_err::File::create(&log).unwrap();
        crate::support::open_to_all(&log);
        assert!(
            command
                .stdout(opened.into_file())
                .status()
                .unwrap()
                .success(),
            "{way:?}"
        );
        assert_eq!(fs_err::read_to_string(&log).unwrap(), "out\n", "{way:?}");
    }
}

#[test]
fn what_is_denied_is_not_read() {
    let place = Place::new();
    fs_err::write(place.path("project/.env"), "TOKEN=1").unwrap();
    crate::support::open_to_all(&place.path("project/.env"));
    for way in ways() {
        let mut confinement = place.confinement();
        confinement.deny_read.push(place.path("project/.env"));
        let secret = place.path("secret/file");
        for path in [
            secret.to_str().unwrap(),
            &format!("/proc/self/root{}", secret.display()),
            "../secret/file",
            ".env",
            "/etc/shadow",
        ] {
            let answer = way.attempt(&place, &confinement, &["read", path]);
            assert!(
                REFUSED.contains(&answer.as_str()),
                "{way:?} {path}: {answer}"
            );
        }
        for line in [
            &["rename", ".env", "readable"][..],
            &["link", ".env", "readable"],
            &["write", ".env"],
            &["unlink", ".env"],
            &["chmod", "../secret"],
        ] {
            if way.backend == Backend::Landlock && line[0] == "chmod" {
                continue;
            }
            let answer = way.attempt(&place, &confinement, line);
            assert!(
                REFUSED.contains(&answer.as_str()),
                "{way:?} {line:?}: {answer}"
            );
        }
        let outside = place.path("outside/file");
        let line = ["read", outside.to_str().unwrap()];
        assert_eq!(way.attempt(&place, &confinement, &line), "done", "{way:?}");
        assert_eq!(
            fs_err::read_to_string(place.path("project/.env")).unwrap(),
            "TOKEN=1"
        );
    }
}

#[test]
fn named_roots_are_all_that_is_seen() {
    let place = Place::new();
    for way in ways() {
        let mut confinement = place.confinement();
        confinement.read = windlass_ports::sandbox::SYSTEM_ROOTS
            .map(Into::into)
            .to_vec();
        confinement.read.push(place.probe.clone());
        let outside = place.path("outside/file");
        for path in [
            outside.to_str().unwrap(),
            "../outside/file",
            "/home",
            "/root",
            "/boot",
            "/var/lib",
        ] {
            let how = if path.ends_with("file") {
                "read"
            } else {
                "list"
            };
            let answer = way.attempt(&place, &confinement, &[how, path]);
            assert!(
                REFUSED.contains(&answer.as_str()),
                "{way:?} {path}: {answer}"
            );
        }
        assert_eq!(
            way.output(&place, &confinement, &["sh", "-c", "cat file | tr a-z A-Z"]),
            "PROJECT"
        );
    }
}

#[test]
fn what_is_protected_stays_also_when_it_is_absent() {
    let full = Place::new();
    for path in [".git/hooks", ".git/objects"] {
        fs_err::create_dir_all(full.path("project").join(path)).unwrap();
    }
    fs_err::write(full.path("project/.git/config"), "[core]\n").unwrap();
    for path in [".git", ".git/hooks", ".git/objects", ".git/config"] {
        crate::support::open_to_all(&full.path("project").join(path));
    }
    let bare = Place::new();
    let shallow = Place::new();
    fs_err::create_dir(shallow.path("project/.git")).unwrap();
    crate::support::open_to_all(&shallow.path("project/.git"));
    let before: Vec<_> = [&full, &bare, &shallow].map(tree).into();
    for way in ways() {
        for place in [&full, &bare, &shallow] {
            let confinement = place.confinement();
            let lines = [
                &["create", ".git/hooks/pre-commit"][..],
                &["mkdir", ".git/hooks/deep"],
                &["write", ".git/config"],
                &["truncate", ".git/config"],
                &["unlink", ".git/config"],
                &["create", ".git/config.worktree"],
                &["create", ".git/commondir"],
                &["create", ".windlass"],
                &["create", ".windlass/policy.toml"],
                &["mkdir", ".windlass"],
                &["rmdir", ".windlass"],
                &["symlink", "/etc", ".windlass"],
                // A folder of the program's own must not take the place of a protected one.
                &["rename", "file", ".windlass"],
                &["rename", ".git", "old"],
                &["rename", ".git/hooks", "old"],
                &["exchange", ".git", "file"],
                &["rename", "file", ".git/config"],
                &["rename", "file", ".git"],
            ];
            for (line, answer) in way.attempts(place, &confinement, &lines) {
                let known = [&REFUSED[..], &["EEXIST", "EISDIR"]].concat();
                let is_refused = known.contains(&answer.as_str())
                    || answer.contains("Not a directory")
                    || answer.contains("Directory not empty");
                assert!(is_refused, "{way:?} {line:?}: {answer}");
            }
        }
        let after: Vec<_> = [&full, &bare, &shallow].map(tree).into();
        assert_eq!(after, before, "{way:?}: nothing is left behind");
    }
}

fn tree(place: &Place) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![place.path("project")];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.display().to_string());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn without_write_roots_only_the_temporary_directory_is_written() {
    let place = Place::new();
    for way in ways() {
        let mut confinement = place.confinement();
        confinement.write.clear();
        confinement.protected.clear();
        for line in [
            &["create", "new"][..],
            &["write", "file"],
            &["unlink", "file"],
        ] {
            let answer = way.attempt(&place, &confinement, line);
            assert!(
                REFUSED.contains(&answer.as_str()),
                "{way:?} {line:?}: {answer}"
            );
        }
        let script = "echo t > $TMPDIR/t && cat $TMPDIR/t file";
        let printed = way.output(&place, &confinement, &["sh", "-c", script]);
        assert_eq!(printed, "t\nproject", "{way:?}");
    }
}
