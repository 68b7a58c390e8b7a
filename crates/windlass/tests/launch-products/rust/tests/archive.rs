//! Archives from the outside.

use cairn::{Archive, ArchiveError};

#[test]
fn a_name_is_used_once() {
    let mut archive = Archive::new();
    archive.add("a", b"1").unwrap();
    assert_eq!(archive.add("a", b"2"), Err(ArchiveError::Duplicate("a".to_owned())));
}
