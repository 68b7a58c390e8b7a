//! The same files give the same artifacts.

use proptest::prelude::*;
use tempfile::TempDir;
use windlass_launch_scout::scout;

use super::support::{PYTHON, artifacts, input, write};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_the_directory_does_not_matter(
        order in Just((0..PYTHON.len()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let listed = |order: &[usize]| {
            let root = TempDir::new().expect("a temporary folder");
            for index in order {
                let (path, text) = PYTHON[*index];
                write(root.path(), path, text);
            }
            // The same folder as product and site: both readers see the shuffled order.
            let scouted = scout(root.path(), root.path(), &input()).expect("readable");
            artifacts(&scouted)
        };
        let plain: Vec<usize> = (0..PYTHON.len()).collect();
        let text = listed(&plain);
        prop_assert_eq!(&listed(&order), &text);
        prop_assert!(!text.contains("/tmp"), "no path of the machine");
    }
}

#[test]
fn content_and_path_change_the_fingerprint() {
    let digest = |files: &[(&str, &str)]| super::support::look(files).inventory.fingerprint.digest;
    let one = digest(&[("a.txt", "x"), ("b.txt", "y")]);
    assert_eq!(one, digest(&[("b.txt", "y"), ("a.txt", "x")]));
    assert_ne!(one, digest(&[("a.txt", "y"), ("b.txt", "x")]));
    assert_ne!(one, digest(&[("a.txt", "x"), ("c.txt", "y")]));
}
