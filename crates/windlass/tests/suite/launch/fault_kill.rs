//! Kill −9 of the server at every state and between events: the run continues where it was, the
//! same artifacts come of it, and no work is done twice with another result.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    client::Client,
    determinism::{comparable, launch},
    journal::{Event, Journals},
    place::LaunchPlace,
};

const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// One life of the server: it serves until it is killed.
struct Life<'a> {
    client: Client,
    journals: &'a Journals,
}

impl Life<'_> {
    /// Calls a tool about the run; `None` when the server died over it.
    fn about(&mut self, tool: &str, run_id: &str) -> Option<Value> {
        let session = &mut self.client.session;
        let id = session.ask_tool(tool, &json!({ "run_id": run_id }));
        loop {
            let message = session.server.receive()?;
            if message["id"] == id {
                return Some(message["result"]["structuredContent"].clone());
            }
        }
    }

    /// Continues the run until it is done; `false` when the server died before that.
    fn go_on(&mut self, run_id: &str, dead: &AtomicBool) -> bool {
        let started = Instant::now();
        while !dead.load(Ordering::SeqCst) {
            assert!(started.elapsed() < WAIT_LIMIT, "it does not come to an end");
            if !self.journals.rests(run_id) {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let Some(answer) = self.about("launch_get_status", run_id) else {
                return false;
            };
            let tool = match answer["status"]["state"].as_str() {
                Some("DONE") => return true,
                _ if answer["status"]["parked"] == false => continue,
                Some("VALIDATING") => "launch_resume",
                Some("READY_FOR_PR") => "launch_open_pr",
                _ => panic!("{answer:#}"),
            };
            match self.about(tool, run_id) {
                None => return false,
                Some(answer) => assert_eq!(answer["ok"], true, "{tool}: {answer:#}"),
            }
        }
        false
    }
}

/// Where the run was when its server died.
struct Death {
    events: usize,
    state: String,
}

/// Launches with a server that is killed whenever `fatal` says so of the journal and of its
/// length when the server began, again and again; where each of them died.
fn launch_with_deaths(
    place: &LaunchPlace,
    fatal: impl Fn(&Journals, &str, usize) -> bool + Sync,
) -> (String, Vec<Death>) {
    let mut client = place.serve();
    let run_id = client.start(&place.config());
    let journals = Journals::open(&place.home());
    let mut deaths = Vec::new();
    loop {
        let begun = journals.length(&run_id);
        let (dead, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let pid = Pid::from_child(&client.session.server.process.0);
        let mut life = Life {
            client,
            journals: &journals,
        };
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    if fatal(&journals, &run_id, begun) {
                        // Gone already is what was wanted.
                        let _ = kill_process(pid, Signal::KILL);
                        dead.store(true, Ordering::SeqCst);
                        return;
                    }
                    std::thread::sleep(Duration::from_micros(500));
                }
            });
            let done = life.go_on(&run_id, &dead);
            over.store(true, Ordering::SeqCst);
            done
        });
        life.client.session.server.process.kill();
        if done {
            return (run_id, deaths);
        }
        let events = journals.events(&run_id);
        deaths.push(Death {
            events: events.len(),
            state: last_state(&events),
        });
        client = place.serve();
    }
}

fn is_change(event: &&Event) -> bool {
    ["RUN_STATE_CHANGED", "RESUME_REWIND"].contains(&&*event.0)
}

/// The state a launch's events lead to.
fn last_state(events: &[Event]) -> String {
    let last = events.iter().rev().find(is_change);
    last.map_or("CREATED", |(_, data)| data["to_state"].as_str().unwrap())
        .to_owned()
}

/// Everything that must hold once a run has come through.
fn assert_came_through(
    place: &LaunchPlace,
    run_id: &str,
    deaths: &[Death],
    undisturbed: &BTreeMap<String, String>,
) {
    let mut client = place.serve();
    let status = client.status(run_id);
    assert_eq!(status["state"], "DONE", "{status:#}");
    assert_eq!(comparable(&status), *undisturbed, "the same artifacts");
    let journals = Journals::open(&place.home());
    let events = journals.events(run_id);
    assert_work_is_done_once(&events);
    assert_rewinds(&events, deaths);
    assert_eq!(journals.named(run_id, "PR_OPENED").len(), 1);
    let branches = place.site_git(&["branch", "--list", &format!("launch/{run_id}/*")]);
    assert_eq!(branches.lines().count(), 1, "{branches}");
    place.say(&["runs", "verify", run_id]).worked();
}

