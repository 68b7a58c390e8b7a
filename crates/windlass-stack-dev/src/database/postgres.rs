//! PostgreSQL as a local process: a cluster below the session's data, TCP on loopback alone.
//!
//! The password is new in every run: it is set in single-user mode, where the server listens to
//! nobody and asks for none. It is handed over on standard input, never as an argument.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use windlass_files::Access;
use windlass_process::Ended;
use windlass_types::{Problem, Secret, code};

use crate::ledger::Ending;
use crate::outside::Programs;
use crate::plan::{in_project, make_folder};
use crate::process::Launch;

/// How long making a cluster or setting a password may take.
const SET_UP_TIME: Duration = Duration::from_secs(120);

/// Who may connect: anyone on loopback who knows the password.
const ACCESS_RULES: &str = "host all all 127.0.0.1/32 scram-sha-256\n";

/// A server that is to be.
#[derive(Clone)]
pub(crate) struct PostgresServer {
    pub programs: PathBuf,
    pub setpriv: Option<PathBuf>,
    pub data: PathBuf,
    pub port: u16,
    pub user: String,
    pub password: Secret<String>,
    pub database: String,
}

impl PostgresServer {
    pub fn programs(programs: &Programs) -> Option<PathBuf> {
        programs.postgres.clone()
    }

    /// Makes the cluster if there is none, sets the password, and says how to start it.
    pub fn launch(&self) -> Result<Launch, Problem> {
        make_folder(&self.data).map_err(fault)?;
        self.hand_over()?;
        if !self.data.join("PG_VERSION").exists() {
            let arguments = [
                format!("--username={}", self.user),
                // Nobody may connect until the rules below are written.
                "--auth=reject".to_owned(),
                "--encoding=UTF8".to_owned(),
                "--locale=C".to_owned(),
                "--no-sync".to_owned(),
                "--no-instructions".to_owned(),
                "-D".to_owned(),
                self.data.display().to_string(),
            ];
            self.run("initdb", &arguments, "")?;
        }
        self.check_version()?;
        // In place: the file stays that of the user the server runs as.
        in_project(&self.data.join("pg_hba.conf"))
            .and_then(|(project, below)| project.create_file(&below, Access::Private))
            .map_err(fault)?
            .write_all(ACCESS_RULES.as_bytes())
            .map_err(fault)?;
        let statements = format!(
            "ALTER ROLE {} WITH PASSWORD '{}';\nCREATE DATABASE {};\n",
            quoted(&self.user),
            self.password.expose_secret().replace('\'', "''"),
            quoted(&self.database),
        );
        // A database that exists already is an error of one statement, which the others survive.
        let arguments = [
            "--single".to_owned(),
            "-D".to_owned(),
            self.data.display().to_string(),
            "postgres".to_owned(),
        ];
        self.run("postgres", &arguments, &statements)?;
        let (program, mut arguments) = self.command("postgres");
        arguments.extend(["-D".into(), self.data.clone().into_os_string()]);
        for setting in [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            // No socket: its path may be longer than sockets allow, and TCP is what is announced.
            "unix_socket_directories=".to_owned(),
            "synchronous_commit=off".to_owned(),
            "log_min_messages=warning".to_owned(),
        ] {
            arguments.extend(["-c".into(), setting.into()]);
        }
        let mut launch = Launch::new(program, &self.data).arguments(arguments);
        launch.ending = Ending::Interrupt;
        launch.grace = Duration::from_secs(10);
        Ok(launch)
    }

    /// A cluster of another major version cannot be started by this one.
    fn check_version(&self) -> Result<(), Problem> {
        let of_data = fs_err::read_to_string(self.data.join("PG_VERSION")).map_err(fault)?;
        let of_program = self.run("postgres", &["--version".to_owned()], "")?;
        let is_same = of_program
            .split_whitespace()
            .any(|word| word.split('.').next() == Some(of_data.trim()));
        if is_same {
            return Ok(());
        }
        Err(Problem::invalid(
            "freshDb",
            "data of this version",
            format!(
                "the local data is of PostgreSQL {}, the installed server is {}; start with freshDb to create it again",
                of_data.trim(),
                of_program.trim()
            ),
        ))
    }

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// PostgreSQL refuses to run as root, so the folder becomes the `postgres` user's.
    fn hand_over(&self) -> Result<(), Problem> {
        fs_err::set_permissions(&self.data, std::fs::Permissions::from_mode(0o700))
            .map_err(fault)?;
        if !Self::is_root() {
            return Ok(());
        }
        if self.setpriv.is_none() {
            return Err(Problem::new(
                &code::TOOLCHAIN_MISSING,
                "PostgreSQL does not run as root; run as another user, or install setpriv (util-linux)",
            ));
        }
        run_program(
            windlass_process::command("chown")
                .arg("-R")
                .arg("postgres")
                .arg(&self.data),
            "chown",
            "",
        )?;
        Ok(())
    }

    fn command(&self, name: &str) -> (PathBuf, Vec<OsString>) {
        let program = self.programs.join(name);
        match &self.setpriv {
            Some(setpriv) if Self::is_root() => {
                let mut arguments: Vec<OsString> =
                    ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
                        .map(Into::into)
                        .into();
                arguments.push(program.into_os_string());
                (setpriv.clone(), arguments)
            }
            _ => (program, Vec::new()),
        }
    }

    fn run(&self, name: &str, arguments: &[String], input: &str) -> Result<String, Problem> {
        let (program, mut all) = self.command(name);
        all.extend(arguments.iter().map(OsString::from));
        run_program(
            windlass_process::command(program)
                .args(all)
                .current_dir(&self.data),
            name,
            input,
        )
    }
}

fn run_program(command: &mut Command, name: &str, input: &str) -> Result<String, Problem> {
    let failed = |text: String| {
        Problem::new(&code::STEP_FAILED, format!("{name} failed: {text}"))
            .with("reason", "workload_failed")
    };
    match windlass_process::run(command, Some(input.as_bytes()), SET_UP_TIME) {
        Ok(Ended::Itself {
            code: Some(0),
            mut stdout,
            ..
        }) => Ok(String::from_utf8_lossy(&stdout.all().map_err(fault)?).into_owned()),
        Ok(Ended::Itself { mut stderr, .. }) => Err(failed(
            String::from_utf8_lossy(&stderr.all().map_err(fault)?)
                .trim()
                .to_owned(),
        )),
        Ok(Ended::Stopped) => Err(failed(format!(
            "it took longer than {} s",
            SET_UP_TIME.as_secs()
        ))),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn fault(error: impl std::fmt::Display) -> Problem {
    Problem::internal("dev PostgreSQL", error)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Removes the data of all local databases, and nothing else.
pub(crate) fn wipe(data: &Path) -> Result<(), Problem> {
    let (project, below) = in_project(data).map_err(fault)?;
    project.remove_tree(&below).map(drop).map_err(fault)
}
