//! Conditions as a table: what a journal is, what the write expects, what comes of it.

use serde_json::json;
use windlass_types::{Digest, Principal, Surface, TraceId, journal::RunHeld};

use super::*;

fn created() -> Option<Body> {
    Some(Body::from(RunCreated {
        kind: "demo".into(),
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::default(),
        idempotency_key: None,
        config_hash: Digest::ZERO,
        input: json!(null),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        title: String::new(),
        holds: Vec::new(),
        on_held: OnHeld::default(),
    }))
}

fn other() -> Option<Body> {
    Some(Body::from(RunHeld {
        problem: windlass_types::Problem::internal("test", "test"),
    }))
}

#[test]
fn standings_and_expectations() {
    use RunState::{Completed, Running};
    use Standing::{Absent, Run, System};
    let states = |states: &[RunState]| Expect::State(states.to_vec());
    let cases: &[(Standing, Expect, Vec<Option<Body>>, bool)] = &[
        (Absent, Expect::Any, vec![other()], true),
        (Absent, Expect::Any, vec![created(), other()], true),
        (Absent, Expect::New, vec![created()], true),
        (Absent, Expect::New, vec![None], true),
        (Absent, states(&[Running]), vec![other()], false),
        (System, Expect::Any, vec![other()], true),
        (System, Expect::New, vec![other()], false),
        (System, states(&[Running]), vec![other()], false),
        (Run(Running), Expect::Any, vec![other()], true),
        (Run(Running), Expect::New, vec![created()], false),
        (
            Run(Running),
            states(&[Running, Completed]),
            vec![other()],
            true,
        ),
        (Run(Running), states(&[Completed]), vec![other()], false),
        (Run(Running), states(&[]), vec![other()], false),
        (Run(Running), Expect::At(7), vec![other()], true),
        (Run(Running), Expect::At(6), vec![other()], false),
        (Absent, Expect::At(7), vec![other()], false),
        // A run is created once, by its first event.
        (Absent, Expect::New, vec![created(), created()], false),
        (Absent, Expect::New, vec![other(), created()], false),
        (System, Expect::Any, vec![created()], false),
        (Run(Completed), Expect::Any, vec![created()], false),
    ];
    let run_id: RunId = "run_1".parse().unwrap();
    for (at, (standing, expect, bodies, accepted)) in cases.iter().enumerate() {
        let checked = check_standing(&run_id, expect, bodies, *standing, 7);
        assert_eq!(
            checked.is_ok(),
            *accepted,
            "case {at}: {standing:?} {expect:?}"
        );
        if let Err(error) = checked {
            let CommitError::Unexpected { state, .. } = error else {
                panic!("case {at}: {error}")
            };
            assert_eq!(state, standing.state(), "case {at}");
        }
    }
}

#[test]
fn an_event_that_cannot_be_read_back_is_refused() {
    let event = |event_type: &str, payload| NewEvent {
        time: windlass_types::Timestamp::EPOCH,
        event_type: event_type.into(),
        payload: windlass_types::Json::from(payload),
        spans: windlass_types::SpanIds::default(),
    };
    let commit = |event| Commit {
        writes: vec![windlass_ports::JournalWrite {
            run_id: "run_1".parse().unwrap(),
            expect: Expect::Any,
            events: vec![event],
        }],
        lease: None,
    };
    let error = PreparedCommit::new(commit(event("run.started", json!({}))))
        .err()
        .unwrap();
    insta::assert_snapshot!(error, @"the store failed: event run.started for run_1 is refused because it could not be read back: missing field `epoch` at line 1 column 2");
    assert!(PreparedCommit::new(commit(event("future.thing", json!({})))).is_ok());
}
