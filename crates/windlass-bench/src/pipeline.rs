//! Pipelines by rules: what a spec of a thousand words costs from start to end, and what many jobs
//! at once do to each other and to those who ask after them.
//!
//! Whole runs of the binary, on a memory file system where there is one. Not here: the jobs at
//! once (`pipeline_jobs`).

use std::{path::Path, process::Command, time::Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use crate::{
    pack, pipeline_jobs, process,
    report::{self, Samples},
};

/// The example specs, as users find them.
pub(crate) const EXAMPLES: [&str; 4] = [
    include_str!("../../../examples/pipeline/clinic-appointments.md"),
    include_str!("../../../examples/pipeline/warehouse.md"),
    include_str!("../../../examples/pipeline/knowledge-base.md"),
    include_str!("../../../examples/pipeline/quiz-platform.md"),
];
const WORDS: usize = 1_000;
const ROUNDS: usize = 5;
/// The whole pipeline, in seconds.
const GOAL: f64 = 2.0;
const PHASES: [&str; 4] = ["strategy", "architecture", "ux", "code"];

pub(crate) fn run() -> Result<()> {
    let windlass = process::windlass()?;
    let base = pack::base()?;
    alone(&windlass, base.path())?;
    pipeline_jobs::run(&windlass, base.path())
}

/// One job after the other, each with a process and a home of its own.
fn alone(windlass: &Path, base: &Path) -> Result<()> {
    let spec = long_spec();
    let words = spec.split_whitespace().count();
    report::heading(&format!(
        "pipeline: a spec of {words} words to code, without a language model"
    ));
    let file = base.join("spec.md");
    fs::write(&file, spec)?;
    let mut whole = Samples::default();
    let mut phases: [Samples; PHASES.len()] = Default::default();
    for round in 0..ROUNDS {
        let home = base.join(format!("pipeline-{round}"));
        fs::create_dir_all(&home)?;
        let began = Instant::now();
        let output = Command::new(windlass)
            .args(["--json", "pipeline", "run", "--spec"])
            .arg(&file)
            .env("WINDLASS_HOME", &home)
            .output()
            .context("pipeline run")?;
        whole.push(began.elapsed().as_secs_f64());
        if !output.status.success() {
            bail!(
                "pipeline run: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let job: Value = serde_json::from_slice(&output.stdout).context("the job's status")?;
        ensure!(job["status"] == "completed", "the job ended as {job}");
        for (phase, samples) in PHASES.iter().zip(&mut phases) {
            let ms = job["phases"][phase]["duration_ms"].as_f64();
            samples.push(ms.with_context(|| format!("no duration of {phase} in {job}"))?);
        }
        fs::remove_dir_all(&home)?;
    }
    for (phase, samples) in PHASES.iter().zip(&phases) {
        report::figure(phase, samples, "ms");
    }
    report::figure("all of it, process start included", &whole, "s");
    let share = whole.median() / GOAL;
    report::ratio("of 2 s allowed", share, "≤ 1", share <= 1.0);
    Ok(())
}

/// Two examples, one after the other, and as many lines of the third as it takes.
fn long_spec() -> String {
    let mut words = 0;
    let mut lines = Vec::new();
    for line in EXAMPLES.iter().flat_map(|example| example.lines()) {
        if words >= WORDS {
            break;
        }
        words += line.split_whitespace().count();
        lines.push(line);
    }
    lines.join("\n") + "\n"
}
