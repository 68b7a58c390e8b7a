//! Changes `agentpack.yaml` in place: lines are put in or taken out, every other line stays as
//! it is, with its comments, order and quoting. The result is read back before anyone gets it.

use windlass_text::yaml::{self, Entry, Node};
use windlass_types::Problem;

use crate::{
    Manifest, Module, Profile, Source, fault, manifest::MANIFEST_FILE, parse::parse_manifest,
    reader, selection,
};

/// Adds modules at the end of `modules:`.
pub fn add_modules(text: &str, modules: &[Module]) -> Result<String, Problem> {
    let mut expected = parse_manifest(text)?.manifest;
    if modules.is_empty() {
        return Ok(text.to_owned());
    }
    for module in modules {
        if let Some(there) = expected.module(&module.id) {
            let place = match there.line {
                0 => String::new(),
                line => format!(" on line {line}"),
            };
            return Err(fault::config_invalid(format!(
                "{MANIFEST_FILE} already has a module {:?}{place}; choose another id",
                module.id
            ))
            .with("module_id", module.id.as_str()));
        }
        expected.modules.push(module.clone());
    }
    let file = File::read(text)?;
    let edited = match file.root.entry("modules") {
        None => {
            let indent = file.key_indent(&file.root);
            let mut block = vec![format!("{indent}modules:")];
            block.extend(module_lines(modules, &format!("{indent}  ")));
            file.insert_after(file.root.last_line, &block)
        }
        Some(entry) => match entry.value.items() {
            Some(items) if !items.is_empty() => {
                file.editable(entry)?;
                let dash = file.dash_of(&items[items.len() - 1])?;
                file.insert_after(
                    entry.value.last_line,
                    &module_lines(modules, &file.indent_of(dash)),
                )
            }
            _ => {
                let (cleared, line) = file.clear_value(entry)?;
                let indent = format!("{}  ", file.indent_of(entry.key_start.line));
                let cleared = File::new(&cleared, file.root);
                cleared.insert_after(line, &module_lines(modules, &indent))
            }
        },
    };
    verify(edited, expected)
}

/// Adds one module.
pub fn add_module(text: &str, module: &Module) -> Result<String, Problem> {
    add_modules(text, std::slice::from_ref(module))
}

/// Removes a module. Comments above it stay: they may be about what follows.
pub fn remove_module(text: &str, id: &str) -> Result<String, Problem> {
    let mut expected = parse_manifest(text)?.manifest;
    selection::find_module(&expected, id)?;
    expected.modules.retain(|module| module.id != id);
    let file = File::read(text)?;
    let Some(entry) = file.root.entry("modules") else {
        return Err(file.refuse("modules is not where it was"));
    };
    file.editable(entry)?;
    let items = entry.value.items().unwrap_or_default();
    let named = |item: &&Node| item.entry("id").and_then(|entry| entry.value.text()) == Some(id);
    let Some(item) = items.iter().find(named) else {
        return Err(file.refuse("the module is not where it was"));
    };
    let first = file.dash_of(item)?;
    let last = file.trim_blank(first, item.last_line);
    let mut edited = String::with_capacity(text.len());
    edited.push_str(&text[..file.line_start(first)]);
    edited.push_str(&text[file.line_start(last + 1)..]);
    if items.len() == 1 {
        // A key with nothing behind it is null, which agentpack does not take for a list.
        let colon = file.colon_of(entry)?;
        edited.insert_str(colon + 1, " []");
    }
    verify(edited, expected)
}

/// Adds a profile at the end of `profiles:`.
pub fn add_profile(text: &str, name: &str, profile: &Profile) -> Result<String, Problem> {
    let mut expected = parse_manifest(text)?.manifest;
    if expected.profiles.contains_key(name) {
        return Err(fault::config_invalid(format!(
            "{MANIFEST_FILE} already has a profile {name:?}; choose another name"
        ))
        .with("profile", name));
    }
    expected.profiles.insert(name.to_owned(), profile.clone());
    let file = File::read(text)?;
    let Some(entry) = file.root.entry("profiles") else {
        return Err(file.refuse("profiles is not where it was"));
    };
    file.editable(entry)?;
    let indent = file.key_indent(&entry.value);
    let mut block = vec![format!("{indent}{}:", quote(name))];
    for (key, list) in [
        ("include_tags", &profile.include_tags),
        ("include_modules", &profile.include_modules),
        ("exclude_modules", &profile.exclude_modules),
    ] {
        if !list.is_empty() {
            block.push(format!("{indent}  {key}: {}", flow_list(list)));
        }
    }
    if block.len() == 1 {
        block[0].push_str(" {}");
    }
    verify(file.insert_after(entry.value.last_line, &block), expected)
}

