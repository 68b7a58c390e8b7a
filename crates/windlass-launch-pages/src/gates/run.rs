//! Runs gates, one by one or all in the fixed order, and makes one report of what they found.
//!
//! Each gate has a thread and a time limit. A gate that takes longer is asked to stop and left
//! behind; its place in the report is a blocker. Nothing here judges a page.

use std::{sync::mpsc, time::Duration};

use serde::{Deserialize, Serialize};
use windlass_launch_model::{GateResult, Issue, Profile, ValidationReport};
use windlass_types::Shortage;

use crate::gates::{
    checks::GATES,
    finding::{Checked, Finding, Limit},
    input::GateInput,
    open::open_issues,
    outside::GateFault,
};

/// One gate.
pub trait Gate: Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// How long it may take.
    fn limit(&self) -> Limit;

    /// How many files a limit per file counts.
    fn files(&self, input: &GateInput) -> usize {
        input.changed.len()
    }

    /// Looks, and says what it found.
    fn check(&self, input: &GateInput) -> Result<Checked, GateFault>;
}

/// The result of one gate; stored as it is, it produces the same report later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateOutcome {
    /// Its line in the report. Who keeps the log sets `log_path`.
    pub result: GateResult,
    /// What it opened.
    pub issues: Vec<Issue>,
    /// What its tool wrote, without paths of the machine. Not the same on every run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// What a watcher receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A gate begins.
    Started(&'a str),
    /// A gate has finished, with this many issues.
    Finished(&'a GateResult, usize),
}

/// The names of all gates, in the order of the report.
pub fn gate_names() -> [&'static str; 18] {
    GATES.map(Gate::name)
}

/// Runs one gate.
pub fn check_gate(name: &str, input: &GateInput) -> Result<GateOutcome, GateFault> {
    let known = GATES.iter().find(|gate| gate.name() == name);
    let gate = known.ok_or_else(|| GateFault::Failed {
        gate: name.to_owned(),
        cause: format!(
            "there is no such gate; the gates are {}",
            gate_names().join(", ")
        ),
    })?;
    outcome(*gate, input)
}

/// Makes one report of what the gates found, in the fixed order whatever order they ran in.
pub fn report(
    input_profile: Profile,
    mut outcomes: Vec<GateOutcome>,
    manual_edited_files: &[String],
) -> ValidationReport {
    let names = gate_names();
    outcomes.sort_by_key(|outcome| names.iter().position(|name| *name == outcome.result.name));
    let mut gates = Vec::with_capacity(outcomes.len());
    let mut issues = Vec::new();
    for outcome in outcomes {
        gates.push(outcome.result);
        issues.extend(outcome.issues);
    }
    issues.sort_by(Issue::fix_order);
    let ok = !ValidationReport::fails(&issues);
    ValidationReport {
        schema_version: "1.0".to_owned(),
        ok,
        error_code: (!ok).then(|| "GATE_FAILED".to_owned()),
        profile: input_profile,
        gates,
        issues,
        manual_edits: !manual_edited_files.is_empty(),
        manual_edited_files: manual_edited_files.to_vec(),
    }
}

/// Runs all gates, one after the other.
pub fn run_gates(
    input: &GateInput,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<ValidationReport, GateFault> {
    run_these(&GATES, input, watch)
}

pub(crate) fn run_these(
    gates: &[&'static dyn Gate],
    input: &GateInput,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<ValidationReport, GateFault> {
    let mut outcomes = Vec::with_capacity(gates.len());
    for gate in gates {
        watch(Progress::Started(gate.name()));
        let outcome = outcome(*gate, input)?;
        watch(Progress::Finished(&outcome.result, outcome.issues.len()));
        outcomes.push(outcome);
    }
    Ok(report(input.profile, outcomes, &input.manual_edited_files))
}

fn outcome(gate: &'static dyn Gate, input: &GateInput) -> Result<GateOutcome, GateFault> {
    let (found, skipped, log) = match timed(gate, input)? {
        Some(Checked::Ran(findings)) => (findings, None, None),
        Some(Checked::Logged { findings, log }) => (findings, None, Some(log)),
        Some(Checked::Skipped { reason, findings }) => (findings, Some(reason), None),
        Some(Checked::TimedOut) | None => (vec![timeout(gate, input)], None, None),
    };
    let issues = open_issues(gate.name(), found, input);
    let result = GateResult {
        name: gate.name().to_owned(),
        ok: !ValidationReport::fails(&issues),
        skipped: skipped.is_some(),
        reason: skipped.map(str::to_owned),
        log_path: None,
    };
    Ok(GateOutcome {
        result,
        issues,
        log,
    })
}

/// Runs one gate on a thread of its own; none when its time ran out.
fn timed(gate: &'static dyn Gate, input: &GateInput) -> Result<Option<Checked>, GateFault> {
    let seconds = gate.limit().seconds(input.profile, gate.files(input));
    let (answer, waiting) = mpsc::channel();
    let own = input.for_one_gate();
    let given = own.clone();
    std::thread::Builder::new()
        .name(format!("gate-{}", gate.name()))
        .spawn(move || {
            // There is no listener once the time is up.
            let _ = answer.send(gate.check(&given));
        })
        .map_err(|error| match Shortage::of_io(&error) {
            Some(shortage) => GateFault::Short {
                gate: gate.name().to_owned(),
                shortage,
                cause: error.to_string(),
            },
            None => GateFault::Failed {
                gate: gate.name().to_owned(),
                cause: error.to_string(),
            },
        })?;
    match waiting.recv_timeout(Duration::from_secs(seconds)) {
        Ok(checked) => checked.map(Some),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            own.stop();
            Ok(None)
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(GateFault::Crashed(gate.name().to_owned()))
        }
    }
}

fn timeout(gate: &dyn Gate, input: &GateInput) -> Finding {
    let seconds = gate.limit().seconds(input.profile, gate.files(input));
    Finding::run(
        "GATE_TIMEOUT",
        gate.name(),
        format!("{} did not finish within {seconds} s.", gate.name()),
    )
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
