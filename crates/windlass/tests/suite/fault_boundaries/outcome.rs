//! How a scenario ended, in a form that is the same for the same scenario, after checking what must
//! hold however it was disturbed.

use std::collections::{BTreeMap, BTreeSet};

use windlass_types::{Body, Event, RunRecord};

use super::{life::Life, receiver::Receiver};
use crate::suite::support::{
    directory::read_tree,
    library::{Library, runtime},
};

/// The end of a scenario.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Every file, with its content.
    files: BTreeMap<String, String>,
    /// Every run: kind, state, output, residue.
    runs: Vec<String>,
    /// What each run's journal says happened, without what a repetition may repeat.
    journals: Vec<Vec<String>>,
    /// Every artifact, with its content.
    artifacts: Vec<String>,
    /// What the receiver got, once.
    webhook: Option<String>,
}

impl Outcome {
    pub(super) fn of(life: &Life, receiver: &Receiver) -> Result<Self, String> {
        let runtime = runtime();
        let outcome = runtime.block_on(read(life, receiver));
        runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        outcome
    }
}

async fn read(life: &Life, receiver: &Receiver) -> Result<Outcome, String> {
    let library = Library::open(&life.home, None).map_err(|error| error.to_string())?;
    let records = library.runs().await.map_err(|error| error.to_string())?;
    let plain = |text: String| {
        let text = text.replace(life.scratch.to_str().unwrap(), "DIR");
        let text = text.replace(&life.name, "LIFE");
        let ids = records.iter().enumerate();
        ids.fold(text, |text, (index, record)| {
            text.replace(record.run_id.as_str(), &format!("RUN{index}"))
        })
    };
    let mut journals = Vec::new();
    let mut artifacts = Vec::new();
    for record in &records {
        let report = library.engine.verify(&record.run_id).await;
        if !report.as_ref().is_ok_and(|report| report.intact) {
            return Err(format!("the journal is damaged: {report:?}"));
        }
        let events = library.events(&record.run_id).await.unwrap();
        check_steps(&events)?;
        journals.push(events.iter().filter_map(skeleton).map(plain).collect());
        for artifact in library
            .engine
            .store
            .artifacts(&record.run_id)
            .await
            .unwrap()
        {
            let content = library.engine.blobs.get(artifact.sha256).await;
            let content = content.map_err(|error| error.to_string())?;
            let text = String::from_utf8_lossy(&content).into_owned();
            artifacts.push(plain(format!("{}: {text}", artifact.name)));
        }
    }
    check_durable(life, &library).await?;
    let checked = library.engine.maintenance.check().await.unwrap();
    if !checked.findings.is_empty() {
        return Err(format!("store check: {:?}", checked.findings));
    }
    let received = receiver.received(&life.name);
    let ids: BTreeSet<&str> = received
        .iter()
        .map(|received| received.id.as_str())
        .collect();
    let bodies: BTreeSet<&str> = received
        .iter()
        .map(|received| received.body.as_str())
        .collect();
    if ids.len() > 1 || bodies.len() > 1 {
        return Err(format!("one delivery, several faces: {received:?}"));
    }
    Ok(Outcome {
        files: read_tree(&life.scratch)
            .into_iter()
            .map(|(name, content)| (name, plain(content)))
            .collect(),
        runs: records.iter().map(summary).map(plain).collect(),
        journals,
        artifacts,
        webhook: bodies.first().map(|body| plain((*body).to_owned())),
    })
}

fn summary(record: &RunRecord) -> String {
    format!(
        "{} {} {} {:?}",
        record.kind,
        record.state.as_str(),
        record.output.clone().unwrap_or_default(),
        record.residue
    )
}

/// What an event means, unless a repetition may repeat it: starts, tries and signals.
fn skeleton(event: &Event) -> Option<String> {
    let repeatable = ["run.started", "step.started", "signal.received"];
    if repeatable.contains(&event.event_type.as_str()) {
        return None;
    }
    let payload = event.payload.value();
    Some(format!(
        "{} {}",
        event.event_type,
        payload["key"].as_str().unwrap_or_default()
    ))
}

/// Every step ended once, and every try of one had the same key for the outside.
fn check_steps(events: &[Event]) -> Result<(), String> {
    let mut ended = BTreeSet::new();
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    for event in events {
        match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(Body::StepCompleted(step))) => {
                if !ended.insert(step.key.clone()) {
                    return Err(format!("{:?} was completed twice", step.key));
                }
            }
            Ok(Some(Body::StepStarted(step))) => {
                if ended.contains(&step.key) {
                    return Err(format!("{:?} was begun after its end", step.key));
                }
                let known = keys.entry(step.key).or_insert(step.idempotency_key.clone());
                if *known != step.idempotency_key {
                    return Err(format!("two idempotency keys for one step: {event:?}"));
                }
            }
            Ok(_) => {}
            Err(error) => return Err(format!("unreadable: {error}")),
        }
    }
    Ok(())
}

/// Nothing that was durable is lost or replaced. More than was acknowledged: the process died
/// before it could report some of it.
async fn check_durable(life: &Life, library: &Library) -> Result<(), String> {
    let report = life.report();
    let mut journals: BTreeMap<&str, Vec<Event>> = BTreeMap::new();
    for (journal, seq, event_type, _) in report.durable() {
        if !journals.contains_key(journal) {
            let events = library.events(&journal.parse().unwrap()).await;
            journals.insert(journal, events.map_err(|error| error.to_string())?);
        }
        let stored = journals[journal].iter().find(|event| event.seq == seq);
        if stored.is_none_or(|event| event.event_type != event_type) {
            return Err(format!(
                "{journal} {seq} {event_type} was durable; stored is {stored:?}"
            ));
        }
    }
    Ok(())
}