/// Reads the result back: what is handed out means what was asked for.
fn verify(edited: String, expected: Manifest) -> Result<String, Problem> {
    let failed = |cause: &str| {
        fault::config_invalid(format!(
            "{MANIFEST_FILE} cannot be changed in place: {cause}; make the change by hand"
        ))
    };
    let mut read = match parse_manifest(&edited) {
        Ok(read) => read.manifest,
        Err(problem) => return Err(failed(problem.message())),
    };
    let mut expected = expected;
    for module in read.modules.iter_mut().chain(&mut expected.modules) {
        module.line = 0;
    }
    if read == expected {
        Ok(edited)
    } else {
        Err(failed("the result would not mean what was asked for"))
    }
}

/// A text with the places of its lines.
struct File<'a> {
    text: &'a str,
    starts: Vec<usize>,
    newline: &'static str,
    root: Node,
}

impl<'a> File<'a> {
    fn read(text: &'a str) -> Result<Self, Problem> {
        let root = yaml::parse(text, reader::MAX_VALUES).map_err(|error| {
            fault::config_invalid(format!(
                "{MANIFEST_FILE}:{}:{}: {}",
                error.at.line, error.at.column, error.message
            ))
        })?;
        let file = Self::new(text, root);
        if file.root.is_flow() {
            return Err(file.refuse("it is written between braces"));
        }
        Ok(file)
    }

    fn new(text: &'a str, root: Node) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        Self {
            text,
            starts,
            newline,
            root,
        }
    }

    fn refuse(&self, cause: &str) -> Problem {
        fault::config_invalid(format!(
            "{MANIFEST_FILE} cannot be changed in place: {cause}; make the change by hand"
        ))
    }

    /// Only what is written line by line, here, can be changed line by line.
    fn editable(&self, entry: &Entry) -> Result<(), Problem> {
        let how = if entry.value.is_alias {
            "is an alias"
        } else if entry.value.is_flow() {
            "is written between brackets"
        } else {
            return Ok(());
        };
        Err(self.refuse(&format!(
            "{} on line {} {how}",
            entry.key, entry.key_start.line
        )))
    }

    /// Where a line starts; beyond the last line, the end.
    fn line_start(&self, line: usize) -> usize {
        let start = self.starts.get(line.saturating_sub(1));
        start.copied().unwrap_or(self.text.len())
    }

    fn line(&self, line: usize) -> &'a str {
        &self.text[self.line_start(line)..self.line_start(line + 1)]
    }

    fn indent_of(&self, line: usize) -> String {
        let text = self.line(line);
        text[..text.len() - text.trim_start_matches(' ').len()].to_owned()
    }

    /// The indentation of a mapping's keys.
    fn key_indent(&self, node: &Node) -> String {
        let first = node.entries().and_then(<[Entry]>::first);
        first.map_or_else(String::new, |entry| self.indent_of(entry.key_start.line))
    }

    /// The line of the dash before a list's item: on the item's line, or above it when nothing
    /// but a comment, an anchor or a tag follows the dash.
    fn dash_of(&self, item: &Node) -> Result<usize, Problem> {
        for line in (1..=item.start.line).rev() {
            let text = self.line(line).trim_start_matches([' ', '\u{feff}']);
            if text.starts_with("- ") || text.trim_end() == "-" {
                return Ok(line);
            }
            let in_between = text.trim().is_empty() || text.starts_with(['#', '&', '!']);
            if line != item.start.line && !in_between {
                break;
            }
        }
        Err(self.refuse(&format!(
            "the list item on line {} has no dash of its own",
            item.start.line
        )))
    }

    /// The last line that is not blank.
    fn trim_blank(&self, first: usize, last: usize) -> usize {
        let blank = |line: &usize| self.line(*line).trim().is_empty();
        (first..=last)
            .rev()
            .find(|line| !blank(line))
            .unwrap_or(first)
    }

    fn colon_of(&self, entry: &Entry) -> Result<usize, Problem> {
        let after = entry.key_end.byte;
        self.text[after..]
            .find(':')
            .map(|at| after + at)
            .ok_or_else(|| self.refuse(&format!("{} has no colon", entry.key)))
    }

    /// The text without an empty value (`[]`, `null`, nothing), and the line its key is on then.
    fn clear_value(&self, entry: &Entry) -> Result<(String, usize), Problem> {
        if entry.value.is_alias {
            self.editable(entry)?;
        }
        let colon = self.colon_of(entry)?;
        let written = entry.value.items().is_some() || entry.value.text().is_some() || {
            // A null that was spelled out has a length.
            entry.value.end.byte > entry.value.start.byte
        };
        let mut cleared = self.text[..=colon].to_owned();
        let rest = if written {
            &self.text[entry.value.end.byte..]
        } else {
            &self.text[colon + 1..]
        };
        cleared.push_str(rest);
        Ok((cleared, entry.key_start.line))
    }

    fn insert_after(&self, line: usize, block: &[String]) -> String {
        let line = self.trim_blank(1, line);
        let at = self.line_start(line + 1);
        let mut edited = String::with_capacity(self.text.len() + 256);
        edited.push_str(&self.text[..at]);
        if !edited.is_empty() && !edited.ends_with('\n') {
            edited.push_str(self.newline);
        }
        for line in block {
            edited.push_str(line);
            edited.push_str(self.newline);
        }
        edited.push_str(&self.text[at..]);
        edited
    }
}

