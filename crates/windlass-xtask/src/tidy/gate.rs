//! One front door: no domain creates a run or decides a verdict, and nothing but the engine's own
//! tests and benchmarks goes around the gate.

use super::{Crate, SourceFile, Violation, shipped_layer};

/// What a domain must not name, and what it uses instead.
const IN_DOMAINS: [(&str, &str); 4] = [
    (
        "NewRun",
        "propose the run (`ProposedRun`); the gate creates it",
    ),
    (
        ".policy.decide(",
        "ask the gate: `CallContext::require_target`, `pass_gate`",
    ),
    (
        "may_approve(",
        "ask the gate: `CallContext::require_target`, `pass_gate`",
    ),
    ("ApprovalGate::", "the gate decides who has to approve"),
];
/// What only tests and benchmarks of the engine may name.
const UNGATED: [&str; 2] = ["create_ungated", "create_job_ungated"];

/// Looks at the sources of every crate.
pub fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        let Some(layer) = shipped_layer(crates, &file.path) else {
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            let place = || format!("{}:{}", file.path, index + 1);
            if layer == "domain" {
                for (name, instead) in IN_DOMAINS {
                    if line.contains(name) {
                        let message = format!("a domain must not use `{name}`: {instead}");
                        violations.push(Violation::new(place(), message));
                    }
                }
            }
            if !matches!(layer, "engine" | "tool") {
                for name in UNGATED {
                    if line.contains(name) {
                        let message = format!("`{name}` goes around the gate");
                        violations.push(Violation::new(place(), message));
                    }
                }
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
    fn a_domain_that_bypasses_the_gate_is_found() {
        let crates = [own("windlass-shop", "domain"), own("windlass-kit", "tool")];
        let files = [
            file("crates/windlass-shop/src/a.rs", "let run = NewRun {};\n"),
            file(
                "crates/windlass-shop/src/b.rs",
                "x\nengine.create_ungated(new)\n",
            ),
            file(
                "crates/windlass-shop/src/b_tests.rs",
                "engine.create_ungated(new)\n",
            ),
            file(
                "crates/windlass-shop/tests/c.rs",
                "engine.policy.decide(&request)\n",
            ),
            file(
                "crates/windlass-kit/src/d.rs",
                "engine.create_ungated(new)\n",
            ),
        ];
        assert_eq!(
            messages(&check(&crates, &files)),
            [
                "crates/windlass-shop/src/a.rs:1: a domain must not use `NewRun`: propose the run \
                 (`ProposedRun`); the gate creates it",
                "crates/windlass-shop/src/b.rs:2: `create_ungated` goes around the gate",
            ]
        );
    }
}
