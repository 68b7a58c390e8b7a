//! A machine that runs out of something for a while: steps and undos wait, say so, and go on.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use windlass_engine::run::{RunError, Step};
use windlass_ports::Clock as _;
use windlass_testkit::{TestWorld, local, program::fn_kind};
use windlass_types::{Passing, Problem, RunState, code};

use super::support::{ended, problem_code, world_of};

const ENOENT: i32 = 2;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// What the operating system answers to the work of a test; 0 for nothing but success.
#[derive(Clone, Default)]
struct Machine {
    work: Arc<AtomicI32>,
    undo: Arc<AtomicI32>,
    tries: Arc<AtomicU32>,
}

impl Machine {
    fn answer(&self, number: &AtomicI32) -> Result<(), Problem> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        match number.load(Ordering::SeqCst) {
            0 => Ok(()),
            // As a domain reports a file that it cannot open.
            number => Err(Problem::new(
                &code::NOT_FOUND,
                format!("a.txt: {}", io::Error::from_raw_os_error(number)),
            )),
        }
    }

    /// A world whose runs do one step on this machine and then, if asked to, fail.
    fn world(&self) -> TestWorld {
        let machine = self.clone();
        let kind = fn_kind("work", move |context, fails| {
            let machine = machine.clone();
            Box::pin(async move {
                let undoing = machine.clone();
                Step::effect("file", "a.txt")
                    .undo(move |(): ()| {
                        let undoing = undoing.clone();
                        async move { undoing.answer(&undoing.undo) }
                    })
                    .run(context, |_| {
                        let machine = machine.clone();
                        async move { machine.answer(&machine.work) }
                    })
                    .await?;
                if fails == json!(true) {
                    return Err(RunError::Failed(Problem::new(&code::STEP_FAILED, "no")));
                }
                Ok(json!(null))
            })
        });
        world_of(vec![kind], Vec::new())
    }
}

#[tokio::test]
async fn a_step_waits_with_a_reason_until_there_is_enough_again() {
    for (number, reason) in [
        (ENOSPC, "waiting: disk is full"),
        (EMFILE, "waiting: too many open files"),
    ] {
        let machine = Machine::default();
        machine.work.store(number, Ordering::SeqCst);
        let world = machine.world();
        let process = world.driving().await;
        let run_id = process.start("work", json!(false)).await;
        world.clock.advance(Duration::from_secs(20 * 60)).await;
        let record = process.record(&run_id).await;
        assert_eq!(record.state, RunState::Waiting);
        let (_, on) = &record.waiting_on[0];
        assert_eq!(on.what, "timer", "nobody is asked anything");
        assert_eq!(on.prompt.as_deref(), Some(reason));
        assert!(on.until.is_some_and(|until| until > world.clock.now()));
        let tries = machine.tries.load(Ordering::SeqCst);
        assert!((20..30).contains(&tries), "{tries} tries in 20 minutes");
        // In another process, too.
        process.kill();
        machine.work.store(0, Ordering::SeqCst);
        let process = world.driving().await;
        let record = ended(&process, &run_id).await;
        assert_eq!(record.state, RunState::Completed);
        assert_eq!(record.waiting_on, []);
    }
}

#[tokio::test]
async fn waiting_ends_after_about_an_hour() {
    let machine = Machine::default();
    machine.work.store(ENOSPC, Ordering::SeqCst);
    let world = machine.world();
    let process = world.driving().await;
    let began = world.clock.now();
    let run_id = process.start("work", json!(false)).await;
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "NOT_FOUND")
    );
    let waited = world.clock.now().since(began).as_secs();
    assert!((3500..3700).contains(&waited), "{waited} s");
    assert_eq!(record.waiting_on, []);
}

#[tokio::test]
async fn other_failures_are_not_waited_for() {
    let machine = Machine::default();
    machine.work.store(ENOENT, Ordering::SeqCst);
    let world = machine.world();
    let process = world.driving().await;
    let run_id = process.start("work", json!(false)).await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Failed);
    assert_eq!(machine.tries.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_undo_waits_too() {
    let machine = Machine::default();
    machine.undo.store(EMFILE, Ordering::SeqCst);
    let world = machine.world();
    let process = world.driving().await;
    let run_id = process.start("work", json!(true)).await;
    world.clock.advance(Duration::from_secs(5)).await;
    let record = process.record(&run_id).await;
    assert_eq!(record.state, RunState::Unwinding);
    let prompt = record.waiting_on[0].1.prompt.as_deref();
    assert_eq!(prompt, Some("waiting: too many open files"));
    process.kill();
    machine.undo.store(0, Ordering::SeqCst);
    let process = world.driving().await;
    let record = ended(&process, &run_id).await;
    assert_eq!((record.state, record.residue), (RunState::Failed, vec![]));
}

#[tokio::test]
async fn an_undo_that_failed_is_tried_again_by_a_rollback() {
    let machine = Machine::default();
    machine.undo.store(ENOENT, Ordering::SeqCst);
    let world = machine.world();
    let process = world.driving().await;
    let run_id = process.start("work", json!(true)).await;
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, &*record.residue),
        (RunState::Failed, &["file".to_owned()][..])
    );
    for (number, residue) in [(ENOENT, vec!["file".to_owned()]), (0, vec![])] {
        machine.undo.store(number, Ordering::SeqCst);
        let (engine, owner) = (&process.engine, local());
        engine
            .request_rollback(&owner, &run_id, None)
            .await
            .unwrap();
        let record = ended(&process, &run_id).await;
        assert_eq!(
            (record.state, &record.residue),
            (RunState::Failed, &residue)
        );
        assert_eq!(
            problem_code(&record),
            "STEP_FAILED",
            "it still says why it failed"
        );
    }
    let owner = local();
    let asked = process.engine.request_rollback(&owner, &run_id, None);
    assert_eq!(
        asked.await.unwrap_err().code().name,
        "ILLEGAL_STATE",
        "nothing remains"
    );
    assert!(process.engine.verify(&run_id).await.unwrap().intact);
}

/// Nothing can be recorded on a full disk; those who watch are told nevertheless.
#[tokio::test]
async fn watchers_are_told_that_the_journal_cannot_be_written() {
    let machine = Machine::default();
    machine.work.store(EMFILE, Ordering::SeqCst);
    let world = machine.world();
    let process = world.driving().await;
    let run_id = process.start("work", json!(false)).await;
    process.idle().await;
    let mut notices = process.engine.notices_of(&run_id);
    world.disk.set_full(true);
    let notice = world.clock.run(notices.next()).await;
    let Passing::Log { message, .. } = &notice.what else {
        panic!("{notice:?}");
    };
    assert!(message.starts_with("waiting: disk is full ("), "{message}");
    let writes = process.store.writes();
    world.clock.advance(Duration::from_secs(600)).await;
    let tries = process.store.writes() - writes;
    assert!((10..40).contains(&tries), "{tries} tries in ten minutes");
    machine.work.store(0, Ordering::SeqCst);
    world.disk.set_full(false);
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
}
