//! VS Code Copilot: instructions and prompts in the project's `.github`, MCP servers in its
//! `.vscode`.

use windlass_pack_model::ModuleType;
use windlass_types::Problem;

use super::{Output, Site, Slots};
use crate::render::mcp::Dialect;

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    let Some(project) = site.project()? else {
        return Ok(());
    };
    let github = project.join(".github");
    if site.flag("write_prompts", true) {
        slots.project(github.join("prompts"), true, Output::CopilotPrompts);
    }
    if site.flag("write_instructions", true) {
        let file = Output::Aggregate("copilot-instructions.md");
        slots.project(github, false, file);
    }
    if site.has(ModuleType::McpServer) {
        let servers = Output::McpServers("mcp.json", Dialect::Vscode);
        slots.project(project.join(".vscode"), false, servers);
    }
    Ok(())
}
