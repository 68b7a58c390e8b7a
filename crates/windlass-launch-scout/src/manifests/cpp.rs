//! C and C++: `CMakeLists.txt`, searched for literal values, and `vcpkg.json`.

use regex::Regex;
use serde_json::{Map, Value};

use super::{Manifest, Requirement, is_plain, locate};

pub(super) fn cmake(path: &str, text: &str) -> Option<Manifest> {
    let project =
        Regex::new(r#"(?is)\bproject\s*\(\s*"?([\w.+-]{1,100})"?([^)]{0,2000})\)"#).ok()?;
    let found = project.captures(text);
    let rest = found
        .as_ref()
        .map_or("", |found| found.get(2).map_or("", |rest| rest.as_str()));
    let after = |pattern: &str| {
        let found = Regex::new(pattern).ok()?.captures(rest)?;
        Some(found[1].to_owned())
    };
    let standard = Regex::new(r"CMAKE_CXX_STANDARD\s+(\d{2})")
        .ok()?
        .captures(text)
        .and_then(|found| locate(text, "CMAKE_CXX_STANDARD", &found[1]));
    let package = Regex::new(r"(?i)\bfind_package\s*\(\s*([\w.+-]{1,100})").ok()?;
    Some(Manifest {
        path: path.to_owned(),
        platform: "cpp",
        build_system: "cmake".to_owned(),
        method: "cmake",
        name: found
            .as_ref()
            .and_then(|found| locate(text, "project", &found[1])),
        version: after(r"(?i)\bVERSION\s+([\d.]+)")
            .and_then(|version| locate(text, "VERSION", &version)),
        description: after(r#"(?i)\bDESCRIPTION\s+"([^"]{1,400})""#)
            .and_then(|description| locate(text, "DESCRIPTION", &description)),
        dependencies: package
            .captures_iter(text)
            .map(|found| found[1].to_owned())
            .collect(),
        runtimes: standard
            .map(|spec| Requirement {
                runtime: "C++",
                spec,
            })
            .into_iter()
            .collect(),
        has_program: text.contains("add_executable"),
        has_library: text.contains("add_library"),
        test_command: text.contains("enable_testing").then(|| "ctest".to_owned()),
        ..Manifest::default()
    })
}

pub(super) fn vcpkg(path: &str, text: &str) -> Option<Manifest> {
    let root: Map<String, Value> = serde_json::from_str(text).ok()?;
    let found = |key: &str| locate(text, key, root.get(key)?.as_str()?);
    let name = found("name");
    let dependencies = root
        .get("dependencies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().or_else(|| item.get("name")?.as_str()))
        .map(str::to_owned)
        .collect();
    Some(Manifest {
        path: path.to_owned(),
        platform: "cpp",
        build_system: "vcpkg".to_owned(),
        method: "vcpkg",
        version: found("version").or_else(|| found("version-string")),
        description: found("description"),
        license: found("license"),
        dependencies,
        install: name
            .as_ref()
            .filter(|name| is_plain(&name.text))
            .map(|name| format!("vcpkg install {}", name.text)),
        has_library: true,
        name,
        ..Manifest::default()
    })
}
