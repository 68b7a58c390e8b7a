//! What operations and runs work with.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use windlass_engine::Engine;
use windlass_ports::aws::Target;
use windlass_ports::entropy::random;
use windlass_stack_lifecycle::Access;
use windlass_types::journal::DomainEvent;
use windlass_types::{ArtifactRef, Problem, RunId, SpanId, Visibility};

use crate::fault;
use crate::outside::StackOutside;
use crate::place::Place;
use crate::region::check_region;

/// The outside and the engine.
#[derive(Clone)]
pub(crate) struct Desk {
    pub outside: Arc<StackOutside>,
    pub engine: Engine,
}

impl Desk {
    /// AWS as seen with these credentials.
    pub fn access(&self, target: Target) -> Access {
        Access {
            cloud: Arc::clone(&self.outside.cloud),
            clock: Arc::clone(&self.engine.clock),
            entropy: Arc::clone(&self.engine.entropy),
            target,
        }
    }

    /// The place with its region: the call's, or what the credentials' settings say.
    pub async fn located(&self, operation: &str, mut place: Place) -> Result<Place, Problem> {
        if place.region.is_none() {
            let region = self.outside.cloud.region(&place.target()).await;
            place.region = region.map_err(|failure| fault::problem(failure.into()))?;
        }
        let Some(region) = &place.region else {
            return Err(fault::missing(operation, "region")
                .next("or set AWS_REGION, or a region in the profile"));
        };
        check_region(region, &self.outside.extra_regions)?;
        Ok(place)
    }

    /// Puts events on a run's record beside its own code; each key must be new.
    pub async fn note(
        &self,
        run_id: &RunId,
        events: Vec<(String, DomainEvent)>,
    ) -> Result<(), Problem> {
        let span = SpanId::from_bytes(random(self.engine.entropy.as_ref()));
        self.engine.note(run_id, span, events).await
    }

    /// Keeps a value as content; what a run's journal names by digest.
    pub async fn keep<T: Serialize>(&self, name: &str, value: &T) -> Result<ArtifactRef, Problem> {
        let bytes =
            serde_json::to_vec(value).map_err(|error| Problem::internal("artifact", error))?;
        let size = bytes.len() as u64;
        let stored = self.engine.blobs.put(bytes).await;
        Ok(ArtifactRef {
            name: name.to_owned(),
            content_type: "application/json".to_owned(),
            sha256: stored.map_err(|error| Problem::internal("content store", error))?,
            size,
            visibility: Visibility::Private,
            expires_at: None,
        })
    }

    /// Reads a value that was kept.
    pub async fn load<T: DeserializeOwned>(&self, artifact: &ArtifactRef) -> Result<T, Problem> {
        let bytes = self.engine.blobs.get(artifact.sha256).await;
        let bytes = bytes.map_err(|error| Problem::internal("content store", error))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Problem::internal("artifact", format!("{}: {error}", artifact.name)))
    }
}

/// Does work that blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Problem::internal("stack", error))?
}
