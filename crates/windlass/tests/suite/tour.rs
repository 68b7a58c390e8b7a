//! What surrounds the tour, and how long its first chapter is. The whole tour is a stage of
//! `cargo xtask test`, in the release build.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
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

/// Words that are read in half a minute; commands and their output are skimmed.
const MOST_WORDS: usize = 150;
const MOST_WORDS_WITH_OUTPUT: usize = 240;

#[test]
fn the_first_chapter_is_read_in_half_a_minute() {
    let home = tempfile::tempdir().unwrap();
    let output = windlass(home.path())
        .arg("tour")
        .stdin(Stdio::null())
        .output();
    let said = Said::from(output.unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let text = format!("{}{}", said.stdout, said.stderr);
    let is_output = |line: &&str| line.starts_with("  ");
    let all = text.split_whitespace().count();
    let of_programs: usize = text
        .lines()
        .take_while(|line| *line != "Chapters")
        .filter(is_output)
        .map(|line| line.split_whitespace().count())
        .sum();
    assert!(all <= MOST_WORDS_WITH_OUTPUT, "{all} words:\n{text}");
    let own = all - of_programs;
    assert!(own <= MOST_WORDS, "{own} words beside output:\n{text}");
}

#[test]
fn no_process_stays_behind_when_a_program_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let (place, programs) = (home.path().join("tmp"), home.path().join("bin"));
    fs_err::create_dir(&place).unwrap();
    fs_err::create_dir(&programs).unwrap();
    let output = windlass(home.path())
        .args(["tour", "--chapter", "6"])
        .env("TMPDIR", &place)
        // Neither Node nor Python, which the app of the chapter needs.
        .env("PATH", &programs)
        .stdin(Stdio::null())
        .output();
    let said = Said::from(output.unwrap());
    let text = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(said.code, Some(0), "{text}");
    assert!(
        text.contains("skipped: this machine lacks a program"),
        "{text}"
    );
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = processes_of(&place);
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "still there: {left:?}\n{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut left = fs_err::read_dir(&place).unwrap().flatten();
    let of_tour = left.find(|entry| {
        entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(b"windlass-tour")
    });
    assert!(of_tour.is_none(), "{of_tour:?} is still there");
}

/// The command lines of processes that run in a directory or know of it.
fn processes_of(directory: &Path) -> Vec<String> {
    let name = directory.as_os_str().as_encoded_bytes();
    let mut found = Vec::new();
    for entry in fs_err::read_dir("/proc").unwrap().flatten() {
        let of = |what: &str| fs_err::read(entry.path().join(what)).unwrap_or_default();
        let command = of("cmdline");
        let knows = |text: &[u8]| text.windows(name.len()).any(|part| part == name);
        if knows(&command) || knows(&of("environ")) {
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}
