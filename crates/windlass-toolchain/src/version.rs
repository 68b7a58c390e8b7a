//! Reads what `hugo version` prints.

use std::path::PathBuf;

/// How the launcher of the Python package names the program it starts.
const LAUNCHER: &str = "via hugo-python-distributions at ";

/// What a Hugo says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The version, e.g. `0.168.0`.
    pub version: String,
    /// The program behind a launcher that names it.
    pub behind: Option<PathBuf>,
}

/// Reads it; none when no line is Hugo's. Launchers may print other lines around it.
pub fn read(output: &str) -> Option<Said> {
    let version = output.lines().find_map(|line| {
        let rest = line.trim_end().strip_prefix("hugo v")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let number = &rest[..end.unwrap_or(rest.len())];
        number
            .split('.')
            .all(|part| !part.is_empty())
            .then(|| number.to_owned())
    })?;
    let behind = output.lines().find_map(|line| {
        let (_, path) = line.split_once(LAUNCHER)?;
        // The line is coloured, and ends with the code that resets it.
        let path = path.split('\u{1b}').next().unwrap_or(path).trim_end();
        path.starts_with('/').then(|| PathBuf::from(path))
    });
    Some(Said { version, behind })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table() {
        let launcher = "\u{1b}[95mRunning Hugo 0.168.0 via hugo-python-distributions at /a b/hugo\u{1b}[0m\n\
                        hugo v0.168.0-e27a6760c5547237f87d353aebe0580feadb20f4+extended+withdeploy linux/amd64 BuildDate=2026-10-13T16:42:50Z VendorInfo=hugo-python-distributions\n";
        for (output, version, behind) in [
            (launcher, Some("0.168.0"), Some("/a b/hugo")),
            (
                "hugo v0.111.3+extended linux/amd64 BuildDate=2023-03-16T08:41:31Z VendorInfo=debian:0.111.3-1\n",
                Some("0.111.3"),
                None,
            ),
            (
                "hugo v0.128.2-9c42f9d0d9a1fc7e3ea3e11f28f1de04d3e5a8ed linux/arm64 BuildDate=unknown\r\n",
                Some("0.128.2"),
                None,
            ),
            (
                "hugo v0.160.0-DEV+extended darwin/arm64",
                Some("0.160.0"),
                None,
            ),
            ("WARN something\n\nhugo v1.2 x", Some("1.2"), None),
            ("hugo v0.1.2", Some("0.1.2"), None),
            (
                "Running Hugo via hugo-python-distributions at relative\nhugo v0.1.2",
                Some("0.1.2"),
                None,
            ),
            ("hugo vNext", None, None),
            ("hugo v0..1", None, None),
            ("hugo v", None, None),
            ("see hugo v0.1.2", None, None),
            ("", None, None),
        ] {
            let said = version.map(|version| Said {
                version: version.to_owned(),
                behind: behind.map(PathBuf::from),
            });
            assert_eq!(read(output), said, "{output}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(hugo v|\\PC|\n){0,30}") {
            if let Some(said) = read(&text) {
                prop_assert!(said.version.chars().all(|c| c.is_ascii_digit() || c == '.'));
            }
        }
    }
}
