//! What a gate reports, before the runner makes issues of it. Knows no severity.

use windlass_launch_model::Profile;

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A file of the site, by its path relative to the site.
    Site(String),
    /// An artifact of the run, by its name.
    Artifact(String),
    /// The run as a whole.
    Run,
}

impl Place {
    /// What stands in `files` and in the issue id; empty for the run as a whole.
    pub fn path(&self) -> String {
        match self {
            Self::Site(path) => path.clone(),
            Self::Artifact(name) => format!("artifacts/{name}"),
            Self::Run => String::new(),
        }
    }
}

/// One thing that is wrong, in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code, a row of the severity table.
    pub code: &'static str,
    /// Where.
    pub place: Place,
    /// The line, from 1; none when it is about the whole file.
    pub line: Option<u64>,
    /// The text that is wrong; never a secret.
    pub excerpt: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Finding {
    /// A finding in a line of a site file.
    pub fn at(code: &'static str, path: &str, line: u64, excerpt: &str, message: String) -> Self {
        Self {
            code,
            place: Place::Site(path.to_owned()),
            line: Some(line),
            excerpt: shorten(excerpt, 160),
            message,
        }
    }

    /// A finding about a whole site file.
    pub fn file(code: &'static str, path: &str, excerpt: &str, message: String) -> Self {
        Self {
            line: None,
            ..Self::at(code, path, 1, excerpt, message)
        }
    }

    /// A finding about an artifact.
    pub fn artifact(code: &'static str, name: &str, excerpt: &str, message: String) -> Self {
        Self {
            place: Place::Artifact(name.to_owned()),
            ..Self::file(code, "", excerpt, message)
        }
    }

    /// A finding about the run as a whole.
    pub fn run(code: &'static str, excerpt: &str, message: String) -> Self {
        Self {
            place: Place::Run,
            ..Self::file(code, "", excerpt, message)
        }
    }
}

/// How a gate went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// It ran and found this.
    Ran(Vec<Finding>),
    /// It ran a tool, found this, and the tool wrote a log.
    Logged {
        /// What it found.
        findings: Vec<Finding>,
        /// What the tool wrote, without paths of the machine.
        log: String,
    },
    /// It did not run; the reason is a word, and findings may say more.
    Skipped {
        /// `not_applicable`, `profile`, `disabled`, `toolchain_missing`.
        reason: &'static str,
        /// What to report about it.
        findings: Vec<Finding>,
    },
    /// A tool it needs took too long.
    TimedOut,
}

impl Checked {
    /// Did not run, nothing to report.
    pub fn skipped(reason: &'static str) -> Self {
        Self::Skipped {
            reason,
            findings: Vec::new(),
        }
    }
}

/// How long a gate may take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// For all it does.
    Total(u64, u64),
    /// For each file it looks at.
    PerFile(u64, u64),
}

impl Limit {
    /// The seconds in a profile, for this many files.
    pub fn seconds(self, profile: Profile, files: usize) -> u64 {
        let pick = |local, strict| {
            if profile == Profile::Local {
                local
            } else {
                strict
            }
        };
        match self {
            Self::Total(local, strict) => pick(local, strict),
            Self::PerFile(local, strict) => pick(local, strict).saturating_mul(files.max(1) as u64),
        }
    }
}

/// A text cut to this many characters, white space collapsed.
pub fn shorten(text: &str, most: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= most {
        return flat;
    }
    let mut cut: String = flat.chars().take(most.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_profile_and_files() {
        assert_eq!(Limit::Total(30, 60).seconds(Profile::Local, 9), 30);
        assert_eq!(Limit::Total(30, 60).seconds(Profile::Prod, 9), 60);
        assert_eq!(Limit::PerFile(30, 60).seconds(Profile::Ci, 3), 180);
        assert_eq!(Limit::PerFile(30, 60).seconds(Profile::Local, 0), 30);
    }

    #[test]
    fn shorten_keeps_what_fits() {
        assert_eq!(shorten("a  b\nc", 80), "a b c");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("äöü ßxy", 5).chars().count(), 4);
    }
}
