//! What surrounds the tour. The tour itself is a stage of `cargo xtask test`, in the release build.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    time::{Duration, Instant},
};

use super::support::binary::{Killed, Said, windlass};

#[test]
fn an_unusable_temporary_directory_is_said_with_what_to_set() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("missing");
    let output = windlass(home.path())
        .arg("tour")
        .env("TMPDIR", &missing)
        .stdin(Stdio::null())
        .output();
    let said = Said::from(output.unwrap());
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let named = format!("the temporary directory {} cannot", missing.display());
    for part in [&named, "code: CONFIG_INVALID", "hint: set TMPDIR"] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
}

#[test]
fn the_double_of_the_tour_ends_with_the_tour() {
    let home = tempfile::tempdir().unwrap();
    let mut child = windlass(home.path())
        .args(["internal", "aws-double"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map(Killed)
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.0.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    // What the kernel does to the pipe when the tour is killed.
    drop(child.0.stdin.take());
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
