//! Claude Code: `~/.claude` and the project's `.claude`, `CLAUDE.md` and `.mcp.json`.

use windlass_pack_model::{ModuleType, Target};
use windlass_types::Problem;

use super::{Output, Site, Slots, codex};
use crate::render::mcp::Dialect;

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    let user = site.places().home_dir.join(".claude");
    let project = site.project()?;

    if site.user() && site.flag("write_user_commands", true) {
        slots.user(user.join("commands"), true, Output::Commands);
    }
    if let Some(project) = project
        && site.flag("write_repo_commands", true)
    {
        slots.project(project.join(".claude/commands"), true, Output::Commands);
    }
    if site.user() && site.flag("write_user_skills", false) {
        slots.user(user.join("skills"), true, Output::Skills);
    }
    if let Some(project) = project
        && site.flag("write_repo_skills", false)
    {
        slots.project(project.join(".claude/skills"), true, Output::Skills);
    }

    if site.user() && site.flag("write_claude_md_user", false) {
        let import = import_for_user(site)?;
        slots.user(user.clone(), false, Output::ClaudeMd { import });
    }
    if let Some(project) = project
        && site.flag("write_claude_md_repo", false)
    {
        let import = import_for_project(site);
        slots.project(project.to_owned(), false, Output::ClaudeMd { import });
    }

    if site.has(ModuleType::McpServer) {
        match project {
            Some(project) => {
                let servers = Output::McpServers(".mcp.json", Dialect::Claude);
                slots.project(project.to_owned(), false, servers);
            }
            None => slots.no_place(
                site,
                ModuleType::McpServer,
                "Claude Code keeps shared servers in the project: use scope project or both",
            ),
        }
    }
    // Hooks and sub-agents live in both places; in both at once they would count twice. The
    // project's, which others can see, is preferred.
    if site.has(ModuleType::Hook) {
        let hooks = Output::Hooks("settings.json");
        match project {
            Some(project) => slots.project(project.join(".claude"), false, hooks),
            None => slots.user(user.clone(), false, hooks),
        }
    }
    if site.has(ModuleType::Subagent) {
        match project {
            Some(project) => slots.project(project.join(".claude/agents"), true, Output::Agents),
            None => slots.user(user.join("agents"), true, Output::Agents),
        }
    }
    Ok(())
}

/// The line that imports the project's `AGENTS.md`, where Codex's target manages it.
fn import_for_project(site: &Site<'_>) -> Option<String> {
    let codex = codex_alike(site)?;
    let managed = codex.config.scope.has_project() && codex.flag("write_agents_repo_root", true);
    managed.then(|| "@AGENTS.md".to_owned())
}

/// The line that imports the `AGENTS.md` in Codex's home, where Codex's target manages it.
fn import_for_user(site: &Site<'_>) -> Result<Option<String>, Problem> {
    let Some(codex) = codex_alike(site) else {
        return Ok(None);
    };
    if !codex.user() || !codex.flag("write_agents_global", true) {
        return Ok(None);
    }
    let file = codex::home(&codex)?.join("AGENTS.md");
    let shown = match file.strip_prefix(&site.places().home_dir) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => file.display().to_string(),
    };
    // An import ends at the first blank.
    Ok((!shown.contains(char::is_whitespace)).then(|| format!("@{shown}")))
}

/// Codex's target, if importing is wanted and its instructions are made of the same modules:
/// importing then gives what inlining would.
fn codex_alike<'a>(site: &Site<'a>) -> Option<Site<'a>> {
    if site.config.text("claude_md") == Some("inline") {
        return None;
    }
    let codex = site.sibling(Target::Codex)?;
    let modules = |target| {
        site.modules_for(ModuleType::Instructions, target)
            .map(|module| &module.id)
    };
    modules(Target::ClaudeCode)
        .eq(modules(Target::Codex))
        .then_some(codex)
}
