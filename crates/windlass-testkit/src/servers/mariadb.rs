//! A MariaDB of our own: a fresh data folder, reached by a socket.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{check, is_root, programs, wait_for};

/// The folder that holds `mariadbd`; its other programs are in the path.
const VARIABLE: &str = "WINDLASS_TEST_MARIADB";

/// A running server; it is ended and removed when this is dropped.
pub struct MariaDb {
    child: Child,
    folder: tempfile::TempDir,
}

impl MariaDb {
    /// Starts one, whose user `root` has no password; nothing, loudly, where no MariaDB is known.
    pub fn start() -> Option<Self> {
        let programs = programs(VARIABLE, "MariaDB")?;
        let folder = tempfile::tempdir().unwrap();
        let data = format!("--datadir={}", folder.path().join("data").display());
        // A server that starts removes temporary tables of its folder, those of others too.
        let temporary = format!("--tmpdir={}", folder.path().display());
        // It runs as root only on request.
        let user = if is_root() { &["--user=root"][..] } else { &[] };
        check(
            "mariadb-install-db",
            Command::new("mariadb-install-db")
                .arg("--no-defaults")
                .args([&data, &temporary])
                .args([
                    "--auth-root-authentication-method=normal",
                    "--skip-test-db",
                    "--innodb-flush-method=nosync",
                ])
                .args(user),
        );
        let mut child = Command::new(programs.join("mariadbd"))
            .arg("--no-defaults")
            .args([&data, &temporary])
            .args(user)
            .args(["--skip-networking", "--innodb-flush-method=nosync"])
            .arg(format!(
                "--socket={}",
                folder.path().join("maria.sock").display()
            ))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stderr.take().unwrap();
        let server = Self { child, folder };
        wait_for(output, "ready for connections", "mariadbd");
        Some(server)
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("maria.sock")
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
