//! This example was never finished.

use cairn::Archive;

fn main( {
    let archive = Archive::new()
    archive.add("a", b"b"
}
