//! Checks that a composed module is what its type says.

use std::str;

use windlass_pack_model::{Body, Content, Module, ModuleType, RelPath, Tree, fault};
use windlass_types::Problem;

use crate::render::{frontmatter::Head, hook::Hook, mcp::Server, subagent::Subagent};

/// Whether the files of a module fit its type.
pub fn check(module: &Module, tree: &Tree) -> Result<(), Problem> {
    match module.module_type {
        ModuleType::Instructions => text_of(module, tree, "AGENTS.md").map(drop),
        ModuleType::Skill => skill(module, tree),
        ModuleType::Prompt => only_file(module, tree, &["md"]).map(drop),
        ModuleType::Command => command(module, tree),
        ModuleType::McpServer => Server::read(module, tree).map(drop),
        ModuleType::Hook => Hook::read(module, tree).map(drop),
        ModuleType::Subagent => Subagent::read(module, tree).map(drop),
    }
}

fn skill(module: &Module, tree: &Tree) -> Result<(), Problem> {
    let text = text_of(module, tree, "SKILL.md")?;
    let frontmatter = Head::read(module, "SKILL.md", text)?;
    frontmatter.required(module, "name")?;
    frontmatter.required(module, "description")?;
    Ok(())
}

fn command(module: &Module, tree: &Tree) -> Result<(), Problem> {
    let (path, content) = only_file(module, tree, &["md"])?;
    let text = text(module, path.as_str(), content)?;
    let frontmatter = Head::read(module, path.as_str(), text)?;
    frontmatter.required(module, "description")?;
    let runs_bash = text.contains("!bash") || text.contains("!`bash`");
    if runs_bash && !frontmatter.mentions("allowed-tools", "Bash(") {
        return Err(broken(
            module,
            &format!("runs bash, but allowed-tools in {path} does not name Bash(…)"),
        )
        .with("path", path.as_str())
        .with("field", "allowed-tools")
        .with("expected", "an entry such as Bash(git status)"));
    }
    Ok(())
}

/// The text of a file every module of the type has.
pub(crate) fn text_of<'t>(module: &Module, tree: &'t Tree, name: &str) -> Result<&'t str, Problem> {
    let content = RelPath::new(name).ok().and_then(|path| tree.get(&path));
    match content {
        Some(content) => text(module, name, content),
        None => Err(broken(module, &format!("has no {name}"))
            .with("missing", name)
            .with("expected", format!("{name} at the root of the module"))),
    }
}

/// The one file of a module of a single-file type.
pub(crate) fn only_file<'t>(
    module: &Module,
    tree: &'t Tree,
    extensions: &[&str],
) -> Result<(&'t RelPath, &'t Content), Problem> {
    let expected = format!("exactly one file, named .{}", extensions.join(" or ."));
    let mut files = tree.iter();
    let (Some((path, content)), None) = (files.next(), files.next()) else {
        let names: Vec<String> = tree.keys().take(20).map(ToString::to_string).collect();
        return Err(broken(
            module,
            &format!("has {} files; it needs {expected}", tree.len()),
        )
        .with("files", names)
        .with("expected", expected));
    };
    let extension = path
        .file_name()
        .rsplit_once('.')
        .map(|(_, extension)| extension);
    if extension.is_none_or(|extension| !extensions.contains(&extension)) {
        return Err(broken(module, &format!("has {path}; it needs {expected}"))
            .with("path", path.as_str())
            .with("expected", expected));
    }
    Ok((path, content))
}

/// The text of a file that was read because it would be needed.
pub(crate) fn text<'t>(
    module: &Module,
    path: &str,
    content: &'t Content,
) -> Result<&'t str, Problem> {
    let Body::Memory(bytes) = &content.body else {
        return Err(Problem::internal(
            "pack.render",
            format!("{path} was not read"),
        ));
    };
    str::from_utf8(bytes).map_err(|error| {
        broken(module, &format!("has {path}, which is not UTF-8: {error}"))
            .with("path", path)
            .with("expected", "UTF-8 text")
    })
}

/// `E_CONFIG_INVALID` about a module.
pub(crate) fn broken(module: &Module, what: &str) -> Problem {
    fault::config_invalid(format!(
        "{} module {} {what}",
        module.module_type, module.id
    ))
    .with("module_id", module.id.as_str())
    .with("module_type", module.module_type.as_str())
}
