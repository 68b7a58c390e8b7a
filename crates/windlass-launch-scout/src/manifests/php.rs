//! PHP: `composer.json`.

use serde_json::{Map, Value};

use super::{Manifest, Requirement, is_plain, locate};

pub(super) fn composer(path: &str, text: &str) -> Option<Manifest> {
    let root: Map<String, Value> = serde_json::from_str(text).ok()?;
    let found = |key: &str| locate(text, key, root.get(key)?.as_str()?);
    let name = found("name");
    let required = root.get("require").and_then(Value::as_object);
    let php = required
        .and_then(|table| table.get("php"))
        .and_then(Value::as_str)
        .and_then(|spec| locate(text, "\"php\"", spec));
    Some(Manifest {
        path: path.to_owned(),
        platform: "php",
        build_system: "composer".to_owned(),
        method: "composer",
        version: found("version"),
        description: found("description"),
        license: found("license"),
        // `php` and `ext-*` are what it runs on, not packages.
        dependencies: required
            .map(|table| {
                table
                    .keys()
                    .filter(|key| key.contains('/'))
                    .cloned()
                    .collect()
            })
            .unwrap_or_default(),
        runtimes: php
            .map(|spec| Requirement {
                runtime: "PHP",
                spec,
            })
            .into_iter()
            .collect(),
        install: name
            .as_ref()
            .filter(|name| is_plain(&name.text))
            .map(|name| format!("composer require {}", name.text)),
        has_program: root.contains_key("bin"),
        has_library: true,
        name,
        ..Manifest::default()
    })
}
