//! The shape of a config: properties, types, allowed values. Driven by the schema, so that what
//! is checked, what editors show and what is documented are one.

use serde_json::Value;
use windlass_text::suggest;

use crate::fault::{Fault, FaultKind};
use crate::schema::MARKED;
use crate::tagged::REJECTED;
use crate::tree::{Entry, Kind, Node, Path, Span, Step};
use crate::value::TAKES_RUNTIME;

/// Everything that is wrong with the shape of a config.
pub(crate) fn check(root: &Node) -> Vec<Fault> {
    let mut checker = Checker { faults: Vec::new() };
    let place = Place {
        path: Path::default(),
        owner: root.span,
    };
    checker.check(root, &MARKED, &place);
    checker.faults
}

/// Where a value is, and the key it belongs to.
struct Place {
    path: Path,
    owner: Option<Span>,
}

impl Place {
    fn key(&self, entry: &Entry) -> Self {
        Self {
            path: self.path.key(&entry.key),
            owner: entry.key_span,
        }
    }

    fn index(&self, index: usize, item: &Node) -> Self {
        Self {
            path: self.path.index(index),
            owner: item.span,
        }
    }

    /// What the value is called in messages.
    fn name(&self) -> String {
        let mut suffix = String::new();
        for step in self.path.0.iter().rev() {
            match step {
                Step::Key(key) => return format!("\"{key}{suffix}\""),
                Step::Index(index) => suffix = format!("[{index}]{suffix}"),
            }
        }
        "the config".to_owned()
    }
}

struct Checker {
    faults: Vec<Fault>,
}

