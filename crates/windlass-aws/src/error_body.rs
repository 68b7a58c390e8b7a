//! The code and message of a failed answer, whatever form it has.
//!
//! Services disagree on where they put them, and emulators answer in the form of another
//! protocol, so the form is found from the answer and not from the protocol. Pure.

use serde_json::Value;
use windlass_ports::aws::{AwsFailure, UNEXPLAINED};

use crate::answer::Answer;

/// The failure an answer stands for.
pub(crate) fn failure(action: &str, answer: &Answer) -> AwsFailure {
    let text = String::from_utf8_lossy(&answer.body);
    let text = text.trim_start_matches('\u{feff}').trim();
    let found = if text.starts_with('{') {
        json(text)
    } else if text.starts_with('<') {
        xml(text)
    } else {
        Found::default()
    };
    let code = answer
        .header("x-amzn-errortype")
        .or_else(|| answer.header("x-amzn-error-type"))
        .map(short_code)
        .filter(|code| !code.is_empty())
        .or(found.code)
        .unwrap_or_else(|| status_code(answer.status).to_owned());
    let message = found
        .message
        .filter(|message| !message.is_empty())
        .unwrap_or_else(|| format!("{UNEXPLAINED}{}", answer.status));
    let mut failure = AwsFailure::answered(action, &code, &message, answer.status);
    failure.request_id = answer
        .header("x-amzn-requestid")
        .or_else(|| answer.header("x-amz-request-id"))
        .map(Box::from)
        .or(found.request_id.map(String::into_boxed_str));
    failure
}

#[derive(Default)]
struct Found {
    code: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
}

fn json(text: &str) -> Found {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else {
        return Found::default();
    };
    let text_of = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| members.get(*name)?.as_str())
            .map(str::to_owned)
    };
    Found {
        code: text_of(&["__type", "code", "Code", "errorCode"]).map(|code| short_code(&code)),
        message: text_of(&["message", "Message", "errorMessage", "errormessage"]),
        request_id: text_of(&["RequestId", "requestId"]),
    }
}

fn xml(text: &str) -> Found {
    if let Ok(document) = roxmltree::Document::parse(text) {
        let root = document.root_element();
        let error = root
            .descendants()
            .find(|node| node.tag_name().name() == "Error")
            .unwrap_or(root);
        let text_of = |within: roxmltree::Node<'_, '_>, names: &[&str]| {
            within
                .descendants()
                .find(|node| names.contains(&node.tag_name().name()))
                .and_then(|node| node.text())
                .map(|text| text.trim().to_owned())
        };
        return Found {
            code: text_of(error, &["Code"]).map(|code| short_code(&code)),
            message: text_of(error, &["Message"]),
            request_id: text_of(root, &["RequestId", "RequestID"]),
        };
    }
    // Markup that is not well-formed, but still names the parts.
    Found {
        code: between(text, "<Code>", "</Code>").map(|code| short_code(&code)),
        message: between(text, "<Message>", "</Message>"),
        request_id: between(text, "<RequestId>", "</RequestId>"),
    }
}

fn between(text: &str, start: &str, end: &str) -> Option<String> {
    let from = text.find(start)? + start.len();
    let length = text[from..].find(end)?;
    Some(text[from..from + length].trim().to_owned())
}

/// `com.amazonaws.x#NotFound:http://…` and `Sender.NotFound;…` without what is around the name.
fn short_code(code: &str) -> String {
    let code = code.split([':', ';']).next().unwrap_or(code);
    code.rsplit('#').next().unwrap_or(code).trim().to_owned()
}

/// A name for an answer without one, such as those to HEAD requests.
const fn status_code(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "AccessDenied",
        404 => "NotFound",
        409 => "Conflict",
        412 => "PreconditionFailed",
        429 => "TooManyRequestsException",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        _ => "UnknownError",
    }
}

#[cfg(test)]
#[path = "error_body_tests.rs"]
mod tests;
