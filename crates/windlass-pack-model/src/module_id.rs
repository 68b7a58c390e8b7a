//! What a module's id becomes on disk: directory keys and output names.

use windlass_types::{Digest, Problem};

use crate::{Module, RelPath, fault};

/// Longer ids are cut to this many bytes in a key.
const KEY_LENGTH: usize = 64;

/// An id as one path component: everything but letters, digits, `_` and `-` becomes `_`.
pub fn sanitise(id: &str) -> String {
    id.chars()
        .map(|part| {
            if part.is_ascii_alphanumeric() || matches!(part, '_' | '-') {
                part
            } else {
                '_'
            }
        })
        .collect()
}

/// The key of a module in overlay directories and rule names, as in `skill_demo--f2b4dd2c0d`.
pub fn module_fs_key(id: &str) -> String {
    key(id, KEY_LENGTH)
}

fn key(id: &str, length: usize) -> String {
    let mut name = sanitise(id);
    if name.is_empty() {
        name.push_str("module");
    }
    name.truncate(length);
    let digest = Digest::of(id.as_bytes()).to_string();
    format!("{name}--{}", &digest[..10])
}

/// The names an overlay directory of a module may have, the one to create first.
pub fn overlay_keys(id: &str) -> Vec<String> {
    let mut keys = vec![module_fs_key(id)];
    push_new(&mut keys, key(id, usize::MAX));
    if is_safe_component(id) {
        push_new(&mut keys, id.to_owned());
    }
    keys
}

/// The names older versions gave a module's checkouts.
pub(crate) fn checkout_keys(id: &str) -> Vec<String> {
    let mut keys = vec![module_fs_key(id)];
    push_new(&mut keys, key(id, usize::MAX));
    let name = sanitise(id);
    if !name.is_empty() {
        push_new(&mut keys, name);
    }
    keys
}

fn push_new(keys: &mut Vec<String>, key: String) {
    if !keys.contains(&key) {
        keys.push(key);
    }
}

/// Whether an id, as it is, is one component of a path on this system.
fn is_safe_component(id: &str) -> bool {
    // `machines` holds the machine overlays; it cannot be a module's directory too.
    id != "machines"
        && !id.contains('/')
        && RelPath::new(id).is_ok()
        && !(cfg!(windows) && id.contains([':', '*', '?', '"', '<', '>', '|']))
}

/// The name of a module in its outputs: what follows the first `:`, else the sanitised id. It
/// becomes part of paths, so it cannot be one that leaves its root.
pub fn module_name(id: &str) -> Result<RelPath, Problem> {
    let name = match id.split_once(':') {
        Some((_, name)) => name.to_owned(),
        None => sanitise(id),
    };
    RelPath::new(name).map_err(|error| {
        fault::config_invalid(format!(
            "the module id {id:?} gives the name {:?}, which cannot be a path inside a root: {}; \
             rename the module",
            error.path, error.reason
        ))
        .with("module_id", id)
        .with("field", "id")
    })
}

/// The name of a module's output: the one the manifest gives it, else that of its id.
pub fn output_name(module: &Module) -> Result<RelPath, Problem> {
    let Some(name) = &module.name else {
        return module_name(&module.id);
    };
    RelPath::new(name.as_str()).map_err(|error| {
        fault::config_invalid(format!(
            "the name {:?} of module {:?} cannot be a path inside a root: {}; change the name",
            error.path, module.id, error.reason
        ))
        .with("module_id", module.id.as_str())
        .with("field", "name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_existing_repositories() {
        assert_eq!(module_fs_key("skill:demo"), "skill_demo--f2b4dd2c0d");
        let hash = &Digest::of(b"").to_string()[..10];
        assert_eq!(module_fs_key(""), format!("module--{hash}"));
        let long = "a".repeat(100);
        let hash = &Digest::of(long.as_bytes()).to_string()[..10];
        assert_eq!(module_fs_key(&long), format!("{}--{hash}", "a".repeat(64)));
        assert_ne!(module_fs_key("a:b"), module_fs_key("a/b"));
        assert!(module_fs_key("é/ü").starts_with("___--"));
    }

    #[test]
    fn older_overlay_names_are_looked_up() {
        assert_eq!(
            overlay_keys("skill:demo"),
            ["skill_demo--f2b4dd2c0d", "skill:demo"]
        );
        let long = "b".repeat(70);
        assert_eq!(overlay_keys(&long).len(), 3);
        for id in ["a/b", "..", "a\\b", "machines", "../../x"] {
            assert_eq!(overlay_keys(id).len(), 1, "{id}");
        }
    }

    #[test]
    fn must_4_names_cannot_leave_their_root() {
        for (id, expected) in [
            ("skill:demo", "demo"),
            ("skill:a:b", "a:b"),
            ("skill:team/demo", "team/demo"),
            ("plain.id", "plain_id"),
            ("..", "__"),
        ] {
            if cfg!(windows) && expected.contains(':') {
                continue;
            }
            assert_eq!(module_name(id).unwrap().as_str(), expected, "{id}");
        }
        for id in [
            "skill:..",
            "skill:../x",
            "skill:a/../../x",
            "skill:/etc/passwd",
            "skill:",
            "skill:a\0",
            "skill:a\\..\\b",
            "skill:./a",
            "skill:a//b",
            "",
        ] {
            let problem = module_name(id).unwrap_err();
            assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{id:?}");
            assert_eq!(problem.details()["module_id"], id);
        }
    }
}
