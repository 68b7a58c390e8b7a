//! A Podman of our own: its images and containers are below a temporary folder.
//!
//! There is no registry: images begin with nothing and the machine's static BusyBox.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::programs;

/// The folder that holds `podman`.
const VARIABLE: &str = "WINDLASS_TEST_PODMAN";
/// Where Debian puts the one that needs no libraries.
const BUSYBOX: &str = "/bin/busybox";

/// An engine that was seen to run a container; what it holds is removed when this is dropped.
pub struct Podman {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Podman {
    /// Sets one up; nothing, loudly, where none is known or it cannot run a container.
    pub fn start() -> Option<Self> {
        let program = programs(VARIABLE, "Podman")?.join("podman");
        let folder = tempfile::tempdir().unwrap();
        let podman = Self { program, folder };
        let at = |name: &str| podman.folder.path().join(name);
        // What works without systemd, without overlays and without raising limits.
        let settings = "[engine]\ncgroup_manager = \"cgroupfs\"\nruntime = \"runc\"\n\
                        events_logger = \"file\"\n\
                        [containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n";
        fs_err::write(at("containers.conf"), settings).unwrap();
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = {:?}\nrunroot = {:?}\n",
            at("images"),
            at("running")
        );
        fs_err::write(at("storage.conf"), storage).unwrap();
        let context = at("probe");
        fs_err::create_dir(&context).unwrap();
        podman.add_busybox(&context)?;
        let file = "FROM scratch\nCOPY busybox /bin/busybox\nCMD [\"/bin/busybox\", \"true\"]\n";
        fs_err::write(context.join("Dockerfile"), file).unwrap();
        let built = podman.run(&["build", "--tag", "probe", &context.to_string_lossy()]);
        let ran = podman.run(&["run", "--rm", "--init", "--network=host", "probe"]);
        for output in [built, ran] {
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                eprintln!("SKIPPED, NO CONTAINER WAS RUN: Podman does not work here: {why}");
                return None;
            }
        }
        Some(podman)
    }

    /// Puts a BusyBox that needs nothing else into the folder an image is built from.
    pub fn add_busybox(&self, context: &std::path::Path) -> Option<()> {
        match fs_err::copy(BUSYBOX, context.join("busybox")) {
            Ok(_) => Some(()),
            Err(error) => {
                eprintln!("SKIPPED, NO CONTAINER WAS RUN: {error}");
                None
            }
        }
    }

    /// What makes any Podman this one.
    pub fn environment(&self) -> BTreeMap<String, String> {
        [
            ("CONTAINERS_CONF", "containers.conf"),
            ("CONTAINERS_STORAGE_CONF", "storage.conf"),
        ]
        .map(|(name, file)| {
            let path = self.folder.path().join(file);
            (name.to_owned(), path.to_string_lossy().into_owned())
        })
        .into()
    }

    /// The program.
    pub fn program(&self) -> &PathBuf {
        &self.program
    }

    /// One command.
    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(&self.program)
            .args(arguments)
            .envs(self.environment())
            .output()
            .unwrap()
    }

    /// The containers there are, running or not, by name.
    pub fn containers(&self) -> Vec<String> {
        let listed = self.run(&["ps", "--all", "--format", "{{.Names}}"]);
        assert!(listed.status.success(), "{listed:?}");
        let names = String::from_utf8(listed.stdout).unwrap();
        names.lines().map(str::to_owned).collect()
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.run(&["rm", "--all", "--force", "--time", "0"]);
        let _ = self.run(&["rmi", "--all", "--force"]);
    }
}
