//! When a slow stage fails: at the second run in a row in which it exceeds its budget.
//!
//! A busy machine makes any stage slow once, so the first time is only shown. The names of slow
//! stages are kept in the target folder between runs. Not here: the budgets themselves; they are in
//! the table of stages.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::repo::Repo;
use crate::stage::Report;

/// Turns stages that were slow in the last run, too, into failures, and remembers the slow ones.
pub fn enforce(repo: &Repo, reports: &mut [Report]) -> Result<()> {
    let file = file(repo);
    let slow_before = match fs_err::read_to_string(&file) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        // No run was slow yet, or the target folder is new.
        Err(_) => BTreeSet::new(),
    };
    let slow = judge(reports, slow_before);
    let lines: String = slow.iter().map(|name| format!("{name}\n")).collect();
    if let Some(folder) = file.parent() {
        fs_err::create_dir_all(folder)?;
    }
    Ok(fs_err::write(file, lines)?)
}

fn file(repo: &Repo) -> PathBuf {
    repo.target.join("xtask/slow-stages")
}

/// Fails what is slow again; returns the stages whose last measured run was slow.
fn judge(reports: &mut [Report], mut slow: BTreeSet<String>) -> BTreeSet<String> {
    for report in reports {
        // How long a failing stage takes says nothing.
        if report.outcome.is_err() {
            continue;
        }
        if !report.is_slow() {
            slow.remove(report.name);
        } else if !slow.insert(report.name.to_owned()) {
            report.outcome = Err(anyhow!(
                "over its budget for the second time in a row; make it cheaper, or raise its \
                 budget in the table of stages"
            ));
        }
    }
    slow
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BUDGET: u64 = 10;

    fn report(seconds: u64, passed: bool) -> Report {
        Report {
            name: "tests",
            time: Duration::from_secs(seconds),
            budget: Duration::from_secs(BUDGET),
            outcome: if passed {
                Ok(String::new())
            } else {
                Err(anyhow!("broken"))
            },
        }
    }

    #[test]
    fn a_stage_fails_when_it_is_slow_twice_in_a_row() {
        // Seconds and outcome of the stage; slow before → failed now, slow after.
        let cases = [
            (BUDGET, true, false, false, false),
            (BUDGET + 1, true, false, false, true),
            (BUDGET + 1, true, true, true, true),
            (BUDGET, true, true, false, false),
            (BUDGET + 1, false, false, true, false),
            (BUDGET + 1, false, true, true, true),
        ];
        for case in cases {
            let (seconds, passed, slow_before, fails, slow_after) = case;
            let before = slow_before.then(|| "tests".to_owned());
            let mut reports = [report(seconds, passed)];
            let after = judge(&mut reports, before.into_iter().collect());
            assert_eq!(reports[0].outcome.is_err(), fails, "{case:?}");
            assert_eq!(after.contains("tests"), slow_after, "{case:?}");
        }
    }

    #[test]
    fn a_stage_that_did_not_run_is_remembered_as_it_was() {
        let slow = judge(&mut [report(1, true)], ["clippy".to_owned()].into());
        assert_eq!(slow, ["clippy".to_owned()].into());
    }

    #[test]
    fn slow_stages_are_kept_between_runs() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo {
            root: folder.path().into(),
            target: folder.path().join("target"),
            metadata: serde_json::Value::Null,
        };
        for fails in [false, true] {
            let mut reports = [report(BUDGET + 1, true)];
            enforce(&repo, &mut reports).unwrap();
            assert_eq!(reports[0].outcome.is_err(), fails);
        }
    }
}
