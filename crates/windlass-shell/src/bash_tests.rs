//! The list compared with what a real shell runs.
//!
//! Lines are put together at random from pieces that confuse parsers and given to `bash`, which
//! finds none of the programs and writes down what it looked for. Whatever it looked for has to be
//! in the list of a line that counts as understood, with the same arguments where they are literal.

use std::{
    path::Path,
    process::{Command as Process, Stdio},
    time::{Duration, Instant},
};

use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, TestRng, TestRunner},
};

use super::*;

const PIECES: [&str; 84] = [
    "m1",
    "m2 a",
    "m3 -x 'q'",
    "m4",
    " ",
    " ",
    " ",
    ";",
    "|",
    "&",
    "&&",
    "||",
    "\n",
    "(",
    ")",
    "{ ",
    "; }",
    "}",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "\\\\",
    "$x",
    "${x}",
    "${x:-",
    "> f",
    "<f",
    ">>f",
    "2>&1",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "if ",
    "then ",
    "; fi",
    "elif ",
    "else ",
    "do ",
    "; done",
    "for i in 1 2",
    "while w5",
    "until m6",
    "case a in",
    "a)",
    ";;",
    "*)",
    "esac",
    "$'",
    "$\"",
    "#",
    "*",
    "~",
    "=",
    "A=1 ",
    "\t",
    "f() ",
    "!",
    "[[ ",
    "]]",
    "((",
    "))",
    "$((",
    "[",
    "<(",
    "<<<",
    "\\'",
    "\\\"",
    "\\\n",
    "{a,b}",
    "time ",
    "&>f",
    "|&",
    "E\n",
    "m7\n",
    "?",
    "@(",
    "\\`",
    "-",
    "1",
    "; m9 z",
    "\nm9 z\n",
];

/// How many lines are tried; a few percent of them are understood.
const LINES: u32 = 4_000;

/// Writes down what is not found. Conditions of `while` fail, so that loops end.
const HANDLER: &str = r#"
command_not_found_handle() {
    local record= word
    for word in "$@"; do record+="$word"$'\1'; done
    printf '%s\2' "$record" >> "$RECORDS"
    [ "$1" != w5 ]
}
PATH=/nonexistent
eval "$LINE"
"#;

/// The words of what `bash` looked for, command by command.
fn looked_for(line: &str, directory: &Path) -> Vec<Vec<String>> {
    let records = directory.join("records");
    let work = directory.join("work");
    fs_err::create_dir(&work).unwrap();
    let mut child = Process::new("bash")
        .args(["--norc", "--noprofile", "-c", HANDLER])
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/local/bin")
        .env("RECORDS", &records)
        .env("LINE", line)
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash is installed");
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(2) {
            child.kill().unwrap();
            child.wait().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let bytes = fs_err::read(&records).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let whole = text
        .split('\u{2}')
        .filter(|record| record.ends_with('\u{1}'));
    whole
        .map(|record| {
            let words = record.trim_end_matches('\u{1}').split('\u{1}');
            words.map(str::to_owned).collect()
        })
        .collect()
}

/// Whether a command of the list is what was looked for.
fn is_listed(script: &Script, words: &[String]) -> bool {
    script.commands.iter().any(|command| {
        let literals: Option<Vec<&str>> = command.words.iter().map(Word::literal).collect();
        match literals {
            Some(literals) => literals == words,
            None => command.words.first().map(|word| &word.text) == words.first(),
        }
    })
}

#[test]
fn bash_runs_what_is_listed_and_nothing_else() {
    let config = Config::default();
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let lines = prop::collection::vec(prop::sample::select(&PIECES[..]), 2..12);
    let mut understood = 0;
    for _ in 0..LINES {
        let line = lines.new_tree(&mut runner).unwrap().current().concat();
        let script = parse(&line);
        if !script.is_understood() || script.commands.is_empty() {
            continue;
        }
        understood += 1;
        let directory = tempfile::tempdir().unwrap();
        for words in looked_for(&line, directory.path()) {
            assert!(
                is_listed(&script, &words),
                "bash runs {words:?} for {line:?}, which is listed as {:#?}",
                script.commands
            );
        }
    }
    assert!(understood > 50, "{understood}");
}
