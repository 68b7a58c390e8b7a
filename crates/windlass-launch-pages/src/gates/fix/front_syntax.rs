//! Front matter that does not parse: every readable key is kept, the rest is quoted or left out.

use std::collections::BTreeSet;

use serde_json::Value;

use windlass_launch_model::markdown::frontmatter::{
    Format, entry_end, key_of, parse_inner, write_pair,
};

use super::{Fixing, Rewrite, values};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let Some(block) = &document.front else {
        return Rewrite::default();
    };
    let format = if block.format == Format::Json {
        Format::Yaml
    } else {
        block.format
    };
    let inner = &document.text[block.inner.clone()];
    let mut notes = Vec::new();
    if !block.closed {
        notes.push("Closed the front matter.".to_owned());
    }
    let mut kept = readable(block.format, inner, &mut notes);
    let present: BTreeSet<String> = kept.iter().map(|(key, _)| key.clone()).collect();
    for key in fixing.input.section_contract(fixing.path).required_keys {
        if !present.contains(&key) {
            let value = values::for_key(fixing.input, fixing.path, &key);
            notes.push(format!("Added {key}."));
            kept.push((key.clone(), write_pair(format, &key, &value)));
        }
    }
    let fence = if format == Format::Toml { "+++" } else { "---" };
    let lines: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
    let body = document.text[block.body..].trim_start_matches('\n');
    let text = format!("{fence}\n{}\n{fence}\n\n{body}", lines.join("\n"));
    Rewrite::own(fixing, text, notes)
}

/// The entries that can be read, each as the text that stands for it.
fn readable(format: Format, inner: &str, notes: &mut Vec<String>) -> Vec<(String, String)> {
    let source = if format == Format::Json {
        Format::Yaml
    } else {
        format
    };
    let lines: Vec<&str> = inner.lines().collect();
    let mut kept: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = if format == Format::Json {
            json_line(lines[at])
        } else {
            lines[at].to_owned()
        };
        let Some(key) = key_of(source, &line).map(str::to_owned) else {
            if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                notes.push(format!(
                    "Left out “{}”, which belongs to no key.",
                    line.trim()
                ));
            }
            at += 1;
            continue;
        };
        let end = if format == Format::Json {
            at + 1
        } else {
            entry_end(source, &lines, at)
        };
        let entry = if format == Format::Json {
            line.clone()
        } else {
            lines[at..end].join("\n").trim_end().to_owned()
        };
        at = end;
        if kept.iter().any(|(other, _)| *other == key) {
            notes.push(format!("Left out a second {key}."));
            continue;
        }
        if parse_inner(source, &entry).is_ok_and(|map| map.contains_key(&key)) {
            kept.push((key, entry));
            continue;
        }
        let raw = entry
            .split_once(source.separator())
            .map_or("", |(_, raw)| raw);
        let raw = raw.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = raw.trim_matches(['"', '\'', '[', ']', '{', '}', ' ']);
        notes.push(format!("Quoted {key}."));
        let value = Value::String(plain.to_owned());
        kept.push((key.clone(), write_pair(source, &key, &value)));
    }
    kept
}

/// A line of broken JSON as a line of YAML.
fn json_line(line: &str) -> String {
    let line = line
        .trim()
        .trim_start_matches('{')
        .trim_end_matches('}')
        .trim()
        .trim_end_matches(',');
    line.replacen("\":", "\": ", 1)
}
