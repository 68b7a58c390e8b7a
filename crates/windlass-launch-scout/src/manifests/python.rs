//! Python: `pyproject.toml` (PEP 621 and Poetry), `setup.cfg`, `setup.py`, `requirements.txt`,
//! conda's `environment.yml`.

use serde_json::Value as Json;
use toml::{Table, Value};

use super::{Manifest, Requirement, is_plain, literal, locate};

fn base(path: &str, build_system: &str) -> Manifest {
    Manifest {
        path: path.to_owned(),
        platform: "python",
        build_system: build_system.to_owned(),
        method: "pip",
        has_library: true,
        ..Manifest::default()
    }
}

fn finish(mut manifest: Manifest) -> Manifest {
    manifest.install = manifest
        .name
        .as_ref()
        .filter(|name| !manifest.is_private && is_plain(&name.text))
        .map(|name| format!("pip install {}", name.text));
    manifest
}

pub(super) fn pyproject(path: &str, text: &str) -> Option<Manifest> {
    let root: Table = text.parse().ok()?;
    let backend = root
        .get("build-system")
        .and_then(|table| table.get("build-backend"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let poetry = root.get("tool").and_then(|tool| tool.get("poetry"));
    let build_system = [
        "hatchling",
        "poetry",
        "flit",
        "pdm",
        "maturin",
        "setuptools",
    ]
    .into_iter()
    .find(|known| backend.contains(known))
    .unwrap_or(if poetry.is_some() {
        "poetry"
    } else {
        "setuptools"
    });
    let mut manifest = base(path, build_system);
    let project = root.get("project").or(poetry);
    let text_of = |key: &str| {
        let value = project?.get(key)?.as_str()?;
        locate(text, key, value)
    };
    manifest.name = text_of("name");
    manifest.version = text_of("version");
    manifest.description = text_of("description");
    manifest.license = text_of("license").or_else(|| {
        let table = project?.get("license")?;
        locate(text, "license", table.get("text")?.as_str()?)
    });
    let python = text_of("requires-python").or_else(|| {
        let spec = poetry?.get("dependencies")?.get("python")?.as_str()?;
        locate(text, "python", spec)
    });
    manifest.runtimes.extend(python.map(|spec| Requirement {
        runtime: "Python",
        spec,
    }));
    if let Some(list) = project.and_then(|table| table.get("dependencies")) {
        match list {
            Value::Array(items) => manifest
                .dependencies
                .extend(items.iter().filter_map(Value::as_str).map(requirement_name)),
            Value::Table(table) => manifest
                .dependencies
                .extend(table.keys().filter(|key| *key != "python").cloned()),
            _ => {}
        }
    }
    // The index refuses uploads of packages that call themselves private.
    let mut classifiers = project
        .and_then(|table| table.get("classifiers")?.as_array())
        .into_iter()
        .flatten();
    manifest.is_private = classifiers.any(|one| {
        one.as_str()
            .is_some_and(|one| one.starts_with("Private ::"))
    });
    manifest.has_program = project.is_some_and(|table| table.get("scripts").is_some());
    let uses_pytest = root
        .get("tool")
        .is_some_and(|tool| tool.get("pytest").is_some());
    manifest.test_command = uses_pytest.then(|| "pytest".to_owned());
    Some(finish(manifest))
}

/// The name of `name[extra] >= 1; marker`.
fn requirement_name(requirement: &str) -> String {
    requirement
        .trim()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .collect()
}

pub(super) fn setup_cfg(path: &str, text: &str) -> Option<Manifest> {
    let mut manifest = base(path, "setuptools");
    let mut section = "";
    let mut in_requires = false;
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name;
            in_requires = false;
            continue;
        }
        if line.starts_with([' ', '\t']) {
            if in_requires && !line.trim().is_empty() {
                manifest.dependencies.push(requirement_name(line));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        in_requires = section == "options" && key == "install_requires";
        let found = || locate(text, key, value);
        match (section, key) {
            ("metadata", "name") => manifest.name = found(),
            ("metadata", "version") if !value.contains(':') => manifest.version = found(),
            ("metadata", "description" | "summary") => manifest.description = found(),
            ("metadata", "license") => manifest.license = found(),
            ("options", "python_requires") => {
                manifest.runtimes.extend(found().map(|spec| Requirement {
                    runtime: "Python",
                    spec,
                }))
            }
            ("options.entry_points", _) => manifest.has_program = true,
            _ => {}
        }
    }
    Some(finish(manifest))
}

pub(super) fn setup_py(path: &str, text: &str) -> Option<Manifest> {
    let mut manifest = base(path, "setuptools");
    let found = |key: &str| locate(text, key, &literal::quoted(text, key)?);
    manifest.name = found("name");
    manifest.version = found("version");
    manifest.description = found("description");
    manifest.license = found("license");
    manifest
        .runtimes
        .extend(found("python_requires").map(|spec| Requirement {
            runtime: "Python",
            spec,
        }));
    manifest.dependencies = literal::list(text, "install_requires")
        .iter()
        .map(|item| requirement_name(item))
        .collect();
    manifest.has_program = text.contains("console_scripts");
    Some(finish(manifest))
}

pub(super) fn requirements(path: &str, text: &str) -> Option<Manifest> {
    let mut manifest = base(path, "pip");
    manifest.has_library = false;
    manifest.dependencies = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .map(requirement_name)
        .collect();
    Some(manifest)
}

pub(super) fn conda(path: &str, text: &str) -> Option<Manifest> {
    let root: Json = serde_saphyr::from_str(text).ok()?;
    let mut manifest = base(path, "conda");
    manifest.has_library = false;
    let listed = root.get("dependencies")?.as_array()?;
    for item in listed.iter().filter_map(Json::as_str) {
        let name = requirement_name(item);
        if name == "python" {
            let spec = item.trim_start_matches("python").trim();
            manifest
                .runtimes
                .extend(locate(text, "python", spec).map(|spec| Requirement {
                    runtime: "Python",
                    spec,
                }));
        } else {
            manifest.dependencies.push(name);
        }
    }
    Some(manifest)
}
