//! What requests of several wire formats have in common.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use windlass_ports::{
    Media, Message, ModelAddress, ModelError, ModelRequest, OutputSchema, Part, Role, ToolResult,
};

use super::dialect::Form;

/// The fields of a body.
#[derive(Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Leaves out what is absent.
    pub fn put_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}

/// The base address with a path behind it. Often the whole address is pasted.
pub(super) fn endpoint(address: &ModelAddress, path: &str) -> Result<String, ModelError> {
    let base = base(address)?;
    Ok(format!("{}{path}", base.strip_suffix(path).unwrap_or(base)))
}

/// The base address without what does not belong to one.
pub(super) fn base(address: &ModelAddress) -> Result<&str, ModelError> {
    let base = address.api_base_url.trim();
    if base.contains(['?', '#']) {
        return Err(ModelError::InvalidAddress(
            "api_base_url takes no `?` or `#`; write the part before /chat/completions".to_owned(),
        ));
    }
    let base = base.trim_end_matches('/');
    match base.is_empty() {
        true => Err(ModelError::InvalidAddress(
            "api_base_url is empty; write where the model is served, such as http://127.0.0.1:8080/v1"
                .to_owned(),
        )),
        false => Ok(base),
    }
}

/// Arguments as an object. Text that is none stays in the conversation within an object, since
/// servers take nothing else.
pub(super) fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        _ if arguments.trim().is_empty() => json!({}),
        _ => json!({ "raw_arguments": arguments }),
    }
}

/// Arguments as the text of an object: unchanged where they are one.
pub(super) fn arguments_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Cow::Borrowed(arguments),
        _ => Cow::Owned(arguments_object(arguments).to_string()),
    }
}

/// Bytes as an address that holds them.
pub(super) fn data_url(media: &Media) -> String {
    format!("data:{};base64,{}", media.media_type, media.data)
}

/// The words of a document that is plain text.
pub(super) fn plain_text(document: &Media) -> Option<String> {
    if !document.media_type.starts_with("text/") {
        return None;
    }
    String::from_utf8(STANDARD.decode(&document.data).ok()?).ok()
}

/// A document's name, where servers require one.
pub(super) fn file_name(document: &Media) -> &str {
    document.name.as_deref().unwrap_or("document.pdf")
}

/// The words of the rules, in order.
pub(super) fn rules(request: &ModelRequest) -> impl Iterator<Item = String> {
    let rules = request.messages.iter();
    let rules = rules.filter(|message| message.role == Role::System);
    rules.map(Message::text).filter(|text| !text.is_empty())
}

/// The rule that asks for a form of answer where the server does not take the schema itself.
pub(super) fn form_rule(request: &ModelRequest, form: Form) -> Option<String> {
    let OutputSchema { schema, .. } = request.schema.as_ref()?;
    match form {
        Form::Schema => None,
        Form::Object | Form::Prompt => Some(format!(
            "Answer with one JSON value that fits the JSON Schema below, and nothing else: no \
             explanation, no code fence.\n\nJSON Schema:\n{schema}"
        )),
    }
}

/// The words of a result, also where it has none: several servers refuse empty ones.
pub(super) fn result_text(result: &ToolResult) -> String {
    match result.text() {
        nothing if nothing.is_empty() => "(no output)".to_owned(),
        text => text,
    }
}

/// What a result has besides words.
pub(super) fn media(parts: &[Part]) -> impl Iterator<Item = &Part> {
    let is_media = |part: &&Part| matches!(part, Part::Image(_) | Part::Document(_));
    parts.iter().filter(is_media)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object() {
        for (text, object, sent) in [
            ("{\"a\": 1}", json!({ "a": 1 }), "{\"a\": 1}"),
            ("", json!({}), "{}"),
            (" ", json!({}), "{}"),
            (
                "{\"a\":",
                json!({ "raw_arguments": "{\"a\":" }),
                r#"{"raw_arguments":"{\"a\":"}"#,
            ),
            (
                "[1]",
                json!({ "raw_arguments": "[1]" }),
                r#"{"raw_arguments":"[1]"}"#,
            ),
        ] {
            assert_eq!(arguments_object(text), object, "{text:?}");
            assert_eq!(arguments_text(text), sent, "{text:?}");
        }
    }
}
