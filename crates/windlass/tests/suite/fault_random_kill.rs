//! Kill −9 of the real daemon at random moments, two hundred times, with sixteen clients at it.
//!
//! Each client plans and applies one change after the other over HTTP, repeats a call that got
//! no answer, and follows its run's events. Whatever it was told must hold at the end: every
//! event it saw is stored as it saw it, every plan was applied once, every run completed. Every
//! restart must get the same port and be ready on it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use windlass_engine::run::EventView;
use windlass_types::RunState;

use super::support::{
    binary::{Daemon, free_address},
    directory::read_tree,
    home::{ALLOW_ALL, Place},
    http::{Ask, Reply},
    library::{Library, runtime},
    random::Random,
};

const KILLS: u64 = 200;
const CLIENTS: usize = 16;
/// Long enough for a loaded machine to resume sixteen runs after the last kill.
const WAIT_LIMIT: Duration = Duration::from_secs(120);

#[test]
fn nothing_that_was_acknowledged_is_lost() {
    let (mut random, seed) = Random::seeded();
    println!("WINDLASS_TEST_SEED={seed}");
    let place = Place::with_policy(ALLOW_ALL);
    let address = free_address();
    let enough = AtomicBool::new(false);
    let (ready, client_runs) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (place, enough) = (&place, &enough);
                scope.spawn(move || be_a_client(place, number, address, enough))
            })
            .collect();
        let ready = kill_again_and_again(&place.home(), address, &mut random);
        enough.store(true, Ordering::SeqCst);
        let mut last = Daemon::spawn(&place.home(), address, &["--no-auth"]);
        last.wait_until_ready();
        let client_runs: Vec<ClientRun> = clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect();
        (ready, client_runs)
    });
    let slowest = ready.iter().max().unwrap();
    println!(
        "{KILLS} kills, {} runs, {} events seen, {} restarts seen ready, the slowest in {slowest:?}",
        client_runs.len(),
        client_runs
            .iter()
            .map(|client_run| client_run.seen.len())
            .sum::<usize>(),
        ready.len(),
    );
    assert!(client_runs.len() >= CLIENTS);
    runtime().block_on(check(&place.home(), &client_runs));
}

/// Every second process lives until it was ready and a while longer; the others are killed a
/// while after their start, ready or not. How long it took to be ready.
fn kill_again_and_again(home: &Path, address: SocketAddr, random: &mut Random) -> Vec<Duration> {
    let mut ready = Vec::new();
    for round in 0..KILLS {
        let started = Instant::now();
        let mut daemon = Daemon::spawn(home, address, &["--no-auth"]);
        if round % 2 == 0 {
            daemon.wait_until_ready();
            ready.push(started.elapsed());
        }
        std::thread::sleep(Duration::from_millis(random.between(5, 400)));
        let ended = daemon.process.0.try_wait().unwrap();
        assert!(
            ended.is_none(),
            "round {round}: it ended by itself: {ended:?}"
        );
        daemon.process.kill();
    }
    ready
}

/// A run as its client saw it.
struct ClientRun {
    run_id: String,
    dir: PathBuf,
    plan_digest: String,
    /// Every event, by place.
    seen: BTreeMap<u64, Value>,
}

fn files(number: usize, turn: usize) -> BTreeMap<String, String> {
    (0..3)
        .map(|file| {
            (
                format!("part {file}/{number}.txt"),
                format!("client {number}, turn {turn}, file {file}\n"),
            )
        })
        .collect()
}

fn be_a_client(
    place: &Place,
    number: usize,
    address: SocketAddr,
    enough: &AtomicBool,
) -> Vec<ClientRun> {
    let mut client_runs = Vec::new();
    for turn in 0.. {
        if enough.load(Ordering::SeqCst) {
            break;
        }
        let dir = place.scratch().join(format!("{number}-{turn}"));
        std::fs::create_dir(&dir).unwrap();
        let mut input = json!({ "dir": dir, "files": files(number, turn), "pause_ms": 150 });
        let planned = call(address, "demo.plan", &input);
        input["confirm_token"] = planned["confirm_token"].clone();
        input["idempotency_key"] = format!("client {number}, turn {turn}").into();
        let applied = call(address, "demo.apply", &input);
        let mut client_run = ClientRun {
            run_id: applied["run"]["run_id"].as_str().unwrap().to_owned(),
            dir,
            plan_digest: planned["plan_digest"].as_str().unwrap().to_owned(),
            seen: BTreeMap::new(),
        };
        follow(address, &mut client_run);
        client_runs.push(client_run);
    }
    client_runs
}

