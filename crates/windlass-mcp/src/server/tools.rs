//! Operations as tools, in the catalogue's order.

use rmcp::{
    ErrorData,
    model::{JsonObject, Tool, ToolAnnotations},
};
use windlass_engine::operation::{Flow, OperationInfo};
use windlass_types::EffectClass;

use super::{Caller, Server, ToolMode, lean, schema};

impl Server {
    /// The tools this caller may use. The order is the same every time.
    pub(super) fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
        let usable = |tool: &&Tool| {
            let operation = self.find(&tool.name);
            operation.is_none_or(|info| caller.principal().has_scope(&info.scope))
        };
        self.tools().iter().filter(usable).cloned().collect()
    }

    /// One tool of the list.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(|| match self.options.tools {
            ToolMode::Full => self.offered().map(full_tool).collect(),
            ToolMode::Lean => lean::tools(self),
        })
    }

    /// The operations of the toolsets offered here.
    pub(super) fn offered(&self) -> impl Iterator<Item = &OperationInfo> {
        self.catalogue.operations().filter(|info| self.offers(info))
    }

    /// The error of a tool that does not exist.
    pub(super) fn unknown_tool(&self, name: &str) -> ErrorData {
        let shown: String = name.chars().take(100).collect();
        if let Some(info) = self.catalogue.find(name).filter(|info| info.tool == name)
            && info.is_tool
        {
            let toolset = &info.toolset;
            let reason = format!(
                "{shown} is not offered by this server; it is in the toolset {toolset}: start the server \
                 with --toolset {toolset}"
            );
            return ErrorData::invalid_params(reason, None);
        }
        let problem = self.catalogue.unknown(name);
        let hint = match problem
            .details()
            .get("did_you_mean")
            .and_then(|near| near.as_str())
        {
            Some(near) => self.catalogue.find(near).filter(|info| self.offers(info)),
            None => None,
        };
        let hint = hint
            .map(|info| format!("; did you mean {}?", info.tool))
            .unwrap_or_default();
        ErrorData::invalid_params(format!("unknown tool: {shown}{hint}"), None)
    }
}

fn full_tool(info: &OperationInfo) -> Tool {
    let mut tool = Tool::new(
        info.tool.clone(),
        info.description.clone(),
        schema::input(info),
    );
    tool.title = Some(info.title.clone());
    tool.output_schema = schema::output(info);
    tool.annotations = Some(annotations(info));
    tool
}

/// What the effect class and the flow promise.
pub(super) fn annotations(info: &OperationInfo) -> ToolAnnotations {
    let hints = ToolAnnotations::new().read_only(info.effect == EffectClass::Read);
    let hints = match info.effect {
        EffectClass::Read => hints,
        EffectClass::Write => hints.destructive(false),
        EffectClass::Destructive => hints.destructive(true),
    };
    let hints = hints.open_world(info.reaches_out);
    match info.flow {
        // A token works once: repeating the call starts nothing more.
        Flow::Apply => hints.idempotent(true),
        Flow::Query | Flow::Signal | Flow::Command | Flow::Plan => hints,
    }
}

/// A tool of this crate's own.
pub(super) fn own_tool(name: &'static str, description: &'static str, input: JsonObject) -> Tool {
    Tool::new(name, description, input)
}
