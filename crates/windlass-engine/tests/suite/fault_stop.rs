//! Processes that are stopped (SIGSTOP) at any time: others take over what they drive, or say who
//! is in the way; what wakes up too late writes nothing.
//!
//! Each test starts itself again as the processes to be stopped; the home in the environment says
//! which of the two it is.

use std::{
    collections::{BTreeMap, HashSet},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getpid, kill_process};
use serde_json::json;
use windlass_engine::{
    Driver,
    run::{RunKind, Step},
};
use windlass_ports::{RunFilter, RunStore as _, StoreError, StoreMaintenance as _};
use windlass_store::{EventMark, FaultPoint, StoreFaults};
use windlass_testkit::{new_run, program::fn_kind};
use windlass_types::{Body, Problem, RunId, RunState};

use super::on_disk::{LEASE, engine, options};

const HOME: &str = "WINDLASS_TEST_HOME";
const STEPS: usize = 8;

fn home_of_child() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// A process of a test, ended with it.
struct Stopping(Child);

impl Stopping {
    fn start(test: &str, home: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = format!("suite::fault_stop::{test}");
        command.args(["--nocapture", "--exact", &name]);
        let spawned = command.env(HOME, home).stdout(Stdio::null()).spawn();
        Self(spawned.unwrap())
    }

    fn send(&self, signal: Signal) {
        let process = Pid::from_raw(self.0.id().try_into().unwrap()).unwrap();
        kill_process(process, signal).unwrap();
    }

