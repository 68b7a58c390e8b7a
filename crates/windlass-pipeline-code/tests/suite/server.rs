//! A PostgreSQL of our own: a fresh cluster below a temporary folder, reached by a socket in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder that holds `initdb`, `pg_ctl` and `psql`.
pub const VARIABLE: &str = "WINDLASS_TEST_POSTGRES";

/// A running server; it is stopped and removed when this is dropped.
pub struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts one; nothing, loudly, where no PostgreSQL is known.
    pub fn start(name: &str) -> Option<Self> {
        let Some(programs) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
            eprintln!(
                "SKIPPED, THE MIGRATION WAS NOT TESTED: {VARIABLE} does not name a folder with \
                 PostgreSQL's programs; `cargo xtask test` sets it"
            );
            return None;
        };
        let folder = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        let server = Self { programs, folder };
        if is_root() {
            // PostgreSQL refuses to run as root.
            check(
                "chown",
                Command::new("chown")
                    .arg("postgres")
                    .arg(server.folder.path())
                    .output(),
            );
        }
        server.program(
            "initdb",
            &[
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
                &server.path("data"),
            ],
        );
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c fsync=off",
            server.folder.path().display()
        );
        server.program(
            "pg_ctl",
            &[
                "start",
                "--wait",
                "-D",
                &server.path("data"),
                "-l",
                &server.path("log"),
                "-o",
                &options,
            ],
        );
        Some(server)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// One of PostgreSQL's programs, as a user that it accepts.
    fn program(&self, name: &str, arguments: &[&str]) {
        let path = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
                .arg(path);
            command
        } else {
            Command::new(path)
        };
        check(
            name,
            command
                .args(arguments)
                .current_dir(self.folder.path())
                .output(),
        );
    }

    /// Runs a script to its end or its first error. Gives what it printed, or the errors.
    pub fn run(&self, script: &str) -> Result<String, String> {
        let path = self.folder.path().join("script.sql");
        fs_err::write(&path, script).unwrap();
        let output = Command::new(self.programs.join("psql"))
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--no-align",
                "--set",
                "ON_ERROR_STOP=1",
            ])
            .args(["--username", "postgres", "--dbname", "postgres", "--host"])
            .arg(self.folder.path())
            .arg("--file")
            .arg(&path)
            .env("PGCLIENTENCODING", "UTF8")
            .output()
            .unwrap();
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.program(
            "pg_ctl",
            &[
                "stop",
                "--wait",
                "-m",
                "immediate",
                "-D",
                &self.path("data"),
            ],
        );
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs_err::metadata(Path::new("/proc/self")).is_ok_and(|about| about.uid() == 0)
}

fn check(name: &str, output: std::io::Result<Output>) {
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        output.status.success(),
        "{name} failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
