//! What holds a run where a test wants it: a git that waits, a model that waits, a Hugo that
//! waits. Each waits for as long as a file is there.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::place::{LaunchPlace, git_program};
use crate::suite::support::loopback::{Loopback, json_answer};

/// Long enough for a loaded machine, short enough to notice a hang.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Something that waits while it is held.
pub(crate) struct Lever {
    hold: PathBuf,
    reached: PathBuf,
}

impl Lever {
    fn new(place: &LaunchPlace, name: &str) -> Self {
        Self {
            hold: place.root().join(format!("hold-{name}")),
            reached: place.root().join(format!("reached-{name}")),
        }
    }

    /// From now on every caller waits.
    pub(crate) fn hold(&self) {
        let _ = fs_err::remove_file(&self.reached);
        fs_err::write(&self.hold, "").unwrap();
    }

    /// Waits until a caller waits.
    pub(crate) fn wait_until_reached(&self) {
        let started = Instant::now();
        while !self.reached.exists() {
            assert!(started.elapsed() < WAIT_LIMIT, "nobody came");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Releases all callers.
    pub(crate) fn release(&self) {
        let _ = fs_err::remove_file(&self.hold);
    }

    /// The lines of a shell script that wait.
    fn script(&self) -> String {
        let (hold, reached) = (self.hold.display(), self.reached.display());
        format!(
            "if [ -e '{hold}' ]; then : > '{reached}'; \
             while [ -e '{hold}' ]; do {} 0.01; done; fi\n",
            sleep().display()
        )
    }
}

impl Drop for Lever {
    fn drop(&mut self) {
        self.release();
    }
}

fn sleep() -> PathBuf {
    let places = ["/bin/sleep", "/usr/bin/sleep"].map(PathBuf::from);
    let found = places.into_iter().find(|program| program.is_file());
    found.expect("there is a sleep")
}

pub(crate) fn write_program(path: &Path, text: &str) {
    // Never written over: it may be a link to the real one, or running.
    let _ = fs_err::remove_file(path);
    fs_err::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The git of a place, which can be held.
pub(crate) fn git(place: &LaunchPlace) -> Lever {
    let lever = Lever::new(place, "git");
    let call = format!("exec '{}' \"$@\"\n", git_program().display());
    write_program(
        &place.root().join("bin/git"),
        &format!("{}{call}", lever.script()),
    );
    lever
}

/// A Hugo that says its version, once it is not held, and builds nothing.
pub(crate) fn hugo(place: &LaunchPlace) -> Lever {
    let lever = Lever::new(place, "hugo");
    let says = "echo 'hugo v0.168.0+extended linux/amd64 BuildDate=unknown'\n";
    write_program(
        &place.root().join("bin/hugo"),
        &format!("{}{says}", lever.script()),
    );
    lever
}

/// A language model that can be held and has no answer. The lever, and what a configuration
/// says to use it.
pub(crate) fn model(place: &LaunchPlace) -> (Lever, Value) {
    place.settings("[models]\nallow_private_targets = true\nallow_http = true\n");
    let lever = Lever::new(place, "model");
    let (hold, reached) = (lever.hold.clone(), lever.reached.clone());
    let server = Loopback::start(move |_| {
        if hold.exists() {
            fs_err::write(&reached, "").unwrap();
            while hold.exists() {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        json_answer(404, &json!({ "error": { "message": "no such model" } }))
    });
    let llm = json!({
        "api_base_url": format!("http://{}/v1", server.address),
        "model": "none",
    });
    (lever, llm)
}