    /// Waits until the process is stopped; it may stop itself.
    fn is_stopped(&self) {
        let status = format!("/proc/{}/stat", self.0.id());
        wait_for(|| {
            let status = fs_err::read_to_string(&status).unwrap();
            status.rsplit_once(") ").unwrap().1.starts_with('T')
        });
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn wait_for(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(180);
    while !done() {
        assert!(
            Instant::now() < deadline,
            "it did not happen in three minutes"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run whose steps each write a line to a file next to the store.
fn lines(home: &Path) -> Arc<dyn RunKind> {
    let path = home.join("effects");
    fn_kind("lines", move |context, _| {
        let path = path.clone();
        Box::pin(async move {
            for step in 0..STEPS {
                let key = format!("line{step}");
                let line = format!("{} {key}\n", context.run_id());
                let path = path.clone();
                Step::effect(&key, "a line")
                    .run(context, move |_| {
                        let (line, path) = (line.clone(), path.clone());
                        async move {
                            tokio::time::sleep(Duration::from_millis(3)).await;
                            let file = std::fs::OpenOptions::new()
                                .append(true)
                                .create(true)
                                .open(path);
                            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
                            written.map_err(|error| Problem::internal("line", error.to_string()))
                        }
                    })
                    .await?;
            }
            Ok(json!(null))
        })
    })
}

/// Drives, and starts runs until it is told to stop doing so.
async fn work(home: &Path) {
    let (engine, _store) = engine(home, vec![lines(home)], options(None));
    // Where another process is stopped in its commit this fails, and says who it is.
    let is_named = |problem: &Problem| {
        let text = problem.to_string();
        assert!(text.contains("BUSY: the store is busy: process "), "{text}");
    };
    let driver = loop {
        match Driver::start_all(&engine).await {
            Ok(driver) => break driver,
            Err(problem) => is_named(&problem),
        }
    };
    while !home.join("enough").exists() {
        if let Err(problem) = engine.create_ungated(new_run("lines", json!(null))).await {
            is_named(&problem);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    while !home.join("end").exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    driver.stop().await;
}

async fn all_runs(store: &dyn windlass_ports::RunStore) -> Vec<windlass_types::RunRecord> {
    let mut runs = Vec::new();
    let mut before = None;
    loop {
        let filter = RunFilter {
            before,
            limit: 500,
            ..RunFilter::default()
        };
        let page = store.runs(filter).await.unwrap();
        runs.extend(page.runs);
        match page.next {
            Some(next) => before = Some(next),
            None => return runs,
        }
    }
}

/// How often each step was begun. Nothing may be recorded of a step that the driver which has the
/// run did not begin itself.
async fn attempts(store: &dyn windlass_ports::RunStore, run_id: &RunId) -> BTreeMap<String, usize> {
    let mut begun = BTreeMap::<String, usize>::new();
    let (mut open, mut done) = (HashSet::new(), HashSet::new());
    for event in store.events(run_id, 0, 10_000).await.unwrap() {
        match Body::decode(&event.event_type, &event.payload).unwrap() {
            Some(Body::RunStarted(_)) => open.clear(),
            Some(Body::StepStarted(step)) => {
                *begun.entry(step.key.clone()).or_default() += 1;
                assert!(open.insert(step.key));
            }
            Some(Body::StepCompleted(step)) => {
                assert!(
                    open.remove(&step.key),
                    "{run_id}: a stale driver wrote {step:?}"
                );
                assert!(done.insert(step.key));
            }
            _ => {}
        }
    }
    begun
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_stopped_at_random_hand_over_or_are_named() {
    const TEST: &str = "processes_stopped_at_random_hand_over_or_are_named";
    const STOPS: usize = 20;
    if let Some(home) = home_of_child() {
        return work(&home).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let (engine, store) = engine(home, vec![lines(home)], options(None));
    let workers: Vec<_> = (0..3).map(|_| Stopping::start(TEST, home)).collect();
    wait_for(|| fs_err::metadata(home.join("effects")).is_ok_and(|file| file.len() > 0));
    let (mut went_on, mut named) = (0, 0);
    for stop in 0..STOPS {
        let worker = &workers[stop % workers.len()];
        // Any moment will do, so the time that the machine takes is as good as random numbers.
        std::thread::sleep(Duration::from_millis((stop as u64 * 37) % 90));
        worker.send(Signal::STOP);
        worker.is_stopped();
        let stopped = Instant::now();
        let begun = store.position().await.unwrap();
        while stopped.elapsed() < LEASE * 2 {
            tokio::time::sleep(LEASE / 4).await;
            if store
                .position()
                .await
                .is_ok_and(|position| position > begun)
            {
                break;
            }
        }
        match engine.create_ungated(new_run("lines", json!(null))).await {
            Ok(_) => went_on += 1,
            Err(problem) => {
                let text = problem.to_string();
                let name = format!("process {}", worker.0.id());
                assert!(
                    text.contains(&name) && text.contains("is stopped"),
                    "{text}"
                );
                named += 1;
            }
        }
        tokio::time::sleep(LEASE * 2).await;
        worker.send(Signal::CONT);
    }
    fs_err::write(home.join("enough"), "").unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    let runs = loop {
        let runs = all_runs(&*store).await;
        if runs.iter().all(|run| run.state == RunState::Completed) {
            break runs;
        }
        assert!(Instant::now() < deadline, "{runs:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    fs_err::write(home.join("end"), "").unwrap();
    let mut begun = BTreeMap::new();
    let mut taken_over = 0;
    for run in &runs {
        taken_over += usize::from(run.attempts > 1);
        assert!(engine.verify(&run.run_id).await.unwrap().intact);
        for (key, count) in attempts(&*store, &run.run_id).await {
            begun.insert(format!("{} {key}", run.run_id), count);
        }
    }
    let effects = fs_err::read_to_string(home.join("effects")).unwrap();
    let mut done = BTreeMap::<&str, usize>::new();
    for line in effects.lines() {
        *done.entry(line).or_default() += 1;
    }
    for (line, count) in &done {
        assert!(
            *count <= begun[*line],
            "{line}: done {count} times, not all recorded"
        );
    }
    assert_eq!(done.len(), runs.len() * STEPS, "every step was done");
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    assert!(taken_over > 0, "no run was taken over");
    println!(
        "{STOPS} stops: {went_on} times others went on, {named} times the stopped process was \
         named; {} runs, {taken_over} taken over",
        runs.len()
    );
}

/// Stops its own process inside its commit of an event with that name.
struct StopInCommit {
    event_type: &'static str,
    /// The commit ends once this file exists. The signal stops one thread after the other, so
    /// without it the committing thread may be through before it is stopped.
    end: PathBuf,
}

impl StoreFaults for StopInCommit {
    fn at(&self, point: FaultPoint, events: &[EventMark]) -> Result<(), StoreError> {
        let is_due = events.iter().any(|mark| mark.event_type == self.event_type);
        if point == FaultPoint::AfterWrite && is_due {
            kill_process(getpid(), Signal::STOP).unwrap();
            wait_for(|| self.end.exists());
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_stopped_inside_a_commit_is_named_and_waited_for() {
    const TEST: &str = "a_process_stopped_inside_a_commit_is_named_and_waited_for";
    if let Some(home) = home_of_child() {
        let faults = Arc::new(StopInCommit {
            event_type: "run.completed",
            end: home.join("end"),
        });
        let (engine, _store) = engine(&home, vec![lines(&home)], options(Some(faults)));
        let _driver = Driver::start_all(&engine).await.unwrap();
        let run_id = engine
            .create_ungated(new_run("lines", json!(null)))
            .await
            .unwrap();
        engine
            .settle(&run_id, Duration::from_secs(60))
            .await
            .unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let options = options(None);
    let (busy, patience) = (options.busy_timeout, options.busy_timeout * 6);
    let (engine, store) = engine(home, vec![lines(home)], options);
    let worker = Stopping::start(TEST, home);
    worker.is_stopped();
    let began = Instant::now();
    let refused = engine
        .create_ungated(new_run("lines", json!(null)))
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "BUSY");
    let text = refused.to_string();
    let process = worker.0.id();
    for part in [
        format!("process {process} (all-"),
        format!("is stopped and holds the store; continue it (kill -CONT {process}) or end it"),
    ] {
        assert!(text.contains(&part), "{text}");
    }
    // It ends by itself; how soon after that is the machine's business.
    assert!(began.elapsed() >= patience, "{:?}", began.elapsed());
    // Reading waits for no writer.
    assert_eq!(all_runs(&*store).await.len(), 1);
    // One that is continued while it is waited for costs no error.
    let waiting = tokio::spawn({
        let engine = engine.clone();
        async move { engine.create_ungated(new_run("lines", json!(null))).await }
    });
    tokio::time::sleep(busy / 4).await;
    fs_err::write(home.join("end"), "").unwrap();
    worker.send(Signal::CONT);
    waiting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_driver_is_taken_over_and_writes_nothing_when_it_wakes() {
    const TEST: &str = "a_stopped_driver_is_taken_over_and_writes_nothing_when_it_wakes";
    fn endless() -> Arc<dyn RunKind> {
        fn_kind("endless", |context, _| {
            Box::pin(async move {
                let first = context.resumptions("nap") == 0;
                let nap = move |_| async move {
                    let wake = if first { 3600 } else { 0 };
                    tokio::time::sleep(Duration::from_secs(wake)).await;
                    Ok::<_, Problem>(())
                };
                Step::effect("nap", "time").run(context, nap).await?;
                Ok(json!(null))
            })
        })
    }
    if let Some(home) = home_of_child() {
        let (engine, _store) = engine(&home, vec![endless()], options(None));
        let driver = Driver::start_all(&engine).await.unwrap();
        let run_id = engine
            .create_ungated(new_run("endless", json!(null)))
            .await
            .unwrap();
        while driver.live_runs() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while driver.live_runs() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Its step was ended although it would have slept for an hour.
        fs_err::write(home.join("let go"), run_id.as_str()).unwrap();
        return std::future::pending().await;
    }
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let (engine, store) = engine(home, vec![endless()], options(None));
    let worker = Stopping::start(TEST, home);
    let run = loop {
        let runs = all_runs(&*store).await;
        if let Some(run) = runs.into_iter().find(|run| run.last_seq >= 3) {
            break run;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    worker.send(Signal::STOP);
    worker.is_stopped();
    let stopped = Instant::now();
    let driver = Driver::start_all(&engine).await.unwrap();
    let ended = engine
        .settle(&run.run_id, Duration::from_secs(180))
        .await
        .unwrap();
    assert_eq!((ended.state, ended.attempts), (RunState::Completed, 2));
    assert!(
        stopped.elapsed() >= LEASE,
        "a lease runs out, it is not taken away"
    );
    let silent: Vec<_> = engine.lease.drivers();
    let of_worker = silent.iter().find(|driver| driver.process == worker.0.id());
    assert!(of_worker.unwrap().is_silent);
    let before = store.position().await.unwrap();
    worker.send(Signal::CONT);
    wait_for(|| home.join("let go").exists());
    assert_eq!(store.position().await.unwrap(), before, "it wrote nothing");
    // A busy machine may keep one of them from saying so for a moment.
    wait_for(|| {
        let drivers = engine.lease.drivers();
        drivers.iter().all(|driver| !driver.is_silent)
    });
    driver.stop().await;
}