impl Checker {
    fn check(&mut self, node: &Node, schema: &'static Value, place: &Place) {
        let schema = resolved(schema);
        match &node.kind {
            Kind::Broken => return,
            Kind::Runtime(runtime) if schema.get(TAKES_RUNTIME).is_none() => {
                let message = format!(
                    "{} must be known before the deploy; ${} is known only after it",
                    place.name(),
                    runtime.directive()
                );
                return self.fault(FaultKind::WrongType, node.span, place, message, None);
            }
            Kind::Runtime(_) => return,
            _ => {}
        }
        if let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) {
            if alternatives.iter().all(|one| tag(one).is_some()) {
                return self.union(node, schema, alternatives, place);
            }
            let constants = alternatives.iter().filter_map(|one| one.get("const"));
            return self.one_of(node, constants.collect(), place);
        }
        if !self.type_fits(node, schema, place) {
            return;
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            self.one_of(node, allowed.iter().collect(), place);
        }
        match &node.kind {
            Kind::Number(_) => self.range(node, schema, place),
            Kind::String(text) => self.text(text, node, schema, place),
            Kind::List(items) => self.list(items, node, schema, place),
            Kind::Map(entries) => self.map(entries, node, schema, place),
            _ => {}
        }
    }

    fn fault(
        &mut self,
        kind: FaultKind,
        span: Option<Span>,
        place: &Place,
        message: String,
        suggestion: Option<String>,
    ) {
        let span = span.or(place.owner);
        self.faults
            .push(Fault::new(kind, span, &place.path, message).suggest(suggestion));
    }

    fn type_fits(&mut self, node: &Node, schema: &Value, place: &Place) -> bool {
        let names: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        if names.iter().any(|name| is_a(node, name)) {
            return true;
        }
        let nouns: Vec<&str> = names.iter().map(|name| noun(name)).collect();
        let message = format!(
            "{} is {}, not {}",
            place.name(),
            nouns.join(" or "),
            node.describe()
        );
        let suggestion = match &node.kind {
            Kind::Null => Some("give a value, or remove the key".to_owned()),
            Kind::Number(number) if names.contains(&"string") => {
                Some(format!("write \"{number}\""))
            }
            Kind::Bool(flag) if names.contains(&"string") => Some(format!("write \"{flag}\"")),
            Kind::String(text) if parses_as(text, &names) => {
                Some(format!("write {text} without quotes"))
            }
            Kind::String(_) | Kind::Map(_) if names == ["array"] => {
                Some("write a list: begin each item with \"- \"".to_owned())
            }
            _ => None,
        };
        self.fault(FaultKind::WrongType, node.span, place, message, suggestion);
        false
    }

    fn one_of(&mut self, node: &Node, allowed: Vec<&Value>, place: &Place) {
        let value = node.to_json();
        let fits = allowed
            .iter()
            .any(|one| match (one.as_f64(), value.as_f64()) {
                (Some(one), Some(value)) => one == value,
                _ => **one == value,
            });
        if fits {
            return;
        }
        let words: Vec<String> = allowed
            .iter()
            .map(|one| match one {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        let given = node.text().unwrap_or_default();
        let suggestion = match &node.kind {
            Kind::Number(number) if words.contains(&number.to_string()) => {
                Some(format!("write \"{number}\""))
            }
            _ => suggest::question(given, words.iter().map(String::as_str)),
        };
        let message = format!(
            "{} is one of {}, not {}",
            place.name(),
            words.join(", "),
            node.describe()
        );
        self.fault(
            FaultKind::InvalidValue,
            node.span,
            place,
            message,
            suggestion,
        );
    }

    fn range(&mut self, node: &Node, schema: &Value, place: &Place) {
        let Some(value) = node.to_json().as_f64() else {
            return;
        };
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        if least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most) {
            return;
        }
        let allowed = match (least, most) {
            (Some(least), Some(most)) => format!("from {least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => return,
        };
        let message = format!("{} is {allowed}, not {value}", place.name());
        self.fault(FaultKind::InvalidValue, node.span, place, message, None);
    }

    fn text(&mut self, text: &str, node: &Node, schema: &Value, place: &Place) {
        let bound = |key| {
            let limit = schema.get(key).and_then(Value::as_u64)?;
            usize::try_from(limit).ok()
        };
        let length = text.chars().count();
        if bound("minLength").is_some_and(|least| length < least) {
            let message = format!(
                "{} must not be shorter than {} characters",
                place.name(),
                bound("minLength").unwrap_or_default()
            );
            let message = if length == 0 {
                format!("{} is empty", place.name())
            } else {
                message
            };
            return self.fault(FaultKind::InvalidValue, node.span, place, message, None);
        }
        if let Some(most) = bound("maxLength")
            && length > most
        {
            let message = format!(
                "{} has {length} characters; {most} are allowed",
                place.name()
            );
            return self.fault(FaultKind::InvalidValue, node.span, place, message, None);
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let fits = pattern
            .and_then(|pattern| regex::Regex::new(pattern).ok())
            .is_none_or(|pattern| pattern.is_match(text));
        if !fits {
            let message = format!(
                "{} is {}, which does not fit the form {}",
                place.name(),
                node.describe(),
                pattern.unwrap_or_default()
            );
            self.fault(FaultKind::InvalidValue, node.span, place, message, None);
        }
    }

    fn list(&mut self, items: &[Node], node: &Node, schema: &'static Value, place: &Place) {
        let bound = |key| {
            let limit = schema.get(key).and_then(Value::as_u64)?;
            usize::try_from(limit).ok()
        };
        if let Some(least) = bound("minItems")
            && items.len() < least
        {
            let message = format!("{} needs at least {least} items", place.name());
            self.fault(FaultKind::InvalidValue, node.span, place, message, None);
        }
        if let Some(most) = bound("maxItems")
            && items.len() > most
        {
            let message = format!(
                "{} has {} items; {most} are allowed",
                place.name(),
                items.len()
            );
            self.fault(FaultKind::InvalidValue, node.span, place, message, None);
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.check(item, schema, &place.index(index, item));
            }
        }
    }

    fn map(&mut self, entries: &[Entry], node: &Node, schema: &'static Value, place: &Place) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let further = schema.get("additionalProperties");
        for entry in entries {
            let inner = place.key(entry);
            match (properties.and_then(|known| known.get(&entry.key)), further) {
                (Some(schema), _) => self.check(&entry.value, schema, &inner),
                (None, Some(Value::Bool(false))) => self.unknown(entry, schema, &inner),
                (None, Some(schema)) => self.check(&entry.value, schema, &inner),
                (None, None) => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if node.get(key).is_none() {
                self.missing(key, place);
            }
        }
    }

    fn missing(&mut self, key: &str, place: &Place) {
        let inner = Place {
            path: place.path.key(key),
            owner: place.owner,
        };
        let message = format!("\"{key}\" is missing in {}", place.name());
        self.fault(FaultKind::MissingProperty, None, &inner, message, None);
    }

    fn unknown(&mut self, entry: &Entry, schema: &Value, place: &Place) {
        if let Some(reason) = rejected(schema, &entry.key) {
            let message = format!(
                "the property \"{}\" is not supported yet: {reason}",
                entry.key
            );
            return self.fault(
                FaultKind::UnsupportedProperty,
                entry.key_span,
                place,
                message,
                Some("remove it".to_owned()),
            );
        }
        let known: Vec<&str> = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|known| known.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let suggestion = suggest::question(&entry.key, known.iter().copied()).or_else(|| {
            (!known.is_empty()).then(|| format!("known properties: {}", known.join(", ")))
        });
        let message = format!("unknown property \"{}\"", entry.key);
        self.fault(
            FaultKind::UnknownProperty,
            entry.key_span,
            place,
            message,
            suggestion,
        );
    }

    /// `{type: …, properties: {…}}`.
    fn union(
        &mut self,
        node: &Node,
        schema: &'static Value,
        alternatives: &'static [Value],
        place: &Place,
    ) {
        if !matches!(node.kind, Kind::Map(_)) {
            let message = format!(
                "{} is a mapping with a \"type\", not {}",
                place.name(),
                node.describe()
            );
            return self.fault(FaultKind::WrongType, node.span, place, message, None);
        }
        let Some(written) = node.entry("type") else {
            self.missing("type", place);
            return;
        };
        let inner = place.key(written);
        let Some(name) = written.value.text() else {
            if !written.value.is_broken() {
                let message = format!("\"type\" is a text, not {}", written.value.describe());
                self.fault(
                    FaultKind::WrongType,
                    written.value.span,
                    &inner,
                    message,
                    None,
                );
            }
            return;
        };
        if let Some(alternative) = alternatives.iter().find(|one| tag(one) == Some(name)) {
            return self.check(node, alternative, place);
        }
        let noun = match place.path.0.as_slice() {
            [Step::Key(section), Step::Key(_)] if section == "resources" => "resource type",
            [.., Step::Key(section), Step::Index(_)] if section == "events" => "event type",
            [.., Step::Key(section)] if section == "packaging" => "packaging type",
            _ => "type",
        };
        let supported: Vec<&str> = alternatives.iter().filter_map(tag).collect();
        let (message, suggestion) = match rejected(schema, name) {
            Some(reason) => (
                format!("the {noun} \"{name}\" is not supported yet"),
                Some(reason.to_owned()),
            ),
            None => (
                format!("there is no {noun} \"{name}\""),
                suggest::question(name, supported.iter().copied()),
            ),
        };
        let message = format!("{message}; supported: {}", supported.join(", "));
        self.fault(
            FaultKind::UnsupportedType,
            written.value.span,
            &inner,
            message,
            suggestion,
        );
    }
}

fn resolved(schema: &'static Value) -> &'static Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some("#") => &MARKED,
        Some(reference) => {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            match MARKED
                .get("$defs")
                .and_then(|definitions| definitions.get(name))
            {
                Some(definition) => resolved(definition),
                None => schema,
            }
        }
        None => schema,
    }
}

/// The `type` an alternative of a union stands for.
fn tag(alternative: &Value) -> Option<&str> {
    alternative
        .get("properties")?
        .get("type")?
        .get("const")?
        .as_str()
}

fn rejected<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(REJECTED)?.get(name)?.as_str()
}

fn is_a(node: &Node, name: &str) -> bool {
    match (&node.kind, name) {
        (Kind::Bool(_), "boolean")
        | (Kind::Number(_), "number")
        | (Kind::String(_), "string")
        | (Kind::List(_), "array")
        | (Kind::Map(_), "object") => true,
        (Kind::Number(number), "integer") => number.is_u64() || number.is_i64(),
        _ => false,
    }
}

fn noun(name: &str) -> &str {
    match name {
        "boolean" => "true or false",
        "number" => "a number",
        "integer" => "a whole number",
        "string" => "a text",
        "array" => "a list",
        "object" => "a mapping",
        other => other,
    }
}

fn parses_as(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| match *name {
        "boolean" => matches!(text, "true" | "false"),
        "integer" => text.parse::<i64>().is_ok(),
        "number" => text.parse::<f64>().is_ok_and(f64::is_finite),
        _ => false,
    })
}
