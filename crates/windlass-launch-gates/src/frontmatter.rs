//! The front matter of a page: found, parsed, and changed key by key. YAML, TOML and JSON.
//!
//! A change touches only the lines of its key, so that comments and order survive. It does not
//! judge what is in it; that is the FrontmatterContract gate's work.

use serde_json::{Map, Value};

/// How front matter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Between `---` lines.
    Yaml,
    /// Between `+++` lines.
    Toml,
    /// A JSON object.
    Json,
}

impl Format {
    /// The format of a name in a contract; YAML for any other.
    pub fn by_name(name: &str) -> Self {
        match name {
            "toml" => Self::Toml,
            "json" => Self::Json,
            _ => Self::Yaml,
        }
    }
}

/// Where front matter stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How it is written.
    pub format: Format,
    /// The bytes between the delimiters; for JSON the object itself.
    pub inner: std::ops::Range<usize>,
    /// Where the body begins.
    pub body: usize,
    /// Whether the closing delimiter is there.
    pub closed: bool,
}

/// Finds front matter at the start of a file.
pub fn find(text: &str) -> Option<Block> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let rest = &text[start..];
    let first = rest.lines().next().unwrap_or_default().trim_end();
    let format = match first {
        "---" => Format::Yaml,
        "+++" => Format::Toml,
        _ if first.starts_with('{') && !first.starts_with("{{") => return find_json(text, start),
        _ => return None,
    };
    let inner = start + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let mut at = inner;
    for line in text[inner..].split_inclusive('\n') {
        if line.trim_end() == first {
            return Some(Block {
                format,
                inner: inner..at,
                body: at + line.len(),
                closed: true,
            });
        }
        at += line.len();
    }
    // Unclosed: it ends where the first blank line or heading is, so that the body is kept.
    let mut at = inner;
    for line in text[inner..].split_inclusive('\n') {
        if line.trim().is_empty() || line.starts_with("# ") {
            break;
        }
        at += line.len();
    }
    Some(Block {
        format,
        inner: inner..at,
        body: at,
        closed: false,
    })
}

fn find_json(text: &str, start: usize) -> Option<Block> {
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let closed = matches!(stream.next(), Some(Ok(Value::Object(_))));
    let end = if closed {
        start + stream.byte_offset()
    } else {
        start
            + text[start..]
                .find("\n\n")
                .map_or(text.len() - start, |at| at + 1)
    };
    let body = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    Some(Block {
        format: Format::Json,
        inner: start..end,
        body: if closed { body } else { end },
        closed,
    })
}

/// The keys of front matter; the error says why it cannot be read.
pub fn parse(text: &str, block: &Block) -> Result<Map<String, Value>, String> {
    if !block.closed {
        return Err("the closing delimiter is missing".to_owned());
    }
    parse_inner(block.format, &text[block.inner.clone()])
}

/// The keys of the text between delimiters.
pub fn parse_inner(format: Format, inner: &str) -> Result<Map<String, Value>, String> {
    let value = match format {
        Format::Yaml if inner.trim().is_empty() => Value::Object(Map::new()),
        Format::Yaml => serde_saphyr::from_str::<Value>(inner)
            .map_err(|error| first_line(&error.to_string()))?,
        Format::Toml => toml::from_str::<toml::Table>(inner)
            .map(|table| plain(toml::Value::Table(table)))
            .map_err(|error| first_line(error.message()))?,
        Format::Json => serde_json::from_str(inner).map_err(|error| error.to_string())?,
    };
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err("it is not a list of keys and values".to_owned()),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// TOML as JSON; dates become the text they are written as.
fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => {
            serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
        }
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(plain).collect(),
        toml::Value::Table(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, value)| (key, plain(value)))
                .collect(),
        ),
    }
}

/// One key and its value, as a line of the format (JSON without the comma).
pub fn write_pair(format: Format, key: &str, value: &Value) -> String {
    match format {
        // JSON values are YAML flow values.
        Format::Yaml => format!("{}: {}", yaml_key(key), yaml_value(value)),
        Format::Toml => format!("{} = {}", toml_key(key), toml_value(value)),
        Format::Json => format!("  {}: {value}", Value::String(key.to_owned())),
    }
}

/// Plain words stay unquoted, everything else is written as JSON.
fn yaml_value(value: &Value) -> String {
    if let Value::String(text) = value {
        let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || " -_./".contains(c))
            && !text.ends_with(' ')
            && text.contains(|c: char| c.is_ascii_alphabetic())
            && !matches!(
                text.to_ascii_lowercase().as_str(),
                "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n"
            );
        if plain {
            return text.clone();
        }
    }
    value.to_string()
}

