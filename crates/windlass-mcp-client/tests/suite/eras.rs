//! Every revision of the protocol, and programs that are strange about it.

use std::time::Duration;

use windlass_ports::ToolServers as _;

use super::support::{Place, echo, is_ready, view};

#[tokio::test]
async fn every_revision_is_spoken() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("modern", &["era=modern"], "2026-07-28"),
        ("r2025-11", &[], "2025-11-25"),
        ("r2025-06", &["version=2025-06-18"], "2025-06-18"),
        ("r2025-03", &["version=2025-03-26", "batch"], "2025-03-26"),
    ];
    let mut place = Place::new();
    for (name, flags, _) in cases {
        place = place.server(name, flags);
    }
    let client = place.client();
    // Nothing runs before something is asked.
    assert!(client.servers().iter().all(|view| !is_ready(view)));
    client.start().await;
    for (name, _, revision) in cases {
        let view = view(&client, name);
        assert!(is_ready(&view), "{view:?}");
        assert_eq!(view.protocol.as_deref(), Some(*revision));
        assert_eq!(view.software.as_deref(), Some("scripted 1"));
        assert_eq!(view.tools, 9);
        assert_eq!(echo(&client, name).await, "hello");
    }
    client.stop().await;
}

#[tokio::test]
async fn an_old_program_may_keep_silent_or_end_on_the_first_question() {
    let place = Place::new()
        .server("quiet", &["quiet"])
        .server("exits", &["exits", "starts=@starts"])
        .limit(Duration::from_secs(8));
    let client = place.client();
    assert_eq!(echo(&client, "exits").await, "hello");
    assert_eq!(echo(&client, "quiet").await, "hello");
    assert_eq!(fs_len(&place, "starts"), 2);
    client.stop().await;
}

fn fs_len(place: &Place, name: &str) -> usize {
    fs_err::read(place.file(name)).unwrap().len()
}
