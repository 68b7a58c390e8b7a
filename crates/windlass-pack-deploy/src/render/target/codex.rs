//! Codex: `<codex_home>` and the project; `.agents/skills` where asked for.

use std::path::PathBuf;

use windlass_pack_model::ModuleType;
use windlass_types::Problem;

use super::{Output, Site, Slots};
use crate::render::mcp::Dialect;

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    if site.user() {
        let home = home(site)?;
        if site.flag("write_agents_global", true) {
            slots.user(home.clone(), false, Output::Aggregate("AGENTS.md"));
        }
        if site.flag("write_user_prompts", true) {
            slots.user(home.join("prompts"), true, Output::Prompts);
        }
        if site.flag("write_user_skills", true) {
            slots.user(home.join("skills"), true, Output::Skills);
        }
        if site.flag("write_agents_skills_user", false) {
            let skills = site.places().home_dir.join(".agents/skills");
            slots.user(skills, true, Output::Skills);
        }
        if site.has(ModuleType::McpServer) {
            let servers = Output::McpServers("config.toml", Dialect::Codex);
            slots.user(home.clone(), false, servers);
        }
        if site.has(ModuleType::Hook) {
            slots.user(home.clone(), false, Output::Hooks("hooks.json"));
        }
        if site.has(ModuleType::Subagent) {
            slots.user(home.join("agents"), true, Output::CodexAgents);
        }
    } else {
        for kind in [
            ModuleType::McpServer,
            ModuleType::Hook,
            ModuleType::Subagent,
        ] {
            slots.no_place(
                site,
                kind,
                "Codex keeps it in its home: use scope user or both",
            );
        }
    }
    if let Some(project) = site.project()? {
        if site.flag("write_agents_repo_root", true) {
            slots.project(project.to_owned(), false, Output::Aggregate("AGENTS.md"));
        }
        if site.flag("write_repo_skills", true) {
            slots.project(project.join(".codex/skills"), true, Output::Skills);
        }
        if site.flag("write_agents_skills_repo", false) {
            slots.project(project.join(".agents/skills"), true, Output::Skills);
        }
    }
    Ok(())
}

/// Codex's home: `CODEX_HOME`, else the option, else `~/.codex`.
pub(super) fn home(site: &Site<'_>) -> Result<PathBuf, Problem> {
    let places = site.places();
    let from_environment = places
        .codex_home
        .as_ref()
        .filter(|path| !path.as_os_str().is_empty());
    if let Some(path) = from_environment {
        let path = path
            .to_str()
            .map_or_else(|| path.clone(), |text| places.expand(text));
        return site.absolute(path, "CODEX_HOME");
    }
    match site.config.text("codex_home") {
        Some(path) => site.absolute(places.expand(path), "codex_home"),
        None => Ok(places.home_dir.join(".codex")),
    }
}
