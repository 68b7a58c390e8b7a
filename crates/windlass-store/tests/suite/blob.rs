//! Contents: kept under their digest, whatever their size, and checked when read.

use std::os::unix::fs::PermissionsExt;

use windlass_ports::{BlobError, BlobStore};
use windlass_types::Digest;

use super::support::*;

#[tokio::test]
async fn contents_of_every_size_come_back_as_they_were() {
    let home = tempfile::tempdir().unwrap();
    for size in [0, 1, 4096, 64 * 1024, 64 * 1024 + 1, 3_000_000] {
        let bytes: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
        let store = open(home.path());
        let digest = store.put(bytes.clone()).await.unwrap();
        assert_eq!(digest, Digest::of(&bytes), "{size}");
        assert_eq!(
            store.put(bytes.clone()).await.unwrap(),
            digest,
            "twice is once"
        );
        drop(store);
        assert_eq!(
            open(home.path()).get(digest).await.unwrap(),
            bytes,
            "{size}"
        );
    }
    let missing = open(home.path()).get(Digest::of(b"never")).await;
    assert!(matches!(missing, Err(BlobError::Missing(_))), "{missing:?}");
}

#[tokio::test]
async fn large_contents_are_private_files_and_altered_ones_are_refused_and_healed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let bytes = vec![42; 100_000];
    let digest = store.put(bytes.clone()).await.unwrap();
    let name = digest.to_string();
    let path = home.path().join("blobs").join(&name[..2]).join(&name[2..]);
    let mode =
        |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(
        fs_err::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "no leftovers"
    );

    let mut altered = bytes.clone();
    altered[99_999] ^= 1;
    fs_err::write(&path, &altered).unwrap();
    assert!(matches!(
        store.get(digest).await,
        Err(BlobError::Altered(_))
    ));
    store.put(bytes.clone()).await.unwrap();
    assert_eq!(store.get(digest).await.unwrap(), bytes);
}

#[tokio::test]
async fn altered_small_contents_are_refused_and_healed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let digest = store.put(b"content".to_vec()).await.unwrap();
    let connection = rusqlite::Connection::open(home.path().join("windlass.db")).unwrap();
    connection
        .execute("UPDATE blobs SET bytes = CAST('cOntent' AS BLOB)", [])
        .unwrap();
    assert!(matches!(
        store.get(digest).await,
        Err(BlobError::Altered(_))
    ));
    store.put(b"content".to_vec()).await.unwrap();
    assert_eq!(store.get(digest).await.unwrap(), b"content");
}
