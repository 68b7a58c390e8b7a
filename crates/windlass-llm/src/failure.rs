//! What went wrong, from statuses, error bodies and broken connections.
//!
//! What a server says is quoted cut short, on one line and without the key.

use std::time::Duration;

use serde_json::Value;
use windlass_ports::{ModelError, OutboundError, WireFormat};

use crate::backoff;

/// More of an error text does not help.
const MAX_SAID: usize = 400;
/// A key shorter than this would blank out ordinary words and protects nothing.
const SHORTEST_KEY: usize = 4;

/// Removes the key from text that a server sent.
#[derive(Clone, Default)]
pub(crate) struct Scrub {
    key: Option<windlass_types::Secret<String>>,
}

impl Scrub {
    pub fn new(key: Option<&windlass_types::Secret<String>>) -> Self {
        let key = key.filter(|key| key.expose_secret().trim().len() >= SHORTEST_KEY);
        Self { key: key.cloned() }
    }

    /// The text without the key, on one line, cut short.
    pub fn clean(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => text.replace(key.expose_secret().trim(), "***"),
            None => text.to_owned(),
        };
        let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.retain(|character| !character.is_control());
        if line.chars().count() > MAX_SAID {
            line = line.chars().take(MAX_SAID).chain(['…']).collect();
        }
        line
    }
}

/// A failed exchange, with what only retries and dialects need.
#[derive(Debug)]
pub(crate) struct Failure {
    pub error: ModelError,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The field of the request that it names.
    pub param: Option<String>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self {
            error,
            retry_after: None,
            param: None,
        }
    }
}

/// The failure that a status other than success stands for.
pub(crate) fn from_status(
    wire: WireFormat,
    status: u16,
    body: &[u8],
    retry_after: Option<Duration>,
    scrub: &Scrub,
) -> Failure {
    let body = String::from_utf8_lossy(body);
    let details = match serde_json::from_str::<Value>(&body) {
        Ok(json) => Details::of(&json),
        Err(_) => Details::of(&Value::String(body.clone().into_owned())),
    };
    let retry_after = retry_after.or(details.retry_after);
    let said = match scrub.clean(&details.message) {
        nothing if nothing.is_empty() => "it gave no reason".to_owned(),
        said => said,
    };
    let is_out_of_quota = details.code.as_deref() == Some("insufficient_quota");
    let error = match status {
        401 | 403 => ModelError::Unauthorized {
            status,
            said: details.said(scrub),
        },
        // Gemini has this status for a key that it does not know.
        400 if details.is_about_key => ModelError::Unauthorized { status, said },
        429 if !is_out_of_quota => ModelError::RateLimited { retry_after, said },
        408 | 500.. => ModelError::Unavailable {
            status,
            said: match retry_after.filter(|wait| *wait > backoff::LONGEST_ASKED) {
                Some(wait) => format!("{said} (it asks to wait {} s)", wait.as_secs()),
                None => said,
            },
        },
        _ => ModelError::Rejected {
            status,
            code: details.code,
            said: match status {
                300..=399 => {
                    "it redirects, and redirects are not followed; set api_base_url to the final address"
                        .to_owned()
                }
                404 | 405 => format!("{said}; {}", where_to_look(wire)),
                _ => said,
            },
        },
    };
    Failure {
        error,
        retry_after,
        param: details.param,
    }
}

/// The failure that an `error` inside an answer of status 200 stands for.
pub(crate) fn within_answer(error: &Value, scrub: &Scrub) -> ModelError {
    let details = Details::of(error);
    let said = scrub.clean(&details.message);
    let status = details
        .status
        .or_else(|| status_of(details.code.as_deref()?));
    match status {
        Some(status @ (401 | 403)) => ModelError::Unauthorized { status, said },
        Some(status @ (400..=407 | 409..=428 | 430..=499)) => ModelError::Rejected {
            status,
            code: details.code,
            said,
        },
        _ => ModelError::cut(format!("the server reported: {said}")),
    }
}

const fn where_to_look(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::ChatCompletions => {
            "check the model's name and that api_base_url ends where /chat/completions begins (often /v1)"
        }
        WireFormat::Responses => {
            "check the model's name and that the base address ends where /responses begins (often /v1)"
        }
        WireFormat::Messages | WireFormat::Gemini => "check the model's name and the base address",
    }
}

/// The status that a server would have sent with a word, had the answer not begun. Only for words
/// that say that a repetition fails too.
fn status_of(code: &str) -> Option<u16> {
    Some(match code {
        "invalid_request_error"
        | "invalid_prompt"
        | "context_length_exceeded"
        | "exceed_context_size_error"
        | "invalid_image"
        | "INVALID_ARGUMENT"
        | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" => 401,
        "billing_error" | "insufficient_quota" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        _ => return None,
    })
}

/// The failure of an exchange that had no answer.
pub(crate) fn before_answer(error: OutboundError, limit: Duration) -> ModelError {
    match error {
        OutboundError::Forbidden(reason) => ModelError::Forbidden(reason),
        OutboundError::InvalidUrl(cause) => ModelError::InvalidAddress(cause),
        OutboundError::Unreachable(cause) => ModelError::Unreachable(cause),
        OutboundError::TimedOut(_) => ModelError::TimedOut(limit),
        OutboundError::TooLarge(limit) => ModelError::TooLarge { limit },
    }
}

/// The failure of an exchange whose answer had begun.
pub(crate) fn amid_answer(error: OutboundError, limit: Duration) -> ModelError {
    match error {
        OutboundError::Unreachable(cause) => ModelError::cut(cause),
        other => before_answer(other, limit),
    }
}

