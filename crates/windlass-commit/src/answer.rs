//! Answers of services: fields read, failures turned into faults.

use std::time::Duration;

use serde_json::{Map, Value};
use windlass_ports::OutboundResponse;
use windlass_ports::commit_service::{ServiceFault, Stage};
use windlass_types::{Timestamp, retry};

/// More of a service's own message does not help.
const LONGEST_MESSAGE: usize = 500;

/// An answer with any status.
#[derive(Debug)]
pub struct Answer {
    pub adapter: &'static str,
    pub stage: Stage,
    /// What was asked, for messages: method and path.
    pub asked: String,
    pub response: OutboundResponse,
    /// Never shown, should the service repeat it.
    pub token: Option<windlass_types::Secret<String>>,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.response.status
    }

    /// The answer if it is a yes.
    pub fn success(self) -> Result<Self, ServiceFault> {
        match self.status() {
            200..=299 => Ok(self),
            _ => Err(self.fault()),
        }
    }

    /// The answer, or `None` where there is no such thing.
    pub fn found(self) -> Result<Option<Self>, ServiceFault> {
        match self.status() {
            404 => Ok(None),
            _ => self.success().map(Some),
        }
    }

    /// The fields of an object, or of the first object of a list; none of anything else.
    pub fn fields(&self) -> Map<String, Value> {
        let read = serde_json::from_slice(&self.response.body);
        let first = match read.unwrap_or_default() {
            Value::Array(items) => items.into_iter().next().unwrap_or_default(),
            other => other,
        };
        match first {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// A text by its path, as `object/sha`.
    pub fn text(&self, path: &str) -> Result<String, ServiceFault> {
        let fields = Value::Object(self.fields());
        match fields.pointer(&format!("/{path}")).and_then(Value::as_str) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.not_understood(path)),
        }
    }

    pub fn not_understood(&self, field: &str) -> ServiceFault {
        let mut fault = self.fault();
        fault.message = format!(
            "the answer to {} has no `{field}`; is the endpoint address right?",
            self.asked
        );
        fault
    }

    /// The answer as a failure.
    pub fn fault(&self) -> ServiceFault {
        let status = self.status();
        let fields = self.fields();
        let code = self.code(&fields);
        let said = self.hide(&said(&fields));
        let advice = match status {
            300..=399 => " (it has moved; update the repository's or the endpoint's address)",
            401 => " (the token is missing, wrong or expired)",
            403 => " (the token may not do this)",
            404 => " (there is no such thing, or the token may not see it)",
            _ => "",
        };
        let said = if said.is_empty() {
            String::new()
        } else {
            format!(": {said}")
        };
        let is_path = status == 403 && code.as_deref() == Some("PATH_NOT_ALLOWED");
        ServiceFault {
            adapter: self.adapter,
            stage: self.stage,
            http_status: Some(status),
            service_code: code,
            message: format!("{} was answered with {status}{said}{advice}", self.asked),
            retryable: self.is_transient(),
            retry_after: None,
            path_not_allowed: is_path.then(|| refused_path(&fields)),
        }
    }

    /// Whether the same call can succeed later.
    pub fn is_transient(&self) -> bool {
        let exhausted = self.response.header("x-ratelimit-remaining") == Some("0");
        match self.status() {
            429 | 500..=599 => true,
            // How GitHub says 429.
            403 => exhausted || self.response.header("retry-after").is_some(),
            _ => false,
        }
    }

    /// How long the service wants to be left alone: seconds, or a date.
    pub fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        if let Some(value) = self.response.header("retry-after") {
            return retry::retry_after(value, now);
        }
        let exhausted = self.response.header("x-ratelimit-remaining") == Some("0");
        let reset: i64 = self
            .response
            .header("x-ratelimit-reset")?
            .trim()
            .parse()
            .ok()?;
        let wait = reset.saturating_sub(now.as_seconds());
        exhausted.then_some(Duration::from_secs(u64::try_from(wait).unwrap_or(0)))
    }

    fn code(&self, fields: &Map<String, Value>) -> Option<String> {
        let own = fields.get("code").and_then(Value::as_str);
        let listed = fields
            .get("errors")
            .and_then(|errors| errors.get(0)?.get("code")?.as_str());
        own.or(listed).map(|code| self.hide(code))
    }

    fn hide(&self, text: &str) -> String {
        let shown = match self
            .token
            .as_ref()
            .map(|token| token.expose_secret().trim())
        {
            Some(token) if !token.is_empty() => text.replace(token, "***"),
            _ => text.to_owned(),
        };
        let shown: String = shown
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_MESSAGE)
            .collect();
        shown.trim().to_owned()
    }
}

/// The service's own words: a text, a list of texts, or texts by field, as the services have it.
fn said(fields: &Map<String, Value>) -> String {
    let mut texts = Vec::new();
    for name in ["message", "error", "error_description", "errors"] {
        if let Some(value) = fields.get(name) {
            collect(value, &mut texts);
        }
    }
    texts.join("; ")
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() && !texts.contains(text) => {
            texts.push(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => match fields.get("message") {
            Some(message) => collect(message, texts),
            None => fields.values().for_each(|value| collect(value, texts)),
        },
        _ => {}
    }
}

fn refused_path(fields: &Map<String, Value>) -> String {
    let details = fields.get("details");
    let path = details.and_then(|details| {
        let listed = details.get("paths").and_then(|paths| paths.get(0));
        details.get("path").or(listed)?.as_str()
    });
    path.unwrap_or("(the service does not name it)").to_owned()
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
