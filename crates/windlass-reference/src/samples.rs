//! `release/samples/`: payloads that work, from the examples of each operation.

use std::path::PathBuf;

use serde_json::json;
use windlass_engine::{contract::EnvelopeContext, operation::OperationInfo};

use super::{Document, RELEASE};

pub(super) fn documents(infos: &[&OperationInfo]) -> Vec<Document> {
    infos
        .iter()
        .filter(|info| !info.examples.is_empty())
        .map(|info| sample(info))
        .collect()
}

fn sample(info: &OperationInfo) -> Document {
    let examples: Vec<_> = info
        .examples
        .iter()
        .enumerate()
        .map(|(index, example)| {
            let mut sample = json!({
                "title": example.title,
                "input": example.input,
                "command": info.call_line(&example.input),
                "mcp": {
                    "jsonrpc": "2.0",
                    "id": index + 1,
                    "method": "tools/call",
                    "params": { "name": info.tool, "arguments": example.input },
                },
            });
            if let Some(output) = &example.output {
                let context = EnvelopeContext {
                    operation: &info.name,
                    request_id: "req_sample",
                    input: &example.input,
                };
                sample["output"] = info.contract.success(context, output.clone());
            }
            sample
        })
        .collect();
    let sample = json!({ "operation": info.name, "tool": info.tool, "examples": examples });
    (
        PathBuf::from(RELEASE).join(format!("samples/{}.json", info.name)),
        format!("{sample:#}\n"),
    )
}
