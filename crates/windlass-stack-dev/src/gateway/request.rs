//! A request, taken apart once for all payload formats.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use windlass_types::Timestamp;

/// What came in.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub method: Method,
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub at: Timestamp,
    pub id: String,
    pub source_ip: String,
}

impl Incoming {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Names in order of their first value, with all values.
    pub fn header_values(&self) -> Vec<(String, Vec<String>)> {
        self.headers
            .keys()
            .map(|name| {
                let values = self.headers.get_all(name).iter();
                let texts =
                    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
                (name.as_str().to_owned(), texts.collect())
            })
            .collect()
    }

    /// Decoded parameters, each with all its values.
    pub fn query_values(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(self.query.as_bytes()) {
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value.into_owned()),
                None => found.push((name.into_owned(), vec![value.into_owned()])),
            }
        }
        found
    }

    /// The body as text, or in base64 when it is none; nothing when it is empty.
    pub fn body_text(&self) -> (Option<String>, bool) {
        if self.body.is_empty() {
            return (None, false);
        }
        let is_text_kind = self.header("content-type").is_none_or(|kind| {
            kind.starts_with("text/")
                || ["json", "xml", "javascript", "x-www-form-urlencoded"]
                    .iter()
                    .any(|text| kind.contains(text))
        });
        match std::str::from_utf8(&self.body) {
            Ok(text) if is_text_kind => (Some(text.to_owned()), false),
            _ => {
                use base64::Engine as _;
                (
                    Some(base64::engine::general_purpose::STANDARD.encode(&self.body)),
                    true,
                )
            }
        }
    }
}
