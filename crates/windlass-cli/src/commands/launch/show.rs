//! The state of a launch, for people: issues, gates, what to type next.

use std::collections::HashMap;

use serde_json::{Value, json};
use windlass_launch_model::{Issue, Severity, ValidationReport};
use windlass_types::{Problem, RunId};

use super::{
    advice::shortfall,
    event_lines::words,
    view::{OpenIssue, Status, place},
};
use crate::{
    commands::field,
    flow::approval_wanted,
    output::{Table, Tone},
    session::{Report, Session},
};

const REPORT: &str = "validation_report.json";

/// Asks for the state of a run: the answer, and the part people are shown.
pub(super) async fn ask_status(
    session: &Session,
    run_id: &RunId,
) -> Result<(Value, Status), Problem> {
    let input = json!({ "run_id": run_id });
    let answer = session.call("launch.get_status", input).await?.output;
    let status = field(&answer, "status")?;
    Ok((answer, status))
}

/// The text of an artifact.
pub(super) async fn ask_text(
    session: &Session,
    run_id: &RunId,
    name: &str,
) -> Result<String, Problem> {
    let input = json!({ "run_id": run_id, "artifact_name": name });
    let answer = session.call("launch.get_artifact", input).await?.output;
    field(&answer["artifact"], "content")
}

/// The last validation report, where there is one.
pub(super) async fn ask_report(
    session: &Session,
    run_id: &RunId,
    status: &Status,
) -> Result<Option<ValidationReport>, Problem> {
    if !status.has_artifact(REPORT) {
        return Ok(None);
    }
    let text = ask_text(session, run_id, REPORT).await?;
    let report = serde_json::from_str(&text);
    Ok(Some(report.map_err(|error| {
        Problem::internal("validation report", error)
    })?))
}

/// Reports a run that rests: what blocks it, and what to type next. A run that failed,
/// was cancelled or lacks a program is a failure of the command that followed it.
pub(super) async fn conclude(
    session: &Session,
    run_id: &RunId,
    answer: Value,
    status: &Status,
) -> Result<Report, Problem> {
    if let Some(problem) = shortfall(status) {
        return Err(problem);
    }
    if !has_begun(status)
        && let Some(waits) = approval_wanted(session, run_id).await?
    {
        return Err(waits.with("state", status.state.as_str()));
    }
    let message = summary(status);
    let printer = &session.printer;
    printer.data(&message);
    if printer.is_human() && !status.is_sound() {
        let report = ask_report(session, run_id, status).await?;
        printer.table(&issue_table(&failing(status), report.as_ref()));
    }
    hints(session, run_id, status).await?;
    Ok(Report::new(message, answer).sound(status.has_ended() || status.is_sound()))
}

/// Whether a launch was let through to its first stage. Before that, an approval is one of the
/// whole launch; afterwards it is one of its pull request.
pub(super) fn has_begun(status: &Status) -> bool {
    status.state != "CREATED"
}

/// One sentence about a run.
pub(super) fn summary(status: &Status) -> String {
    let run_id = &status.run_id;
    let state = &status.state;
    match (state.as_str(), status.is_sound()) {
        ("DONE", _) if status.rolled_back => format!("run {run_id} was rolled back"),
        ("DONE", _) => format!("run {run_id} is DONE"),
        ("CANCELLED", _) if status.is_up_to_date() => {
            format!("The site is up to date: run {run_id} had nothing to change")
        }
        (_, false) if status.parked => {
            format!("run {run_id} waits in {state}: {}", status.tally())
        }
        _ => format!("run {run_id} is {state}"),
    }
}

/// The open issues that block it, in the order they are fixed.
pub(super) fn failing(status: &Status) -> Vec<&OpenIssue> {
    let issues = status.open_issues.iter();
    issues.filter(|issue| issue.severity.fails()).collect()
}

/// Issues in a table; the report knows where each is and whether it can be fixed.
pub(super) fn issue_table(issues: &[&OpenIssue], report: Option<&ValidationReport>) -> Table {
    let known: HashMap<&str, &Issue> = report
        .into_iter()
        .flat_map(|report| &report.issues)
        .map(|issue| (issue.issue_id.as_str(), issue))
        .collect();
    let mut table = Table::new(&["SEVERITY", "GATE", "FIX", "WHERE", "ISSUE"]);
    for issue in issues {
        let details = known.get(issue.issue_id.as_str());
        let fix = match details {
            Some(known) if known.fixable => "automatic",
            Some(_) if issue.severity.fails() => "by hand",
            _ => "",
        };
        table.toned_row([
            (tone(issue.severity), issue.severity.as_str().to_owned()),
            (Tone::Plain, issue.gate.clone()),
            (Tone::Dim, fix.to_owned()),
            (
                Tone::Plain,
                details.map(|issue| place(issue)).unwrap_or_default(),
            ),
            (Tone::Plain, issue.title.clone()),
        ]);
    }
    table
}

