//! The configuration of a launch: a file, or flags, or a file with flags on top of it.

use std::{io::Read as _, path::Path};

use serde_json::{Map, Value, json};
use windlass_types::Problem;

/// Where standard input is read from.
const STDIN: &str = "-";

/// Reads a run_config from a file, or from standard input where the path is `-`.
pub(super) fn read(path: &Path) -> Result<Map<String, Value>, Problem> {
    let name = path.display();
    let text = if path == Path::new(STDIN) {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map(|_| text).map_err(|error| {
            Problem::invalid("config", "readable", format!("standard input: {error}"))
        })?
    } else {
        fs_err::read_to_string(path)
            .map_err(|error| Problem::invalid("config", "readable", error.to_string()))?
    };
    parse(&text).map_err(|reason| {
        Problem::invalid("config", "run_config", format!("{name}: {reason}"))
            .next("windlass ops describe launch.start_run --schema")
    })
}

/// YAML or JSON as one JSON object.
fn parse(text: &str) -> Result<Map<String, Value>, String> {
    // JSON is read as JSON: its numbers and escapes are its own.
    let value: Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    } else {
        // `no` and `on` are words, as in YAML 1.2.
        let options = serde_saphyr::options! { strict_booleans: true };
        serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| first_line(&error.to_string()))?
    };
    match value {
        Value::Object(config) => Ok(config),
        _ => Err("a configuration is a mapping of fields".to_owned()),
    }
}

/// What is wrong and where, without the picture of the place.
fn first_line(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// Flags, by the field each sets.
#[derive(Debug, Default)]
pub(super) struct Flags(Vec<(&'static str, Value)>);

impl Flags {
    /// One more flag, if it was given.
    pub(super) fn set<T: Into<Value>>(&mut self, field: &'static str, value: Option<T>) {
        self.0.extend(value.map(|value| (field, value.into())));
    }

    /// One more flag that may be given several times.
    pub(super) fn list(&mut self, field: &'static str, values: &[String]) {
        if !values.is_empty() {
            self.0.push((field, json!(values)));
        }
    }

    /// Applies the flags to a configuration.
    pub(super) fn apply(self, config: &mut Map<String, Value>) {
        for (field, value) in self.0 {
            config.insert(field.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_json_are_equivalent() {
        let yaml = "product_name: Acme PDF\nallowed_paths: [content/docs/acme]\nmax_fix_attempts: 5\nreview_enabled: no\nllm:\n  decoding: {temperature: 0.0}\n";
        let json = r#"{"product_name":"Acme PDF","allowed_paths":["content/docs/acme"],"max_fix_attempts":5,"review_enabled":"no","llm":{"decoding":{"temperature":0.0}}}"#;
        assert_eq!(parse(yaml).unwrap(), parse(json).unwrap());
    }

    #[test]
    fn what_is_no_configuration_is_named() {
        let cases = [
            "",
            "- a\n",
            "a: 1\na: 2\n",
            "a: [1\n",
            "{\"a\": }",
            "a: &x [*x]\n",
        ];
        let refused: Vec<String> = cases
            .into_iter()
            .map(|text| {
                let reason = parse(text).unwrap_err();
                format!("{text:?}: {}", reason.get(..50).unwrap_or(&reason))
            })
            .collect();
        insta::assert_snapshot!(refused.join("\n"), @r#"
        "": a configuration is a mapping of fields
        "- a\n": a configuration is a mapping of fields
        "a: 1\na: 2\n": line 2 column 1: duplicate mapping key: a, set Dup
        "a: [1\n": line 1 column 4: unclosed bracket '['
        "{\"a\": }": expected value at line 1 column 7
        "a: &x [*x]\n": line 1 column 8: recursive references require weak
        "#);
    }

    #[test]
    fn flags_go_on_top() {
        let mut config = parse("product_name: a\nlaunch_tier: rich\n").unwrap();
        let mut flags = Flags::default();
        flags.set("product_name", Some("b"));
        flags.set("launch_tier", None::<String>);
        flags.list("allowed_paths", &["x".to_owned()]);
        flags.list("required_sections", &[]);
        flags.apply(&mut config);
        insta::assert_snapshot!(Value::Object(config), @r#"{"allowed_paths":["x"],"launch_tier":"rich","product_name":"b"}"#);
    }
}
