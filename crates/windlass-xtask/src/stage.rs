//! Stages of `cargo xtask test`: run each, remember time and outcome, print the table.
//!
//! Not here: what a stage does. Called by the `test` verb only.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How one stage ended.
pub struct Report {
    pub name: &'static str,
    pub time: Duration,
    /// A short note such as a count, or the error.
    pub outcome: Result<String>,
}

/// Runs one stage between a heading and its verdict. A failure never stops the next stage.
pub fn run(name: &'static str, work: impl FnOnce() -> Result<String>) -> Report {
    println!("\n=== {name} ===");
    let start = Instant::now();
    let outcome = work();
    if let Err(error) = &outcome {
        println!("{name} failed: {error:#}");
    }
    Report {
        name,
        time: start.elapsed(),
        outcome,
    }
}

/// The closing table. Its last line is always `N passed, M failed`.
pub fn table(reports: &[Report]) -> String {
    let width = reports
        .iter()
        .map(|report| report.name.len())
        .max()
        .unwrap_or(0);
    let mut lines = Vec::new();
    let mut failed = 0;
    for report in reports {
        let (verdict, note) = match &report.outcome {
            Ok(note) => ("pass", note.as_str().to_owned()),
            Err(error) => {
                failed += 1;
                ("FAIL", first_line(&format!("{error:#}")))
            }
        };
        let line = format!(
            "{verdict}  {:width$}  {:>7.1} s  {note}",
            report.name,
            report.time.as_secs_f64()
        );
        lines.push(line.trim_end().to_owned());
    }
    lines.push(format!(
        "{} passed, {failed} failed",
        reports.len() - failed
    ));
    lines.join("\n")
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &'static str, seconds: u64, outcome: Result<String>) -> Report {
        Report {
            name,
            time: Duration::from_secs(seconds),
            outcome,
        }
    }

    #[test]
    fn the_table_ends_with_the_counts() {
        let reports = [
            report("fmt", 1, Ok(String::new())),
            report("conformance", 123, Ok("30/30 and 37/37".into())),
            report("tour", 4, Err(anyhow::anyhow!("it stopped\nmore detail"))),
        ];
        assert_eq!(
            table(&reports),
            "\
pass  fmt              1.0 s
pass  conformance    123.0 s  30/30 and 37/37
FAIL  tour             4.0 s  it stopped
2 passed, 1 failed"
        );
    }

    #[test]
    fn a_failing_stage_is_reported_not_raised() {
        let report = run("fmt", || anyhow::bail!("not formatted"));
        assert_eq!(report.outcome.unwrap_err().to_string(), "not formatted");
    }
}
