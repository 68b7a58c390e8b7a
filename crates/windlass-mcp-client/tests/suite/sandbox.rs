//! Programs are started as the sandbox says, or not at all.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use serde_json::json;
use windlass_ports::{
    Confinement, Sandbox, SandboxFeatures, SandboxRefusal, SandboxRequest, SandboxedCommand,
    ServerError, ToolServers as _,
    sandbox::{Backend, Feature, Network},
};

use super::support::{Place, call, echo, text};

/// A sandbox that marks what it confines, or refuses.
struct Marking {
    features: SandboxFeatures,
    refuses: bool,
}

impl Marking {
    fn new(refuses: bool) -> Arc<Self> {
        Arc::new(Self {
            features: SandboxFeatures {
                kernel: "test".to_owned(),
                landlock: None,
                seccomp: false,
                namespaces: Err("test".to_owned()),
                bubblewrap: Err("test".to_owned()),
            },
            refuses,
        })
    }
}

impl Sandbox for Marking {
    fn features(&self) -> &SandboxFeatures {
        &self.features
    }

    fn backend(&self, _: &Network) -> Result<Backend, SandboxRefusal> {
        Ok(Backend::Landlock)
    }

    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal> {
        if self.refuses {
            return Err(SandboxRefusal::Missing {
                feature: Feature::Seccomp,
                why: "test".to_owned(),
                remedy: "none",
            });
        }
        let mut environment = request.environment.to_vec();
        let allowed = request.confinement.variables.join(",");
        environment.push((OsString::from("CONFINED_WITH_KEY"), allowed.clone().into()));
        assert!(allowed.contains("PATH") && !allowed.contains("AWS"));
        Ok(SandboxedCommand {
            program: PathBuf::from(request.program),
            arguments: request.arguments.to_vec(),
            environment,
            directory: request.confinement.directory.clone(),
            backend: Backend::Landlock,
        })
    }
}

fn confined(refuses: bool) -> Place {
    let mut place = Place::new().server("any", &[]);
    // The client says where it starts.
    let confinement = Confinement::read_only(PathBuf::from("/nonexistent"), None);
    place.sandbox = Some((Marking::new(refuses), confinement));
    place
}

#[tokio::test]
async fn a_program_is_started_in_the_sandbox() {
    let place = confined(false);
    let client = place.client();
    assert_eq!(echo(&client, "any").await, "hello");
    let reply = call(&client, "any__env", json!({})).await.unwrap();
    assert!(text(&reply).contains("CONFINED_WITH_KEY"));
    client.stop().await;
}

#[tokio::test]
async fn without_its_sandbox_a_program_is_not_started() {
    let place = confined(true);
    let client = place.client();
    let error = call(&client, "any__echo", json!({})).await.unwrap_err();
    let ServerError::Unavailable { cause, .. } = error else {
        panic!("{error}");
    };
    assert!(
        cause.starts_with("the sandbox needs seccomp filters"),
        "{cause}"
    );
    client.stop().await;
}
