//! Arguments of the four tools: names in any spelling, nothing unknown, nothing of a wrong type.
//!
//! Pure. Which arguments an operation takes is passed by the caller; what they mean is not known
//! here.

use serde_json::{Map, Number, Value};
use windlass_text::suggest;
use windlass_types::{Problem, code};

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// A text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number that is not negative.
    Number,
    /// A whole number that is not negative, or a text that is one.
    NumberOrText,
    /// A list of texts.
    Texts,
    /// An object.
    Object,
    /// An object, or a text.
    ObjectOrText,
    /// Anything.
    Any,
}

impl ArgumentType {
    fn noun(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Bool => "true or false",
            Self::Number | Self::NumberOrText => "a whole number",
            Self::Texts => "a list of texts",
            Self::Object => "an object",
            Self::ObjectOrText => "an object or a text",
            Self::Any => "a value",
        }
    }
}

/// An argument an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// Its name, in camel case.
    pub name: &'static str,
    /// Its type.
    pub kind: ArgumentType,
    /// It must be given.
    pub required: bool,
}

impl ArgumentSpec {
    /// An argument that may be left out.
    pub const fn optional(name: &'static str, kind: ArgumentType) -> Self {
        Self {
            name,
            kind,
            required: false,
        }
    }

    /// An argument that must be given.
    pub const fn required(name: &'static str, kind: ArgumentType) -> Self {
        Self {
            name,
            kind,
            required: true,
        }
    }
}

/// Names that would carry credentials, folded. They are refused, and their values never shown.
const CREDENTIALS: &[&str] = &[
    "apikey",
    "accesskey",
    "accesskeyid",
    "awsaccesskeyid",
    "secretkey",
    "secretaccesskey",
    "awssecretaccesskey",
    "sessiontoken",
    "awssessiontoken",
    "securitytoken",
    "credentials",
    "password",
    "bearertoken",
    "authtoken",
];

/// The arguments of one operation, by their camel-case names.
pub fn normalise(
    operation: &str,
    given: &Map<String, Value>,
    specs: &[ArgumentSpec],
) -> Result<Map<String, Value>, Problem> {
    let mut arguments = Map::new();
    let mut spelt: Vec<(String, &str)> = Vec::new();
    for (written, value) in given {
        let name = to_camel(written);
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            return Err(unknown(operation, written, specs));
        };
        if value.is_null() {
            continue;
        }
        let value = checked(spec, value)?;
        let before = spelt.iter().find(|(earlier, _)| *earlier == name);
        if let Some((_, earlier)) = before
            && arguments.get(&name) != Some(&value)
        {
            return Err(refusal(
                "duplicate_argument",
                &name,
                format!("{name} is given twice with different values, as {earlier} and {written}"),
            ));
        }
        spelt.push((name.clone(), written));
        arguments.insert(name, value);
    }
    for spec in specs.iter().filter(|spec| spec.required) {
        if !arguments.contains_key(spec.name) {
            return Err(refusal(
                "missing_argument",
                spec.name,
                format!("{operation} needs the argument {}", spec.name),
            )
            .next(format!("repeat with {}", spec.name)));
        }
    }
    Ok(arguments)
}

/// `project-name`, `project_name` and `projectName` as `projectName`.
pub fn to_camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper_next = false;
    for letter in name.trim_start_matches('-').chars() {
        if matches!(letter, '-' | '_') {
            upper_next = !camel.is_empty();
        } else if std::mem::take(&mut upper_next) {
            camel.extend(letter.to_uppercase());
        } else {
            camel.push(letter);
        }
    }
    camel
}

fn unknown(operation: &str, written: &str, specs: &[ArgumentSpec]) -> Problem {
    let folded: String = written
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .flat_map(char::to_lowercase)
        .collect();
    if CREDENTIALS.contains(&folded.as_str()) {
        return refusal(
            "credentials_in_arguments",
            written,
            format!(
                "credentials are not taken as arguments ({written}); use a profile or the \
                 environment of the server"
            ),
        );
    }
    let names = || specs.iter().map(|spec| spec.name);
    let shown = suggest::shown(written);
    let mut message = format!("{operation} does not take the argument {shown}");
    if let Some(question) = suggest::question(written, names()) {
        message.push_str(&format!("; {question}"));
    }
    let mut known: Vec<&str> = names().collect();
    known.sort_unstable();
    refusal("unknown_argument", &shown, message).with("known", known)
}

fn checked(spec: &ArgumentSpec, value: &Value) -> Result<Value, Problem> {
    let fits = match spec.kind {
        ArgumentType::Text => value.is_string(),
        ArgumentType::Bool => value.is_boolean(),
        ArgumentType::Number => value.is_u64(),
        ArgumentType::NumberOrText => {
            if let Some(number) = value.as_str().and_then(whole_number) {
                return Ok(Value::Number(number));
            }
            value.is_u64()
        }
        ArgumentType::Texts => value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        ArgumentType::Object => value.is_object(),
        ArgumentType::ObjectOrText => value.is_object() || value.is_string(),
        ArgumentType::Any => true,
    };
    if fits {
        return Ok(value.clone());
    }
    let found = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "another number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let found = match (spec.kind, value) {
        (ArgumentType::Number | ArgumentType::NumberOrText, _) => found,
        (_, Value::Number(_)) => "a number",
        _ => found,
    };
    Err(refusal(
        "invalid_argument",
        spec.name,
        format!("{} is {}, not {found}", spec.name, spec.kind.noun()),
    ))
}

fn whole_number(text: &str) -> Option<Number> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits {
        text.parse::<u64>().ok().map(Number::from)
    } else {
        None
    }
}

fn refusal(reason: &str, argument: &str, message: String) -> Problem {
    Problem::new(&code::INVALID_INPUT, message)
        .with("reason", reason)
        .with("field", argument)
        .with("argument", argument)
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
