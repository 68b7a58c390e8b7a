//! The proofs every run kind must pass, for the kinds of stacks.

use std::sync::Arc;

use serde_json::json;
use windlass_testkit::proofs::{
    ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
    killed_at_every_write_resumes, twice_is_once,
};

use super::world::{Ground, StackWorld};

fn case(kind: &str, ground: fn() -> Ground) -> ProofCase {
    ProofCase {
        kind: kind.to_owned(),
        world: Box::new(move || {
            Arc::new(StackWorld {
                ground: ground(),
                arguments: json!({}),
                confirmed: false,
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    }
}

#[test]
fn a_preview_twice() {
    let started = std::time::Instant::now();
    twice_is_once(&case("stack.preview", Ground::new));
    eprintln!("preview {:?}", started.elapsed());
    let started = std::time::Instant::now();
    twice_is_once(&case("stack.deploy", Ground::new));
    eprintln!("deploy {:?}", started.elapsed());
}
