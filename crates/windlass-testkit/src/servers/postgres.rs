//! A PostgreSQL of our own: a fresh cluster, reached by a socket and, with a password, by TCP.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;

use super::{check, is_root, programs};

/// The folder that holds `initdb`, `pg_ctl` and `psql`.
const VARIABLE: &str = "WINDLASS_TEST_POSTGRES";

/// The superuser and, by TCP, its password.
const USER: &str = "postgres";
const PASSWORD: &str = "only-for-tests";

/// A running server; it is stopped and removed when this is dropped.
pub struct Postgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl Postgres {
    /// Starts one that is trusted by its socket only; nothing, loudly, where no PostgreSQL is
    /// known.
    pub fn start(name: &str) -> Option<Self> {
        Self::start_with(name, &[])
    }

    /// The same with further files in its folder, readable by the server alone, and TLS if
    /// `server.crt` and `server.key` are among them.
    pub fn start_with(name: &str, files: &[(&str, &str)]) -> Option<Self> {
        let programs = programs(VARIABLE, "PostgreSQL")?;
        let folder = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        let port = free_port();
        let server = Self {
            programs,
            folder,
            port,
        };
        for (name, contents) in files {
            fs_err::write(server.folder.path().join(name), contents).unwrap();
        }
        fs_err::write(server.folder.path().join("password"), PASSWORD).unwrap();
        check(
            "chmod",
            Command::new("chmod")
                .args(["-R", "go-rwx"])
                .arg(server.folder.path()),
        );
        if is_root() {
            // PostgreSQL refuses to run as root.
            check(
                "chown",
                Command::new("chown")
                    .args(["-R", "postgres"])
                    .arg(server.folder.path()),
            );
        }
        server.program(
            "initdb",
            &[
                &format!("--username={USER}"),
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                &format!("--pwfile={}", server.path("password")),
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
                &server.path("data"),
            ],
        );
        let mut options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={} -c fsync=off",
            server.folder.path().display()
        );
        if files.iter().any(|(name, _)| *name == "server.crt") {
            options.push_str(&format!(
                " -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
                server.path("server.crt"),
                server.path("server.key")
            ));
        }
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

    /// The socket, where nobody is asked for a password.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    /// The port on 127.0.0.1, where a password is asked for.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The superuser and its password.
    pub const fn superuser() -> (&'static str, &'static str) {
        (USER, PASSWORD)
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
            command.args(arguments).current_dir(self.folder.path()),
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
            .args(["--username", USER, "--dbname", "postgres"])
            .args(["--port", &self.port.to_string(), "--host"])
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

impl Drop for Postgres {
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

/// A port that is free now; PostgreSQL cannot choose one itself.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
