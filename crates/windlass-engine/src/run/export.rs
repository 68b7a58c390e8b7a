//! A run as one file: its journal and its artifacts, verifiable wherever it is read.

use std::collections::{HashMap, HashSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use windlass_ports::{BlobError, CommitError};
use windlass_types::{
    ArtifactRef, Body, Digest, Event, Json, Principal, Problem, RunId, RunRecord, SpanId,
    Timestamp, code,
    event::{ChainHead, verify_chain},
};

use super::{
    artifact::blob_problem,
    origin::RunOrigin,
    signature::{ExportSignature, ExportSigner},
};
use crate::{Engine, engine::commit_problem};

const FORMAT: &str = "windlass.run.v1";
const PAGE: usize = 1000;

/// A run, exported.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunExport {
    /// The format's name.
    pub format: String,
    /// The journal, hashes included.
    pub events: Vec<ExportedEvent>,
    /// The contents of its artifacts.
    pub contents: Vec<ExportedContent>,
    /// Which home exported it; absent where nobody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<ExportSignature>,
    /// The journal in the forms that this kind of run is also read in; an import leaves them
    /// out, since they follow from the journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ExportedFile>,
}

/// An event whose payload is a string: the exact text the hash was taken over, which must
/// survive whatever sorts keys or indents on the way.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExportedEvent {
    /// The journal.
    pub run_id: RunId,
    /// The place in the journal.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The particulars, as JSON text.
    pub payload: String,
    /// The span it belongs to.
    pub span_id: SpanId,
    /// That span's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<SpanId>,
    /// The hash of the event before.
    pub prev_hash: Digest,
    /// The hash of this event.
    pub hash: Digest,
}

impl From<Event> for ExportedEvent {
    fn from(event: Event) -> Self {
        Self {
            payload: event.payload.as_str().to_owned(),
            run_id: event.run_id,
            seq: event.seq,
            time: event.time,
            event_type: event.event_type,
            span_id: event.span_id,
            parent_span_id: event.parent_span_id,
            prev_hash: event.prev_hash,
            hash: event.hash,
        }
    }
}

impl TryFrom<ExportedEvent> for Event {
    type Error = serde_json::Error;

    fn try_from(event: ExportedEvent) -> Result<Self, Self::Error> {
        Ok(Self {
            payload: Json::parse(&event.payload)?,
            run_id: event.run_id,
            seq: event.seq,
            time: event.time,
            event_type: event.event_type,
            span_id: event.span_id,
            parent_span_id: event.parent_span_id,
            prev_hash: event.prev_hash,
            hash: event.hash,
        })
    }
}

/// Text under a file name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExportedFile {
    /// The name, without a directory.
    pub name: String,
    /// The content.
    pub text: String,
}

/// Bytes under their digest.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExportedContent {
    /// The digest.
    pub sha256: Digest,
    /// The bytes.
    pub base64: String,
}