/// Every gate and its result.
pub(super) fn gate_table(report: &ValidationReport) -> Table {
    let mut table = Table::new(&["GATE", "RESULT", "ISSUES"]);
    for gate in &report.gates {
        let (tone, result) = match (gate.skipped, gate.ok) {
            (true, _) => {
                let reason = gate.reason.as_deref().map(words).unwrap_or_default();
                (Tone::Dim, format!("skipped ({reason})"))
            }
            (_, true) => (Tone::Good, "passed".to_owned()),
            (_, false) => (Tone::Bad, "failed".to_owned()),
        };
        let open = |issue: &&Issue| issue.gate == gate.name;
        let count = report.open_issues().filter(open).count();
        let count = if count == 0 {
            String::new()
        } else {
            count.to_string()
        };
        table.toned_row([
            (Tone::Plain, gate.name.clone()),
            (tone, result),
            (Tone::Plain, count),
        ]);
    }
    table
}

pub(super) const fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Blocker | Severity::Error => Tone::Bad,
        Severity::Warn => Tone::Warn,
        Severity::Info => Tone::Dim,
    }
}

pub(super) fn state_tone(state: &str) -> Tone {
    match state {
        "DONE" | "READY_FOR_PR" => Tone::Good,
        "FAILED" => Tone::Bad,
        "CANCELLED" => Tone::Dim,
        "VALIDATING" | "FIXING" => Tone::Warn,
        _ => Tone::Active,
    }
}

/// Says what to type next.
pub(super) async fn hints(
    session: &Session,
    run_id: &RunId,
    status: &Status,
) -> Result<(), Problem> {
    let driven = session.engine().driven_by(run_id).await?.is_some();
    let fixing = status.parked && status.state == "VALIDATING" && status.failure.is_none();
    let report = if fixing {
        ask_report(session, run_id, status).await?
    } else {
        None
    };
    for command in next_commands(status, driven, report.as_ref().map(Remedy::of)) {
        session.printer.hint(&command);
    }
    Ok(())
}

/// What can be done about the issues that block a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The run can fix all of them.
    Run,
    /// The run can fix some of them.
    Both,
    /// None: asking it to would end it.
    Person,
}

impl Remedy {
    fn of(report: &ValidationReport) -> Self {
        let failing = || report.issues.iter().filter(|issue| issue.is_failing());
        match (
            failing().any(|issue| issue.fixable),
            failing().all(|issue| issue.fixable),
        ) {
            (_, true) => Self::Run,
            (true, _) => Self::Both,
            (false, _) => Self::Person,
        }
    }
}

