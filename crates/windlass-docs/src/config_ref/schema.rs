//! Reads a JSON Schema as people read it: resolved references, type names, defaults.

use serde_json::{Map, Value};

/// A schema and the definitions it refers to.
pub(super) struct Schema<'a> {
    root: &'a Value,
}

/// One alternative of a `{type, properties}` union.
pub(super) struct Alternative<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub properties: &'a Value,
}

impl<'a> Schema<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// The union that has functions and buckets in it.
    pub(super) fn resource_types(&self) -> Vec<Alternative<'a>> {
        let mut open = vec![self.root];
        while let Some(value) = open.pop() {
            let found = self.alternatives(value);
            let has = |name: &str| found.iter().any(|alternative| alternative.name == name);
            if has("function") && has("bucket") {
                return found;
            }
            match value {
                Value::Object(object) => open.extend(object.values()),
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Vec::new()
    }

    /// The alternatives of a `{type, properties}` union; none for any other schema.
    pub(super) fn alternatives(&self, schema: &'a Value) -> Vec<Alternative<'a>> {
        let schema = self.resolve(schema);
        let Some(one_of) = schema.get("oneOf").and_then(Value::as_array) else {
            return Vec::new();
        };
        one_of
            .iter()
            .filter_map(|alternative| {
                let alternative = self.resolve(alternative);
                let properties = alternative.get("properties")?;
                Some(Alternative {
                    name: properties.get("type")?.get("const")?.as_str()?,
                    description: text(alternative, "description"),
                    properties: properties.get("properties").unwrap_or(&Value::Null),
                })
            })
            .collect()
    }

    /// Follows references, and looks through "or null" and "or a directive".
    pub(super) fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        // Definitions nest a few deep; the bound keeps a loop from hanging.
        for _ in 0..16 {
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                let Some(target) = reference
                    .strip_prefix('#')
                    .and_then(|pointer| self.root.pointer(pointer))
                else {
                    return schema;
                };
                schema = target;
                continue;
            }
            let Some(only) = only_choice(schema) else {
                return schema;
            };
            schema = only;
        }
        schema
    }

    /// The properties of an object, in the schema's order, with whether each is required.
    pub(super) fn fields(&self, schema: &'a Value) -> Vec<(&'a str, &'a Value, bool)> {
        let schema = self.resolve(schema);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, field)| (name.as_str(), field, required.contains(&name.as_str())))
            .collect()
    }

    /// The schema of a list's items.
    pub(super) fn items(&self, schema: &'a Value) -> Option<&'a Value> {
        self.resolve(schema).get("items")
    }

    /// The description of a property: next to the reference, else at its definition.
    pub(super) fn description(&self, schema: &'a Value) -> String {
        let here = text(schema, "description");
        let text = if here.is_empty() {
            text(self.resolve(schema), "description")
        } else {
            here
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The default, if it is a plain value.
    pub(super) fn default(&self, schema: &'a Value) -> Option<String> {
        let value = schema
            .get("default")
            .or_else(|| self.resolve(schema).get("default"))?;
        match value {
            Value::Null | Value::Object(_) => None,
            Value::Array(items) if items.is_empty() => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// The type in words.
    pub(super) fn type_name(&self, schema: &'a Value) -> String {
        let schema = self.resolve(schema);
        if let Some(names) = self.values(schema) {
            return names.join(" or ");
        }
        let alternatives = self.alternatives(schema);
        if !alternatives.is_empty() {
            return "type and properties".to_owned();
        }
        if let Some(choices) = choices(schema) {
            let mut names: Vec<String> = Vec::new();
            for choice in choices.iter().filter(|choice| !is_null(choice)) {
                let name = self.type_name(choice);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            return names.join(" or ");
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.plain(name, schema),
            Some(Value::Array(names)) => {
                let names: Vec<String> = names
                    .iter()
                    .filter_map(Value::as_str)
                    .filter(|name| *name != "null")
                    .map(|name| self.plain(name, schema))
                    .collect();
                names.join(" or ")
            }
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ => "any value".to_owned(),
        }
    }

    fn plain(&self, name: &str, schema: &'a Value) -> String {
        match name {
            "array" => match schema.get("items") {
                Some(items) => format!("list of {}", self.type_name(items)),
                None => "list".to_owned(),
            },
            "string" => "text".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "object" if schema.get("properties").is_none() => "map".to_owned(),
            other => other.to_owned(),
        }
    }

    /// The texts a schema allows, when it allows only those.
    fn values(&self, schema: &'a Value) -> Option<Vec<String>> {
        if let Some(value) = schema.get("const") {
            return Some(vec![quoted(value)]);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Some(
                values
                    .iter()
                    .filter(|value| !value.is_null())
                    .map(quoted)
                    .collect(),
            );
        }
        let consts: Option<Vec<String>> = choices(schema)?
            .iter()
            .filter(|choice| !is_null(choice))
            .map(|choice| self.values(self.resolve(choice)))
            .collect::<Option<Vec<_>>>()
            .map(|lists| lists.concat());
        consts.filter(|values| !values.is_empty())
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))
        .and_then(Value::as_array)
}

/// The one real choice of "this or null" and "this or a directive".
fn only_choice(schema: &Value) -> Option<&Value> {
    // A union of one alternative is a `oneOf` and stays a union.
    let mut real = schema
        .get("anyOf")
        .and_then(Value::as_array)?
        .iter()
        .filter(|choice| !is_null(choice) && !is_directive(choice));
    let first = real.next()?;
    real.next().is_none().then_some(first)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// A text that has to begin like a directive.
fn is_directive(schema: &Value) -> bool {
    let as_object: Option<&Map<String, Value>> = schema.as_object();
    as_object
        .and_then(|object| object.get("pattern"))
        .and_then(Value::as_str)
        .is_some_and(|pattern| pattern.contains("\\$"))
        || text(schema, "$ref").ends_with("/Directive")
}
