//! Ordinary programs work, exit codes are passed on, and a machine that lacks something is refused.

use std::process::Command;

use crate::support::{Place, Way, ways};

/// Whether a program is installed where every user can start it.
fn has(program: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| std::path::Path::new(folder).join(program).exists());
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

fn prints(way: &Way, place: &Place, line: &[&str], expected: &str) {
    let printed = way.output(place, &place.confinement(), line);
    assert_eq!(printed, expected, "{way:?} {line:?}");
}

#[test]
fn ordinary_programs_work() {
    let place = Place::new();
    fs_err::create_dir(place.path("project/sub")).unwrap();
    crate::support::open_to_all(&place.path("project/sub"));
    for way in ways() {
        prints(
            &way,
            &place,
            &["sh", "-c", "printf 'b\\na\\n' | sort | head -1"],
            "a",
        );
        prints(
            &way,
            &place,
            &["sh", "-c", "sleep 0.01 & wait; (exit 3) || echo $?"],
            "3",
        );
        if has("python3") {
            let code = "import subprocess, tempfile, threading, random
t = threading.Thread(target=lambda: None); t.start(); t.join()
with tempfile.TemporaryFile() as f: f.write(b'x')
print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())";
            prints(&way, &place, &["/usr/bin/python3", "-c", code], "child");
        }
        if has("node") {
            let code = "const c = require('child_process'); require('fs').writeFileSync('sub/n', 'x');
                console.log(c.execSync('echo child').toString().trim()); require('fs').rmSync('sub/n')";
            prints(&way, &place, &["node", "-e", code], "child");
        }
        if has("git") {
            let script = "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' &&
                cd sub && git init -q . && git config user.email a@b && git config user.name a &&
                echo x > f && git add f && git commit -qm x && git log --format=%s && rm -rf .git f";
            prints(&way, &place, &["sh", "-c", script], "x");
        }
    }
}

#[test]
fn git_commits_in_a_project_whose_settings_are_protected() {
    if !has("git") {
        return;
    }
    let place = Place::new();
    let project = place.path("project");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .arg("-c")
            .arg("safe.directory=*")
            .args(arguments)
            .current_dir(&project);
        assert!(command.status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@b"]);
    git(&["config", "user.name", "a"]);
    for way in ways() {
        // Landlock alone cannot let new files be created next to protected ones.
        if way.backend == windlass_ports::sandbox::Backend::Landlock {
            continue;
        }
        let all = Command::new("chmod")
            .args(["-R", "a+rwX"])
            .arg(&project)
            .status();
        assert!(all.unwrap().success());
        let script = "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
            date +%N > file && git add file && git commit -qm more && git status --short &&
            git switch -qc b$(date +%N) && git log --format=%s -1 && ! git config user.name evil 2>/dev/null";
        prints(&way, &place, &["sh", "-c", script], "more");
    }
    git(&["fsck", "--strict"]);
}

#[test]
fn cargo_starts() {
    let found = Command::new("cargo").arg("--version").output();
    let Ok(found) = found else { return };
    let place = Place::new();
    for way in ways().into_iter().filter(|way| !way.as_nobody) {
        let expected = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        prints(&way, &place, &["cargo", "--version"], &expected);
    }
}

#[test]
fn the_exit_code_is_passed_on() {
    let place = Place::new();
    for way in ways() {
        for (line, expected) in [
            (&["true"][..], 0),
            (&["sh", "-c", "exit 7"], 7),
            (&["sh", "-c", "kill -9 $$"], 137),
            (&["sh", "-c", "kill -TERM $$"], 143),
            (&["no-such-program"], 127),
            (&["/etc"], 126),
        ] {
            let output = way.run(&place, &place.confinement(), line);
            assert_eq!(
                output.status.code(),
                Some(expected),
                "{way:?} {line:?} {output:?}"
            );
        }
    }
}

#[test]
fn limits_hold() {
    let place = Place::new();
    for way in ways() {
        let mut confinement = place.confinement();
        confinement.limits.file_size = Some(1000);
        confinement.limits.open_files = Some(30);
        let script = "ulimit -n; head -c 2000 /dev/zero > $TMPDIR/big || stat -c %s $TMPDIR/big";
        let printed = way.output(&place, &confinement, &["sh", "-c", script]);
        assert_eq!(printed, "30\n1000", "{way:?}");
    }
}

/// The real thing, not a feature that is taken away: inside a sandbox that filters system calls, the
/// next sandbox finds no namespaces, and it does not run with less than was asked for.
#[test]
fn a_machine_without_namespaces_refuses_a_list_of_hosts() {
    use windlass_ports::sandbox::{HostRule, Network, Sandbox as _};
    let sandbox = windlass_sandbox::KernelSandbox::of_this_machine("/nowhere".as_ref(), None);
    let found = sandbox.features().clone();
    let place = Place::new();
    let probe = place.probe.to_str().unwrap();
    for way in ways() {
        let confinement = place.confinement();
        let printed = way.output(&place, &confinement, &[probe, "features"]);
        assert!(
            printed.contains("namespaces: they cannot be created (Operation not permitted"),
            "{printed}"
        );
        assert!(
            printed.contains(&format!("landlock: {:?}", found.landlock)),
            "{printed}"
        );
        assert!(
            printed.contains("hosts: the sandbox needs namespaces"),
            "{printed}"
        );
    }
    let _ = Network::Hosts(vec![HostRule::parse("a.example").unwrap()]);
}

/// The same for Landlock: a filter hides it, as a container's does.
#[test]
fn a_machine_without_landlock_refuses_everything() {
    let place = Place::new();
    let output = Command::new(&place.probe)
        .arg("without-landlock")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    for line in ["off", "hosts", "on"] {
        assert!(
            printed.contains(&format!("{line}: the sandbox needs Landlock version 1")),
            "{printed}"
        );
    }
    assert!(printed.contains("landlock: None"), "{printed}");
}
