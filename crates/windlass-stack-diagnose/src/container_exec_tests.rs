//! Markers, quoting and tails.

use std::process::Command;

use super::*;

#[test]
fn a_shell_runs_what_is_wrapped() {
    let marker = Marker::new("abcd1234".to_owned());
    for (command, printed, code) in [
        ("echo hello", "hello\n", 0),
        ("echo it\\'s; exit 3", "it's\n", 3),
        ("printf 'no break'", "no break", 0),
        ("echo \"a $((1+1))\" 'b' # comment", "a 2 b\n", 0),
        ("false", "", 1),
    ] {
        // The agent splits the words as a shell does.
        let line = marker.wrap(command);
        let output = Command::new("/bin/sh")
            .args(["-c", &line])
            .output()
            .unwrap();
        assert!(marker.is_in(&output.stdout), "{command}");
        assert_eq!(
            marker.split(&output.stdout),
            (printed.to_owned(), Some(code)),
            "{command}"
        );
        assert!(!line.contains("abcd1234"));
    }
}

#[test]
fn half_a_marker_is_none() {
    let marker = Marker::new("abcd1234".to_owned());
    for output in [
        "",
        "x",
        "abcd1234",
        "abcd1234:",
        "abcd1234:1",
        "abcd1234:x\n",
    ] {
        assert!(!marker.is_in(output.as_bytes()), "{output}");
    }
    assert_eq!(
        marker.split(b"out\r\nabcd1234:12\r\n"),
        ("out".to_owned(), Some(12))
    );
}

#[test]
fn tails_are_bounded() {
    let long = "x\n".repeat(500);
    assert_eq!(tail(&long).lines().count(), TAIL_LINES);
    assert_eq!(tail(&"é".repeat(10_000)).chars().count(), TAIL_LETTERS);
}
