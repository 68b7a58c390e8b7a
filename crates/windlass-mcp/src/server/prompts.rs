//! A few prompts that lead a model through what people do most.

use rmcp::{
    ErrorData,
    model::{
        ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        ListPromptsResult, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
    },
};
use serde_json::json;
use windlass_types::RunId;

use super::{Caller, Server, errors::error_of, resources::hints};
use crate::negotiate::Era;

pub const MAKE_CHANGE: &str = "make_change";
pub const EXPLAIN_RUN: &str = "explain_run";

/// The prompts.
pub fn list(server: &Server, era: Era) -> ListPromptsResult {
    let argument = |name: &str, words: &str| {
        PromptArgument::new(name)
            .with_description(words)
            .with_required(true)
    };
    let mut prompts = vec![
        Prompt::new(
            EXPLAIN_RUN,
            Some("Explains what a run did, its current status and what to do next"),
            Some(vec![argument("run_id", "The run")]),
        ),
        Prompt::new(
            MAKE_CHANGE,
            Some("Makes a change the safe way: plan, review with the user, apply, watch"),
            Some(vec![
                argument("tool", "The planning tool, e.g. demo_plan"),
                argument("goal", "What is to be achieved"),
            ]),
        ),
    ];
    if let Some(extension) = &server.options.extension {
        prompts.extend(extension.prompts());
    }
    let mut result = ListPromptsResult::with_all_items(prompts);
    (result.ttl_ms, result.cache_scope) = hints(era, 3_600_000);
    result
}

/// One prompt, filled in.
pub async fn get(
    server: &Server,
    caller: &Caller,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let extension = server.options.extension.as_ref();
    if let Some(answer) = extension.and_then(|extension| extension.prompt(request)) {
        return answer;
    }
    let argument = |name: &str| {
        let value = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name)?.as_str());
        value.ok_or_else(|| {
            ErrorData::invalid_params(
                format!("prompt {} needs the argument {name}", request.name),
                None,
            )
        })
    };
    let contents = match request.name.as_str() {
        EXPLAIN_RUN => {
            let run_id = argument("run_id")?;
            let run_id: RunId = run_id.parse().map_err(|_| {
                ErrorData::invalid_params(format!("{run_id:?} is not a run id"), None)
            })?;
            let shown = server
                .operate(caller, "runs.show", json!({ "run_id": run_id }))
                .await;
            let shown = shown.map_err(|problem| error_of(&problem))?.output;
            let run =
                ResourceContents::text(shown.to_string(), format!("windlass://runs/{run_id}"))
                    .with_mime_type("application/json");
            vec![
                ContentBlock::resource(run),
                ContentBlock::text(format!(
                    "Explain run {run_id} to me: what it was for, what it did, its current status, and what I can do next. Its journal is the resource windlass://runs/{run_id}/events."
                )),
            ]
        }
        MAKE_CHANGE => {
            let (tool, goal) = (argument("tool")?, argument("goal")?);
            if server.find(tool).is_none() {
                return Err(server.unknown_tool(tool));
            }
            vec![ContentBlock::text(format!(
                "Goal: {goal}\n\n1. Call {tool} with input that achieves the goal. It changes nothing.\n2. Show me \
                 the plan: every change, the effect class, what policy says. Do not shorten it.\n3. Only after I \
                 agree, call the matching apply tool with the same input and the confirm_token.\n4. Watch the run \
                 until it ends. If it waits for an approval, ask me; never approve for me.\n5. Report what was done, \
                 and the run id."
            ))]
        }
        name => {
            return Err(ErrorData::invalid_params(
                format!("unknown prompt: {name}"),
                None,
            ));
        }
    };
    let messages = contents
        .into_iter()
        .map(|content| PromptMessage::new(Role::User, content))
        .collect();
    Ok(GetPromptResult::new(messages).into())
}
