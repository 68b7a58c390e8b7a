//! CloudFormation's own rules, as cfn-lint knows them, over every template.

use std::process::Command;

use windlass_stack_compile::compile;

use super::world::{configs, facts};

/// The path of the program.
const PROGRAM: &str = "WINDLASS_TEST_CFN_LINT";

#[test]
fn no_template_has_an_error_first_third() {
    lint(0);
}

#[test]
fn no_template_has_an_error_second_third() {
    lint(1);
}

#[test]
fn no_template_has_an_error_last_third() {
    lint(2);
}

/// In parts, because the linter is slow.
fn lint(part: usize) {
    let Some(program) = std::env::var_os(PROGRAM) else {
        eprintln!("SKIPPED: {PROGRAM} names no cfn-lint; templates were not linted");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, config) in configs().into_iter().skip(part).step_by(3) {
        let compiled = compile(&config, &facts(&config)).unwrap();
        let text = serde_json::to_string_pretty(&compiled.template).unwrap();
        fs_err::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let output = Command::new(program)
        .args(["--non-zero-exit-code", "error", "--regions", "eu-west-1"])
        .arg("--template")
        .arg(folder.path().join("*.json"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