/// What servers put into error bodies.
struct Details {
    message: String,
    /// A word; some servers put the status where others put it.
    code: Option<String>,
    status: Option<u16>,
    param: Option<String>,
    retry_after: Option<Duration>,
    /// Whether it is the key that is not accepted.
    is_about_key: bool,
}

impl Details {
    fn of(json: &Value) -> Self {
        // Gateways wrap errors in lists.
        let json = match json {
            Value::Array(list) => list.first().unwrap_or(json),
            other => other,
        };
        let inner = json.get("error").unwrap_or(json);
        let word = |key: &str| match inner.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let status = inner.get("code").and_then(Value::as_u64);
        let message = match inner {
            Value::String(text) => text.clone(),
            _ => word("message")
                .or_else(|| word("detail"))
                .unwrap_or_else(|| inner.to_string()),
        };
        let more = inner.get("details").and_then(Value::as_array);
        let more = more.map(Vec::as_slice).unwrap_or_default();
        let seconds = |text: &str| text.strip_suffix('s')?.parse::<f64>().ok();
        let wait = more
            .iter()
            .find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?));
        Self {
            message,
            // `error` is the type of every event that reports one.
            code: word("code")
                .or_else(|| word("type").filter(|kind| kind != "error"))
                .or_else(|| word("status")),
            status: status.and_then(|status| u16::try_from(status).ok()),
            param: word("param"),
            retry_after: wait.and_then(|wait| Duration::try_from_secs_f64(wait).ok()),
            is_about_key: more
                .iter()
                .any(|detail| detail["reason"] == "API_KEY_INVALID"),
        }
    }

    /// What the server said, if it said anything.
    fn said(&self, scrub: &Scrub) -> String {
        match self.message.trim() {
            "" | "{}" | "null" => String::new(),
            message => scrub.clean(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub() -> Scrub {
        Scrub::new(Some(&"sk-secret".to_owned().into()))
    }

    #[test]
    fn statuses_and_bodies() {
        let cases: &[(u16, &str)] = &[
            (301, ""),
            (
                400,
                r#"{"error":{"message":"too many tokens","code":"context_length_exceeded","param":"messages"}}"#,
            ),
            (400, "plain\n  text"),
            (401, r#"{"error":{"message":"wrong key sk-secret"}}"#),
            (403, ""),
            (404, r#"{"error":"model 'x' not found"}"#),
            (413, r#"{"message":"your key sk-secret sent too much"}"#),
            (422, r#"{"detail":[{"loc":["body","seed"]}]}"#),
            (429, r#"{"error":{"message":"slow down"}}"#),
            (
                429,
                r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#,
            ),
            (500, ""),
            (529, r#"{"error":{"type":"overloaded"}}"#),
        ];
        let texts: Vec<String> = cases
            .iter()
            .map(|(status, body)| {
                let failure = from_status(
                    WireFormat::ChatCompletions,
                    *status,
                    body.as_bytes(),
                    None,
                    &scrub(),
                );
                format!("{} {}", failure.error.is_retryable(), failure.error)
            })
            .collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        false the model's server rejects the request (status 301): it redirects, and redirects are not followed; set api_base_url to the final address
        false the model's server rejects the request (status 400): too many tokens
        false the model's server rejects the request (status 400): plain text
        false the model's server does not accept the API key (status 401): wrong key ***; check the variable that api_key_env names
        false the model's server does not accept the API key (status 403); check the variable that api_key_env names
        false the model's server rejects the request (status 404): model 'x' not found; check the model's name and that api_base_url ends where /chat/completions begins (often /v1)
        false the model's server rejects the request (status 413): your key *** sent too much
        false the model's server rejects the request (status 422): {"detail":[{"loc":["body","seed"]}]}
        true the model's server allows no more requests now: slow down
        false the model's server rejects the request (status 429): pay first
        true the model's server failed (status 500): it gave no reason
        true the model's server failed (status 529): {"type":"overloaded"}
        "#);
    }

    #[test]
    fn an_error_within_an_answer() {
        for (json, retryable, shown) in [
            (
                r#"{"message":"overloaded by sk-secret"}"#,
                true,
                "the model's answer broke off: the server reported: overloaded by ***",
            ),
            (
                r#"{"code":400,"message":"no such tool"}"#,
                false,
                "the model's server rejects the request (status 400): no such tool",
            ),
            (
                r#"{"code":429,"message":"later"}"#,
                true,
                "the model's answer broke off: the server reported: later",
            ),
        ] {
            let error = within_answer(&serde_json::from_str(json).unwrap(), &scrub());
            assert_eq!(
                (error.is_retryable(), error.to_string().as_str()),
                (retryable, shown)
            );
        }
    }

    #[test]
    fn an_overlong_conversation_is_recognised() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
                true,
            ),
            (
                r#"{"error":{"message":"x","code":400,"type":"exceed_context_size_error"}}"#,
                true,
            ),
            (r#"{"error":{"message":"context_length_exceeded"}}"#, false),
        ] {
            let failure = from_status(
                WireFormat::ChatCompletions,
                400,
                body.as_bytes(),
                None,
                &scrub(),
            );
            assert_eq!(failure.error.is_context_exceeded(), expected, "{body}");
        }
    }

    #[test]
    fn what_is_quoted_is_short_and_one_line() {
        let cleaned = scrub().clean(&format!("a\u{1b}[31m\n\tb {}", "ü".repeat(900)));
        assert_eq!(cleaned.chars().count(), MAX_SAID + 1);
        assert!(cleaned.starts_with("a[31m b ü") && cleaned.ends_with('…'));
        assert_eq!(
            Scrub::new(Some(&"abc".to_owned().into())).clean("abcd"),
            "abcd"
        );
    }
}