/// A work item that is finished twice gives the same twice, and was begun before.
fn assert_work_is_done_once(events: &[Event]) {
    let mut finished: BTreeMap<(String, String), &Value> = BTreeMap::new();
    let mut begun = BTreeSet::new();
    for (name, data) in events {
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        match name.as_str() {
            "WORK_ITEM_STARTED" => {
                begun.insert(text("work_item_id"));
            }
            "WORK_ITEM_FINISHED" => {
                assert!(begun.contains(&text("work_item_id")), "{data}");
                let item = (text("worker"), text("scope_key"));
                if let Some(before) = finished.insert(item, &data["outputs"]) {
                    assert_eq!(*before, data["outputs"], "{data}");
                }
            }
            _ => {}
        }
    }
}

/// Interrupted work goes back to where a run may rest, and says so; a run at rest does not.
fn assert_rewinds(events: &[Event], deaths: &[Death]) {
    let back = |state: &str| match state {
        "DRAFTING" => Some("PLAN_READY"),
        "LINKING" | "VALIDATING" | "FIXING" => Some("DRAFT_READY"),
        _ => None,
    };
    for (_, data) in events.iter().filter(|(name, _)| name == "RESUME_REWIND") {
        let from = data["from_state"].as_str().unwrap();
        assert_eq!(data["to_state"].as_str(), back(from), "{data}");
    }
    let is_work = |event: &&Event| {
        let begins = ["RESUME_REWIND", "WORK_ITEM_STARTED", "GATE_RUN_STARTED"];
        begins.contains(&&*event.0)
    };
    for (number, death) in deaths.iter().enumerate() {
        let (before, after) = events.split_at(death.events);
        if back(&death.state).is_none() || !in_flight(before) {
            continue;
        }
        let next = deaths.get(number + 1);
        let until = next.map_or(after.len(), |next| next.events - death.events);
        // Before any work is begun again; the next life may end before it gets as far as that.
        if let Some((name, data)) = after[..until].iter().find(is_work) {
            assert_eq!(name, "RESUME_REWIND", "died in {}: {data}", death.state);
        }
    }
}

/// Whether work was begun and not ended.
fn in_flight(events: &[Event]) -> bool {
    let mut open = BTreeSet::new();
    for (name, data) in events {
        let id = data["work_item_id"].as_str().unwrap_or_default();
        match name.as_str() {
            "WORK_ITEM_STARTED" => {
                open.insert(id);
            }
            "WORK_ITEM_FINISHED" | "WORK_ITEM_FAILED" => {
                open.remove(id);
            }
            // Whatever was open before is started again under another id.
            "RESUME_REWIND" => open.clear(),
            _ => {}
        }
    }
    !open.is_empty()
}

#[test]
fn kill_9_at_every_state() {
    let place = LaunchPlace::example();
    let undisturbed = launch(&mut place.serve(), &place);
    let killed = Mutex::new(BTreeSet::new());
    let (run_id, deaths) = launch_with_deaths(&place, |journals, run_id, _| {
        let state = last_state(&journals.events(run_id));
        killed.lock().unwrap().insert(state)
    });
    let killed = killed.into_inner().unwrap();
    println!("{} deaths, at {killed:?}", deaths.len());
    assert!(deaths.len() >= 8, "{killed:?}");
    assert_came_through(&place, &run_id, &deaths, &undisturbed);
}

#[test]
fn kill_9_between_any_two_events() {
    // A large launch with a life every so often, a small one with hardly any life at all.
    for (place, every) in [(LaunchPlace::example(), 29), (LaunchPlace::defective(), 11)] {
        let undisturbed = launch(&mut place.serve(), &place);
        let started = Instant::now();
        let (run_id, deaths) = launch_with_deaths(&place, |journals, run_id, begun| {
            journals.reaches(run_id, begun + every)
        });
        let took = started.elapsed();
        println!("every {every} events: {} deaths in {took:?}", deaths.len());
        assert!(deaths.len() > 10, "{}", deaths.len());
        assert_came_through(&place, &run_id, &deaths, &undisturbed);
    }
}