/// Calls until there is an answer; every answer must be a good one.
fn call(address: SocketAddr, operation: &str, input: &Value) -> Value {
    let ask = Ask::post(&format!("/v1/operations/{operation}"), input.to_string());
    let reply = again_until_answered(|| ask.send(address));
    assert_eq!(reply.status, 200, "{operation}: {}", reply.text());
    reply.json()
}

fn again_until_answered(ask: impl Fn() -> std::io::Result<Reply>) -> Reply {
    let started = Instant::now();
    loop {
        match ask() {
            Ok(reply) => return reply,
            Err(error) => assert!(started.elapsed() < WAIT_LIMIT, "no answer: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Follows the run's events to its end, continuing after the last one seen whenever it is cut off.
fn follow(address: SocketAddr, client_run: &mut ClientRun) {
    let started = Instant::now();
    let mut ended = false;
    while !ended {
        assert!(
            started.elapsed() < WAIT_LIMIT,
            "{} hangs",
            client_run.run_id
        );
        let last = client_run.seen.last_key_value().map_or(0, |(seq, _)| *seq);
        let ask = Ask::get(&format!("/v1/runs/{}/events", client_run.run_id))
            .with("accept", "text/event-stream")
            .with("last-event-id", last.to_string());
        let mut name = String::new();
        let status = ask.lines(address, |line| {
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(data).unwrap();
                assert_ne!(name, "error", "{data}");
                if name == "end" {
                    ended = true;
                } else {
                    client_run.seen.insert(data["seq"].as_u64().unwrap(), data);
                }
            }
            !ended
        });
        match status {
            // 204: it has ended, and everything was seen.
            Ok(204) => ended = true,
            Ok(status) => assert_eq!(status, 200, "{}", client_run.run_id),
            // Cut off; an event that was cut in two is not counted as seen.
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// What the clients saw, against what is stored.
async fn check(home: &Path, client_runs: &[ClientRun]) {
    let library = Library::open(home, None).unwrap();
    let runs = library.runs().await.unwrap();
    assert_eq!(
        runs.len(),
        client_runs.len(),
        "a run that nobody asked for, or one that is gone"
    );
    let mut resumed = 0;
    for client_run in client_runs {
        let run = runs
            .iter()
            .find(|run| run.run_id.as_str() == client_run.run_id)
            .unwrap_or_else(|| panic!("{} is gone", client_run.run_id));
        assert_eq!(run.state, RunState::Completed, "{}", client_run.run_id);
        let of_plan = runs.iter().filter(|run| {
            run.plan_digest.map(|digest| digest.to_string()).as_ref()
                == Some(&client_run.plan_digest)
        });
        assert_eq!(
            of_plan.count(),
            1,
            "{} was applied twice",
            client_run.plan_digest
        );
        resumed += u32::from(run.attempts > 1);
        let events = library.events(&run.run_id).await.unwrap();
        let mut completed = Vec::new();
        for event in events {
            if event.event_type == "step.completed" {
                completed.push(event.payload.value()["key"].to_string());
            }
            let seq = event.seq;
            let mut stored = serde_json::to_value(EventView::from(event)).unwrap();
            stored["payload"] = library
                .engine
                .redactor
                .redact_value(stored["payload"].take());
            let seen = client_run.seen.get(&seq);
            assert_eq!(seen, Some(&stored), "{} {seq}", client_run.run_id);
        }
        assert_eq!(
            client_run.seen.len() as u64,
            run.last_seq,
            "{}",
            client_run.run_id
        );
        let steps = completed.len();
        completed.sort_unstable();
        completed.dedup();
        assert_eq!(
            completed.len(),
            steps,
            "{}: a step ended twice",
            client_run.run_id
        );
        let wanted = run.input["files"].as_array().unwrap();
        let found = read_tree(&client_run.dir);
        let written = found.iter().filter(|(name, _)| !name.ends_with('/'));
        assert_eq!(written.count(), wanted.len(), "{found:?}");
        for file in wanted {
            let content = found.get(file["path"].as_str().unwrap());
            assert_eq!(content.map(String::as_str), file["after"].as_str());
        }
    }
    println!("{resumed} runs were resumed at least once");
    assert!(resumed > 0, "no kill has hit a run");
    let checked = library.engine.maintenance.check().await.unwrap();
    assert_eq!(checked.findings, Vec::<String>::new());
}
