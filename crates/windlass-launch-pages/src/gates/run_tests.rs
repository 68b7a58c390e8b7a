//! The runner: order, skips, timeouts, reports.

use std::sync::{Arc, Mutex, OnceLock, mpsc};

use windlass_launch_model::{Profile, Severity, SiteKind};

use super::*;
use crate::gates::sample::{self, GUIDE, HOME, page_with, subject, with_text};

fn report(subject: crate::gates::input::Subject) -> ValidationReport {
    run_gates(&GateInput::new(subject), &mut |_| {}).unwrap()
}

fn plain(mut subject: crate::gates::input::Subject) -> crate::gates::input::Subject {
    subject.context.site_kind = SiteKind::Markdown;
    subject
}

#[test]
fn every_gate_is_listed_in_order_and_the_sample_passes() {
    for profile in [Profile::Local, Profile::Ci, Profile::Prod] {
        let mut subject = plain(subject());
        subject.profile = profile;
        let report = report(subject);
        let failing: Vec<_> = report
            .issues
            .iter()
            .filter(|issue| issue.severity.fails())
            .collect();
        assert!(report.ok && report.error_code.is_none(), "{failing:#?}");
        let names: Vec<&str> = report.gates.iter().map(|gate| gate.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Schema",
                "FrontmatterContract",
                "MarkdownLint",
                "TemplateTokens",
                "HugoConfig",
                "HugoBuild",
                "InternalLinks",
                "ExternalLinks",
                "SnippetSyntax",
                "TruthLock",
                "Consistency",
                "Universality",
                "ContentDistribution",
                "RollbackMetadata",
                "Secrets",
                "Xss",
                "Accessibility",
                "PageWeight",
            ]
        );
        let skipped: Vec<_> = report.gates.iter().filter(|gate| gate.skipped).collect();
        assert!(skipped.iter().all(|gate| gate.reason.is_some()));
        assert_eq!(skipped.len(), if profile == Profile::Local { 3 } else { 2 });
    }
}

#[test]
fn all_gates_run_though_one_fails() {
    let mut seen = Vec::new();
    let input = GateInput::new(plain(with_text(GUIDE, "no front matter")));
    let report = run_gates(&input, &mut |progress| {
        if let Progress::Finished(result, _) = progress {
            seen.push(result.name.clone());
        }
    })
    .unwrap();
    assert_eq!(seen.len(), 18);
    assert!(!report.ok);
    assert_eq!(report.error_code.as_deref(), Some("GATE_FAILED"));
}

#[test]
fn one_issue_per_file_and_code_with_every_occurrence() {
    let text = page_with("__ONE_TOKEN__\n\n__OTHER_TOKEN__ and __ONE_TOKEN__");
    let report = report(plain(with_text(GUIDE, &text)));
    let tokens: Vec<_> = report
        .issues
        .iter()
        .filter(|issue| issue.gate == "TemplateTokens")
        .collect();
    assert_eq!(tokens.len(), 1);
    assert_eq!(tokens[0].occurrences.len(), 3);
    assert_eq!(tokens[0].files, [GUIDE]);
    assert!(tokens[0].title.ends_with("(+2)") && tokens[0].title.chars().count() <= 80);
    assert!(tokens[0].fixable && tokens[0].suggested_fix.is_some());
}

#[test]
fn gates_in_any_order_produce_the_same_report() {
    let input = GateInput::new(plain(with_text(GUIDE, &page_with("__A_TOKEN__ #Bad"))));
    let all = run_gates(&input, &mut |_| {}).unwrap();
    let mut outcomes: Vec<GateOutcome> = gate_names()
        .iter()
        .rev()
        .map(|name| check_gate(name, &input).unwrap())
        .collect();
    outcomes.rotate_left(5);
    let kept = serde_json::to_vec(&outcomes).unwrap();
    let read: Vec<GateOutcome> = serde_json::from_slice(&kept).unwrap();
    assert_eq!(read, outcomes);
    assert_eq!(super::report(input.profile, read, &[]), all);
}

#[test]
fn an_unknown_gate_is_named() {
    let fault = check_gate("Spelling", &GateInput::new(subject())).unwrap_err();
    let text = fault.to_string();
    assert!(
        text.contains("Spelling") && text.contains("TruthLock"),
        "{text}"
    );
}

#[test]
fn ids_stay_when_lines_move_and_differ_between_folders() {
    let token = |subject: crate::gates::input::Subject| {
        let report = report(plain(subject));
        let mut found = report
            .issues
            .into_iter()
            .filter(|issue| issue.gate == "TemplateTokens");
        found.next().map(|issue| issue.issue_id).unwrap()
    };
    let first = token(with_text(GUIDE, &page_with("__A_TOKEN__")));
    let moved = token(with_text(
        GUIDE,
        &page_with("See the overview.\n\n__A_TOKEN__"),
    ));
    assert_eq!(first, moved);
    assert_ne!(
        first,
        token(with_text(sample::LANDING, &page_with("__A_TOKEN__")))
    );
}

