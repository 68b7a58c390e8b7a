//! Kill −9 of the server in every phase of a job: after a restart it continues and leaves the same
//! bytes as one that was left in peace.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::json;
use windlass_types::Body;

use super::{
    contract::EXAMPLE,
    site::{NO_LIMITS, Site, start},
};
use crate::suite::support::{
    home::Place,
    http::Ask,
    library::{Library, runtime},
};

/// Jobs that are tried at most until there was a death in each phase.
const MOST_ROUNDS: usize = 10;
const PHASES: [&str; 4] = ["strategy", "architecture", "ux", "code"];

type Artifacts = BTreeMap<&'static str, Vec<u8>>;

fn artifacts(site: &Site, job: &str) -> Artifacts {
    let fetch = |phase: &'static str| {
        let reply = site.ask(Ask::get(&format!("/artifacts/{job}/{phase}")));
        assert_eq!(reply.status, 200, "{}", reply.text());
        (phase, reply.body)
    };
    PHASES.map(fetch).into()
}

/// Follows the job's events until a phase has begun; `false` when the job ended before.
fn until_begun(site: &Site, job: &str, phase: &str) -> bool {
    let ask = Ask::get(&format!("/v1/pipelines/{job}/events"))
        .with("authorization", format!("Bearer {}", site.key.text));
    let wanted = format!("\"phase\":\"{phase}\"");
    let mut begun = false;
    let read = ask.lines(site.daemon.address, |line| {
        begun |= line.contains("PHASE_STARTED") && line.contains(&wanted);
        !begun
    });
    assert_eq!(read.unwrap(), 200);
    begun
}

/// The phase a job is in, by a journal that nobody writes any more.
fn phase_of(place: &Place, job: &str) -> Option<String> {
    let events = runtime().block_on(async {
        let library = Library::open(&place.home(), None).unwrap();
        library.events(&job.parse().unwrap()).await.unwrap()
    });
    let mut open = None;
    for event in events {
        if let Ok(Some(Body::Domain(name, domain))) =
            Body::decode(&event.event_type, &event.payload)
        {
            let phase = domain.data["phase"].as_str().map(str::to_owned);
            match name.as_str() {
                "PHASE_STARTED" => open = phase,
                "PHASE_COMPLETED" => open = None,
                _ => {}
            }
        }
    }
    open
}

/// Runs a job whose server dies in each phase, so long after the phase has begun; where it died.
fn with_deaths(
    site: &mut Site,
    spec: &str,
    after: &BTreeMap<&str, Duration>,
) -> (String, Vec<String>) {
    let job = site.begin(&json!({ "spec": spec }));
    let mut deaths = Vec::new();
    for phase in PHASES {
        if !until_begun(site, &job, phase) {
            break;
        }
        std::thread::sleep(after[phase]);
        site.daemon.process.kill();
        deaths.extend(phase_of(&site.place, &job));
        site.daemon = start(&site.place);
    }
    let status = site.ended(&job);
    assert_eq!(status["status"], "completed", "{status:#}");
    assert_eq!(status["progress_percent"], 100);
    (job, deaths)
}

#[test]
fn a_job_that_is_killed_in_every_phase_leaves_the_same_bytes() {
    let started = Instant::now();
    let mut site = Site::open(NO_LIMITS);
    let spec = fs_err::read_to_string(EXAMPLE).unwrap();
    let job = site.begin(&json!({ "spec": spec }));
    let status = site.ended(&job);
    assert_eq!(status["status"], "completed", "{status:#}");
    let undisturbed = artifacts(&site, &job);
    // As soon as a phase has started, and halfway through it, in turn. A phase may be over before
    // its server is dead, so that some jobs die in fewer phases than others.
    let half = |phase| status["phases"][phase]["duration_ms"].as_u64().unwrap() / 2;
    let at_once = PHASES.map(|phase| (phase, Duration::ZERO));
    let half_way = PHASES.map(|phase| (phase, Duration::from_millis(half(phase))));
    let mut died = BTreeSet::new();
    for (round, after) in [at_once, half_way].iter().cycle().enumerate() {
        let (job, deaths) = with_deaths(&mut site, &spec, &BTreeMap::from(*after));
        println!("died in {deaths:?}");
        died.extend(deaths);
        assert!(
            artifacts(&site, &job) == undisturbed,
            "the artifacts differ"
        );
        if round > 0 && PHASES.iter().all(|phase| died.contains(*phase)) {
            break;
        }
        assert!(round < MOST_ROUNDS, "only in {died:?}");
    }
    println!("{:?}", started.elapsed());
}
