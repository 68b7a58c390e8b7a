//! Known failures, strictly: an unlisted failure and a listed success are both errors.
//!
//! The file is a small part of YAML: `run-name:` lines, each followed by `- entry`
//! lines or by `[]`. An entry is `scenario` or `scenario:check-id`.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::report::Scenario;

/// The entries of each run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<String, Vec<String>>,
}

impl Baseline {
    pub fn parse(text: &str) -> Result<Baseline> {
        let mut baseline = Baseline::default();
        let mut current: Option<String> = None;
        for (index, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = line.strip_prefix("- ").map(str::trim);
            let key = line.strip_suffix("[]").unwrap_or(line).trim();
            match (entry, &current, key.strip_suffix(':')) {
                (Some(entry), Some(run), _) => {
                    baseline
                        .entries
                        .entry(run.clone())
                        .or_default()
                        .push(entry.to_owned());
                }
                (None, _, Some(run)) => {
                    baseline.entries.entry(run.to_owned()).or_default();
                    current = Some(run.to_owned());
                }
                _ => bail!(
                    "line {} of the expected failures is neither `run:` nor `- scenario`: {line}",
                    index + 1
                ),
            }
        }
        Ok(baseline)
    }

    /// What contradicts the file in one run.
    pub fn compare(&self, run: &str, scenarios: &[Scenario]) -> Vec<String> {
        let listed = self.entries.get(run).map_or(&[][..], Vec::as_slice);
        let mut used = vec![false; listed.len()];
        let mut contradictions = Vec::new();
        for scenario in scenarios {
            for problem in &scenario.problems {
                let by_check = format!("{}:{}", scenario.name, problem.check);
                let position = listed
                    .iter()
                    .position(|entry| *entry == scenario.name || *entry == by_check);
                match position {
                    Some(position) => used[position] = true,
                    None => contradictions.push(format!(
                        "{run}: {by_check} {}: {}",
                        if problem.is_failure {
                            "failed"
                        } else {
                            "warned"
                        },
                        problem.message
                    )),
                }
            }
        }
        for (entry, _) in listed.iter().zip(used).filter(|(_, used)| !used) {
            contradictions.push(format!(
                "{run}: {entry} is listed as an expected failure but did not fail; remove it"
            ));
        }
        contradictions
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Problem;
    use super::*;

    fn failing(name: &str, check: &str) -> Scenario {
        Scenario {
            problems: vec![Problem {
                check: check.into(),
                is_failure: true,
                message: "no".into(),
            }],
            ..Scenario::passing(name)
        }
    }

    #[test]
    fn the_file_is_read() {
        let text = "# why\nfixtures-a: []\nfixtures-b:\n  - ping # reason\n  - caching:ttl\n";
        let baseline = Baseline::parse(text).unwrap();
        assert_eq!(baseline.entries["fixtures-a"], Vec::<String>::new());
        assert_eq!(baseline.entries["fixtures-b"], ["ping", "caching:ttl"]);
        for bad in ["- ping", "ping", "a: b"] {
            assert!(Baseline::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn unlisted_failures_and_listed_successes_are_both_errors() {
        let cases: &[(&str, Scenario, &[&str])] = &[
            ("a: []", Scenario::passing("ping"), &[]),
            ("a: []", failing("ping", "id"), &["a: ping:id failed: no"]),
            ("a:\n- ping", failing("ping", "id"), &[]),
            ("a:\n- ping:id", failing("ping", "id"), &[]),
            (
                "a:\n- ping:other",
                failing("ping", "id"),
                &[
                    "a: ping:id failed: no",
                    "a: ping:other is listed as an expected failure but did not fail; remove it",
                ],
            ),
            (
                "a:\n- ping",
                Scenario::passing("ping"),
                &["a: ping is listed as an expected failure but did not fail; remove it"],
            ),
            (
                "b:\n- ping",
                failing("ping", "id"),
                &["a: ping:id failed: no"],
            ),
        ];
        for (text, scenario, expected) in cases {
            let baseline = Baseline::parse(text).unwrap();
            let found = baseline.compare("a", std::slice::from_ref(scenario));
            assert_eq!(found, *expected, "{text}");
        }
    }
}
