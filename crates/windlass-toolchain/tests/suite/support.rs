//! Sites, places and processes for the tests.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use windlass_ports::{HugoBuild, HugoJob, ToolError, Toolchain as _};
use windlass_toolchain::{HugoPlaces, HugoProgram};

/// Names the real Hugo; `cargo xtask test` installs it and sets this.
pub const REAL: &str = "WINDLASS_TEST_HUGO";

/// Longer than any build here takes.
pub const LONG: Duration = Duration::from_secs(100);

/// A site, a Hugo, and the folders they use.
pub struct World {
    root: TempDir,
    pub hugo: HugoProgram,
}

impl World {
    /// A world around a Hugo; the site is empty.
    pub fn around(hugo: Option<PathBuf>) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["site", "scratch", "bin"] {
            fs_err::create_dir(root.path().join(folder)).unwrap();
        }
        let own = root.path().join("bin");
        let path = std::env::join_paths([own.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]);
        let hugo = HugoProgram::new(HugoPlaces {
            path: path.unwrap(),
            configured: hugo,
            scratch: root.path().join("scratch"),
        });
        Self { root, hugo }
    }

    /// A world around the real Hugo; none, and said so, where there is none.
    pub fn real() -> Option<Self> {
        let Some(program) = std::env::var_os(REAL) else {
            eprintln!(
                "SKIPPED, NOTHING WAS TESTED: {REAL} does not name a Hugo; `cargo xtask test` \
                 installs one and sets it"
            );
            return None;
        };
        let world = Self::around(Some(program.into()));
        world.write("site/hugo.toml", "baseURL = 'https://site.example/'\n");
        world.write("site/layouts/home.html", "home\n");
        world.write("site/layouts/list.html", "list\n");
        world.write("site/layouts/page.html", "{{ .Title }}: {{ .Content }}\n");
        Some(world)
    }

    pub fn place(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.place(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Writes a shell script that can be started.
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        self.write(path, &format!("#!/bin/sh\n{text}"));
        let path = self.place(path);
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.place(path)).unwrap()
    }

    /// Builds the site into `out`.
    pub fn build(&self) -> Result<HugoBuild, ToolError> {
        self.build_with(&[], LONG, &|| false)
    }

    pub fn build_with(
        &self,
        exec_allow: &[&str],
        limit: Duration,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HugoBuild, ToolError> {
        let exec_allow: Vec<String> = exec_allow.iter().map(ToString::to_string).collect();
        let before = contents(&self.place("site"));
        let result = self.hugo.hugo_build(&HugoJob {
            site: &self.place("site"),
            config_dir: None,
            out: &self.place("out"),
            exec_allow: &exec_allow,
            http_allow: &[],
            module_proxy: None,
            limit,
            stopped,
        });
        // Whatever a build does, the site is as it was and nothing of the copy is left.
        assert_eq!(contents(&self.place("site")), before);
        assert_eq!(contents(&self.place("scratch")), BTreeMap::new());
        result
    }

    /// The log of a build that must fail.
    pub fn failure(&self) -> String {
        let build = self.build().unwrap();
        assert!(!build.success, "{}", build.log);
        self.assert_no_machine_paths(&build.log);
        build.log
    }

    /// The log of a build that must succeed.
    pub fn success(&self) -> String {
        let build = self.build().unwrap();
        assert!(build.success, "{}", build.log);
        self.assert_no_machine_paths(&build.log);
        build.log
    }

    /// A site may name paths of the machine itself; nobody else does.
    fn assert_no_machine_paths(&self, log: &str) {
        assert!(!log.contains(self.root.path().to_str().unwrap()), "{log}");
    }
}

/// Every file below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs_err::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else if entry.file_type().unwrap().is_symlink() {
                let target = fs_err::read_link(entry.path()).unwrap();
                found.insert(entry.path(), target.into_os_string().into_encoded_bytes());
            } else {
                found.insert(entry.path(), fs_err::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// Waits until a process is gone.
#[cfg(target_os = "linux")]
pub fn assert_ends(pid: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    // No such process: gone. Otherwise it must be about to go.
    if let Ok(watched) = pidfd_open(pid, PidfdFlags::empty()) {
        let limit = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut watched = [PollFd::new(&watched, PollFlags::IN)];
        assert_eq!(poll(&mut watched, Some(&limit)), Ok(1));
    }
}
