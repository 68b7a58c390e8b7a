//! The proofs every run kind must pass, for the events that write to target roots.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_engine::Domain;
use windlass_ports::BoxFuture;
use windlass_testkit::{
    Process,
    proofs::{
        ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
        killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::Digest;

use super::scene::{KIND, Planned, Scene, deploy};

/// A scene and the run that is tried in it.
struct PackWorld {
    scene: Scene,
    planned: Planned,
}

impl ProofWorld for PackWorld {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![self.scene.domain()]
    }

    fn input(&self) -> Value {
        self.planned.input.clone()
    }

    fn prepare<'a>(&'a self, process: &'a mut Process) -> BoxFuture<'a, Value> {
        Box::pin(self.planned.bring_to(process))
    }

    fn state_hash(&self) -> Digest {
        Digest::of(self.scene.picture().as_bytes())
    }

    fn effects(&self) -> Vec<String> {
        self.scene.diary()
    }

    fn uses_threads(&self) -> bool {
        true
    }
}

/// Proves the run that an operation plans after a past.
fn prove(past: fn(&Scene) -> (&'static str, Value)) {
    let case = ProofCase {
        kind: KIND.to_owned(),
        world: Box::new(move || {
            let scene = Scene::new();
            let (operation, input) = past(&scene);
            let planned = scene.planned(9, operation, input);
            Arc::new(PackWorld { scene, planned }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    };
    twice_is_once(&case);
    assert_eq!(fails_anywhere_unwinds(&case), 1);
    cancelled_anywhere_unwinds(&case);
    let report = killed_anywhere_resumes(&case);
    assert_eq!(report.deaths, report.tries, "{report:?}");
    assert!(report.tries > 0);
}

#[test]
fn a_first_deploy_holds() {
    prove(|scene| {
        scene.change();
        deploy()
    });
}

#[test]
fn a_deploy_over_another_holds() {
    prove(|scene| {
        two_states(scene);
        deploy()
    });
}

#[test]
fn an_undo_holds() {
    prove(|scene| {
        both_deployed(scene);
        ("pack.undo", json!({ "yes": true }))
    });
}

#[test]
fn a_rollback_holds() {
    prove(|scene| {
        let first = both_deployed(scene);
        ("pack.rollback", json!({ "to": first, "yes": true }))
    });
}

#[test]
fn an_uninstall_holds() {
    prove(|scene| {
        both_deployed(scene);
        (
            "pack.uninstall",
            json!({ "restore_originals": true, "yes": true }),
        )
    });
}

/// The first state is deployed, the second one is not; the snapshot of the first.
fn two_states(scene: &Scene) -> Value {
    let (operation, input) = deploy();
    let first = scene.happened(1, operation, input);
    scene.change();
    first["snapshot_id"].clone()
}

/// Both states were deployed; the snapshot of the first.
fn both_deployed(scene: &Scene) -> Value {
    let first = two_states(scene);
    let (operation, input) = deploy();
    scene.happened(2, operation, input);
    first
}
