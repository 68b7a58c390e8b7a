//! What a server understands: found out by asking once, then remembered.
//!
//! Servers differ in how a form of answer is asked for, in what a limit is called and in how
//! thinking is asked for. The first request uses the newest words; one that is rejected for a
//! word is sent again with the next older one.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use windlass_ports::{ModelAddress, ModelError, ModelRequest, WireFormat};

use crate::{
    failure::Failure,
    provider::{Thinks, bundled},
};

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
    /// The model may be asked to think, and for how long.
    pub takes_effort: bool,
    /// The model decides itself how long it thinks, and takes no number of tokens.
    pub thinks_adaptively: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            form: Form::Schema,
            says_max_tokens: true,
            streams_usage: true,
            takes_effort: true,
            thinks_adaptively: false,
        }
    }
}

impl Dialect {
    /// The dialect to begin with, by what is known of the model.
    fn first(address: &ModelAddress) -> Self {
        let known = bundled().by_name(&address.model);
        Self {
            thinks_adaptively: known.is_some_and(|known| known.thinking == Thinks::Adaptive),
            ..Self::default()
        }
    }

    /// The dialect to try after this one was rejected; `None` when no word of it is to blame.
    pub fn after(
        self,
        failure: &Failure,
        wire: WireFormat,
        request: &ModelRequest,
    ) -> Option<Self> {
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
        let thinks = request.effort.is_some() && self.takes_effort;
        match wire {
            WireFormat::ChatCompletions => {
                if self.says_max_tokens
                    && request.max_tokens.is_some()
                    && blames("max_completion_tokens")
                {
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
                if thinks && blames("reasoning_effort") {
                    return Some(self.without_effort());
                }
            }
            WireFormat::Messages if thinks => {
                if !self.thinks_adaptively && blames("adaptive") {
                    return Some(Self {
                        thinks_adaptively: true,
                        ..self
                    });
                }
                // Other errors speak of thinking, too, and are not to turn it off for good.
                if blames("not support") && (blames("thinking") || blames("effort")) {
                    return Some(self.without_effort());
                }
            }
            WireFormat::Responses
                if thinks && param.is_some_and(|it| it.starts_with("reasoning")) =>
            {
                return Some(self.without_effort());
            }
            WireFormat::Gemini if thinks && (blames("thinking") || blames("Thinking")) => {
                return Some(self.without_effort());
            }
            WireFormat::Messages | WireFormat::Responses | WireFormat::Gemini => {}
        }
        let form = self.next_form(wire, blames, param, &failure.error)?;
        request.schema.as_ref()?;
        Some(Self { form, ..self })
    }

    const fn without_effort(self) -> Self {
        Self {
            takes_effort: false,
            ..self
        }
    }

    fn next_form(
        self,
        wire: WireFormat,
        blames: impl Fn(&str) -> bool,
        param: Option<&str>,
        error: &ModelError,
    ) -> Option<Form> {
        let is_to_blame = match wire {
            // Local servers do not say which word they do not know.
            WireFormat::ChatCompletions => {
                !error.is_context_exceeded()
                    && param.is_none_or(|param| param.starts_with("response_format"))
            }
            WireFormat::Responses => {
                blames("json_schema") || param.is_some_and(|it| it.starts_with("text"))
            }
            WireFormat::Messages => blames("output_config") || blames("output_format"),
            WireFormat::Gemini => ["mime type", "MimeType", "JsonSchema", "schema"]
                .iter()
                .any(|word| blames(word)),
        };
        match (is_to_blame, self.form, wire) {
            (false, _, _) | (_, Form::Prompt, _) => None,
            (_, Form::Schema, WireFormat::ChatCompletions | WireFormat::Responses) => {
                Some(Form::Object)
            }
            (_, Form::Schema, WireFormat::Messages | WireFormat::Gemini) | (_, Form::Object, _) => {
                Some(Form::Prompt)
            }
        }
    }
}

/// What each model at each server understands.
#[derive(Default)]
pub(crate) struct Dialects {
    known: Mutex<HashMap<(String, String), Dialect>>,
}

impl Dialects {
    pub fn of(&self, address: &ModelAddress) -> Dialect {
        let known = self.lock().get(&key(address)).copied();
        known.unwrap_or_else(|| Dialect::first(address))
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