/// What to type next. `driven`: some process executes the run.
pub(super) fn next_commands(status: &Status, driven: bool, remedy: Option<Remedy>) -> Vec<String> {
    let run_id = &status.run_id;
    let launch = |verb: &str| format!("windlass launch {verb} {run_id}");
    match status.state.as_str() {
        "DONE" if status.rolled_back => Vec::new(),
        "DONE" => vec![format!("windlass runs rollback {run_id}")],
        "FAILED" => vec![format!("{} failure_summary.md", launch("artifact"))],
        "CANCELLED" => Vec::new(),
        _ if !status.parked && driven => vec![launch("watch")],
        _ if !status.parked => vec![launch("resume")],
        _ if status.failure.is_some() => vec![launch("validate")],
        "READY_FOR_PR" if status.is_sound() => vec![
            format!("{} diff_report.md", launch("artifact")),
            launch("open-pr"),
        ],
        "READY_FOR_PR" => vec![launch("resume")],
        _ => match remedy {
            // Nothing that is typed about this run helps: its inputs have to change.
            Some(Remedy::Person) => vec![
                format!("{} validation_report.json", launch("artifact")),
                "correct the product or the site, commit, and start again; with allow_manual_edits: true in the configuration, edit the checkout and validate".to_owned(),
            ],
            Some(Remedy::Both) => vec![launch("fix")],
            Some(Remedy::Run) | None => vec![launch("fix"), format!("{} --all", launch("fix"))],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: &str, parked: bool, severities: &[&str]) -> Status {
        let issues: Vec<Value> = severities
            .iter()
            .enumerate()
            .map(|(index, severity)| {
                json!({ "issue_id": format!("iss_{index}"), "severity": severity, "gate": "TruthLock", "title": "Uncited" })
            })
            .collect();
        serde_json::from_value(json!({
            "run_id": "r_1", "state": state, "section_states": {}, "open_issues": issues,
            "artifacts": [], "fix_attempts": { "used": 0, "max": 3 }, "parked": parked,
        }))
        .unwrap()
    }

    #[test]
    fn every_place_has_a_next_command() {
        let failing = ["blocker", "error", "error", "warn"];
        let cases = [
            (status("DRAFTING", false, &[]), true),
            (status("DRAFTING", false, &[]), false),
            (status("VALIDATING", true, &failing), false),
            (status("READY_FOR_PR", true, &["warn"]), false),
            (status("READY_FOR_PR", true, &failing), false),
            (status("DONE", false, &[]), false),
            (status("FAILED", false, &failing), false),
            (status("CANCELLED", false, &[]), false),
        ];
        let shown: Vec<String> = cases
            .iter()
            .map(|(status, driven)| {
                let next = next_commands(status, *driven, None).join(" | ");
                format!("{} → {next}", summary(status))
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        run r_1 is DRAFTING → windlass launch watch r_1
        run r_1 is DRAFTING → windlass launch resume r_1
        run r_1 waits in VALIDATING: 1 blocker, 2 errors, 1 warning → windlass launch fix r_1 | windlass launch fix r_1 --all
        run r_1 is READY_FOR_PR → windlass launch artifact r_1 diff_report.md | windlass launch open-pr r_1
        run r_1 waits in READY_FOR_PR: 1 blocker, 2 errors, 1 warning → windlass launch resume r_1
        run r_1 is DONE → windlass runs rollback r_1
        run r_1 is FAILED → windlass launch artifact r_1 failure_summary.md
        run r_1 is CANCELLED →
        ");
    }

    #[test]
    fn issues_say_where_they_are_and_who_fixes_them() {
        let status = status("VALIDATING", true, &["blocker", "error", "warn"]);
        let issue = |id: &str, status: &str, place: Value| {
            let mut issue = json!({
                "issue_id": id, "gate": "TruthLock", "severity": "error", "title": "Uncited",
                "message": "x", "status": status, "fixable": false,
            });
            let fields = issue.as_object_mut().unwrap();
            fields.extend(place.as_object().unwrap().clone());
            issue
        };
        let place = json!({ "fixable": true, "location": { "path": "content/a.md", "line": 7 } });
        let report: ValidationReport = serde_json::from_value(json!({
            "schema_version": "1", "ok": false, "profile": "local", "manual_edits": false,
            "gates": [
                { "name": "Schema", "ok": true },
                { "name": "HugoBuild", "ok": true, "skipped": true, "reason": "toolchain_missing" },
                { "name": "TruthLock", "ok": false },
            ],
            "issues": [
                issue("iss_0", "OPEN", place),
                issue("iss_1", "OPEN", json!({ "files": ["content/b.md"] })),
                issue("iss_9", "RESOLVED", json!({})),
            ],
        }))
        .unwrap();
        let captured = crate::output::Captured::new(crate::output::Mode::Human);
        let printer = &captured.printer;
        printer.table(&issue_table(&failing(&status), Some(&report)));
        printer.table(&gate_table(&report));
        insta::assert_snapshot!(captured.stdout(), @r"
        SEVERITY  GATE       FIX        WHERE           ISSUE
        blocker   TruthLock  automatic  content/a.md:7  Uncited
        error     TruthLock  by hand    content/b.md    Uncited
        GATE       RESULT                       ISSUES
        Schema     passed
        HugoBuild  skipped (toolchain missing)
        TruthLock  failed                       2
        ");
    }

    #[test]
    fn a_hint_never_ends_the_run() {
        let blocked = status("VALIDATING", true, &["blocker"]);
        let typed = |remedy| next_commands(&blocked, false, Some(remedy)).join(" | ");
        assert_eq!(
            typed(Remedy::Run),
            "windlass launch fix r_1 | windlass launch fix r_1 --all"
        );
        // With `--all` the run would end over what it cannot fix.
        assert_eq!(typed(Remedy::Both), "windlass launch fix r_1");
        let by_hand = typed(Remedy::Person);
        assert!(by_hand.starts_with("windlass launch artifact r_1 validation_report.json | "));
        assert!(!by_hand.contains("launch fix"), "{by_hand}");
    }
}
