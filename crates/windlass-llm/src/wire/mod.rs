//! The wire formats: where a request goes, what it looks like, and how its answer is read.

pub(crate) mod dialect;
mod shared;

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;
use windlass_ports::{ModelAddress, ModelError, ModelRequest, WireFormat};

use crate::reply::Accumulator;
use dialect::Dialect;

/// The address that a request goes to.
pub(crate) fn endpoint(address: &ModelAddress, is_streamed: bool) -> Result<String, ModelError> {
    match address.wire {
        WireFormat::ChatCompletions => shared::endpoint(address, "/chat/completions"),
        WireFormat::Responses => shared::endpoint(address, "/responses"),
        WireFormat::Messages => messages::endpoint(address),
        WireFormat::Gemini => gemini::endpoint(address, is_streamed),
    }
}

/// The headers that only this wire format has, with the key.
pub(crate) fn headers(address: &ModelAddress) -> Vec<(String, String)> {
    let key = address.api_key.as_ref();
    let key = key.map(|key| key.expose_secret().trim().to_owned());
    let named = |name: &str| key.clone().map(|key| (name.to_owned(), key));
    match address.wire {
        WireFormat::ChatCompletions | WireFormat::Responses => key
            .map(|key| ("authorization".to_owned(), format!("Bearer {key}")))
            .into_iter()
            .collect(),
        WireFormat::Messages => {
            let version = ("anthropic-version".to_owned(), messages::VERSION.to_owned());
            named("x-api-key").into_iter().chain([version]).collect()
        }
        WireFormat::Gemini => named("x-goog-api-key").into_iter().collect(),
    }
}

/// The body of a request. The same request in the same dialect has the same bytes.
pub(crate) fn body(
    address: &ModelAddress,
    request: &ModelRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Vec<u8> {
    let model = address.model.as_str();
    let body: Value = match address.wire {
        WireFormat::ChatCompletions => chat::body(address, request, dialect, is_streamed),
        WireFormat::Responses => responses::body(model, request, dialect, is_streamed),
        WireFormat::Messages => messages::body(model, request, dialect, is_streamed),
        WireFormat::Gemini => gemini::body(model, request, dialect),
    };
    body.to_string().into_bytes()
}

/// What reads an answer.
pub(crate) fn accumulator(wire: WireFormat) -> Box<dyn Accumulator> {
    match wire {
        WireFormat::ChatCompletions => Box::<chat::ChatReply>::default(),
        WireFormat::Responses => Box::<responses::ResponsesReply>::default(),
        WireFormat::Messages => Box::<messages::MessagesReply>::default(),
        WireFormat::Gemini => Box::<gemini::GeminiReply>::default(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn address(wire: WireFormat, base: &str) -> ModelAddress {
        ModelAddress {
            wire,
            api_base_url: base.to_owned(),
            model: "models/m-1".to_owned(),
            api_key: Some(" key ".to_owned().into()),
            request_timeout: Duration::ZERO,
        }
    }

    #[test]
    fn endpoints() {
        use WireFormat::{ChatCompletions, Gemini, Messages, Responses};
        for (wire, base, expected) in [
            (
                ChatCompletions,
                "http://h:8080/v1",
                Some("http://h:8080/v1/chat/completions"),
            ),
            (
                ChatCompletions,
                " https://h/v1/ ",
                Some("https://h/v1/chat/completions"),
            ),
            (
                ChatCompletions,
                "https://h/v1/chat/completions",
                Some("https://h/v1/chat/completions"),
            ),
            (ChatCompletions, "https://h/v1?key=x", None),
            (ChatCompletions, "https://h/#v1", None),
            (ChatCompletions, " / ", None),
            (Responses, "https://h/v1", Some("https://h/v1/responses")),
            (
                Responses,
                "https://h/v1/responses",
                Some("https://h/v1/responses"),
            ),
            (Messages, "https://h", Some("https://h/v1/messages")),
            (Messages, "https://h/v1/", Some("https://h/v1/messages")),
            (
                Messages,
                "https://h/p/v1/messages",
                Some("https://h/p/v1/messages"),
            ),
            (
                Gemini,
                "https://h",
                Some("https://h/v1beta/models/m-1:generateContent"),
            ),
            (
                Gemini,
                "https://h/v1",
                Some("https://h/v1/models/m-1:generateContent"),
            ),
            (Gemini, "", None),
        ] {
            let found = endpoint(&address(wire, base), false);
            assert_eq!(found.ok().as_deref(), expected, "{wire:?} {base}");
        }
        let streamed = endpoint(&address(Gemini, "https://h"), true).unwrap();
        assert_eq!(
            streamed,
            "https://h/v1beta/models/m-1:streamGenerateContent?alt=sse"
        );
        let odd = ModelAddress {
            model: "../x?y".to_owned(),
            ..address(Gemini, "https://h")
        };
        assert!(endpoint(&odd, true).is_err());
    }

    #[test]
    fn a_key_is_a_header() {
        let of = |wire| {
            let headers = headers(&address(wire, "https://h"));
            let lines: Vec<String> = headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
            lines.join(", ")
        };
        assert_eq!(of(WireFormat::ChatCompletions), "authorization: Bearer key");
        assert_eq!(of(WireFormat::Responses), "authorization: Bearer key");
        assert_eq!(
            of(WireFormat::Messages),
            "x-api-key: key, anthropic-version: 2023-06-01"
        );
        assert_eq!(of(WireFormat::Gemini), "x-goog-api-key: key");
    }
}
