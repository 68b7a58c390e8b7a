//! Rust: `Cargo.toml`.

use toml::{Table, Value};

use super::{Manifest, Requirement, is_plain, locate, sibling};

pub(super) fn cargo_toml(path: &str, text: &str) -> Option<Manifest> {
    let root: Table = text.parse().ok()?;
    let package = root.get("package");
    let is_workspace = root.contains_key("workspace");
    if package.is_none() && !is_workspace {
        return None;
    }
    // What packages inherit is said once, by their workspace.
    let shared = root.get("workspace").and_then(|table| table.get("package"));
    let said = |key: &str| {
        let own = package.and_then(|package| package.get(key));
        own.filter(|value| !value.is_table())
            .or_else(|| shared?.get(key))
    };
    let found = |key: &str| locate(text, key, said(key)?.as_str()?);
    let has_program = root.contains_key("bin");
    let name = package.and_then(|_| found("name"));
    // A list names the registries it may go to; the public one is rarely meant.
    let is_private = said("publish").is_some_and(|publish| match publish {
        Value::Boolean(flag) => !flag,
        Value::Array(names) => !names.iter().any(|name| name.as_str() == Some("crates-io")),
        _ => false,
    });
    let inherits_privacy = package
        .and_then(|package| package.get("publish"))
        .is_some_and(Value::is_table);
    let install = name
        .as_ref()
        .filter(|name| !is_private && is_plain(&name.text))
        .map(|name| {
            let verb = if has_program { "install" } else { "add" };
            format!("cargo {verb} {}", name.text)
        });
    let entry = root
        .get("lib")
        .and_then(|table| table.get("path"))
        .and_then(Value::as_str)
        .unwrap_or("src/lib.rs");
    Some(Manifest {
        path: path.to_owned(),
        platform: "rust",
        build_system: "cargo".to_owned(),
        method: "cargo",
        version: found("version"),
        description: found("description"),
        license: found("license"),
        dependencies: root
            .get("dependencies")
            .and_then(Value::as_table)
            .map(|table| table.keys().cloned().collect())
            .unwrap_or_default(),
        runtimes: found("rust-version")
            .map(|spec| Requirement {
                runtime: "Rust",
                spec,
            })
            .into_iter()
            .collect(),
        install,
        has_program,
        has_library: package.is_some() && !has_program,
        is_workspace,
        is_private,
        inherits_privacy,
        entrypoints: if package.is_some() {
            vec![sibling(path, entry)]
        } else {
            Vec::new()
        },
        test_command: Some("cargo test".to_owned()),
        name,
    })
}
