//! API keys: made once, shown once, checked every time.

use std::time::Duration;

use windlass_engine::access::{ApiKeys, NewKey};
use windlass_ports::{Clock as _, RunStore as _};
use windlass_testkit::{Process, local};
use windlass_types::{Digest, Scope, journal::KeyCreated};

use super::support::{Scene, scene};

fn new_key(lifetime: Option<Duration>) -> NewKey {
    NewKey {
        name: "ci".to_owned(),
        tier: "pro".to_owned(),
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
    let made = keys.create(&local(), new_key(None)).await.unwrap();
    let (view, text) = (made.view, made.api_key);
    let (principal, tier) = keys.authenticate(&text).await.unwrap();
    assert_eq!(
        (principal.name.as_str(), tier.as_str()),
        (view.key_id.as_str(), "pro")
    );
    assert_eq!(principal.scopes, [Scope::new("runs")]);
    let mut altered = text.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'E' } else { 'A' });
    let id = view.key_id.as_str().trim_start_matches("key_");
    let secret = text.strip_prefix(&format!("wlk_{id}_")).unwrap();
    assert_eq!(secret.len(), 43);
    assert!(
        secret
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
        "{secret}"
    );
    let other = format!("wlk_{}_{secret}", "0".repeat(32));
    for wrong in [
        "",
        "wk",
        "wk__",
        "wlk",
        "wlk__",
        &format!("key_{id}_{secret}"),
        "Bearer",
        &altered,
        &other,
        &format!("wlk_{id}_"),
        &format!("wlk_{id}"),
        &text[1..],
        &format!("{text}0"),
    ] {
        assert_eq!(code(&keys, wrong).await, "UNAUTHORIZED", "{wrong:?}");
    }
    assert_stored_nowhere(&process, secret);
}

fn assert_stored_nowhere(process: &Process, secret: &str) {
    let journal = process.store.journal(&"sys_keys".parse().unwrap());
    assert_eq!(journal.len(), 1);
    for name in ["sys_keys", "sys_key_uses", "sys_webhook_secrets"] {
        for event in process.store.journal(&name.parse().unwrap()) {
            assert!(
                !event.payload.as_str().contains(secret),
                "the secret is in {name}"
            );
        }
    }
}

/// A key made before keys had their present form.
#[tokio::test]
async fn old_keys_still_open() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let secret = "5".repeat(64);
    let created = KeyCreated {
        key_id: "key_0123456789abcdef0123456789abcdef".parse().unwrap(),
        name: "old".to_owned(),
        secret_hash: Digest::of(secret.as_bytes()),
        tier: "standard".to_owned(),
        scopes: vec![Scope::new("runs")],
        expires_at: None,
        principal: local(),
    };
    let (event_type, payload) = windlass_types::Body::from(created).encode().unwrap();
    let event = windlass_types::NewEvent {
        time: world.clock.now(),
        event_type,
        payload,
        spans: Default::default(),
    };
    let write = windlass_ports::JournalWrite {
        run_id: "sys_keys".parse().unwrap(),
        expect: windlass_ports::Expect::Any,
        events: vec![event],
    };
    let commit = windlass_ports::Commit {
        writes: vec![write],
        lease: None,
    };
    world.disk.commit(commit).await.unwrap();
    let keys = ApiKeys::new(&process.engine);
    let text = format!("wk_0123456789abcdef0123456789abcdef_{secret}");
    assert_eq!(code(&keys, &text).await, "OK");
    assert_eq!(code(&keys, &text[..text.len() - 1]).await, "UNAUTHORIZED");
}

#[tokio::test]
async fn every_refusal_says_the_same() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let keys = ApiKeys::new(&process.engine);
    let make = async |lifetime| keys.create(&local(), new_key(lifetime)).await.unwrap();
    let (expired, revoked, good) = (
        make(Some(Duration::from_secs(1))).await,
        make(None).await,
        make(None).await,
    );
    keys.revoke(&local(), &revoked.view.key_id).await.unwrap();
    world.clock.advance(Duration::from_secs(2)).await;
    let wrong_secret = format!("{}AAAA", &good.api_key[..good.api_key.len() - 4]);
    for text in [
        "",
        "nonsense",
        "wlk_ffffffffffffffffffffffffffffffff_AAAA",
        &wrong_secret,
        &expired.api_key,
        &revoked.api_key,
    ] {
        let refused = keys.authenticate(text).await.unwrap_err();
        assert_eq!(refused, windlass_engine::access::unauthorized(), "{text}");
    }
}

#[tokio::test]
async fn a_key_s_use_is_noted_now_and_then() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let keys = ApiKeys::new(&process.engine);
    let made = keys.create(&local(), new_key(None)).await.unwrap();
    assert_eq!(keys.list().await.unwrap()[0].last_used_at, None);
    let mut noted = Vec::new();
    for pause in [0, 60, 200, 60, 299, 1] {
        world.clock.advance(Duration::from_secs(pause)).await;
        assert_eq!(code(&keys, &made.api_key).await, "OK");
        process.idle().await;
        let last = keys.list().await.unwrap()[0].last_used_at.unwrap();
        noted.push(last.since(made.view.created_at).as_secs());
    }
    assert_eq!(noted, [0, 0, 0, 320, 320, 620]);
    assert_eq!(
        process
            .store
            .journal(&"sys_key_uses".parse().unwrap())
            .len(),
        3
    );
}

#[tokio::test]
async fn a_key_expires_by_the_clock() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let keys = ApiKeys::new(&process.engine);
    let text = keys
        .create(&local(), new_key(Some(Duration::from_secs(3600))))
        .await
        .unwrap()
        .api_key;
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
    let made = here.create(&local(), new_key(None)).await.unwrap();
    let (view, text) = (made.view, made.api_key);
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
    let first = here.create(&local(), new_key(None)).await.unwrap().api_key;
    assert_eq!(code(&elsewhere, &first).await, "OK");
    let second = here.create(&local(), new_key(None)).await.unwrap().api_key;
    assert_eq!(code(&elsewhere, &second).await, "OK");
    assert_eq!(world.disk.api_keys().await.unwrap().len(), 2);
}
