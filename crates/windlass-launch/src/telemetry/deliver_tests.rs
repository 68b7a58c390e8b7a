//! Which answers are tried again, how often, and what waits in the end.

use windlass_testkit::{FakeClock, RecordingOutbound, Reply};

use super::{super::run::JobType, *};

const BATCH: &str = "https://telemetry.example/api/v1/runs/batch";

fn run(number: usize) -> Run {
    Run::begun(
        format!("event-{number}"),
        format!("run-{number}"),
        "windlass".to_owned(),
        JobType::Worker,
        windlass_types::Timestamp::from_millis(1000),
    )
}

fn service(clock: &FakeClock, outbound: &RecordingOutbound) -> Service {
    Service {
        outbound: Arc::new(outbound.clone()),
        clock: Arc::new(clock.clone()),
        endpoint: "https://telemetry.example/".to_owned(),
        token: Some(Secret::new("hush".to_owned())),
    }
}

#[tokio::test]
async fn what_is_worth_another_try_is_tried_again() {
    use Reply::{Hang, Status, Unreachable};
    for (replies, tries, error) in [
        (vec![Status(200)], 1, None),
        (vec![Status(201)], 1, None),
        (vec![Status(503), Status(200)], 2, None),
        (
            vec![Status(429), Status(408), Unreachable, Status(200)],
            4,
            None,
        ),
        (vec![Status(500)], 4, Some("status 500")),
        (vec![Unreachable], 4, Some("connection refused")),
        (vec![Hang], 4, Some("no answer")),
        (vec![Status(400)], 1, Some("status 400")),
        (vec![Status(404)], 1, Some("status 404")),
        (vec![Status(409)], 1, Some("status 409")),
        (vec![Status(302)], 1, Some("status 302")),
    ] {
        let clock = FakeClock::new();
        let outbound = RecordingOutbound::new(&clock);
        outbound.script(BATCH, replies.clone());
        let service = service(&clock, &outbound);
        let delivery = clock.run(service.report(&[json!(run(1))])).await;
        let sent = outbound.sent_to(BATCH);
        assert_eq!(sent.len(), tries, "{replies:?}");
        assert_eq!(sent[0].header("authorization"), "Bearer hush");
        assert_eq!(sent[0].request.timeout, TIMEOUT);
        match error {
            None => assert_eq!(delivery.sent, ["event-1"], "{replies:?}"),
            Some(error) => {
                assert!(delivery.sent.is_empty() && delivery.broken_off);
                let said = delivery.error.unwrap();
                assert!(said.contains(error), "{replies:?}: {said}");
            }
        }
        let waited: Vec<i64> = sent
            .windows(2)
            .map(|pair| pair[1].at.as_millis() - pair[0].at.as_millis())
            .collect();
        for (waited, least) in waited.iter().zip([1000, 2000, 4000]) {
            assert!(*waited >= least, "{replies:?}: {waited}");
        }
    }
}

#[test]
fn the_oldest_go_when_too_much_waits() {
    let mut runs: Vec<Run> = (0..=100).map(run).collect();
    for run in &mut runs {
        run.output_summary = Some("x".repeat(1000));
    }
    let size = |runs: &[Run]| -> usize {
        let lengths = runs.iter().map(|run| json!(run).to_string().len());
        lengths.sum()
    };
    let most = size(&runs) / 2;
    let dropped = bound(&mut runs, most);
    assert!(size(&runs) <= most && size(&runs) > most - 2000);
    assert_eq!(runs[0].event_id, "event-0");
    assert_eq!(dropped[0], "event-1");
    assert_eq!(dropped.len() + runs.len(), 101);
    assert_eq!(bound(&mut runs, most), Vec::<String>::new());
}

#[test]
fn batches_are_bounded() {
    let runs: Vec<Value> = (0..1201).map(|number| json!(run(number))).collect();
    let lengths: Vec<usize> = batches(&runs).iter().map(|batch| batch.len()).collect();
    assert_eq!(lengths, [500, 500, 201]);
    assert!(batches(&[]).is_empty());
    let large: Vec<Value> = (0..3).map(|_| json!("x".repeat(1_500_000))).collect();
    assert_eq!(batches(&large).len(), 3);
}

#[test]
fn an_answer_may_refuse_some() {
    let answer = OutboundResponse {
        status: 200,
        headers: Vec::new(),
        body: br#"{"errors":[{"index":2,"message":"no"},{"index":"x"}]}"#.to_vec(),
        address: None,
    };
    assert_eq!(refused_items(&answer), [(2, "no".to_owned())]);
}
