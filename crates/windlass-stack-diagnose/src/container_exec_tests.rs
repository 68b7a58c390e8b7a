//! Tails of output.

use super::*;

#[test]
fn tails_are_bounded() {
    let long = "x\n".repeat(500);
    assert_eq!(tail(&long).lines().count(), TAIL_LINES);
    assert_eq!(tail(&"é".repeat(10_000)).chars().count(), TAIL_LETTERS);
}