fn module_lines(modules: &[Module], indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for module in modules {
        lines.push(format!("{indent}- id: {}", quote(&module.id)));
        lines.push(format!("{indent}  type: {}", module.module_type));
        if !module.enabled {
            lines.push(format!("{indent}  enabled: false"));
        }
        if !module.tags.is_empty() {
            lines.push(format!("{indent}  tags: {}", flow_list(&module.tags)));
        }
        if !module.targets.is_empty() {
            let names: Vec<String> = module.targets.iter().map(ToString::to_string).collect();
            lines.push(format!("{indent}  targets: {}", flow_list(&names)));
        }
        if let Some(name) = &module.name {
            lines.push(format!("{indent}  name: {}", quote(name)));
        }
        lines.push(format!("{indent}  source:"));
        match &module.source {
            Source::LocalPath { path } => {
                lines.push(format!("{indent}    local_path:"));
                lines.push(format!("{indent}      path: {}", quote(path)));
            }
            Source::Git(git) => {
                lines.push(format!("{indent}    git:"));
                lines.push(format!("{indent}      url: {}", quote(&git.url)));
                lines.push(format!("{indent}      ref: {}", quote(&git.reference)));
                if !git.subdir.is_empty() {
                    lines.push(format!("{indent}      subdir: {}", quote(&git.subdir)));
                }
                if !git.shallow {
                    lines.push(format!("{indent}      shallow: false"));
                }
            }
        }
    }
    lines
}

fn flow_list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| quote(item)).collect();
    format!("[{}]", items.join(", "))
}

/// A text as a YAML scalar: plain where that is plainly the same, else in double quotes.
fn quote(text: &str) -> String {
    let plain = text
        .starts_with(|first: char| first.is_ascii_alphanumeric() || "_./".contains(first))
        && !text.ends_with(':')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_./:@~+-".contains(&byte))
        && yaml::resolves_to_text(text);
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for part in text.chars() {
        match part {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // What YAML does not print, and what it could take for a line break.
            part if part.is_control()
                || matches!(
                    part,
                    '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                ) =>
            {
                quoted.push_str(&format!("\\u{:04x}", u32::from(part)));
            }
            part => quoted.push(part),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
