//! Gemini.

use serde_json::{Value, json};

use super::double::SeenRequest;
use super::script::{Ended, ModelTurn, Said};
use super::strict::{
    Checked, Refusal, invalid, list, number, only, pieces, require, signature, string, tool_names,
};

const MODEL: &str = "gemini-double-1";
const SIGNATURE: &str = "thoughtSignature";

pub(super) fn check(seen: &SeenRequest) -> Checked {
    let path = seen
        .path
        .strip_prefix("/v1beta/models/")
        .unwrap_or_default();
    let verb = path.split_once(':').map_or("", |(_, verb)| verb);
    require(
        !seen.path.contains("key="),
        "a key does not belong into an address",
    )?;
    if !["generateContent", "streamGenerateContent?alt=sse"].contains(&verb) {
        return Err(Refusal::new(404, "not_found_error", "Not found"));
    }
    if seen.header("x-goog-api-key").is_none_or(str::is_empty) {
        return Err(Refusal::new(
            403,
            "permission_error",
            "Method doesn't allow unregistered callers.",
        ));
    }
    let body = &seen.body;
    only(
        body,
        "body",
        &[
            "contents",
            "systemInstruction",
            "tools",
            "toolConfig",
            "generationConfig",
            "safetySettings",
            "cachedContent",
        ],
    )?;
    if !body["systemInstruction"].is_null() {
        only(
            &body["systemInstruction"],
            "systemInstruction",
            &["parts", "role"],
        )?;
        for part in list(
            &body["systemInstruction"]["parts"],
            "systemInstruction.parts",
        )? {
            string(&part["text"], "systemInstruction.parts.text")?;
        }
    }
    settings(body)?;
    if !body["tools"].is_null() {
        let declared = list(&body["tools"][0]["functionDeclarations"], "tools")?;
        for tool in declared {
            only(
                tool,
                "tools",
                &["name", "description", "parameters", "parametersJsonSchema"],
            )?;
        }
        tool_names(declared.iter().map(|tool| tool["name"].as_str()))?;
    }
    conversation(list(&body["contents"], "contents")?)
}

fn settings(body: &Value) -> Checked {
    let settings = &body["generationConfig"];
    if settings.is_null() {
        return Ok(());
    }
    only(
        settings,
        "generation_config",
        &[
            "temperature",
            "topP",
            "topK",
            "maxOutputTokens",
            "seed",
            "stopSequences",
            "responseMimeType",
            "responseSchema",
            "responseJsonSchema",
            "thinkingConfig",
            "candidateCount",
        ],
    )?;
    number(settings, "temperature", 0.0, 2.0)?;
    number(settings, "topP", 0.0, 1.0)?;
    number(settings, "maxOutputTokens", 1.0, 1e9)?;
    let is_json = settings["responseMimeType"] == "application/json";
    require(
        is_json || settings["responseJsonSchema"].is_null(),
        "responseJsonSchema needs a response mime type of application/json",
    )?;
    require(
        !is_json || body["tools"].is_null(),
        "Function calling with a response mime type: 'application/json' is unsupported",
    )?;
    let thinking = &settings["thinkingConfig"];
    match thinking.is_null() {
        true => Ok(()),
        false => only(
            thinking,
            "thinking_config",
            &["includeThoughts", "thinkingBudget", "thinkingLevel"],
        ),
    }
}

fn conversation(contents: &[Value]) -> Checked {
    let mut asked: Vec<(&str, Option<&str>)> = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        let place = format!("contents[{number}]");
        only(content, &place, &["role", "parts"])?;
        let role = match number % 2 {
            0 => "user",
            _ => "model",
        };
        require(
            content["role"] == role,
            format!("{place}: roles must alternate"),
        )?;
        let parts = list(&content["parts"], &format!("{place}.parts"))?;
        for part in parts {
            check_part(part, role, &place)?;
        }
        let of = |field: &'static str| -> Vec<(&str, Option<&str>)> {
            let found = parts
                .iter()
                .map(|part| &part[field])
                .filter(|it| !it.is_null());
            found
                .map(|it| (it["name"].as_str().unwrap_or_default(), it["id"].as_str()))
                .collect()
        };
        require(
            of("functionResponse") == asked,
            format!(
                "{place}: Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
            ),
        )?;
        asked = of("functionCall");
    }
    require(
        asked.is_empty(),
        "contents: a function call turn at the end",
    )
}

