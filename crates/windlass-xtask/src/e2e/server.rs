//! A running `windlass mcp serve --http` on a free loopback port.
//!
//! Not here: the stdio server, which each client starts itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::process;

/// Enough for a cold debug build on a busy machine; the product needs milliseconds.
const START_LIMIT: Duration = Duration::from_secs(30);
const READY: &str = "listening on ";

/// The server, stopped when this is dropped.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// Starts the server with its home and log inside `folder` and waits for its address.
    pub fn start(binary: &Path, options: &[&str], folder: &Path) -> Result<Server> {
        fs_err::create_dir_all(folder)?;
        let mut command = Command::new(binary);
        command
            .args(["mcp", "serve", "--http", "127.0.0.1:0", "--no-auth"])
            .args(options)
            .env("WINDLASS_HOME", folder.join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let shown = process::describe(&command);
        let mut child = command
            .spawn()
            .with_context(|| format!("could not start `{shown}`"))?;
        let log = folder.join("server.log");
        let address = match child.stderr.take() {
            Some(stream) => watch(stream, log.clone()),
            None => bail!("`{shown}` has no error stream"),
        };
        match address.recv_timeout(START_LIMIT) {
            Ok(url) => Ok(Server { child, url }),
            Err(_) => {
                process::stop(&mut child);
                let logged = fs_err::read_to_string(&log).unwrap_or_default();
                bail!(
                    "`{shown}` did not print `{READY}URL` on its error stream\n{}",
                    process::indent(&process::tail(&logged, 20))
                )
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        process::stop(&mut self.child);
    }
}

/// Copies the server's error stream to a log for as long as it runs; sends the address once.
///
/// The channel closes when the stream ends, so a server that dies is noticed at once.
fn watch(stream: ChildStderr, log: PathBuf) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut log = fs_err::File::create(log).ok();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let Some(log) = &mut log {
                // A full disk must not stop the server by filling its pipe.
                let _ = writeln!(log, "{line}");
            }
            if let Some(url) = address_in(&line) {
                // The receiver is gone once it has the first address.
                let _ = sender.send(url.to_owned());
            }
        }
    });
    receiver
}

fn address_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(READY)?;
    let url = rest.split_whitespace().next()?;
    url.starts_with("http://").then_some(url)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn script(folder: &Path, body: &str) -> PathBuf {
        let path = folder.join("program");
        fs_err::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_server_is_ready_when_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(
            folder.path(),
            "echo starting >&2; echo listening on http://127.0.0.1:9/mcp >&2; exec sleep 600",
        );
        let server = Server::start(&program, &[], &folder.path().join("server")).unwrap();
        assert_eq!(server.url, "http://127.0.0.1:9/mcp");
    }

    #[test]
    fn a_server_that_dies_is_reported_with_the_end_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo unknown option $6 >&2; exit 2");
        let error = Server::start(&program, &["--fixtures"], &folder.path().join("server"))
            .err()
            .unwrap();
        let text = error.to_string();
        assert!(text.contains("did not print `listening on URL`"), "{text}");
        assert!(text.ends_with("    unknown option --fixtures"), "{text}");
    }

    #[test]
    fn the_address_is_found_in_the_announcement() {
        let cases = [
            (
                "listening on http://127.0.0.1:4001/mcp",
                Some("http://127.0.0.1:4001/mcp"),
            ),
            (
                "INFO listening on http://[::1]:1/mcp (no auth)",
                Some("http://[::1]:1/mcp"),
            ),
            ("listening on stdin", None),
            ("starting", None),
        ];
        for (line, expected) in cases {
            assert_eq!(address_in(line), expected, "{line}");
        }
    }
}
