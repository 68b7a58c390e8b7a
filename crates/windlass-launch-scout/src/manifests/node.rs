//! Node: `package.json`.

use serde_json::{Map, Value};

use super::{Manifest, Requirement, is_plain, locate, sibling};

pub(super) fn package_json(path: &str, text: &str) -> Option<Manifest> {
    let root: Map<String, Value> = serde_json::from_str(text).ok()?;
    let found = |key: &str| locate(text, key, root.get(key)?.as_str()?);
    let name = found("name");
    let elsewhere = root
        .get("publishConfig")
        .and_then(|publish| publish.get("registry"))
        .and_then(Value::as_str)
        .is_some_and(|registry| !registry.contains("npmjs.org"));
    let is_private = root.get("private").and_then(Value::as_bool) == Some(true) || elsewhere;
    let has_program = root.contains_key("bin");
    let install = name
        .as_ref()
        .filter(|name| !is_private && is_plain(&name.text))
        .map(|name| format!("npm install {}", name.text));
    let node = root
        .get("engines")
        .and_then(|engines| engines.get("node"))
        .and_then(Value::as_str)
        .and_then(|spec| locate(text, "node", spec));
    let dependencies = ["dependencies", "peerDependencies"]
        .into_iter()
        .filter_map(|key| root.get(key)?.as_object())
        .flat_map(|table| table.keys().cloned())
        .collect();
    let entrypoints = ["types", "typings", "module", "main"]
        .into_iter()
        .filter_map(|key| root.get(key)?.as_str())
        .map(|file| sibling(path, file))
        .collect();
    let has_tests = root
        .get("scripts")
        .and_then(|scripts| scripts.get("test"))
        .is_some();
    Some(Manifest {
        path: path.to_owned(),
        platform: "node",
        build_system: "npm".to_owned(),
        method: "npm",
        version: found("version"),
        description: found("description"),
        license: found("license"),
        dependencies,
        runtimes: node
            .map(|spec| Requirement {
                runtime: "Node.js",
                spec,
            })
            .into_iter()
            .collect(),
        install,
        has_program,
        has_library: ["main", "module", "exports", "types"]
            .iter()
            .any(|key| root.contains_key(*key)),
        is_private,
        inherits_privacy: false,
        is_workspace: root.contains_key("workspaces"),
        entrypoints,
        test_command: has_tests.then(|| "npm test".to_owned()),
        name,
    })
}
