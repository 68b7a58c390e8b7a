//! PostgreSQL's text output → JSON, by type.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::rows;

/// A column of a result.
pub struct Column {
    pub name: String,
    pub oid: u32,
}

/// Types: number, name, and the number of the element where it is an array.
const BUILT_IN: &[(u32, &str, u32)] = &[
    (16, "bool", 0),
    (17, "bytea", 0),
    (18, "char", 0),
    (19, "name", 0),
    (20, "int8", 0),
    (21, "int2", 0),
    (23, "int4", 0),
    (25, "text", 0),
    (26, "oid", 0),
    (114, "json", 0),
    (142, "xml", 0),
    (143, "_xml", 142),
    (199, "_json", 114),
    (650, "cidr", 0),
    (651, "_cidr", 650),
    (700, "float4", 0),
    (701, "float8", 0),
    (705, "unknown", 0),
    (790, "money", 0),
    (829, "macaddr", 0),
    (869, "inet", 0),
    (1000, "_bool", 16),
    (1001, "_bytea", 17),
    (1002, "_char", 18),
    (1003, "_name", 19),
    (1005, "_int2", 21),
    (1007, "_int4", 23),
    (1009, "_text", 25),
    (1014, "_bpchar", 1042),
    (1015, "_varchar", 1043),
    (1016, "_int8", 20),
    (1021, "_float4", 700),
    (1022, "_float8", 701),
    (1028, "_oid", 26),
    (1041, "_inet", 869),
    (1042, "bpchar", 0),
    (1043, "varchar", 0),
    (1082, "date", 0),
    (1083, "time", 0),
    (1114, "timestamp", 0),
    (1115, "_timestamp", 1114),
    (1182, "_date", 1082),
    (1183, "_time", 1083),
    (1184, "timestamptz", 0),
    (1185, "_timestamptz", 1184),
    (1186, "interval", 0),
    (1187, "_interval", 1186),
    (1231, "_numeric", 1700),
    (1266, "timetz", 0),
    (1700, "numeric", 0),
    (2249, "record", 0),
    (2278, "void", 0),
    (2950, "uuid", 0),
    (2951, "_uuid", 2950),
    (3802, "jsonb", 0),
    (3807, "_jsonb", 3802),
];

/// The types of a result.
#[derive(Default)]
pub struct Kinds {
    learnt: BTreeMap<u32, (String, u32)>,
}

