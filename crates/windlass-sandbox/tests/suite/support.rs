//! A project, something outside of it, and every way to confine a program on this machine.

use std::{
    ffi::OsString,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;
use windlass_ports::sandbox::{
    Backend, Confinement, Network, Sandbox as _, SandboxFeatures, SandboxRequest,
};
use windlass_sandbox::KernelSandbox;

/// A user without rights.
pub const NOBODY: u32 = 65_534;

/// Directories of one test. Everybody may enter them; every user may write in it.
pub struct Place {
    root: TempDir,
    pub probe: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        open_to_all(root.path());
        let probe = root.path().join("probe");
        fs_err::copy(env!("CARGO_BIN_EXE_windlass-sandbox-probe"), &probe).unwrap();
        let place = Self { root, probe };
        for folder in ["project", "outside", "secret"] {
            fs_err::create_dir(place.path(folder)).unwrap();
            fs_err::write(place.path(folder).join("file"), folder).unwrap();
            open_to_all(&place.path(folder));
            open_to_all(&place.path(folder).join("file"));
        }
        place
    }

    /// A path below the test's directory, without links.
    pub fn path(&self, name: &str) -> PathBuf {
        fs_err::canonicalize(self.root.path()).unwrap().join(name)
    }

    /// The project may be written, everything read except `secret`; no network.
    pub fn confinement(&self) -> Confinement {
        let mut confinement = Confinement::read_only(self.path("project"), None)
            .writing([self.path("project")], None);
        confinement.read.push(self.path(""));
        confinement.deny_read.push(self.path("secret"));
        confinement
    }
}

pub fn open_to_all(path: &Path) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}

/// One way to confine a program.
#[derive(Clone, Debug)]
pub struct Way {
    pub backend: Backend,
    /// Whether as a user without rights, where the tests run as root.
    pub as_nobody: bool,
    features: SandboxFeatures,
}

/// Every way that this machine offers.
pub fn ways() -> Vec<Way> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let machine = KernelSandbox::of_this_machine("/nowhere".as_ref(), Some(&path));
    let found = machine.features();
    let absent = || "taken away by the test".to_owned();
    let mut ways = Vec::new();
    for backend in [Backend::Bubblewrap, Backend::Namespaces, Backend::Landlock] {
        let mut features = found.clone();
        if backend != Backend::Bubblewrap {
            features.bubblewrap = Err(absent());
        }
        if backend == Backend::Landlock {
            features.namespaces = Err(absent());
        }
        let offered = KernelSandbox::with_features("/nowhere".as_ref(), features.clone());
        match offered.backend(&Network::Off) {
            Ok(chosen) if chosen == backend => {}
            other => {
                eprintln!("SKIPPED: {backend}: {other:?}; {:?}", found.bubblewrap);
                continue;
            }
        }
        for as_nobody in [false, true] {
            if !as_nobody || rustix::process::getuid().is_root() {
                ways.push(Way {
                    backend,
                    as_nobody,
                    features: features.clone(),
                });
            }
        }
    }
    assert!(!ways.is_empty(), "nothing can be tested here");
    ways
}

impl Way {
    /// The command that runs a program confined.
    pub fn command(&self, place: &Place, confinement: &Confinement, line: &[&str]) -> Command {
        let sandbox = KernelSandbox::with_features(&place.probe, self.features.clone());
        let environment: Vec<_> = std::env::vars_os().collect();
        let arguments: Vec<OsString> = line[1..].iter().map(OsString::from).collect();
        let prepared = sandbox
            .prepare(SandboxRequest {
                program: line[0].as_ref(),
                arguments: &arguments,
                environment: &environment,
                confinement,
            })
            .unwrap_or_else(|refusal| panic!("{self:?}: {refusal}"));
        assert_eq!(prepared.backend, self.backend);
        let mut command = Command::new(prepared.program);
        command
            .args(prepared.arguments)
            .env_clear()
            .envs(prepared.environment)
            .current_dir("/")
            .stdin(Stdio::null());
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY).env("HOME", "/nonexistent");
            command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        }
        command
    }

    pub fn run(&self, place: &Place, confinement: &Confinement, line: &[&str]) -> Output {
        self.command(place, confinement, line).output().unwrap()
    }

    /// What a program prints that must succeed.
    pub fn output(&self, place: &Place, confinement: &Confinement, line: &[&str]) -> String {
        let output = self.run(place, confinement, line);
        assert!(output.status.success(), "{self:?} {line:?}\n{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What system calls answer inside, each in a process of its own; in a grandchild whose parent
    /// is gone the answers are the same.
    pub fn attempts<'a>(
        &self,
        place: &Place,
        confinement: &Confinement,
        lines: &[&'a [&'a str]],
    ) -> Vec<(&'a [&'a str], String)> {
        let probe = place.probe.to_str().unwrap();
        let joined: Vec<String> = lines.iter().map(|line| line.join("\u{1f}")).collect();
        let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
        let direct = self.output(
            place,
            confinement,
            &[&[probe, "each"][..], &joined].concat(),
        );
        let again = [&[probe, "twice", "each"][..], &joined].concat();
        let again = self.output(place, confinement, &again);
        assert_eq!(direct, again, "{self:?}: a grandchild gets other answers");
        let answers: Vec<String> = direct.lines().map(str::to_owned).collect();
        assert_eq!(answers.len(), lines.len(), "{self:?} {direct}");
        lines.iter().copied().zip(answers).collect()
    }

    /// What one system call answers inside.
    pub fn attempt(&self, place: &Place, confinement: &Confinement, line: &[&str]) -> String {
        let mut answers = self.attempts(place, confinement, &[line]);
        answers.remove(0).1
    }
}

/// What a system call answers outside.
pub fn outside(place: &Place, line: &[&str]) -> String {
    let output = Command::new(&place.probe)
        .arg("try")
        .args(line)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