fn yaml_key(key: &str) -> String {
    if bare(key) {
        key.to_owned()
    } else {
        Value::String(key.to_owned()).to_string()
    }
}

fn toml_key(key: &str) -> String {
    yaml_key(key)
}

fn bare(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().map(toml_value).collect();
            format!("[{}]", inner.join(", "))
        }
        Value::Object(map) => {
            let inner: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{} = {}", toml_key(key), toml_value(value)))
                .collect();
            format!("{{ {} }}", inner.join(", "))
        }
        other => other.to_string(),
    }
}

/// A whole block with its delimiters.
pub fn write_block(format: Format, pairs: &[(String, Value)]) -> String {
    let lines: Vec<String> = pairs
        .iter()
        .map(|(key, value)| write_pair(format, key, value))
        .collect();
    match format {
        Format::Yaml => format!("---\n{}\n---\n", lines.join("\n")),
        Format::Toml => format!("+++\n{}\n+++\n", lines.join("\n")),
        Format::Json => format!("{{\n{}\n}}\n", lines.join(",\n")),
    }
}

/// The file with keys set: present ones replaced in place, others added.
pub fn set(text: &str, block: &Block, updates: &[(String, Value)]) -> String {
    let mut inner = text[block.inner.clone()].to_owned();
    for (key, value) in updates {
        inner = match block.format {
            Format::Json => set_json(&inner, key, value),
            format => set_lines(format, &inner, key, value),
        };
    }
    format!(
        "{}{}{}",
        &text[..block.inner.start],
        inner,
        &text[block.inner.end..]
    )
}

/// The file without a key; unchanged when it has none.
pub fn remove(text: &str, block: &Block, key: &str) -> String {
    let inner = &text[block.inner.clone()];
    let without = if block.format == Format::Json {
        let mut map: Map<String, Value> = serde_json::from_str(inner).unwrap_or_default();
        map.remove(key);
        serde_json::to_string_pretty(&map).unwrap_or_else(|_| inner.to_owned())
    } else {
        let lines: Vec<&str> = inner.lines().collect();
        let Some(at) = lines
            .iter()
            .position(|line| key_of(block.format, line) == Some(key))
        else {
            return text.to_owned();
        };
        let end = entry_end(block.format, &lines, at);
        let kept: Vec<&str> = lines[..at].iter().chain(&lines[end..]).copied().collect();
        if kept.is_empty() {
            String::new()
        } else {
            kept.join("\n") + "\n"
        }
    };
    format!(
        "{}{without}{}",
        &text[..block.inner.start],
        &text[block.inner.end..]
    )
}

fn set_json(inner: &str, key: &str, value: &Value) -> String {
    let mut map: Map<String, Value> = serde_json::from_str(inner).unwrap_or_default();
    map.insert(key.to_owned(), value.clone());
    serde_json::to_string_pretty(&map).unwrap_or_else(|_| inner.to_owned())
}

fn set_lines(format: Format, inner: &str, key: &str, value: &Value) -> String {
    let pair = write_pair(format, key, value);
    let lines: Vec<&str> = inner.lines().collect();
    let mut out: Vec<&str> = Vec::with_capacity(lines.len() + 1);
    if let Some(at) = lines
        .iter()
        .position(|line| key_of(format, line) == Some(key))
    {
        let end = entry_end(format, &lines, at);
        out.extend(&lines[..at]);
        out.push(&pair);
        out.extend(&lines[end..]);
    } else if format == Format::Toml {
        // Before any table, where a key still belongs to the top.
        let at = lines
            .iter()
            .position(|line| line.trim_start().starts_with('['))
            .unwrap_or(lines.len());
        out.extend(&lines[..at]);
        out.push(&pair);
        out.extend(&lines[at..]);
    } else {
        out.extend(&lines);
        out.push(&pair);
    }
    out.join("\n") + "\n"
}

/// The top-level key a line begins with.
pub fn key_of(format: Format, line: &str) -> Option<&str> {
    let separator = if format == Format::Toml { '=' } else { ':' };
    if line.starts_with([' ', '\t', '-', '#', '[']) {
        return None;
    }
    let (key, rest) = line.split_once(separator)?;
    let spaced = format != Format::Yaml || rest.is_empty() || rest.starts_with([' ', '\t', '\r']);
    let key = key.trim().trim_matches(['"', '\'']);
    (spaced && !key.is_empty()).then_some(key)
}

