//! Verify an archive and print what is damaged.

use cairn::Archive;

fn main() {
    let archive = Archive::new();
    for name in archive.verify() {
        println!("{name} is damaged");
    }
}
