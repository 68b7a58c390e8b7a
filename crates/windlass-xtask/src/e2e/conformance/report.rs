//! Reads what the suite wrote: one `checks.json` per scenario, in `server-<scenario>-<time>` for a
//! server and in `<scenario>-<time>` for a client, whose names may have a folder of their own.
//!
//! The exit code alone is not enough: a scenario that crashes writes no report, and
//! some checks are "not testable" when a fixture is missing. Both count against us.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Which side of a connection is under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

impl Side {
    /// Before a scenario's name in the name of its folder.
    fn prefix(self) -> &'static str {
        match self {
            Side::Server => "server-",
            Side::Client => "",
        }
    }
}

/// What the server under test offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every fixture: a check that could not be tested is a failure.
    Complete,
    /// Its own tools only: a check that needs a fixture is left out.
    WithoutFixtures,
}

/// The outcome of one scenario.
#[derive(Debug, PartialEq, Eq)]
pub struct Scenario {
    pub name: String,
    pub succeeded: usize,
    /// Checks left out because the server has no fixtures.
    pub untestable: usize,
    pub problems: Vec<Problem>,
}

/// One check that did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub check: String,
    /// A failure costs conformance; a warning only breaks our own, stricter rule.
    pub is_failure: bool,
    pub message: String,
}

impl Scenario {
    #[cfg(test)]
    pub fn passing(name: &str) -> Scenario {
        Scenario {
            name: name.into(),
            succeeded: 1,
            untestable: 0,
            problems: Vec::new(),
        }
    }

    /// The suite's own meaning of passing.
    pub fn conforms(&self) -> bool {
        self.problems.iter().all(|problem| !problem.is_failure)
    }

    /// Our meaning: no failure and no warning.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Reads the newest report of each named scenario below `folder`.
pub fn read(
    folder: &Path,
    side: Side,
    names: &[impl AsRef<str>],
    mode: Mode,
) -> Result<Vec<Scenario>> {
    names
        .iter()
        .map(|name| {
            let name = name.as_ref();
            let (folder, last) = match name.rsplit_once('/') {
                Some((group, last)) => (folder.join(group), last),
                None => (folder.to_owned(), name),
            };
            let path = newest(&folder, side, last)?.map(|newest| newest.join("checks.json"));
            match path.filter(|path| path.is_file()) {
                None => Ok(judge(name, &[], mode)),
                Some(path) => {
                    let checks: Vec<Value> = serde_json::from_str(&fs_err::read_to_string(&path)?)
                        .with_context(|| format!("{} is not a list", path.display()))?;
                    Ok(judge(name, &checks, mode))
                }
            }
        })
        .collect()
}

/// The folder of a scenario's newest report.
fn newest(folder: &Path, side: Side, name: &str) -> Result<Option<PathBuf>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut folders = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        folders.push(entry?.file_name().to_string_lossy().into_owned());
    }
    // Sorted by time, since the times all have the same length.
    folders.sort();
    let newest = folders
        .iter()
        .rev()
        .find(|folder| is_report_of(folder, side, name));
    Ok(newest.map(|newest| folder.join(newest)))
}

/// Whether a folder is `server-<name>-2026-01-31T12-00-00-000Z`; one name may start with another.
fn is_report_of(folder: &str, side: Side, name: &str) -> bool {
    folder
        .strip_prefix(side.prefix())
        .and_then(|rest| rest.strip_prefix(name))
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|time| time.len() == "2026-01-31T12-00-00-000Z".len() && time.ends_with('Z'))
}

fn judge(name: &str, checks: &[Value], mode: Mode) -> Scenario {
    let mut scenario = Scenario {
        name: name.to_owned(),
        succeeded: 0,
        untestable: 0,
        problems: Vec::new(),
    };
    for check in checks {
        let status = check["status"].as_str().unwrap_or_default();
        let is_untestable = check["details"]["untestable"] == true;
        match (status, is_untestable, mode) {
            ("SUCCESS", _, _) => scenario.succeeded += 1,
            (_, true, Mode::WithoutFixtures) => scenario.untestable += 1,
            ("SKIPPED" | "INFO", false, _) => {}
            _ => scenario.problems.push(Problem {
                check: check["id"].as_str().unwrap_or("unnamed").to_owned(),
                is_failure: status != "WARNING",
                message: check["errorMessage"]
                    .as_str()
                    .or(check["description"].as_str())
                    .unwrap_or_default()
                    .to_owned(),
            }),
        }
    }
    if scenario.succeeded == 0 && scenario.problems.is_empty() {
        scenario.problems.push(Problem {
            check: "no-check-succeeded".to_owned(),
            is_failure: true,
            message: "the scenario left no successful check: it crashed or was skipped".to_owned(),
        });
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(checks: Value, mode: Mode) -> (bool, bool, usize) {
        let scenario = judge("x", checks.as_array().unwrap(), mode);
        (scenario.conforms(), scenario.passed(), scenario.untestable)
    }

    #[test]
    fn a_scenario_passes_only_with_a_success_and_without_complaints() {
        let cases = [
            (json!([{"id": "a", "status": "SUCCESS"}]), (true, true)),
            (
                json!([{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "SKIPPED"}, {"id": "c", "status": "INFO"}]),
                (true, true),
            ),
            (
                json!([{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "WARNING"}]),
                (true, false),
            ),
            (
                json!([{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "FAILURE"}]),
                (false, false),
            ),
            (json!([{"id": "a", "status": "SKIPPED"}]), (false, false)),
            (json!([{"id": "a", "status": "SURPRISE"}]), (false, false)),
            (json!([]), (false, false)),
        ];
        for (checks, (conforms, passed)) in cases {
            assert_eq!(
                verdict(checks.clone(), Mode::Complete),
                (conforms, passed, 0),
                "{checks}"
            );
        }
    }

    #[test]
    fn an_untestable_check_counts_only_when_fixtures_are_there() {
        let checks = json!([
            {"id": "a", "status": "SUCCESS"},
            {"id": "b", "status": "FAILURE", "details": {"untestable": true}},
            {"id": "c", "status": "SKIPPED", "details": {"untestable": true}},
        ]);
        assert_eq!(
            verdict(checks.clone(), Mode::WithoutFixtures),
            (true, true, 2)
        );
        assert_eq!(verdict(checks, Mode::Complete), (false, false, 0));
    }

    #[test]
    fn a_report_folder_belongs_to_one_scenario() {
        let time = "2025-11-15T10-38-47-123Z";
        let cases = [
            (format!("server-ping-{time}"), "ping", true),
            (
                format!("server-json-schema-2020-12-{time}"),
                "json-schema-2020-12",
                true,
            ),
            (
                format!("server-json-schema-2020-12-{time}"),
                "json-schema",
                false,
            ),
            (format!("server-tools-list-{time}"), "tools", false),
            ("requirements_2025-11-25.log".to_owned(), "ping", false),
        ];
        for (folder, name, expected) in cases {
            let found = is_report_of(&folder, Side::Server, name);
            assert_eq!(found, expected, "{folder} {name}");
        }
        let folder = format!("tools_call-{time}");
        assert!(is_report_of(&folder, Side::Client, "tools_call"));
        assert!(!is_report_of(&folder, Side::Server, "tools_call"));
    }
}