#[test]
fn untouched_files_are_only_reported_and_changed_files_count_as_a_whole() {
    let report = report(plain(subject()));
    let home: Vec<_> = report
        .issues
        .iter()
        .filter(|issue| issue.files == [HOME])
        .collect();
    assert_eq!(home.len(), 1, "the broken link of an untouched page");
    assert_eq!(home[0].severity, Severity::Info);

    let mut edited = with_text(GUIDE, &page_with("An old fact.\n\nA new fact."));
    let before = page_with("An old fact.").into_bytes();
    edited.changed.insert(GUIDE.to_owned(), Some(before));
    let report = self::report(plain(edited));
    let uncited: Vec<_> = report
        .issues
        .iter()
        .filter(|issue| issue.error_code.as_deref() == Some("GATE_TRUTHLOCK_UNCITED_FACT"))
        .map(|issue| {
            let said = issue.occurrences.iter().map(|place| place.excerpt.as_str());
            (issue.severity, said.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        uncited,
        [(Severity::Blocker, vec!["An old fact.", "A new fact."])]
    );
}

#[test]
fn issues_come_in_the_order_they_are_fixed() {
    let text = page_with("#Bad\n\n__A_TOKEN__\n\n<script>x</script>");
    let report = report(plain(with_text(GUIDE, &text)));
    let mut sorted = report.issues.clone();
    sorted.sort_by(Issue::fix_order);
    assert_eq!(report.issues, sorted);
    assert_eq!(report.issues[0].severity, Severity::Blocker);
}

#[test]
fn the_same_input_produces_the_same_report() {
    let once = || serde_json::to_string(&report(plain(with_text(GUIDE, &page_with("#Bad fact")))));
    assert_eq!(once().unwrap(), once().unwrap());
}

#[test]
fn manual_edits_are_reported() {
    let mut subject = plain(subject());
    subject.manual_edited_files = vec![GUIDE.to_owned()];
    let report = report(subject);
    assert!(report.manual_edits && report.manual_edited_files == [GUIDE]);
}

/// Waits until its test is over; its limit is no time at all.
struct Stuck;

static RELEASE: OnceLock<Mutex<mpsc::Receiver<()>>> = OnceLock::new();

impl Gate for Stuck {
    fn name(&self) -> &'static str {
        "Stuck"
    }

    fn limit(&self) -> Limit {
        Limit::Total(0, 0)
    }

    fn check(&self, _: &GateInput) -> Result<Checked, GateFault> {
        let release = RELEASE.get().unwrap().lock().unwrap();
        let _ = release.recv();
        Ok(Checked::Ran(Vec::new()))
    }
}

struct Quick;

impl Gate for Quick {
    fn name(&self) -> &'static str {
        "Quick"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        assert!(!input.stopped());
        Ok(Checked::Ran(Vec::new()))
    }
}

#[test]
fn a_gate_that_takes_too_long_is_a_blocker_and_the_next_one_runs() {
    let (release, waiting) = mpsc::channel();
    RELEASE.set(Mutex::new(waiting)).unwrap();
    let input = GateInput::new(subject());
    let report = run_these(&[&Stuck, &Quick], &input, &mut |_| {}).unwrap();
    assert!(!report.ok);
    assert_eq!(report.issues.len(), 1);
    assert_eq!(report.issues[0].error_code.as_deref(), Some("GATE_TIMEOUT"));
    assert_eq!(report.issues[0].severity, Severity::Blocker);
    assert!(!report.issues[0].fixable);
    assert!(!report.gates[0].ok && report.gates[1].ok);
    drop(release);
}

struct Broken;

impl Gate for Broken {
    fn name(&self) -> &'static str {
        "Broken"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 60)
    }

    fn check(&self, _: &GateInput) -> Result<Checked, GateFault> {
        panic!("as planned");
    }
}

#[test]
fn a_gate_that_crashes_has_no_report() {
    let input = GateInput::new(subject());
    let fault = run_these(&[&Broken], &input, &mut |_| {});
    assert_eq!(fault, Err(GateFault::Crashed("Broken".to_owned())));
}

#[test]
fn without_hugo_a_build_has_no_report_and_a_local_run_gets_a_warning() {
    let without = |profile| {
        let mut subject = subject();
        subject.profile = profile;
        let hugo =
            sample::FakeHugo::new(None, Err(crate::gates::outside::ToolError::TimedOut), &[]);
        subject.toolchain = Arc::new(hugo);
        run_gates(&GateInput::new(subject), &mut |_| {})
    };
    assert!(matches!(
        without(Profile::Ci),
        Err(GateFault::ToolchainMissing(_))
    ));
    let report = without(Profile::Local).unwrap();
    assert!(report.ok);
    let codes: Vec<_> = report
        .issues
        .iter()
        .filter_map(|issue| issue.error_code.as_deref())
        .collect();
    assert!(codes.contains(&"GATE_TOOLCHAIN_SKIPPED"));
}
