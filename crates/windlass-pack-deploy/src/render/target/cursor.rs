//! Cursor: a rule per instructions module, and MCP servers, in the project's `.cursor`.

use windlass_pack_model::ModuleType;
use windlass_types::Problem;

use super::{Output, Site, Slots};
use crate::render::mcp::Dialect;

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    let Some(project) = site.project()? else {
        return Ok(());
    };
    if site.flag("write_rules", true) {
        slots.project(project.join(".cursor/rules"), true, Output::CursorRules);
    }
    if site.has(ModuleType::McpServer) {
        let servers = Output::McpServers("mcp.json", Dialect::Cursor);
        slots.project(project.join(".cursor"), false, servers);
    }
    Ok(())
}
