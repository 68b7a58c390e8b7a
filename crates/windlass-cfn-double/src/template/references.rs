//! Which names a value refers to, without evaluating it.

use serde_json::Value;

/// One mention of a parameter, a pseudo parameter or a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub target: String,
    /// `Some` for `Fn::GetAtt` and for `${Name.Attribute}`.
    pub attribute: Option<String>,
}

/// Every mention, in reading order, repeated ones once.
pub fn references(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Reference>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(fields) => {
            if fields.len() == 1
                && let Some((name, argument)) = fields.iter().next()
            {
                match name.as_str() {
                    "Ref" => return add(argument.as_str(), None, found),
                    "Fn::GetAtt" => {
                        let (target, attribute) = get_att(argument);
                        return add(target.as_deref(), attribute, found);
                    }
                    "Fn::Sub" => return collect_sub(argument, found),
                    _ => {}
                }
            }
            fields.values().for_each(|value| collect(value, found));
        }
        _ => {}
    }
}

fn add(target: Option<&str>, attribute: Option<String>, found: &mut Vec<Reference>) {
    let Some(target) = target else { return };
    let reference = Reference {
        target: target.to_owned(),
        attribute,
    };
    if !found.contains(&reference) {
        found.push(reference);
    }
}

fn collect_sub(argument: &Value, found: &mut Vec<Reference>) {
    let (text, variables) = match argument {
        Value::String(text) => (text.as_str(), None),
        Value::Array(parts) => (
            parts.first().and_then(Value::as_str).unwrap_or_default(),
            parts.get(1).and_then(Value::as_object),
        ),
        _ => return,
    };
    for part in sub_parts(text) {
        if let SubPart::Variable(name) = part
            && !variables.is_some_and(|variables| variables.contains_key(name))
        {
            let (target, attribute) = match name.split_once('.') {
                Some((target, attribute)) => (target, Some(attribute.to_owned())),
                None => (name, None),
            };
            add(Some(target), attribute, found);
        }
    }
    for value in variables
        .into_iter()
        .flat_map(|variables| variables.values())
    {
        collect(value, found);
    }
}

/// `["Name", "Attr"]`, `["Name", "Outer", "Inner"]` or `"Name.Attr"`.
pub fn get_att(argument: &Value) -> (Option<String>, Option<String>) {
    match argument {
        Value::String(text) => match text.split_once('.') {
            Some((target, attribute)) => (Some(target.to_owned()), Some(attribute.to_owned())),
            None => (Some(text.clone()), None),
        },
        Value::Array(parts) => {
            let mut names = parts.iter().filter_map(Value::as_str);
            let target = names.next().map(str::to_owned);
            let attribute = names.collect::<Vec<_>>().join(".");
            (target, (!attribute.is_empty()).then_some(attribute))
        }
        _ => (None, None),
    }
}

/// A piece of a `Fn::Sub` text.
#[derive(Debug, PartialEq, Eq)]
pub enum SubPart<'a> {
    Text(&'a str),
    Variable(&'a str),
    /// `${!Name}`, which means the text `${Name}`.
    Literal(&'a str),
}

pub fn sub_parts(text: &str) -> Vec<SubPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        if start > 0 {
            parts.push(SubPart::Text(&rest[..start]));
        }
        let name = &rest[start + 2..start + length];
        parts.push(match name.strip_prefix('!') {
            Some(literal) => SubPart::Literal(literal),
            None => SubPart::Variable(name.trim()),
        });
        rest = &rest[start + length + 1..];
    }
    if !rest.is_empty() {
        parts.push(SubPart::Text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_spelling_of_a_reference_is_found() {
        let cases = [
            (json!({"Ref": "A"}), "A"),
            (json!({"Fn::GetAtt": ["A", "Arn"]}), "A.Arn"),
            (
                json!({"Fn::GetAtt": "A.Endpoint.Address"}),
                "A.Endpoint.Address",
            ),
            (
                json!({"Fn::GetAtt": ["A", "Endpoint", "Port"]}),
                "A.Endpoint.Port",
            ),
            (json!({"Fn::Sub": "x ${A} ${B.Arn} ${!C} ${"}), "A B.Arn"),
            (json!({"Fn::Sub": ["${V}${A}", {"V": {"Ref": "B"}}]}), "A B"),
            (
                json!({"Fn::Join": ["", ["a", {"Ref": "A"}, {"Ref": "A"}]]}),
                "A",
            ),
            (
                json!({"a": [{"Fn::If": ["C", {"Ref": "A"}, {"Ref": "B"}]}]}),
                "A B",
            ),
            (json!("Ref"), ""),
        ];
        for (value, expected) in cases {
            let found: Vec<String> = references(&value)
                .into_iter()
                .map(|found| match found.attribute {
                    Some(attribute) => format!("{}.{attribute}", found.target),
                    None => found.target,
                })
                .collect();
            assert_eq!(found.join(" "), expected, "{value}");
        }
    }

    proptest! {
        /// No text is lost or invented by splitting.
        #[test]
        fn the_parts_of_a_text_make_the_text(text in "[a-z${}!. ]{0,40}") {
            let again: String = sub_parts(&text)
                .into_iter()
                .map(|part| match part {
                    SubPart::Text(text) => text.to_owned(),
                    SubPart::Variable(name) => format!("${{{name}}}"),
                    SubPart::Literal(name) => format!("${{!{name}}}"),
                })
                .collect();
            prop_assert_eq!(again.replace(' ', ""), text.replace(' ', ""));
        }
    }
}
