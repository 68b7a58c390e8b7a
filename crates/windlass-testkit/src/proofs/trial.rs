//! One try: a fresh world, one run in it, as many lives of the driving process as it takes.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use windlass_engine::{
    StepProbe,
    run::{ApprovalDecision, SIGNAL_APPROVAL},
};
use windlass_ports::{DeliveryState, RunStore as _};
use windlass_types::{Body, Digest, Event, RunId, RunRecord, RunState, WaitingOn};

use super::case::{ProofCase, ProofWorld, Reaction};
use crate::{MemoryStore, Process, TestWorld, local};

/// How a run and its world ended, in a form that is the same for the same scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The state of the run.
    pub state: RunState,
    /// What it returned.
    pub output: Value,
    /// The code of its failure.
    pub problem: Option<String>,
    /// Effects that remain although they should not, of the run and its children.
    pub residue: Vec<String>,
    /// Every run: kind and state.
    pub runs: Vec<String>,
    /// Every artifact: name and content.
    pub artifacts: Vec<String>,
    /// Everything that was emitted.
    pub emitted: Vec<String>,
    /// Every webhook: event, body and what became of it.
    pub webhooks: Vec<String>,
    /// What the world says happened to it.
    pub effects: Vec<String>,
    /// The digest of the world.
    pub world: Digest,
}

/// What is done to a run besides answering it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interference {
    /// Rolls the run back once it has completed.
    pub(super) roll_back: bool,
    /// Cancels the run once the driver has made this many writes.
    pub(super) cancel_after: Option<u64>,
}

