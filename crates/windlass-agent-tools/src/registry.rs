//! The tools of a session, in a fixed order.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;
use windlass_ports::{ToolCall, ToolSpec};
use windlass_text::suggest::{nearest, shown};

use crate::{
    Code, Context, Failure, Look, Places, Ran, Tool, ask::AskUser, command, create::Create,
    docs::SearchDocs, look::markers, password::GeneratePassword, remove::Remove,
    replace::StrReplace, skill::LoadSkill, view::View, web::ViewWebPage,
};

/// More findings about one call help no one.
const MOST_FINDINGS: usize = 20;

/// Tools by name, in the order the model is told about them.
#[derive(Clone, Default)]
pub struct Tools(Vec<Arc<Entry>>);

struct Entry {
    tool: Box<dyn Tool>,
    /// Compiled when it is first needed: a session uses few of its tools.
    validator: OnceLock<Result<Validator, String>>,
}

impl fmt::Debug for Tools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|entry| &entry.tool.spec().name);
        formatter.debug_list().entries(names).finish()
    }
}

/// Why a call cannot be made as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is no such tool.
    UnknownTool {
        /// What to tell the model.
        message: String,
    },
    /// The arguments do not fit, or name something impossible.
    Refused(Failure),
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::UnknownTool { message } => Self::new(Code::InvalidArguments, message),
            Unfit::Refused(failure) => failure,
        }
    }
}

impl Tools {
    /// No tools.
    pub fn none() -> Self {
        Self::default()
    }

    /// The tools of every session.
    pub fn standard() -> Self {
        let mut tools = Self::none();
        for tool in command::tools() {
            tools = tools.with_boxed(tool);
        }
        tools
            .with(View::default())
            .with(Create::default())
            .with(StrReplace::default())
            .with(Remove::default())
            .with(GeneratePassword::default())
            .with(ViewWebPage::default())
            .with(AskUser::default())
            .with(SearchDocs::default())
            .with(LoadSkill::default())
    }

    /// The same and one more; it takes the place of one with its name.
    #[must_use]
    pub fn with(self, tool: impl Tool + 'static) -> Self {
        self.with_boxed(Box::new(tool))
    }

    fn with_boxed(mut self, tool: Box<dyn Tool>) -> Self {
        let name = &tool.spec().name;
        let had = self
            .0
            .iter()
            .position(|entry| entry.tool.spec().name == *name);
        let entry = Arc::new(Entry {
            tool,
            validator: OnceLock::new(),
        });
        match had {
            Some(place) => self.0[place] = entry,
            None => self.0.push(entry),
        }
        self
    }

    /// Only those that a filter lets pass.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|entry| keep(&entry.tool.spec().name));
        self
    }

    /// What the model is told.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0
            .iter()
            .map(|entry| entry.tool.spec().clone())
            .collect()
    }

    /// The arguments of a call, if they are what its tool takes.
    pub fn arguments(&self, call: &ToolCall) -> Result<Value, Unfit> {
        let entry = self.find(&call.name)?;
        let text = match call.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let refuse =
            |message: String| Unfit::Refused(Failure::new(Code::InvalidArguments, message));
        let value: Value = serde_json::from_str(text)
            .map_err(|error| refuse(format!("The arguments are not JSON: {error}.")))?;
        entry.check(&value).map_err(refuse)?;
        Ok(value)
    }

    /// What a call would touch, secrets in its arguments included.
    pub fn look(&self, name: &str, input: &Value, places: &Places) -> Result<Look, Unfit> {
        let entry = self.find(name)?;
        let mut look = entry.tool.look(input, places).map_err(Unfit::Refused)?;
        look.markers = markers(input);
        Ok(look)
    }

    /// Makes a call whose arguments were checked, after policy let it pass.
    pub async fn run(&self, name: &str, input: Value, context: &Context) -> Ran {
        match self.find(name) {
            Ok(entry) => entry.tool.run(input, context).await,
            Err(unfit) => Ran::Done(Failure::from(unfit).into()),
        }
    }

    fn find(&self, name: &str) -> Result<&Entry, Unfit> {
        let found = self.0.iter().find(|entry| entry.tool.spec().name == name);
        found.map(AsRef::as_ref).ok_or_else(|| {
            let names = self.0.iter().map(|entry| entry.tool.spec().name.as_str());
            let hint = match nearest(name, names.clone()) {
                Some(near) => format!(" Did you mean {near}?"),
                None => format!(" There are: {}.", names.collect::<Vec<_>>().join(", ")),
            };
            Unfit::UnknownTool {
                message: format!("There is no tool {}.{hint}", shown(name)),
            }
        })
    }
}

impl Entry {
    fn check(&self, value: &Value) -> Result<(), String> {
        let schema = &self.tool.spec().input_schema;
        let validator = self.validator.get_or_init(|| {
            jsonschema::draft202012::new(schema).map_err(|error| error.to_string())
        });
        let validator = validator.as_ref().map_err(Clone::clone)?;
        let findings: Vec<String> = validator
            .iter_errors(value)
            .take(MOST_FINDINGS)
            .map(|error| explain(&error, schema))
            .collect();
        match findings.is_empty() {
            true => Ok(()),
            false => Err(findings.join("\n")),
        }
    }
}

/// A finding in a sentence that names the field and never its value, which may be a secret.
fn explain(error: &ValidationError<'_>, schema: &Value) -> String {
    let pointer = error.instance_path().as_str();
    let field = pointer.trim_start_matches('/').replace('/', ".");
    let within = match field.is_empty() {
        true => String::new(),
        false => format!(" in {field}"),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("{name} is required{within}.")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = known(schema, pointer);
            let unknown = unexpected.iter().map(|name| {
                let hint = match nearest(name, known.iter().copied()) {
                    Some(near) => format!(" Did you mean {near}?"),
                    None => format!(" Known are: {}.", known.join(", ")),
                };
                format!("{} is not a known field{within}.{hint}", shown(name))
            });
            unknown.collect::<Vec<_>>().join("\n")
        }
        _ => {
            let subject = if field.is_empty() {
                "the value"
            } else {
                &field
            };
            format!("{}.", error.masked_with(subject))
        }
    }
}

/// The fields that the schema knows at a place.
fn known<'a>(schema: &'a Value, pointer: &str) -> Vec<&'a str> {
    let mut at = schema;
    for step in pointer.split('/').skip(1) {
        let below = at
            .get("properties")
            .and_then(|fields| fields.get(step))
            .or_else(|| at.get("items"));
        let Some(below) = below else {
            return Vec::new();
        };
        at = below;
    }
    let fields = at.get("properties").and_then(Value::as_object);
    fields
        .map(|fields| fields.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
