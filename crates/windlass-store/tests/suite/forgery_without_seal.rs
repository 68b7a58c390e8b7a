//! The seal itself taken away by someone who does not have the key.

use std::path::Path;

use rusqlite::Connection;
use windlass_ports::{StoreError, StoreMaintenance as _};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::Secret;

use super::support::*;

fn open(home: &Path) -> Result<SqliteStore, StoreError> {
    let options = SqliteStoreOptions {
        seal_key: Some(Secret::new(vec![7; 32])),
        sealed_note: Some(home.join("store.sealed")),
        ..SqliteStoreOptions::default()
    };
    SqliteStore::open(home, options)
}

async fn make(home: &Path) {
    let store = open(home).unwrap();
    for n in 0..3 {
        ended_run(&store, &id(&format!("run_{n}")), 1).await;
    }
}

fn refusal(home: &Path) -> String {
    match open(home) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_store_from_before_seals_does_not_pass_for_ours() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let connection = Connection::open(home.path().join("windlass.db")).unwrap();
    connection
        .execute_batch(
            "DROP TABLE pruned; PRAGMA user_version = 3; DELETE FROM events WHERE journal = 2",
        )
        .unwrap();
    drop(connection);
    fs_err::remove_file(home.path().join("windlass.mark")).unwrap();
    for _ in 0..2 {
        let said = refusal(home.path());
        assert!(said.contains("this home had a sealed history"), "{said}");
    }
}

#[tokio::test]
async fn an_empty_place_does_not_pass_for_ours() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    for entry in fs_err::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("windlass.") {
            fs_err::remove_file(&path).unwrap();
        }
    }
    let said = refusal(home.path());
    assert!(said.contains("this home had a sealed history"), "{said}");
    // The user's word, as the message has it.
    fs_err::remove_file(home.path().join("store.sealed")).unwrap();
    assert!(open(home.path()).is_ok());
}

#[tokio::test]
async fn a_blanked_slot_of_the_mark_hides_no_cut_tail() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    // Two marks at least, so that one would be left.
    for n in 3..5 {
        let store = open(home.path()).unwrap();
        ended_run(&store, &id(&format!("run_{n}")), 1).await;
    }
    let mark = home.path().join("windlass.mark");
    let whole = fs_err::read(&mark).unwrap();
    for slot in 0..2 {
        let mut blanked = whole.clone();
        blanked[slot * 4096..slot * 4096 + 256].fill(0);
        fs_err::write(&mark, blanked).unwrap();
        let store = open(home.path()).unwrap();
        let findings = store.check().await.unwrap().findings;
        assert!(
            findings
                .iter()
                .any(|finding| finding.contains("is damaged")),
            "{findings:?}"
        );
    }
}