impl Engine {
    /// Exports a run the principal may see.
    pub async fn export_run(
        &self,
        principal: &Principal,
        run_id: &RunId,
    ) -> Result<RunExport, Problem> {
        self.visible_run(principal, run_id).await?;
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let page = self.store.events(run_id, after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        let mut contents: Vec<ExportedContent> = Vec::new();
        for ArtifactRef { sha256: digest, .. } in stored_artifacts(&events)? {
            if contents.iter().all(|content| content.sha256 != digest) {
                let bytes = match self.blobs.get(digest).await {
                    // Expired and pruned: the journal still says what it was.
                    Err(BlobError::Missing(_)) => continue,
                    content => content.map_err(blob_problem)?,
                };
                contents.push(ExportedContent {
                    sha256: digest,
                    base64: STANDARD.encode(bytes),
                });
            }
        }
        // What came from elsewhere keeps the signature it came with.
        let signature = match self.origin(run_id).await? {
            RunOrigin::Here { .. } => {
                let signer = ExportSigner::new(&self.export_key)?;
                head(&events).map(|head| signer.sign(run_id, head))
            }
            RunOrigin::Imported { signature } => signature,
        };
        Ok(RunExport {
            signature,
            format: FORMAT.to_owned(),
            events: events.into_iter().map(ExportedEvent::from).collect(),
            contents,
            files: Vec::new(),
        })
    }

    /// The other forms in which an exported run is read; a function of its journal alone.
    pub fn export_files(&self, export: &RunExport) -> Result<Vec<ExportedFile>, Problem> {
        let unreadable = |error| Problem::internal("journal event", error);
        let events = export
            .events
            .iter()
            .cloned()
            .map(Event::try_from)
            .collect::<Result<Vec<_>, _>>()
            .map_err(unreadable)?;
        let record = RunRecord::fold(&events).map_err(unreadable)?;
        let files = record.and_then(|record| {
            let kind = self.kinds().get(&record.kind)?;
            Some(kind.export_files(&record, &events))
        });
        Ok(files.unwrap_or_default())
    }

    /// Imports an exported run. Only ended runs are taken: an unfinished one would start to act here.
    pub async fn import_run(&self, export: RunExport) -> Result<RunId, Problem> {
        let broken = |message: String| Problem::invalid("file", "format", message);
        if export.format != FORMAT {
            return Err(broken(format!(
                "not a {FORMAT} file (its format is {:?})",
                export.format
            )));
        }
        let events = export
            .events
            .into_iter()
            .map(Event::try_from)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| broken(format!("a payload is not JSON: {error}")))?;
        verify_chain(ChainHead::default(), &events).map_err(|error| {
            Problem::new(
                &code::STORE_DAMAGED,
                format!("the exported journal does not verify: {error}"),
            )
        })?;
        let record = RunRecord::fold(&events)
            .map_err(|error| broken(format!("an event cannot be read: {error}")))?
            .ok_or_else(|| broken("the journal does not begin with run.created".to_owned()))?;
        if events.iter().any(|event| event.run_id != record.run_id) {
            return Err(broken(
                "the file holds events of more than one run".to_owned(),
            ));
        }
        if !record.state.is_final() {
            return Err(Problem::new(
                &code::ILLEGAL_STATE,
                format!(
                    "run {} is {}; only ended runs can be imported",
                    record.run_id,
                    record.state.as_str()
                ),
            ));
        }
        if let Some(signature) = &export.signature
            && !head(&events).is_some_and(|head| signature.verifies(&record.run_id, head))
        {
            return Err(Problem::new(
                &code::STORE_DAMAGED,
                format!(
                    "the export says that {} signed it, and the signature does not fit",
                    signature.key
                ),
            ));
        }
        let artifacts = stored_artifacts(&events)?;
        let named: HashSet<Digest> = artifacts.iter().map(|it| it.sha256).collect();
        for content in &export.contents {
            let bytes = STANDARD
                .decode(&content.base64)
                .map_err(|error| broken(format!("content is not base64: {error}")))?;
            if Digest::of(&bytes) != content.sha256 {
                return Err(Problem::new(
                    &code::STORE_DAMAGED,
                    format!("content {} was altered", content.sha256),
                ));
            }
            if !named.contains(&content.sha256) {
                return Err(broken(format!(
                    "content {} belongs to no artifact of the run",
                    content.sha256
                )));
            }
            self.blobs.put(bytes).await.map_err(blob_problem)?;
        }
        let brought: HashSet<Digest> = export.contents.iter().map(|it| it.sha256).collect();
        if let Some(missing) = lasting(&artifacts).find(|it| !brought.contains(&it.sha256)) {
            return Err(broken(format!(
                "the file lacks the content of {:?}, which the run keeps",
                missing.name
            )));
        }
        match self.store.import(events).await {
            Ok(()) => {
                self.record_import(&record.run_id, export.signature).await?;
                Ok(record.run_id)
            }
            Err(CommitError::Unexpected { run_id, .. }) => Err(Problem::new(
                &code::ILLEGAL_STATE,
                format!("run {run_id} exists here already"),
            )
            .with("run_id", run_id.as_str())),
            Err(error) => Err(commit_problem(error)),
        }
    }
}

fn head(events: &[Event]) -> Option<ChainHead> {
    events.last().map(|event| ChainHead {
        seq: event.seq,
        hash: event.hash,
    })
}

/// The artifacts in the order they were stored.
fn stored_artifacts(events: &[Event]) -> Result<Vec<ArtifactRef>, Problem> {
    let mut artifacts = Vec::new();
    for event in events
        .iter()
        .filter(|event| event.event_type == "artifact.stored")
    {
        let body = Body::decode(&event.event_type, &event.payload)
            .map_err(|error| Problem::internal("journal event", error))?;
        if let Some(Body::ArtifactStored(stored)) = body {
            artifacts.push(stored.artifact);
        }
    }
    Ok(artifacts)
}

/// Those that have no end and were not replaced by a later one of the same name.
fn lasting(artifacts: &[ArtifactRef]) -> impl Iterator<Item = &ArtifactRef> {
    let newest: HashMap<&str, &ArtifactRef> =
        artifacts.iter().map(|it| (it.name.as_str(), it)).collect();
    newest.into_values().filter(|it| it.expires_at.is_none())
}
