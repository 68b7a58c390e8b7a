//! The driver of a run asks the process that was called for what only that one can do.

use serde_json::json;

use super::world::{Ground, VALUE};

#[test]
fn another_process_may_drive_the_run() {
    let ground = Ground::new();
    ground.next_to_a_driver(|caller| async move {
        let input = json!({
            "secretName": "payment", "secretValue": VALUE, "region": "eu-west-1",
        });
        let made = caller.call("stack.secret_create", input).await.unwrap();
        let run_id = made.run_id.expect("secrets are made by runs");
        let event_types = caller.event_types(&run_id).join(" ");
        for event in ["secret_asked", "secret_heard", "secret_answered"] {
            assert!(event_types.contains(event), "{event}: {event_types}");
        }
        for event in caller.store.journal(&run_id) {
            assert!(!event.payload.as_str().contains(VALUE), "{event:?}");
        }
    });
    assert_eq!(
        ground.control().state()["secrets"].as_array().map(Vec::len),
        Some(1)
    );
}
