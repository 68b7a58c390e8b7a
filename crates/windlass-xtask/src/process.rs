//! Starting other programs: shown and streamed, or captured with a time limit.
//!
//! Not here: which program to start. Called by every verb and stage.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// What a finished program left behind.
pub struct Captured {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Captured {
    /// Turns a non-zero exit into an error that shows the end of both streams.
    pub fn success(self, what: &str) -> Result<Captured> {
        if self.status.success() {
            return Ok(self);
        }
        bail!(
            "{what} ended with {}\n{}",
            self.status,
            indent(&tail(&format!("{}{}", self.stdout, self.stderr), 40))
        )
    }
}

/// Runs a program with this terminal's streams, printing its command line first.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", describe(command));
    let status = command
        .status()
        .with_context(|| format!("could not start `{}`", describe(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", describe(command));
    }
    Ok(())
}

/// Runs a program to its end and keeps what it printed. Kills it after `limit`.
pub fn capture(command: &mut Command, limit: Duration) -> Result<Captured> {
    let shown = describe(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{shown}`"))?;
    let stdout = read_to_end(child.stdout.take());
    let stderr = read_to_end(child.stderr.take());

    // Both streams end when the program does, so waiting for them needs no polling.
    let deadline = Instant::now() + limit;
    let (Ok(stdout), Ok(stderr)) = (until(&stdout, deadline), until(&stderr, deadline)) else {
        stop(&mut child);
        bail!("`{shown}` did not end within {} s", limit.as_secs());
    };
    let status = child
        .wait()
        .with_context(|| format!("could not wait for `{shown}`"))?;
    Ok(Captured {
        status,
        stdout,
        stderr,
    })
}

/// Kills a child and collects it, so that no zombie and no open port stays behind.
pub fn stop(child: &mut Child) {
    // Both fail only when the child is gone already, which is the aim.
    let _ = child.kill();
    let _ = child.wait();
}

/// The command line as one would type it.
pub fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // Cargo hands down its own full path, which only makes messages long.
    let program = match program.file_name() {
        Some(name) if name == "cargo" => name,
        _ => program.as_os_str(),
    };
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words
        .iter()
        .map(|word| quote(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The last `count` lines of a text.
pub fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Every line moved four columns to the right, for output quoted inside a message.
pub fn indent(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn read_to_end(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // A broken pipe still leaves the bytes read so far, which is all there is.
            let _ = stream.read_to_end(&mut bytes);
        }
        // The receiver is gone after a time-out, and then the text is not needed.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn until(
    receiver: &mpsc::Receiver<String>,
    deadline: Instant,
) -> Result<String, mpsc::RecvTimeoutError> {
    receiver.recv_timeout(deadline.saturating_duration_since(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_command_as_typed() {
        let mut command = Command::new("/some/toolchain/bin/cargo");
        command.args(["test", "--", "it's", "", "{\"a\":1}"]);
        assert_eq!(
            describe(&command),
            r#"cargo test -- 'it'\''s' '' '{"a":1}'"#
        );
    }

    #[test]
    fn captures_both_streams_and_the_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let captured = capture(&mut command, Duration::from_secs(30)).unwrap();
        assert_eq!(captured.stdout, "out\n");
        assert_eq!(captured.stderr, "err\n");
        assert_eq!(captured.status.code(), Some(3));
        let error = captured.success("the script").err().unwrap();
        assert_eq!(
            error.to_string(),
            "the script ended with exit status: 3\n    out\n    err"
        );
    }

    #[test]
    fn kills_what_does_not_end() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let error = capture(&mut command, Duration::from_millis(50))
            .err()
            .unwrap();
        assert_eq!(error.to_string(), "`sleep 600` did not end within 0 s");
    }

    #[test]
    fn keeps_the_end_of_a_text() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