/// The line after the last one that belongs to the entry at `at`.
pub fn entry_end(format: Format, lines: &[&str], at: usize) -> usize {
    let mut end = at + 1;
    if format == Format::Toml {
        let value = lines[at]
            .split_once('=')
            .map_or("", |(_, value)| value.trim());
        let closer = if value.starts_with("\"\"\"") && value.matches("\"\"\"").count() < 2 {
            "\"\"\""
        } else if value.starts_with('[') && !value.contains(']') {
            "]"
        } else {
            return end;
        };
        while end < lines.len() && !lines[end].contains(closer) {
            end += 1;
        }
        return (end + 1).min(lines.len());
    }
    while end < lines.len()
        && (lines[end].starts_with([' ', '\t', '-']) || lines[end].trim().is_empty())
    {
        end += 1;
    }
    end
}

/// Whether a value is of a contract's type.
pub fn is_type(value: &Value, expected: &str) -> bool {
    match expected {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "date" => value.as_str().is_some_and(is_date),
        "array_string" => value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        "object" => value.is_object(),
        _ => true,
    }
}

/// `2024-05-31`, or that with a time behind it.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    bytes.len() >= 10
        && digits(0..4)
        && bytes[4] == b'-'
        && digits(5..7)
        && bytes[7] == b'-'
        && digits(8..10)
        && bytes
            .get(10)
            .is_none_or(|b| matches!(b, b'T' | b't' | b' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn keys(text: &str) -> Result<Value, String> {
        parse(text, &find(text).expect("front matter")).map(Value::Object)
    }

    #[test]
    fn all_formats_parse() {
        let expected = json!({"title": "A", "weight": 3, "tags": ["x"]});
        assert_eq!(
            keys("---\ntitle: A\nweight: 3\ntags: [x]\n---\nBody\n").unwrap(),
            expected
        );
        assert_eq!(
            keys("+++\ntitle = \"A\"\nweight = 3\ntags = [\"x\"]\n+++\nBody\n").unwrap(),
            expected
        );
        assert_eq!(
            keys("{\n\"title\": \"A\", \"weight\": 3, \"tags\": [\"x\"]\n}\nBody\n").unwrap(),
            expected
        );
    }

    #[test]
    fn body_begins_after_the_block() {
        for text in [
            "---\na: 1\n---\nBody\n",
            "+++\na = 1\n+++\nBody\n",
            "{\"a\": 1}\nBody\n",
        ] {
            let block = find(text).unwrap();
            assert_eq!(&text[block.body..], "Body\n", "{text}");
        }
        assert_eq!(find("# Title\n"), None);
        assert_eq!(find("{{< note >}}\n"), None);
    }

    #[test]
    fn broken_ones_say_why() {
        for text in [
            "---\ntitle: A\n\nBody\n",
            "---\na: [1\n---\n",
            "+++\na = \n+++\n",
            "---\n- a\n---\n",
        ] {
            assert!(keys(text).is_err(), "{text}");
        }
    }

    #[test]
    fn set_replaces_in_place_and_adds() {
        let cases = [
            (
                "---\n# why\ntitle: A\ntags:\n  - x\n  - y\nweight: 3\n---\nBody\n",
                "---\n# why\ntitle: A\ntags: [\"z\"]\nweight: 3\nlayout: single\n---\nBody\n",
            ),
            (
                "+++\ntags = [\n  \"x\",\n]\n[params]\na = 1\n+++\nBody\n",
                "+++\ntags = [\"z\"]\nlayout = \"single\"\n[params]\na = 1\n+++\nBody\n",
            ),
            (
                "{\"tags\": 1}\nBody\n",
                "{\n  \"layout\": \"single\",\n  \"tags\": [\n    \"z\"\n  ]\n}\nBody\n",
            ),
        ];
        let updates = [
            ("tags".to_owned(), json!(["z"])),
            ("layout".to_owned(), json!("single")),
        ];
        for (before, after) in cases {
            assert_eq!(set(before, &find(before).unwrap(), &updates), after);
        }
    }

    #[test]
    fn types() {
        assert!(is_type(&json!("2024-01-02"), "date"));
        assert!(!is_type(&json!("yesterday"), "date"));
        assert!(is_type(&json!(1), "number") && !is_type(&json!(1.5), "integer"));
        assert!(!is_type(&json!(["a", 1]), "array_string"));
        assert!(is_type(&json!(null), "unknown"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(title in "\\PC{0,30}", flag: bool, number: i32) {
            let pairs = vec![
                ("title".to_owned(), json!(title)),
                ("flag".to_owned(), json!(flag)),
                ("odd key".to_owned(), json!(number)),
                ("list".to_owned(), json!([title, "x"])),
            ];
            let expected: Map<String, Value> = pairs.iter().cloned().collect();
            for format in [Format::Yaml, Format::Toml, Format::Json] {
                let text = write_block(format, &pairs) + "Body\n";
                let block = find(&text).unwrap();
                prop_assert_eq!(parse(&text, &block), Ok(expected.clone()), "{}", text);
                prop_assert_eq!(&text[block.body..], "Body\n");
            }
        }
    }
}