impl Kinds {
    /// Types that must be asked for.
    pub fn unknown(&self, columns: &[Column]) -> Vec<u32> {
        let mut unknown: Vec<u32> = columns
            .iter()
            .map(|column| column.oid)
            .filter(|oid| BUILT_IN.iter().all(|(known, _, _)| known != oid))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// An answer to that.
    pub fn learn(&mut self, oid: &str, name: &str, element: &str) {
        if let (Ok(oid), Ok(element)) = (oid.parse(), element.parse()) {
            self.learnt.insert(oid, (name.to_owned(), element));
        }
    }

    fn known(&self, oid: u32) -> Option<(&str, u32)> {
        BUILT_IN
            .iter()
            .find(|(known, _, _)| *known == oid)
            .map(|(_, name, element)| (*name, *element))
            .or_else(|| {
                self.learnt
                    .get(&oid)
                    .map(|(name, element)| (name.as_str(), *element))
            })
    }

    /// A type's name.
    pub fn name(&self, oid: u32) -> String {
        self.known(oid)
            .map_or_else(|| oid.to_string(), |(name, _)| name.to_owned())
    }

    /// A value.
    pub fn value(&self, oid: u32, text: Option<&str>) -> Value {
        let Some(text) = text else {
            return Value::Null;
        };
        match self.known(oid) {
            // Fixed-length types such as `point` have elements too; arrays are named `_…`.
            Some((name, element)) if element != 0 && name.starts_with('_') => {
                array(text, &|item| self.value(element, item))
                    .unwrap_or_else(|| Value::String(text.to_owned()))
            }
            Some((name, _)) => scalar(name, text),
            None => Value::String(text.to_owned()),
        }
    }
}

fn scalar(name: &str, text: &str) -> Value {
    match name {
        "bool" => Value::Bool(text == "t"),
        "int2" | "int4" | "int8" | "oid" => rows::integer(text),
        "float4" | "float8" => rows::float(text),
        "json" | "jsonb" => rows::document(text),
        "timestamp" => rows::moment(text, ""),
        "timestamptz" => rows::moment(text, "Z"),
        "bytea" => unhex(text).map_or_else(
            || Value::String(text.to_owned()),
            |bytes| rows::bytes(&bytes),
        ),
        "void" => Value::Null,
        _ => Value::String(text.to_owned()),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?.as_bytes();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// `{1,NULL,"a,b",{2}}`, with or without `[0:2]=` before it; nothing if it is not one.
fn array(text: &str, value: &dyn Fn(Option<&str>) -> Value) -> Option<Value> {
    let text = match text.find('=') {
        Some(at) if text.starts_with('[') => &text[at + 1..],
        _ => text,
    };
    let mut rest = text.chars().peekable();
    let parsed = items(&mut rest, value, 0)?;
    rest.next().is_none().then_some(parsed)
}

fn items(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    value: &dyn Fn(Option<&str>) -> Value,
    depth: usize,
) -> Option<Value> {
    // PostgreSQL's own limit is six dimensions.
    if depth > 6 || rest.next()? != '{' {
        return None;
    }
    let mut found = Vec::new();
    if rest.peek() == Some(&'}') {
        rest.next();
        return Some(Value::Array(found));
    }
    loop {
        match rest.peek()? {
            '{' => found.push(items(rest, value, depth + 1)?),
            '"' => {
                rest.next();
                let mut item = String::new();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => item.push(rest.next()?),
                        character => item.push(character),
                    }
                }
                found.push(value(Some(&item)));
            }
            _ => {
                let mut item = String::new();
                while !matches!(rest.peek()?, ',' | '}') {
                    item.push(rest.next()?);
                }
                found.push(if item == "NULL" {
                    value(None)
                } else {
                    value(Some(&item))
                });
            }
        }
        match rest.next()? {
            ',' => {}
            '}' => return Some(Value::Array(found)),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_the_types_they_should() {
        let mut kinds = Kinds::default();
        kinds.learn("90001", "_mood", "90000");
        for (oid, text, value) in [
            (16, "t", json!(true)),
            (20, "9007199254740993", json!("9007199254740993")),
            (23, "-1", json!(-1)),
            (701, "1e+20", json!(1e20)),
            (1700, "1.10", json!("1.10")),
            (17, "\\x00ff", json!("AP8=")),
            (3802, "{\"a\": null}", json!({ "a": null })),
            (
                1184,
                "2024-01-02 03:04:05+00",
                json!("2024-01-02T03:04:05Z"),
            ),
            (1082, "2024-01-02", json!("2024-01-02")),
            (1007, "{1,NULL,3}", json!([1, null, 3])),
            (1007, "{{1,2},{3,4}}", json!([[1, 2], [3, 4]])),
            (1007, "[0:1]={1,2}", json!([1, 2])),
            (
                1009,
                r#"{a,"b,\"c\"","NULL",""}"#,
                json!(["a", "b,\"c\"", "NULL", ""]),
            ),
            (1009, "{}", json!([])),
            (1009, "{oops", json!("{oops")),
            (90_001, "{sad,ok}", json!(["sad", "ok"])),
            (600, "(1,2)", json!("(1,2)")),
        ] {
            assert_eq!(kinds.value(oid, Some(text)), value, "{text}");
        }
        assert_eq!(kinds.value(23, None), Value::Null);
    }

    proptest! {
        #[test]
        fn any_text_is_shown(text in "\\PC{0,40}", kind in 0..BUILT_IN.len()) {
            let _ = Kinds::default().value(BUILT_IN[kind].0, Some(&text));
        }

        #[test]
        fn arrays_of_text_come_back(items in proptest::collection::vec("\\PC{0,8}", 0..5)) {
            let quoted: Vec<String> = items
                .iter()
                .map(|item| format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\"")))
                .collect();
            let text = format!("{{{}}}", quoted.join(","));
            prop_assert_eq!(Kinds::default().value(1009, Some(&text)), json!(items));
        }
    }
}
