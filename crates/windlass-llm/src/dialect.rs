//! What a server understands: found out by asking once, then remembered.
//!
//! Servers differ in how a form of answer is asked for and in what a limit is called. The
//! first request uses the newest words; one that is rejected for a word is sent again with
//! the next older one.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use windlass_ports::{ModelAddress, ModelError, ModelRequest};

use crate::failure::Failure;

/// Far more servers than an installation talks to; addresses come from callers.
const MAX_REMEMBERED: usize = 256;

/// How a form of answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The server holds the model to the schema.
    Schema,
    /// The server holds the model to JSON; the prompt has the schema.
    Object,
    /// The prompt has the schema.
    Prompt,
}

/// What a server understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub form: Form,
    /// The limit is `max_tokens`, and not `max_completion_tokens`.
    pub says_max_tokens: bool,
    /// A stream may be asked to end with its usage.
    pub streams_usage: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            form: Form::Schema,
            says_max_tokens: true,
            streams_usage: true,
        }
    }
}

impl Dialect {
    /// The dialect to try after this one was rejected; `None` when no word of it is to blame.
    pub fn after(self, failure: &Failure, request: &ModelRequest) -> Option<Self> {
        let ModelError::Rejected {
            status: 400 | 422,
            said,
            ..
        } = &failure.error
        else {
            return None;
        };
        let param = failure.param.as_deref();
        let blames = |word: &str| param == Some(word) || said.contains(word);
        if self.says_max_tokens && request.max_tokens.is_some() && blames("max_completion_tokens") {
            return Some(Self {
                says_max_tokens: false,
                ..self
            });
        }
        if self.streams_usage && blames("stream_options") {
            return Some(Self {
                streams_usage: false,
                ..self
            });
        }
        let blames_other = failure.error.is_context_exceeded()
            || param.is_some_and(|param| !param.starts_with("response_format"));
        if request.schema.is_none() || blames_other {
            return None;
        }
        let form = match self.form {
            Form::Schema => Form::Object,
            Form::Object => Form::Prompt,
            Form::Prompt => return None,
        };
        Some(Self { form, ..self })
    }
}

/// What each model at each server understands.
#[derive(Default)]
pub(crate) struct Dialects {
    known: Mutex<HashMap<(String, String), Dialect>>,
}

impl Dialects {
    pub fn of(&self, address: &ModelAddress) -> Dialect {
        self.lock().get(&key(address)).copied().unwrap_or_default()
    }

    /// Remembers a dialect that worked.
    pub fn remember(&self, address: &ModelAddress, dialect: Dialect) {
        let mut known = self.lock();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key(address), dialect);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Dialect>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(address: &ModelAddress) -> (String, String) {
    (address.api_base_url.clone(), address.model.clone())
}