fn check_part(part: &Value, role: &str, place: &str) -> Checked {
    only(
        part,
        place,
        &[
            "text",
            "inlineData",
            "functionCall",
            "functionResponse",
            "thought",
            SIGNATURE,
        ],
    )?;
    let data = ["text", "inlineData", "functionCall", "functionResponse"];
    let found: Vec<&str> = data
        .into_iter()
        .filter(|field| part.get(field).is_some())
        .collect();
    let [kind] = found.as_slice() else {
        return Err(invalid(format!(
            "{place}: contents.parts must not be empty"
        )));
    };
    let signed = &part[SIGNATURE];
    match *kind {
        "text" => {
            let text = part["text"].as_str().unwrap_or_default();
            require(
                !text.is_empty() || !signed.is_null(),
                format!("{place}: contents.parts must not be empty"),
            )?;
            require(
                signed.is_null() || *signed == signature(text),
                format!("{place}: Corrupted thought signature."),
            )
        }
        "inlineData" => {
            only(&part["inlineData"], place, &["mimeType", "data"])?;
            string(&part["inlineData"]["mimeType"], place).map(drop)
        }
        "functionCall" => {
            require(role == "model", format!("{place}: a call of the user"))?;
            let call = &part["functionCall"];
            only(call, place, &["id", "name", "args"])?;
            require(
                call["args"].is_object(),
                format!("{place}: args is not an object"),
            )?;
            let name = string(&call["name"], place)?;
            require(
                signed.is_null() || *signed == signature(name),
                format!("{place}: Corrupted thought signature."),
            )
        }
        _ => {
            require(role == "user", format!("{place}: a result of the model"))?;
            let result = &part["functionResponse"];
            only(result, place, &["id", "name", "response"])?;
            require(
                result["response"].is_object(),
                format!("{place}: response is not an object"),
            )
        }
    }
}

/// The parts, each with whether it begins a chunk of its own. Only the first call is signed.
fn parts(turn: &ModelTurn, is_whole: bool) -> Vec<Value> {
    let mut list = Vec::new();
    let mut is_signed = false;
    let half = turn.half_said();
    for (index, said) in turn.said.iter().enumerate() {
        match said {
            Said::Thought(text) => {
                let thought = |text: String| json!({ "text": text, "thought": true });
                match is_whole {
                    true => list.push(thought(text.clone())),
                    false => list.extend(pieces(text).into_iter().map(thought)),
                }
            }
            // A signature without words.
            Said::Sealed(_) => list.push(json!({ "text": "", SIGNATURE: signature("") })),
            Said::Text(text) => match is_whole {
                true => list.push(json!({ "text": text })),
                false => list.extend(pieces(text).into_iter().map(|it| json!({ "text": it }))),
            },
            // Calls come whole or not at all.
            Said::Call(..) if half == Some(index) => {}
            Said::Call(id, name, arguments) => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                let mut call = json!({ "name": name, "args": arguments });
                if !id.is_empty() {
                    call["id"] = json!(id);
                }
                let mut part = json!({ "functionCall": call });
                if !std::mem::replace(&mut is_signed, true) {
                    part[SIGNATURE] = json!(signature(name));
                }
                list.push(part);
            }
        }
    }
    list
}

fn finish_reason(turn: &ModelTurn) -> &'static str {
    match turn.ended {
        Ended::Length => "MAX_TOKENS",
        Ended::Refused => "SAFETY",
        Ended::Done | Ended::Paused => "STOP",
    }
}

fn chunk(turn: &ModelTurn, parts: &[Value], end: Option<&str>) -> Value {
    let [fresh, read, written, output] = turn.tokens;
    let input = fresh + read + written;
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(end) = end {
        candidate["finishReason"] = json!(end);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": input,
            "cachedContentTokenCount": read,
            "candidatesTokenCount": output,
            "thoughtsTokenCount": 3,
            "totalTokenCount": input + output + 3,
        },
        "modelVersion": MODEL,
        "responseId": "r1",
    })
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    chunk(turn, &parts(turn, true), Some(finish_reason(turn)))
}

pub(super) fn events(turn: &ModelTurn) -> Vec<String> {
    let parts = parts(turn, false);
    // The parts of a chunk come in twos.
    let mut chunks: Vec<Value> = parts
        .chunks(2)
        .map(|parts| chunk(turn, parts, None))
        .collect();
    chunks.push(chunk(
        turn,
        &[json!({ "text": "" })],
        Some(finish_reason(turn)),
    ));
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\r\n\r\n"))
        .collect()
}
