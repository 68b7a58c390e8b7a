//! API keys: made once, shown once, checked every time.

use std::time::Duration;

use windlass_engine::access::{ApiKeys, NewKey};
use windlass_ports::RunStore as _;
use windlass_testkit::{Process, local};
use windlass_types::Scope;

use super::support::{Scene, scene};

fn new_key(lifetime: Option<Duration>) -> NewKey {
    NewKey {
        name: "ci".to_owned(),
        tier: "standard".to_owned(),
        scopes: vec![Scope::new("runs")],
        lifetime,
    }
}

async fn code(keys: &ApiKeys, text: &str) -> &'static str {
    match keys.authenticate(text).await {
        Ok(_) => "OK",
        Err(problem) => problem.code().name,
    }
}

#[tokio::test]
async fn a_key_opens_and_nothing_like_it_does() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let keys = ApiKeys::new(&process.engine);
    let (view, text) = keys.create(&local(), new_key(None)).await.unwrap();
    let (principal, tier) = keys.authenticate(&text).await.unwrap();
    assert_eq!(
        (principal.name.as_str(), tier.as_str()),
        (view.key_id.as_str(), "standard")
    );
    assert_eq!(principal.scopes, [Scope::new("runs")]);
    let mut altered = text.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == '0' { '1' } else { '0' });
    let id = view.key_id.as_str().trim_start_matches("key_");
    let other = format!("wk_{}_{}", "0".repeat(32), text.rsplit('_').next().unwrap());
    for wrong in [
        "",
        "wk",
        "wk__",
        "Bearer",
        &altered,
        &other,
        &format!("wk_{id}_"),
        &format!("wk_{id}"),
        &text[1..],
        &format!("{text}0"),
    ] {
        assert_eq!(code(&keys, wrong).await, "UNAUTHORIZED", "{wrong:?}");
    }
    assert_stored_nowhere(&process, text.rsplit('_').next().unwrap());
}

fn assert_stored_nowhere(process: &Process, secret: &str) {
    let journal = process.store.journal(&"sys_keys".parse().unwrap());
    assert_eq!(journal.len(), 1);
    assert!(
        !journal[0].payload.as_str().contains(secret),
        "the secret is in the journal"
    );
}

#[tokio::test]
async fn a_key_expires_by_the_clock() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let keys = ApiKeys::new(&process.engine);
    let (_, text) = keys
        .create(&local(), new_key(Some(Duration::from_secs(3600))))
        .await
        .unwrap();
    world.clock.advance(Duration::from_secs(3599)).await;
    assert_eq!(code(&keys, &text).await, "OK");
    world.clock.advance(Duration::from_secs(1)).await;
    assert_eq!(code(&keys, &text).await, "UNAUTHORIZED");
}

#[tokio::test]
async fn a_revoked_key_is_refused_here_at_once_and_elsewhere_within_a_second() {
    let Scene { world, .. } = scene();
    let (here, elsewhere) = (
        ApiKeys::new(&world.process().engine),
        ApiKeys::new(&world.process().engine),
    );
    let (view, text) = here.create(&local(), new_key(None)).await.unwrap();
    assert_eq!(
        (code(&here, &text).await, code(&elsewhere, &text).await),
        ("OK", "OK")
    );
    here.revoke(&local(), &view.key_id).await.unwrap();
    assert_eq!(code(&here, &text).await, "UNAUTHORIZED");
    world.clock.advance(Duration::from_secs(1)).await;
    assert_eq!(code(&elsewhere, &text).await, "UNAUTHORIZED");
    assert!(here.list().await.unwrap()[0].revoked_at.is_some());
    let unknown = here
        .revoke(&local(), &"key_unknown".parse().unwrap())
        .await
        .unwrap_err();
    assert_eq!(unknown.code().name, "NOT_FOUND");
}

#[tokio::test]
async fn a_key_made_by_another_process_works_at_once() {
    let Scene { world, .. } = scene();
    let (here, elsewhere) = (
        ApiKeys::new(&world.process().engine),
        ApiKeys::new(&world.process().engine),
    );
    let (_, first) = here.create(&local(), new_key(None)).await.unwrap();
    assert_eq!(code(&elsewhere, &first).await, "OK");
    let (_, second) = here.create(&local(), new_key(None)).await.unwrap();
    assert_eq!(code(&elsewhere, &second).await, "OK");
    assert_eq!(world.disk.api_keys().await.unwrap().len(), 2);
}
