//! Swift: `Package.swift`, searched for literal values.

use regex::Regex;

use super::{Manifest, Requirement, literal, locate};

pub(super) fn package_swift(path: &str, text: &str) -> Option<Manifest> {
    let tools = Regex::new(r"swift-tools-version:\s*([\d.]{1,12})").ok()?;
    let dependency = Regex::new(r#"\.package\([^)]*url:\s*"([^"\n]{1,300})""#).ok()?;
    Some(Manifest {
        path: path.to_owned(),
        platform: "swift",
        build_system: "swiftpm".to_owned(),
        method: "swiftpm",
        name: literal::quoted(text, "name").and_then(|name| locate(text, "name", &name)),
        dependencies: dependency
            .captures_iter(text)
            .map(|found| found[1].to_owned())
            .collect(),
        runtimes: tools
            .captures(text)
            .and_then(|found| locate(text, "swift-tools-version", &found[1]))
            .map(|spec| Requirement {
                runtime: "Swift",
                spec,
            })
            .into_iter()
            .collect(),
        has_program: text.contains(".executableTarget"),
        has_library: text.contains(".library("),
        test_command: Some("swift test".to_owned()),
        ..Manifest::default()
    })
}
