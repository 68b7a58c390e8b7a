//! Commands around one scratch directory, and what they say with ids, times and places replaced
//! by their names.

use regex::Regex;

use super::{
    binary::{Said, say},
    directory::fill,
    home::Place,
};

/// A home, a scratch directory, and everything said in it with the same names.
pub(crate) struct Scene {
    pub(crate) place: Place,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self {
            place: Place::new(),
        };
        fill(
            &scene.place.scratch(),
            &[("old.txt", "old\n"), ("site/index.html", "<p>\n")],
        );
        scene
    }

    pub(crate) fn with_file(name: &str, text: &str) -> Self {
        let scene = Self::new();
        fs_err::write(scene.place.home().join(name), text).unwrap();
        scene
    }

    pub(crate) fn dir(&self) -> String {
        self.place.scratch().to_str().unwrap().to_owned()
    }

    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        say(&self.place.home(), arguments)
    }

    /// `demo plan` or `demo apply` of one change with everything in it.
    pub(crate) fn demo(&self, verb: &str, flags: &[&str]) -> Said {
        let dir = self.dir();
        let change = ["--dir", &dir, "--file", "new.txt=new", "--file"];
        let change = [
            change.as_slice(),
            &["site/index.html=<h1>", "--delete", "old.txt"],
        ]
        .concat();
        self.say(&[&["demo", verb], change.as_slice(), flags].concat())
    }

    pub(crate) fn show(&self, said: &Said) -> String {
        let code = said
            .code
            .map_or("killed".to_owned(), |code| code.to_string());
        let text = format!(
            "exit {code}\n── stdout\n{}── stderr\n{}",
            said.stdout, said.stderr
        );
        self.name_things(&text)
    }

    pub(crate) fn name_things(&self, text: &str) -> String {
        let mut text = text.replace(self.place.root().to_str().unwrap(), "ROOT");
        for (pattern, name) in [
            (r"wct1\.[\w.-]+", "TOKEN"),
            (r"\b[0-9a-f]{64}\b", "DIGEST"),
            (r"ed25519:[A-Za-z0-9+/=]{44}", "PUBLIC-KEY"),
            (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z\b", "TIME"),
            (r"\breq_[a-z2-7]{26}\b", "REQUEST"),
            (r"\btok_[0-9a-f]{32}\b", "TOKEN-ID"),
            (r"\b[0-9a-f]{32}\b", "TRACE"),
            (r"\b\d+ min( \d+ s)?\b", "DURATION"),
            (r"\b\d+(\.\d+)? (ms|s)\b", "DURATION"),
            (r"\b\d+ B\b", "SIZE"),
            (r"local:[\w.-]+", "local:USER"),
            (r"process \d+", "process PID"),
        ] {
            text = Regex::new(pattern)
                .unwrap()
                .replace_all(&text, name)
                .into_owned();
        }
        // In the order in which they appear.
        let run = Regex::new(r"\brun_[0-9a-f]{32}\b").unwrap();
        let mut number = 0;
        while let Some(found) = run.find(&text).map(|found| found.as_str().to_owned()) {
            number += 1;
            text = text.replace(&found, &format!("RUN-{number}"));
        }
        // Tables are padded to the width of what was replaced.
        let padding = Regex::new(r"(\S) {2,}").unwrap();
        padding.replace_all(&text, "$1  ").into_owned()
    }
}
