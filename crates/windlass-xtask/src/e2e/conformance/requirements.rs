//! Which scenarios a protocol revision asks for, from the suite's own listing.

use std::fmt;

use super::report::{Scenario, Side};

/// The scenarios of one revision for one side.
#[derive(Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Count towards conformance.
    pub scored: Vec<String>,
    /// Run and reported by the suite without counting; here they must pass as well.
    pub reported: Vec<String>,
}

/// How many of each kind passed.
pub struct Score {
    scored: (usize, usize),
    reported: (usize, usize),
}

impl Requirements {
    /// Reads the output of `conformance list --requirements REVISION`.
    pub fn parse(listing: &str, side: Side) -> Requirements {
        let (title, mark) = match side {
            Side::Server => ("Server scenarios", " [server]"),
            Side::Client => ("Client scenarios", " [client]"),
        };
        let mut requirements = Requirements {
            scored: Vec::new(),
            reported: Vec::new(),
        };
        let mut in_section = false;
        for line in listing.lines() {
            if !line.starts_with(' ') {
                in_section = line.starts_with(title);
                continue;
            }
            let Some(entry) = line.trim().strip_prefix("- ") else {
                continue;
            };
            if in_section {
                requirements.scored.push(entry.to_owned());
            } else if let Some(name) = entry.strip_suffix(mark) {
                requirements.reported.push(name.to_owned());
            }
        }
        requirements
    }

    /// Leaves out scenarios that no server can pass or fail.
    pub fn without(mut self, names: &[&str]) -> Requirements {
        self.reported.retain(|name| !names.contains(&name.as_str()));
        self
    }

    /// Every scenario of the revision.
    pub fn all(&self) -> Vec<&str> {
        self.scored
            .iter()
            .chain(&self.reported)
            .map(String::as_str)
            .collect()
    }

    /// Counts in the suite's own sense: a scenario passes when it ran and no check failed.
    pub fn score(&self, scenarios: &[Scenario]) -> Score {
        let count = |names: &[String]| {
            let passed = names.iter().filter(|name| {
                scenarios
                    .iter()
                    .any(|scenario| scenario.name == **name && scenario.conforms())
            });
            (passed.count(), names.len())
        };
        Score {
            scored: count(&self.scored),
            reported: count(&self.reported),
        }
    }
}

impl Score {
    pub fn is_full(&self) -> bool {
        self.scored.0 == self.scored.1
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}/{} scored and {}/{} unscored",
            self.scored.0, self.scored.1, self.reported.0, self.reported.1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
Required for 2026-07-28 (69 scenarios, frozen; run at the 2026-07-28 wire):

Server scenarios (test against a server):
  - server-stateless
  - tools-list

Client scenarios (test against a client):
  - tools_call

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
  pending (1):
    - json-schema-2020-12 [server]
";

    #[test]
    fn the_listing_is_split_into_scored_and_reported() {
        let requirements = Requirements::parse(LISTING, Side::Client);
        assert_eq!(requirements.all(), ["tools_call", "auth/dpop"]);
        let requirements = Requirements::parse(LISTING, Side::Server);
        assert_eq!(requirements.scored, ["server-stateless", "tools-list"]);
        assert_eq!(
            requirements.reported,
            ["tasks-lifecycle", "json-schema-2020-12"]
        );
        assert_eq!(requirements.all().len(), 4);
        let fewer = requirements.without(&["tasks-lifecycle", "tools-list"]);
        // Only a scenario that is not scored can be left out.
        assert_eq!(
            fewer.all(),
            ["server-stateless", "tools-list", "json-schema-2020-12"]
        );
    }

    #[test]
    fn a_scenario_without_a_result_does_not_count() {
        let requirements = Requirements::parse(LISTING, Side::Server);
        let score = requirements.score(&[
            Scenario::passing("server-stateless"),
            Scenario::passing("tasks-lifecycle"),
        ]);
        assert_eq!(score.to_string(), "1/2 scored and 1/2 unscored");
        assert!(!score.is_full());
    }
}
