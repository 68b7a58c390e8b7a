//! Real servers and engines for tests: each its own, below a temporary folder, ended when dropped.
//!
//! A server's programs are where an environment variable says; `cargo xtask test` sets it.
//! Without it the test is skipped, loudly.

mod ask;
mod mariadb;
pub mod models;
mod moto;
mod npm;
mod podman;
mod postgres;
mod redis;

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::time::Duration;

pub use ask::{asking, at_socket, reading};
pub use mariadb::MariaDb;
pub use moto::Moto;
pub use npm::NpmRegistry;
pub use podman::Podman;
pub use postgres::Postgres;
pub use redis::Redis;

/// How long a server may take to be ready.
const START: Duration = Duration::from_secs(60);

/// Where a server's programs are; says so where none are known.
fn programs(variable: &str, server: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        eprintln!(
            "SKIPPED, NOTHING WAS TESTED: {variable} does not say where {server}'s programs \
             are; `cargo xtask test` sets it"
        );
    }
    found
}

/// Reads what a server prints until it says that it is ready, and keeps reading so that the
/// server is never held up by a full pipe.
fn wait_for(output: impl Read + Send + 'static, ready: &'static str, server: &str) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            // Nobody listens after the start.
            let _ = sender.send(line);
        }
    });
    let mut said = String::new();
    loop {
        let line = receiver
            .recv_timeout(START)
            .unwrap_or_else(|_| panic!("{server} does not start: {said}"));
        if line.contains(ready) {
            return;
        }
        said.push_str(&line);
        said.push('\n');
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs_err::metadata(Path::new("/proc/self")).is_ok_and(|about| about.uid() == 0)
}

fn check(name: &str, command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        output.status.success(),
        "{name} failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
