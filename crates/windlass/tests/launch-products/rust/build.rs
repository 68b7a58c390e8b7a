//! Never run by a reader of this repository.

fn main() {
    std::fs::write("PWNED-RS-BUILD", "").unwrap();
}
