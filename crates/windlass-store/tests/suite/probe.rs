//! What a look at the home tells: whether the disk takes writes, and which keys cannot be used. And
//! runs whose rows or journals are damaged: they are shown as that, and the others stay usable.

use std::{os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use windlass_ports::{RunFilter, RunStore, StoreError, StoreMaintenance};
use windlass_store::{EventMark, FaultPoint, SqliteStore, SqliteStoreOptions, StoreFaults};
use windlass_types::{RunState, Secret, journal::RunDamaged};

use super::support::*;

/// A disk whose flush fails.
struct FailingDisk;

impl StoreFaults for FailingDisk {
    fn at(&self, point: FaultPoint, _: &[EventMark]) -> Result<(), StoreError> {
        match point {
            FaultPoint::Probe => Err(StoreError::Io("Input/output error (os error 5)".to_owned())),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_failing_disk_is_found() {
    let home = tempfile::tempdir().unwrap();
    let options = SqliteStoreOptions {
        faults: Some(Arc::new(FailingDisk)),
        ..SqliteStoreOptions::default()
    };
    let store = SqliteStore::open(home.path(), options).unwrap();
    let probed = store.probe().await;
    assert!(matches!(probed, Err(StoreError::Io(_))), "{probed:?}");
}

#[tokio::test]
async fn a_probe_leaves_nothing_and_names_unusable_keys() {
    let home = tempfile::tempdir().unwrap();
    let options = SqliteStoreOptions {
        seal_key: Some(Secret::new(vec![7; 32])),
        key_files: ["store.key", "good.key", "gone.key"]
            .map(|name| home.path().join("keys").join(name))
            .to_vec(),
        ..SqliteStoreOptions::default()
    };
    let keys = home.path().join("keys");
    fs_err::create_dir(&keys).unwrap();
    fs_err::set_permissions(&keys, std::fs::Permissions::from_mode(0o750)).unwrap();
    let key = |name: &str, bytes: &[u8], mode: u32| {
        let path = keys.join(name);
        fs_err::write(&path, bytes).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    key("good.key", &[1; 32], 0o600);
    key("short.key", &[1; 31], 0o600);
    key("shared.key", &[1; 32], 0o644);
    key("empty.key", &[], 0o600);
    let store = SqliteStore::open(home.path(), options).unwrap();
    let probe = store.probe().await.unwrap().unwrap();
    let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let findings: Vec<String> = probe
        .unusable_keys
        .iter()
        .map(|finding| {
            let below = finding.replace(&format!("{}/", keys.display()), "");
            below.replace(&home.path().display().to_string(), "HOME")
        })
        .collect();
    assert_eq!(
        findings,
        [
            "empty.key is empty",
            "gone.key is missing",
            "shared.key: others may read it",
            "short.key has 31 of 32 bytes",
            "store.key is missing",
            "HOME/keys: others may open it",
        ]
    );
    assert!(probe.free_bytes > 0);
    let left: Vec<String> = fs_err::read_dir(home.path())
        .unwrap()
        .map(|entry| named(&entry.unwrap().path()))
        .filter(|name| name.contains("probe"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

/// Three running runs, the second with damage that a statement makes.
async fn with_damage(home: &Path, sql: &str) -> SqliteStore {
    let store = open(home);
    for n in 0..3 {
        let run = id(&format!("run_{n}"));
        append(&store, &run, 1, &[created().into(), started(), step("one")]).await;
    }
    drop(store);
    let connection = rusqlite::Connection::open(home.join("windlass.db")).unwrap();
    let changed = connection
        .execute(
            &sql.replace("$RUN", "(SELECT id FROM journals WHERE run_id = 'run_1')"),
            [],
        )
        .unwrap();
    assert!(changed > 0, "{sql}");
    drop(connection);
    open(home)
}

#[tokio::test]
async fn a_damaged_run_leaves_the_others_and_its_state() {
    for (what, sql) in [
        (
            "first event",
            "UPDATE events SET payload = '{}' WHERE journal = $RUN AND seq = 1",
        ),
        (
            "last event",
            "UPDATE events SET payload = '{}' WHERE journal = $RUN AND seq = 3",
        ),
        (
            "row",
            "UPDATE runs SET live = '{\"folded_seq\":1,\"attempts\":9}' WHERE journal = $RUN",
        ),
        (
            "row's text",
            "UPDATE runs SET live = 'x' WHERE journal = $RUN",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let store = with_damage(home.path(), sql).await;
        let all = RunFilter {
            limit: 10,
            ..RunFilter::default()
        };
        let listed = store.runs(all.clone()).await.unwrap().runs;
        assert_eq!(listed.len(), 3, "{what}");
        let found = listed.iter().find(|run| run.run_id == id("run_1")).unwrap();
        let problem = found.problem.as_ref().unwrap();
        assert_eq!(problem.code().name, "STORE_DAMAGED", "{what}");
        assert_eq!(found.state, RunState::Failed, "{what}");
        let damaged = RunDamaged {
            run_id: id("run_1"),
            finding: what.to_owned(),
        };
        append(&store, &id("sys_store"), 2, &[damaged.into()]).await;
        let running = RunFilter {
            states: vec![RunState::Running],
            ..all
        };
        assert_eq!(store.runs(running).await.unwrap().runs.len(), 2, "{what}");
        let run = store.run(&id("run_1")).await.unwrap().unwrap();
        assert_eq!(run.state, RunState::Failed, "{what}");
        assert_eq!(store.unfinished().await.unwrap(), 2, "{what}");
        assert!(!store.check().await.unwrap().findings.is_empty(), "{what}");
        append(&store, &id("run_2"), 3, &[completed()]).await;
    }
}
