//! A Redis of our own: in memory, reached by a socket.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{programs, wait_for};

/// The folder that holds `redis-server`.
const VARIABLE: &str = "WINDLASS_TEST_REDIS";

/// A running server; it is ended and removed when this is dropped.
pub struct Redis {
    child: Child,
    folder: tempfile::TempDir,
}

impl Redis {
    /// Starts one with more options, as `redis-server` takes them; nothing, loudly, where no
    /// Redis is known.
    pub fn start(options: &[&str]) -> Option<Self> {
        let programs = programs(VARIABLE, "Redis")?;
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(programs.join("redis-server"))
            .args([
                "--port",
                "0",
                "--save",
                "",
                "--appendonly",
                "no",
                "--unixsocket",
            ])
            .arg(folder.path().join("redis.sock"))
            .args(options)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let server = Self { child, folder };
        // Said once for each way in; the socket is the last.
        wait_for(output, "eady to accept connections at", "redis-server");
        Some(server)
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
