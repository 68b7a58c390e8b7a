//! Stages of `cargo xtask test`: run each, measure it, print the table.
//!
//! Not here: what a stage does (`verbs::test`) and when a slow stage fails (`budget`). Called by the
//! `test` verb only.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How one stage ended.
pub struct Report {
    pub name: &'static str,
    pub time: Duration,
    pub budget: Duration,
    /// A short note such as a count, or the error.
    pub outcome: Result<String>,
}

impl Report {
    pub fn is_slow(&self) -> bool {
        self.time > self.budget
    }
}

/// Runs one stage between a heading and its verdict. A failure never stops the next stage.
pub fn run(name: &'static str, budget: Duration, work: impl FnOnce() -> Result<String>) -> Report {
    println!("\n=== {name} ===");
    let start = Instant::now();
    let outcome = work();
    if let Err(error) = &outcome {
        println!("{name} failed: {error:#}");
    }
    Report {
        name,
        time: start.elapsed(),
        budget,
        outcome,
    }
}

/// The closing table: each stage with its time, its budget and its note, then the whole time.
/// The last line is always `N passed, M failed`; a slow stage has passed.
pub fn table(reports: &[Report], goal: Duration) -> String {
    let width = reports
        .iter()
        .map(|report| report.name.len())
        .max()
        .unwrap_or(0);
    let mut lines = Vec::new();
    let mut failed = 0;
    for report in reports {
        let (verdict, note) = match &report.outcome {
            Ok(note) if report.is_slow() => ("slow", note.clone()),
            Ok(note) => ("pass", note.clone()),
            Err(error) => {
                failed += 1;
                ("FAIL", first_line(&format!("{error:#}")))
            }
        };
        let times = times(report.time, report.budget);
        let line = format!("{verdict}  {:width$}  {times}  {note}", report.name);
        lines.push(line.trim_end().to_owned());
    }
    let whole = reports.iter().map(|report| report.time).sum();
    lines.push(format!("      {:width$}  {}", "all", times(whole, goal)));
    lines.push(format!(
        "{} passed, {failed} failed",
        reports.len() - failed
    ));
    lines.join("\n")
}

fn times(time: Duration, limit: Duration) -> String {
    format!("{:>7.1} s of {:>4} s", time.as_secs_f64(), limit.as_secs())
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
            budget: Duration::from_secs(100),
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
            table(&reports, Duration::from_secs(2700)),
            "\
pass  fmt              1.0 s of  100 s
slow  conformance    123.0 s of  100 s  30/30 and 37/37
FAIL  tour             4.0 s of  100 s  it stopped
      all            128.0 s of 2700 s
2 passed, 1 failed"
        );
    }

    #[test]
    fn a_failing_stage_is_reported_not_raised() {
        let report = run("fmt", Duration::ZERO, || anyhow::bail!("not formatted"));
        assert_eq!(report.outcome.unwrap_err().to_string(), "not formatted");
    }
}
