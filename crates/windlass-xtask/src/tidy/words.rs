//! Strings that must not be in the tree: paths of one machine and hosts of registries.
//!
//! The patterns are written in halves so that this file does not match itself.

use super::{SourceFile, Violation};

const MACHINE_PATH: &str = "a path of one machine";
const REGISTRY_HOST: &str = "the host of a package registry";

const FORBIDDEN: [(&str, &str); 12] = [
    (concat!("/work", "/main"), MACHINE_PATH),
    (concat!("/work", "/shared"), MACHINE_PATH),
    (concat!("shared", "/reference"), MACHINE_PATH),
    (concat!("shared", "/contracts"), MACHINE_PATH),
    (concat!("/root", "/."), MACHINE_PATH),
    (concat!("/tmp", "/bash_jobs"), MACHINE_PATH),
    (concat!("/tmp", "/house"), MACHINE_PATH),
    (concat!("registry", ".npmjs"), REGISTRY_HOST),
    (concat!("index", ".crates.io"), REGISTRY_HOST),
    (concat!("static", ".crates.io"), REGISTRY_HOST),
    (concat!("pypi", ".org"), REGISTRY_HOST),
    (concat!("pythonhosted", ".org"), REGISTRY_HOST),
];

/// Looks at every text file.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        for (index, line) in text.lines().enumerate() {
            for (pattern, what) in FORBIDDEN {
                if line.contains(pattern) {
                    violations.push(Violation::new(
                        format!("{}:{}", file.path, index + 1),
                        format!("`{pattern}` is {what} and must not be in the tree"),
                    ));
                }
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    #[test]
    fn each_pattern_is_found_with_its_line() {
        for (pattern, what) in FORBIDDEN {
            let text = format!("first\nsee {pattern}/x\n");
            assert_eq!(
                messages(&check(&[file("docs/a.md", &text)])),
                [format!(
                    "docs/a.md:2: `{pattern}` is {what} and must not be in the tree"
                )]
            );
        }
    }

    #[test]
    fn ordinary_text_is_fine() {
        let text = "https://crates.io/crates/serde and /tmp/windlass and /work";
        assert!(check(&[file("docs/a.md", text)]).is_empty());
    }
}
