//! Programs are started through windlass-process only: one place knows how a child gets its
//! group, its files and its end. Tests and the tools of the workspace start what they like.

use super::{Crate, SourceFile, Violation, shipped_layer};

const PLACE: &str = "crates/windlass-process/";

/// Looks at the shipped sources.
pub fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        let is_shipped = shipped_layer(crates, &file.path).is_some_and(|layer| layer != "tool");
        if !is_shipped || file.path.starts_with(PLACE) {
            continue;
        }
        // Tests of a file stand at its end.
        let shipped = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for (index, line) in shipped.enumerate() {
            if line.contains("Command::new(") && !line.contains("clap::") {
                violations.push(Violation::new(
                    format!("{}:{}", file.path, index + 1),
                    "use `windlass_process::command`",
                ));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages, own};
    use super::*;

    #[test]
    fn a_program_started_elsewhere_is_found() {
        let crates = [own("windlass-git", "adapter"), own("windlass-kit", "tool")];
        let start = "fn a() {}\nlet git = Command::new(path);\n";
        let files = [
            file("crates/windlass-git/src/a.rs", start),
            file("crates/windlass-git/src/a_tests.rs", start),
            file(
                "crates/windlass-git/src/b.rs",
                &format!("#[cfg(test)]\n{start}"),
            ),
            file("crates/windlass-git/tests/c.rs", start),
            file("crates/windlass-kit/src/d.rs", start),
        ];
        assert_eq!(
            messages(&check(&crates, &files)),
            ["crates/windlass-git/src/a.rs:2: use `windlass_process::command`"]
        );
    }
}