pub(super) struct Trial<'a> {
    case: &'a ProofCase,
    pub(super) scene: Arc<dyn ProofWorld>,
    world: TestWorld,
    run_id: RunId,
    interference: Interference,
    answered: Mutex<HashSet<(RunId, String)>>,
    acknowledged: Vec<Event>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        case: &'a ProofCase,
        interference: Interference,
        probe: Option<Arc<dyn StepProbe>>,
    ) -> Self {
        let scene = case.world.fresh();
        let mut world = TestWorld::new({
            let scene = Arc::clone(&scene);
            move || scene.domains()
        });
        if let Some(probe) = probe {
            world = world.with_probe(probe);
        }
        if scene.uses_threads() {
            world = world.with_threads();
        }
        let prepared = &scene;
        let run_id = world
            .life(world.disk.open_again(), |mut client| async move {
                let input = prepared.prepare(&mut client).await;
                client.start(&case.kind, input).await
            })
            .expect("the client does not die");
        Self {
            case,
            scene,
            world,
            run_id,
            interference,
            answered: Mutex::default(),
            acknowledged: Vec::new(),
        }
    }

    /// Runs to the end without a fault; how many writes the driver made.
    pub(super) fn undisturbed(&mut self) -> u64 {
        let store = self.world.disk.open_again();
        assert!(
            self.live(&store),
            "a process that is not killed lives to the end"
        );
        store.writes()
    }

    /// One life of the driving process; whether it saw the end of the run.
    pub(super) fn live(&mut self, store: &MemoryStore) -> bool {
        let this = &*self;
        let ended = this.world.life(store.clone(), |mut process| async move {
            process.drive().await;
            // Another caller: people answer through their own process.
            let client = this.world.process();
            this.attend(&process, &client).await;
            process.stop().await;
        });
        self.acknowledged.extend(store.acknowledged());
        ended.is_some()
    }

    pub(super) fn open_store(&self) -> MemoryStore {
        self.world.disk.open_again()
    }

    /// Answers whatever is asked until nothing more happens by itself.
    async fn attend(&self, driver: &Process, client: &Process) {
        let mut changes = client.store.changes();
        let mut cancelled = false;
        loop {
            changes.mark_unchanged();
            let runs = client.store.all_runs();
            let root = self.record(&runs);
            if !cancelled
                && self
                    .interference
                    .cancel_after
                    .is_some_and(|writes| driver.store.writes() >= writes)
            {
                cancelled = true;
                // Refused when the run has just ended, which is an answer too.
                let _ = client.engine.cancel(&local(), &self.run_id, None).await;
                continue;
            }
            for record in &runs {
                let mut approvals = 0;
                for (key, on) in &record.waiting_on {
                    approvals += usize::from(on.what == SIGNAL_APPROVAL);
                    // An answer goes to the approval that was asked for first.
                    if on.what != SIGNAL_APPROVAL || approvals == 1 {
                        self.answer(client, record, key, on).await;
                    }
                }
            }
            let idle = runs
                .iter()
                .all(|record| record.state.is_final() || record.state == RunState::Held);
            if idle
                && self
                    .world
                    .disk
                    .all_deliveries()
                    .iter()
                    .all(|delivery| delivery.state != DeliveryState::Pending)
            {
                if !(self.interference.roll_back && root.state == RunState::Completed) {
                    return;
                }
                let asked = client
                    .engine
                    .request_rollback(&local(), &self.run_id, None)
                    .await;
                asked.expect("a completed run can be rolled back");
                continue;
            }
            changes
                .changed()
                .await
                .expect("the disk outlives its processes");
        }
    }

    async fn answer(&self, client: &Process, record: &RunRecord, key: &str, on: &WaitingOn) {
        let place = (record.run_id.clone(), key.to_owned());
        let already = self
            .answered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&place);
        if already || on.what == "timer" || on.what == "child" {
            return;
        }
        let decision = |approved| ApprovalDecision {
            approved,
            plan_digest: on.plan_digest,
            reason: Some("proof".to_owned()),
        };
        let sent = match self.case.script.react(record, on) {
            Reaction::Nothing => Ok(()),
            Reaction::Approve => {
                client
                    .engine
                    .answer_approval(&local(), &record.run_id, decision(true))
                    .await
            }
            Reaction::Reject => {
                client
                    .engine
                    .answer_approval(&local(), &record.run_id, decision(false))
                    .await
            }
            Reaction::Signal(payload) => {
                client
                    .engine
                    .send_signal(&local(), &record.run_id, &on.what, payload)
                    .await
            }
        };
        // Refused when the run moved on in the meantime; if it still waits, it is asked again.
        if sent.is_ok() {
            self.answered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(place);
        }
    }

    fn record<'b>(&self, runs: &'b [RunRecord]) -> &'b RunRecord {
        runs.iter()
            .find(|record| record.run_id == self.run_id)
            .expect("the run was created")
    }

    /// How it ended, after checking what must hold however it ended.
    pub(super) fn outcome(&self) -> Outcome {
        let runs = self.world.disk.all_runs();
        self.check(&runs);
        let root = self.record(&runs);
        let ids: Vec<&str> = runs.iter().map(|record| record.run_id.as_str()).collect();
        let plain = |text: String| {
            let text = self.scene.normalise(text);
            ids.iter().fold(text, |text, id| text.replace(id, "RUN"))
        };
        let mut outcome = Outcome {
            state: root.state,
            output: serde_json::from_str(&plain(
                root.output.clone().unwrap_or_default().to_string(),
            ))
            .expect("ids are replaced inside of texts"),
            problem: root
                .problem
                .as_ref()
                .map(|problem| problem.code().name.to_owned()),
            residue: runs
                .iter()
                .flat_map(|record| record.residue.clone())
                .collect(),
            runs: runs
                .iter()
                .map(|record| format!("{} {}", record.kind, record.state.as_str()))
                .collect(),
            artifacts: Vec::new(),
            emitted: Vec::new(),
            webhooks: self
                .world
                .disk
                .all_deliveries()
                .into_iter()
                .map(|delivery| {
                    plain(format!(
                        "{} {} {:?}",
                        delivery.event, delivery.body, delivery.state
                    ))
                })
                .collect(),
            effects: self.scene.effects(),
            world: self.scene.state_hash(),
        };
        for record in &runs {
            let artifacts = self.world.disk.artifact_refs(&record.run_id);
            for artifact in artifacts {
                let content = self.world.disk.content(&artifact.sha256);
                let content = content.expect("an artifact's content is stored before its name");
                let content = plain(String::from_utf8_lossy(&content).into_owned());
                outcome
                    .artifacts
                    .push(format!("{} {content}", artifact.name));
            }
            for event in self.world.disk.journal(&record.run_id) {
                if let Ok(Some(Body::Domain(name, emitted))) =
                    Body::decode(&event.event_type, &event.payload)
                    && !self.scene.depends_on_restarts(&name)
                {
                    outcome
                        .emitted
                        .push(plain(format!("{name} {} {}", emitted.key, emitted.data)));
                }
            }
        }
        // Runs and what they leave are independent of each other; only their order is not.
        for list in [
            &mut outcome.residue,
            &mut outcome.runs,
            &mut outcome.artifacts,
            &mut outcome.emitted,
        ] {
            list.sort_unstable();
        }
        outcome.webhooks.sort_unstable();
        outcome.effects.sort_unstable();
        outcome
    }

    /// What must hold after any scenario: the store is sound, nothing acknowledged is missing, one
    /// effect has one idempotency key, every webhook reached its receiver.
    fn check(&self, runs: &[RunRecord]) {
        assert_eq!(
            self.world.disk.findings(),
            Vec::<String>::new(),
            "the store is damaged"
        );
        for event in &self.acknowledged {
            let stored = self.world.disk.journal(&event.run_id);
            let found = stored
                .iter()
                .any(|other| other.seq == event.seq && other.hash == event.hash);
            assert!(
                found,
                "acknowledged and lost: {} {} {}",
                event.run_id, event.seq, event.event_type
            );
        }
        for record in runs {
            let mut keys: BTreeMap<String, String> = BTreeMap::new();
            for event in self.world.disk.journal(&record.run_id) {
                if let Ok(Some(Body::StepStarted(started))) =
                    Body::decode(&event.event_type, &event.payload)
                {
                    let first = keys
                        .entry(started.key.clone())
                        .or_insert_with(|| started.idempotency_key.clone());
                    assert_eq!(
                        *first, started.idempotency_key,
                        "step {} changed its idempotency key",
                        started.key
                    );
                }
            }
        }
        let sent = self.world.outbound.sent();
        for delivery in self
            .world
            .disk
            .all_deliveries()
            .iter()
            .filter(|delivery| delivery.state == DeliveryState::Delivered)
        {
            let arrived = sent
                .iter()
                .any(|request| request.header("webhook-id") == delivery.id.as_str());
            assert!(
                arrived,
                "webhook {} is marked delivered and was never sent",
                delivery.id
            );
        }
    }
}
