//! Requests and answers as plain values, so that everything behind them needs no network.

use std::collections::BTreeMap;

/// One HTTP request. Header names are in lower case; the path is still percent-encoded.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    pub fn empty(status: u16) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// What the connection does with a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    Answer(Reply),
    /// The answer comes after this many real milliseconds.
    Slow(u64, Reply),
    /// The connection is closed without an answer.
    Cut,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The parts of the credential scope: access key, region, service.
    pub fn credential(&self) -> Option<Credential> {
        let query: BTreeMap<String, String> = url::form_urlencoded::parse(self.query.as_bytes())
            .into_owned()
            .collect();
        let scope = match self.header("authorization") {
            Some(header) => header
                .split_once("Credential=")
                .map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or_default().to_owned()),
            None => query.get("X-Amz-Credential").cloned(),
        }?;
        let parts: Vec<&str> = scope.split('/').collect();
        match parts.as_slice() {
            [key, _date, region, service, ..] => Some(Credential {
                access_key: (*key).to_owned(),
                region: (*region).to_owned(),
                service: (*service).to_owned(),
            }),
            _ => None,
        }
    }
}

/// Who calls which service where. The signature itself is not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub access_key: String,
    pub region: String,
    pub service: String,
}
