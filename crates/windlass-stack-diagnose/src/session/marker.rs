//! A word that a command cannot know, printed after it with its exit code.

use windlass_ports::Entropy;
use windlass_ports::entropy::random;

/// The word.
#[derive(Clone, Debug)]
pub struct Marker(String);

impl Marker {
    /// A new one.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(hex::encode(random::<8>(entropy)))
    }

    /// Its halves. Printed one after the other they give the word, so that a terminal that echoes
    /// the command does not show it whole.
    pub(crate) fn halves(&self) -> (&str, &str) {
        self.0.split_at(self.0.len() / 2)
    }

    /// The command in a shell of its own, which says the word and the exit code last.
    pub fn wrap(&self, command: &str) -> String {
        let (head, tail) = self.halves();
        let script = format!("( {command}\n); printf '\\n%s%s:%s\\n' {head} {tail} \"$?\"");
        format!("/bin/sh -c {}", quoted(&script))
    }

    /// Whether the word and the exit code are in the output.
    pub fn is_in(&self, output: &[u8]) -> bool {
        self.found(&String::from_utf8_lossy(output)).is_some()
    }

    fn found(&self, output: &str) -> Option<(usize, i64)> {
        let at = output.rfind(&self.0)?;
        let rest = output[at + self.0.len()..].strip_prefix(':')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        // The whole line must be there, or half a number would be read.
        rest[digits.len()..]
            .starts_with(['\r', '\n'])
            .then_some(())?;
        Some((at, digits.parse().ok()?))
    }

    /// What the command printed, and its exit code.
    pub fn split(&self, output: &[u8]) -> (String, Option<i64>) {
        let output = String::from_utf8_lossy(output);
        match self.found(&output) {
            Some((at, exit_code)) => {
                let printed = &output[..at];
                // The line break before the marker is the marker's.
                let printed = printed.strip_suffix('\n').unwrap_or(printed);
                let printed = printed.strip_suffix('\r').unwrap_or(printed);
                (printed.to_owned(), Some(exit_code))
            }
            None => (output.into_owned(), None),
        }
    }

    /// The exit code, if this line says it.
    pub(crate) fn exit_code(&self, line: &str) -> Option<i64> {
        line.strip_prefix(self.0.as_str())?
            .strip_prefix(':')?
            .parse()
            .ok()
    }

    /// Whether this line is the word alone.
    pub(crate) fn is(&self, line: &str) -> bool {
        line == self.0
    }
}

/// A word of a shell, whatever is in it.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_runs_what_is_wrapped() {
        let marker = Marker("abcd1234".to_owned());
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
    fn half_a_marker_is_not_a_marker() {
        let marker = Marker("abcd1234".to_owned());
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
        for (line, expected) in [
            ("abcd1234:12", Some(12)),
            ("abcd1234:", None),
            (" abcd1234:1", None),
            ("abcd1234:1x", None),
        ] {
            assert_eq!(marker.exit_code(line), expected, "{line}");
        }
    }
}
