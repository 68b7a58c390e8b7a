//! MCP servers and hooks to import: keys of files that tools and users share with pack.

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_pack_deploy::{
    keys::Document,
    render::{ServerFile, hook_definition, server_definition},
};
use windlass_pack_model::{KeyFormat, ModuleType, Target};
use windlass_types::Digest;

use super::{
    ImportRequest,
    scan::{Candidate, Evidence, codex_home, component, text_of},
    shelf::Shelf,
};

/// All servers and hooks, each once.
pub(super) fn candidates(
    request: &ImportRequest<'_>,
    user: &Shelf<'_>,
    project: &Shelf<'_>,
    warnings: &mut Vec<String>,
) -> Vec<Candidate> {
    let (home, root) = (request.home_root, &request.project.root);
    let codex = codex_home(request);
    let mut found: Vec<Candidate> = Vec::new();
    for (shelf, target, file, path) in [
        (
            user,
            Target::Codex,
            ServerFile::Codex,
            codex.join("config.toml"),
        ),
        (
            project,
            Target::ClaudeCode,
            ServerFile::Claude,
            root.join(".mcp.json"),
        ),
        (
            project,
            Target::Cursor,
            ServerFile::Cursor,
            root.join(".cursor/mcp.json"),
        ),
        (
            project,
            Target::Vscode,
            ServerFile::Vscode,
            root.join(".vscode/mcp.json"),
        ),
    ] {
        let format = match file.is_toml() {
            true => KeyFormat::Toml,
            false => KeyFormat::Json,
        };
        let Some(Value::Object(servers)) = table(
            request,
            (&path, shelf.project.is_some()),
            format,
            file.table(),
            warnings,
        ) else {
            continue;
        };
        for (name, value) in servers {
            let definition = server_definition(file, &name, &value);
            let name = component(&name);
            let one = define(
                shelf,
                target,
                ModuleType::McpServer,
                &name,
                &path,
                definition,
            );
            add(&mut found, one);
        }
    }
    for (shelf, target, path) in [
        (user, Target::Codex, codex.join("hooks.json")),
        (user, Target::ClaudeCode, home.join(".claude/settings.json")),
        (
            project,
            Target::ClaudeCode,
            root.join(".claude/settings.json"),
        ),
    ] {
        let Some(Value::Object(events)) = table(
            request,
            (&path, shelf.project.is_some()),
            KeyFormat::Json,
            "hooks",
            warnings,
        ) else {
            continue;
        };
        for (event, elements) in events {
            for element in elements.as_array().into_iter().flatten() {
                let definition = hook_definition(&event, element);
                // Hooks have no names; the same one gets the same.
                let digest = Digest::of_json(definition.as_ref().unwrap_or(element)).short();
                let name = format!("{}-{digest}", component(&event));
                let one = define(shelf, target, ModuleType::Hook, &name, &path, definition);
                add(&mut found, one);
            }
        }
    }
    found
}

/// A table of a shared file. One that cannot be read is named and left out.
fn table(
    request: &ImportRequest<'_>,
    (path, of_project): (&Path, bool),
    format: KeyFormat,
    key: &str,
    warnings: &mut Vec<String>,
) -> Option<Value> {
    let text = text_of(request, path, of_project, warnings)?;
    match Document::parse(format, &text) {
        Ok(document) => document.get(&[key.to_owned()]),
        Err(error) => {
            warnings.push(format!("{} is left out: {error}", path.display()));
            None
        }
    }
}

fn define(
    shelf: &Shelf<'_>,
    target: Target,
    kind: ModuleType,
    name: &str,
    path: &Path,
    definition: Result<Value, String>,
) -> Candidate {
    let (folder, shelf_name) = match kind {
        ModuleType::Hook => ("hooks", shelf.project.unwrap_or("user")),
        _ => ("mcp", shelf.project.unwrap_or("user")),
    };
    let id = format!("{kind}:{}", shelf.prefixed(name.to_owned()));
    let below = format!("modules/{folder}/imported/{shelf_name}/{name}.json");
    let evidence = Evidence {
        target,
        option: None,
        project: shelf.project.is_some(),
    };
    let (made, broken) = match definition {
        Ok(definition) => {
            let text = serde_json::to_string_pretty(&definition).unwrap_or_default();
            let file = format!("{name}.json");
            (vec![(file, format!("{text}\n").into_bytes())], None)
        }
        Err(reason) => (Vec::new(), Some(reason)),
    };
    Candidate {
        made: Some(made),
        broken,
        evidence: vec![evidence],
        ..shelf.named(kind, id, PathBuf::from(path), below, &[target])
    }
}

/// The same definition for another tool is the same module.
fn add(found: &mut Vec<Candidate>, next: Candidate) {
    let same = |other: &&mut Candidate| {
        other.module_type == next.module_type
            && next.broken.is_none()
            && other.broken.is_none()
            && other.made == next.made
    };
    match found.iter_mut().find(same) {
        Some(other) => other.join(next),
        None => found.push(next),
    }
}
