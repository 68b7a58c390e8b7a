//! Sessions by script: events in, effects out, and what holds after any sequence of them.

use proptest::prelude::*;
use windlass_agent_model::{CANCELLED, INVALID_ARGUMENTS, REJECTED, SourceKind};
use windlass_ports::{FinishReason, ModelReply, ToolResult, Usage};

use super::*;

fn settings() -> Settings {
    Settings {
        system: "Be careful.".to_owned(),
        context: 8_000,
        max_output: 500,
        max_output_limit: 2_000,
        max_steps: 50,
        ..Settings::default()
    }
}

fn reply(text: &str, calls: &[&str]) -> Answer {
    let mut parts = Message::assistant(text).parts;
    let calls_asked = calls
        .iter()
        .map(|id| Part::ToolCall(ToolCall::new(*id, "run_command", r#"{"command":"ls"}"#)));
    parts.extend(calls_asked);
    Answer {
        reply: ModelReply {
            parts,
            finish_reason: match calls.is_empty() {
                true => FinishReason::Stop,
                false => FinishReason::ToolCalls,
            },
            usage: Some(Usage {
                prompt_tokens: 50,
                completion_tokens: 10,
                total_tokens: 60,
                ..Usage::default()
            }),
            model: "small".to_owned(),
        },
        invalid: Vec::new(),
        is_interrupted: false,
    }
}

fn ended(id: &str, text: &str) -> Event {
    Event::ToolEnded(ToolOutcome {
        result: ToolResult {
            call_id: id.to_owned(),
            name: "run_command".to_owned(),
            parts: vec![Part::text(text)],
            is_error: false,
        },
        source: Some(Source {
            kind: SourceKind::Tool,
            name: "ls".to_owned(),
        }),
        files_changed: Vec::new(),
    })
}

fn verdict(id: &str, verdict: Verdict) -> (String, Verdict) {
    (id.to_owned(), verdict)
}

fn allow(id: &str) -> (String, Verdict) {
    verdict(id, Verdict::Allow { reads_only: true })
}

fn ask(id: &str) -> (String, Verdict) {
    let reason = "it writes".to_owned();
    verdict(id, Verdict::Ask { reason })
}

fn decision(id: &str, approved: bool, reason: Option<&str>) -> HumanDecision {
    HumanDecision {
        call_id: id.to_owned(),
        approved,
        reason: reason.map(str::to_owned),
        by: "local:ada".to_owned(),
    }
}

/// What a session wants, a word each.
fn words(effects: &[Effect]) -> String {
    let one = |effect: &Effect| match effect {
        Effect::Tell(_) => None,
        Effect::CallModel { request, .. } => Some(format!("model({})", request.messages.len())),
        Effect::Decide(calls) => {
            let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            Some(format!("decide({})", ids.join(",")))
        }
        Effect::RunTools(runs) => {
            let ids: Vec<&str> = runs.iter().map(|run| run.call.id.as_str()).collect();
            Some(format!("run({})", ids.join(",")))
        }
        Effect::AskHuman(asks) => {
            let ids: Vec<&str> = asks.iter().map(|ask| ask.call.id.as_str()).collect();
            Some(format!("ask({})", ids.join(",")))
        }
        Effect::AwaitUser => Some("await".to_owned()),
        Effect::Stop(outcome) => Some(format!("stop({outcome:?})")),
    };
    effects.iter().filter_map(one).collect::<Vec<_>>().join(" ")
}

fn last_results(session: &Session) -> String {
    let last = session.entries().iter().rev();
    let mut results = last.filter(|entry| entry.message.role == Role::Tool);
    let results = results.next().map(|entry| {
        let one = entry.message.tool_results();
        let one = one.map(|result| format!("{}={}", result.call_id, result.text()));
        one.collect::<Vec<_>>().join(" ")
    });
    results.unwrap_or_default()
}

/// A session that was asked something and has proposed these calls.
fn proposed(calls: &[&str]) -> Session {
    let mut session = Session::new(settings());
    assert_eq!(
        words(&session.handle(Event::User(UserMessage::text("hi")))),
        "model(2)"
    );
    session.handle(Event::Answered(reply("Looking.", calls)));
    session
}

#[test]
fn a_turn_with_calls_ends_with_an_answer() {
    let mut session = Session::new(settings());
    let steps = [
        Event::User(UserMessage::text("What is here?")),
        Event::Answered(reply("", &["a", "b", "c"])),
        Event::Decided(vec![allow("a"), ask("b"), allow("c")]),
        ended("c", "three"),
        Event::HumanDecided(vec![decision("b", true, None)]),
        ended("b", "two"),
        ended("a", "one"),
        Event::Answered(reply("Files.", &[])),
    ];
    let said: Vec<String> = steps
        .into_iter()
        .map(|event| words(&session.handle(event)))
        .collect();
    assert_eq!(
        said,
        [
            "model(2)",
            "decide(a,b,c)",
            "run(a,c) ask(b)",
            "",
            "run(b)",
            "",
            "model(4)",
            "await"
        ]
    );
    assert_eq!(
        last_results(&session),
        "a=one b=two c=three",
        "in the order of the calls"
    );
    assert_eq!(session.phase(), Phase::Idle);
}

#[test]
fn what_stands_for_a_call_that_did_not_run() {
    let mut session = proposed(&["a", "b", "c", "d"]);
    session.handle(Event::Decided(vec![
        ask("a"),
        verdict(
            "b",
            Verdict::Deny {
                reason: "use kubectl get".to_owned(),
            },
        ),
        allow("c"),
    ]));
    // `d` has no verdict and is asked about.
    let effects = session.handle(Event::HumanDecided(vec![decision(
        "a",
        false,
        Some("not now"),
    )]));
    assert_eq!(words(&effects), "");
    let effects = session.handle(Event::User(UserMessage::text("Stop that.")));
    assert_eq!(words(&effects), "model(5)");
    assert_eq!(
        last_results(&session),
        format!(
            "a={REJECTED}not now b=POLICY_DENIEDuse kubectl get \
             c={CANCELLED}the call was stopped; part of it may be done \
             d={CANCELLED}the call did not run"
        )
    );
    // What ends late changes nothing.
    assert_eq!(session.handle(ended("c", "late")), []);
    assert!(!last_results(&session).contains("late"));
}

#[test]
fn arguments_that_do_not_fit_never_run() {
    let mut session = Session::new(settings());
    session.handle(Event::User(UserMessage::text("hi")));
    let mut answer = reply("", &["a"]);
    answer.invalid = vec![("a".to_owned(), "line 1: not JSON".to_owned())];
    assert_eq!(words(&session.handle(Event::Answered(answer))), "model(4)");
    assert_eq!(
        last_results(&session),
        format!("a={INVALID_ARGUMENTS}line 1: not JSON")
    );
}

#[test]
fn an_answer_at_the_output_limit_is_continued_a_few_times() {
    let mut session = Session::new(settings());
    session.handle(Event::User(UserMessage::text("hi")));
    let mut limits = Vec::new();
    let last = loop {
        let mut answer = reply("a part", &[]);
        answer.reply.finish_reason = FinishReason::Length;
        let effects = session.handle(Event::Answered(answer));
        let limit = effects.iter().find_map(|effect| match effect {
            Effect::CallModel { request, .. } => request.max_tokens,
            _ => None,
        });
        match limit {
            Some(limit) => limits.push(limit),
            None => break effects,
        }
    };
    assert_eq!(limits, [1_000, 2_000, 2_000]);
    assert_eq!(words(&last), "await");
}

#[test]
fn a_conversation_that_the_provider_finds_too_long_is_cut_twice_at_most() {
    let mut session = Session::new(settings());
    for _ in 0..6 {
        session.handle(Event::User(UserMessage::text("question ".repeat(50))));
        session.handle(Event::Answered(reply(&"words ".repeat(80), &[])));
    }
    session.handle(Event::User(UserMessage::text("hi")));
    let failure = || {
        Event::AnswerFailed(AnswerFailure {
            reason: "rejected".to_owned(),
            message: "too long".to_owned(),
            is_context_exceeded: true,
            so_far: String::new(),
        })
    };
    let said: Vec<String> = (0..3).map(|_| words(&session.handle(failure()))).collect();
    assert_eq!(said[2], "stop(ContextExhausted)", "{said:?}");
    assert!(said[0].starts_with("model("), "{said:?}");
}

#[test]
fn limits_stop_a_session_before_it_spends() {
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut settings = settings();
        change(&mut settings);
        let mut session = Session::new(settings);
        words(&session.handle(Event::User(UserMessage::text("hi"))))
    };
    let said = [
        with(&|settings| settings.budget.tokens = Some(400)),
        with(&|settings| settings.budget.micros = Some(1)),
        with(&|settings| {
            settings.budget.micros = Some(1);
            settings.price = Some(Price {
                input: 1_000_000,
                output: 1_000_000,
                ..Price::default()
            });
        }),
        with(&|settings| settings.context = 100),
    ];
    assert_eq!(
        said,
        [
            "stop(BudgetExhausted { what: Tokens })",
            "stop(BudgetExhausted { what: NoPrice })",
            "stop(BudgetExhausted { what: Money })",
            "stop(ContextExhausted)",
        ]
    );
    let mut session = proposed(&["a"]);
    session.settings.max_steps = 1;
    session.handle(Event::Decided(vec![allow("a")]));
    assert_eq!(words(&session.handle(ended("a", "x"))), "stop(MaxSteps)");
    // The user may go on once there is room.
    session.settings.max_steps = 9;
    assert_eq!(
        words(&session.handle(Event::User(UserMessage::text("go on")))),
        "model(5)"
    );
}

#[test]
fn steering_waits_for_the_next_request_and_follow_ups_for_the_end() {
    let mut session = proposed(&["a"]);
    assert_eq!(
        session.handle(Event::FollowUp(UserMessage::text("then this"))),
        []
    );
    assert_eq!(
        session.handle(Event::Steer(UserMessage::text("be quick"))),
        []
    );
    session.handle(Event::Decided(vec![allow("a")]));
    assert_eq!(words(&session.handle(ended("a", "x"))), "model(5)");
    assert_eq!(session.entries()[3].message.text(), "be quick");
    let effects = session.handle(Event::Answered(reply("Done.", &[])));
    assert_eq!(words(&effects), "model(7)");
    assert_eq!(session.entries()[5].message.text(), "then this");
}

#[test]
fn cancelling_works_in_every_phase() {
    for phase in 0..4 {
        let mut session = match phase {
            0 => Session::new(settings()),
            1 => {
                let mut session = Session::new(settings());
                session.handle(Event::User(UserMessage::text("hi")));
                session
            }
            _ => proposed(&["a"]),
        };
        if phase == 3 {
            session.handle(Event::Decided(vec![ask("a")]));
        }
        let effects = session.handle(Event::Cancel);
        assert_eq!(words(&effects), if phase == 0 { "" } else { "await" });
        assert_eq!(session.phase(), Phase::Idle);
        assert_eq!(session.open_calls().count(), 0);
        let effects = session.handle(Event::User(UserMessage::text("again")));
        assert!(words(&effects).starts_with("model("), "{phase}");
    }
}

#[test]
fn a_summary_can_be_taken_back() {
    let mut session = Session::new(settings());
    for text in ["first", "second", "third"] {
        session.handle(Event::User(UserMessage::text(text)));
        session.handle(Event::Answered(reply("ok", &[])));
    }
    let before = session.entries().to_vec();
    session.handle(Event::Summarised {
        text: "three questions".to_owned(),
    });
    assert_eq!(session.entries().len(), 2);
    session.handle(Event::User(UserMessage::text("fourth")));
    session.handle(Event::Answered(reply("ok", &[])));
    session.handle(Event::SummaryUndone);
    assert_eq!(session.entries()[..6], before[..]);
    assert_eq!(session.entries()[6].message.text(), "fourth");
}

#[test]
fn a_broken_answer_is_kept_without_its_calls() {
    let mut session = Session::new(settings());
    session.handle(Event::User(UserMessage::text("hi")));
    let effects = session.handle(Event::AnswerFailed(AnswerFailure {
        reason: "cut".to_owned(),
        message: "the connection ended".to_owned(),
        is_context_exceeded: false,
        so_far: "I was about to".to_owned(),
    }));
    assert!(words(&effects).starts_with("stop(Failed"));
    let last = session.entries().last().unwrap();
    assert!(last.is_interrupted && last.message.text() == "I was about to");
    assert_eq!(
        words(&session.handle(Event::User(UserMessage::text("go on")))),
        "model(4)"
    );
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let id = || (0..5_u8).prop_map(|n| n.to_string());
    let ids = || {
        prop::collection::btree_set(0..5_u8, 0..4)
            .prop_map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let verdict = prop_oneof![
        any::<bool>().prop_map(|reads_only| Verdict::Allow { reads_only }),
        Just(Verdict::Ask {
            reason: String::new()
        }),
        Just(Verdict::Deny {
            reason: "no".to_owned()
        }),
    ];
    let event = prop_oneof![
        3 => (1..2_000_usize).prop_map(|n| Event::User(UserMessage::text("u".repeat(n)))),
        1 => Just(Event::Steer(UserMessage::text("steer"))),
        1 => Just(Event::FollowUp(UserMessage::text("follow"))),
        6 => (0..900_usize, ids()).prop_map(|(n, ids)| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            Event::Answered(reply(&"w ".repeat(n), &ids))
        }),
        1 => any::<bool>().prop_map(|is_context_exceeded| Event::AnswerFailed(AnswerFailure {
            reason: "x".to_owned(),
            message: "x".to_owned(),
            is_context_exceeded,
            so_far: if is_context_exceeded { String::new() } else { "so far".to_owned() },
        })),
        5 => prop::collection::vec((id(), verdict), 0..5).prop_map(Event::Decided),
        3 => prop::collection::vec((id(), any::<bool>()), 0..4).prop_map(|all| {
            let decisions = all.iter().map(|(id, yes)| decision(id, *yes, None));
            Event::HumanDecided(decisions.collect())
        }),
        6 => (id(), 0..3_000_usize).prop_map(|(id, n)| ended(&id, &"r".repeat(n))),
        1 => Just(Event::Cancel),
        1 => (0..12_usize).prop_map(|keep| Event::Rewind { keep }),
        1 => Just(Event::Summarised { text: "summary".to_owned() }),
        1 => Just(Event::SummaryUndone),
    ];
    prop::collection::vec(event, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever happens, in whatever order: every request is one that a strict provider takes,
    /// nothing runs that was not decided, and what was sent of a history that only grew stays the
    /// same at its beginning.
    #[test]
    fn any_sequence_gives_valid_requests(events in events()) {
        let mut session = Session::new(Settings { context: 3_000, max_steps: 0, ..settings() });
        let mut sent: Option<(Vec<Message>, TrimState)> = None;
        for event in events {
            let allowed: Vec<String> = match &event {
                Event::Decided(verdicts) => verdicts.iter()
                    .filter(|(_, verdict)| matches!(verdict, Verdict::Allow { .. }))
                    .map(|(id, _)| id.clone()).collect(),
                Event::HumanDecided(decisions) => decisions.iter()
                    .filter(|decision| decision.approved)
                    .map(|decision| decision.call_id.clone()).collect(),
                _ => Vec::new(),
            };
            let grows = !matches!(event, Event::Rewind { .. } | Event::Summarised { .. } | Event::SummaryUndone);
            if !grows {
                sent = None;
            }
            for effect in session.handle(event) {
                match effect {
                    Effect::CallModel { request, .. } => {
                        prop_assert_eq!(validate(&request.messages), Ok(()));
                        let trim = session.trim();
                        if let Some((before, state)) = &sent
                            && *state == trim
                        {
                            // The last message may have grown: the user went on talking.
                            let stable = before.len() - 1;
                            prop_assert_eq!(&request.messages[..stable], &before[..stable]);
                        }
                        sent = Some((request.messages.clone(), trim));
                    }
                    Effect::RunTools(runs) => {
                        for run in runs {
                            prop_assert!(allowed.contains(&run.call.id), "{} was not allowed", run.call.id);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A session is its events: handed to another one, they lead to the same requests.
    #[test]
    fn the_same_events_give_the_same_effects(events in events()) {
        let (mut one, mut two) = (Session::new(settings()), Session::new(settings()));
        for event in events {
            prop_assert_eq!(one.handle(event.clone()), two.handle(event));
        }
    }
}
