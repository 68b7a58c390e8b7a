//! Reads typed values out of a YAML tree: every failure names file, line and column, every
//! unknown key becomes a warning.

use std::fmt;

use windlass_text::yaml::{self, Entry, Mark, Node};
use windlass_types::Problem;

use crate::suggest;

/// A file with more values, its aliases expanded, is refused.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// Something in a file that is odd and can be lived with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    /// What is odd.
    pub kind: WarningKind,
    /// The file.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What to know.
    pub message: String,
}

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// An unknown key. Strict checks fail on these.
    UnknownKey,
    /// A name (module, profile) that refers to nothing. Strict checks fail on these.
    UnknownName,
    /// A key that is there twice; the last counts.
    DuplicateKey,
    /// An option whose value is not one of its values; its default counts.
    OptionValue,
    /// A local path that leaves the repository.
    OutsidePath,
    /// A git address that will be refused when it is used.
    GitAddress,
}

impl WarningKind {
    /// Whether strict checks fail on it.
    pub const fn fails_strict(self) -> bool {
        matches!(self, Self::UnknownKey | Self::UnknownName)
    }
}

impl fmt::Display for FileWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )
    }
}

/// Reads one file.
pub(crate) struct Reader {
    file: &'static str,
    fault: fn(String) -> Problem,
    pub warnings: Vec<FileWarning>,
}

/// The fields of a mapping whose keys are fixed.
pub(crate) struct Fields<'a> {
    entries: &'a [Entry],
    what: String,
    at: Mark,
}

impl<'a> Fields<'a> {
    /// The value of a key, unless it is null.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
            .filter(|value| !value.is_null())
    }

    /// Where the mapping starts.
    pub fn at(&self) -> Mark {
        self.at
    }
}

impl Reader {
    pub fn new(file: &'static str, fault: fn(String) -> Problem) -> Self {
        Self {
            file,
            fault,
            warnings: Vec::new(),
        }
    }

    /// The tree of a text.
    pub fn tree(&self, text: &str) -> Result<Node, Problem> {
        yaml::parse(text, MAX_VALUES).map_err(|error| self.invalid(error.at, error.message))
    }

    /// A failure at a place.
    pub fn invalid(&self, at: Mark, message: impl Into<String>) -> Problem {
        self.located(self.fault, at, message)
    }

    /// A failure at a place with a code of its own.
    pub fn located(
        &self,
        fault: fn(String) -> Problem,
        at: Mark,
        message: impl Into<String>,
    ) -> Problem {
        let message = message.into();
        fault(format!(
            "{}:{}:{}: {message}",
            self.file, at.line, at.column
        ))
        .with("line", at.line)
        .with("column", at.column)
        .with("error", message)
    }

    pub fn warn(&mut self, kind: WarningKind, at: Mark, message: String) {
        self.warnings.push(FileWarning {
            kind,
            file: self.file,
            line: at.line,
            column: at.column,
            message,
        });
    }

    /// A mapping with fixed keys: a repeated key is an error, an unknown one a warning.
    pub fn fields<'a>(
        &mut self,
        node: &'a Node,
        what: impl Into<String>,
        known: &[&str],
    ) -> Result<Fields<'a>, Problem> {
        let what = what.into();
        let entries = node.entries().ok_or_else(|| {
            self.invalid(
                node.start,
                format!("{what} must be a mapping, not {}", node.describe()),
            )
        })?;
        for (index, entry) in entries.iter().enumerate() {
            if entries[..index].iter().any(|other| other.key == entry.key) {
                return Err(self.invalid(
                    entry.key_start,
                    format!("{what} has the key {:?} twice", entry.key),
                ));
            }
            if !known.contains(&entry.key.as_str()) {
                let hint = if entry.key == "<<" {
                    "; merge keys are not applied".to_owned()
                } else {
                    suggest::hint(&entry.key, known.iter().copied())
                };
                self.warn(
                    WarningKind::UnknownKey,
                    entry.key_start,
                    format!("unknown key {:?} in {what}{hint}", entry.key),
                );
            }
        }
        Ok(Fields {
            entries,
            what,
            at: node.start,
        })
    }

    /// The entries of a mapping with free keys; null is empty. Of repeated keys the last counts.
    pub fn entries<'a>(&mut self, node: &'a Node, what: &str) -> Result<Vec<&'a Entry>, Problem> {
        if node.is_null() {
            return Ok(Vec::new());
        }
        let entries = node.entries().ok_or_else(|| {
            self.invalid(
                node.start,
                format!("{what} must be a mapping, not {}", node.describe()),
            )
        })?;
        let mut kept = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let again = entries[index + 1..]
                .iter()
                .find(|other| other.key == entry.key);
            match again {
                None => kept.push(entry),
                Some(again) => self.warn(
                    WarningKind::DuplicateKey,
                    again.key_start,
                    format!("{what} has {:?} twice; the last one counts", entry.key),
                ),
            }
        }
        Ok(kept)
    }

    /// A text that must be there.
    pub fn text(&self, fields: &Fields<'_>, key: &str) -> Result<String, Problem> {
        match fields.get(key) {
            Some(node) => self.text_of(node, &format!("{key} of {}", fields.what)),
            None => Err(self
                .invalid(fields.at, format!("{} has no {key}", fields.what))
                .with("missing", vec![key])),
        }
    }

    /// A text that may be there.
    pub fn optional_text(&self, fields: &Fields<'_>, key: &str) -> Result<Option<String>, Problem> {
        fields
            .get(key)
            .map(|node| self.text_of(node, &format!("{key} of {}", fields.what)))
            .transpose()
    }

    fn text_of(&self, node: &Node, what: &str) -> Result<String, Problem> {
        node.text().map(str::to_owned).ok_or_else(|| {
            self.invalid(
                node.start,
                format!("{what} must be text, not {}", node.describe()),
            )
        })
    }

    /// A boolean with a default.
    pub fn boolean(&self, fields: &Fields<'_>, key: &str, default: bool) -> Result<bool, Problem> {
        let Some(node) = fields.get(key) else {
            return Ok(default);
        };
        node.boolean().ok_or_else(|| {
            self.invalid(
                node.start,
                format!(
                    "{key} of {} must be true or false, not {}",
                    fields.what,
                    node.describe()
                ),
            )
        })
    }

    /// One word of a closed set; absence is the caller's to judge.
    pub fn word<T: Copy>(
        &self,
        fields: &Fields<'_>,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Problem> {
        let Some(node) = fields.get(key) else {
            return Ok(None);
        };
        let text = node.text().unwrap_or_default();
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*value));
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Err(self
            .invalid(
                node.start,
                format!(
                    "{key} of {} is {}; it must be one of {}{}",
                    fields.what,
                    node.describe(),
                    names.join(", "),
                    suggest::hint(text, names.iter().copied())
                ),
            )
            .with("allowed", names))
    }

    /// A list of texts with their places; absent and null are empty.
    pub fn texts(&self, fields: &Fields<'_>, key: &str) -> Result<Vec<(String, Mark)>, Problem> {
        let Some(node) = fields.get(key) else {
            return Ok(Vec::new());
        };
        let what = format!("{key} of {}", fields.what);
        let items = node.items().ok_or_else(|| {
            self.invalid(
                node.start,
                format!("{what} must be a list, not {}", node.describe()),
            )
        })?;
        items
            .iter()
            .map(|item| {
                let text = self.text_of(item, &format!("each item in {what}"))?;
                Ok((text, item.start))
            })
            .collect()
    }

    /// The version of the format, checked.
    pub fn version(
        &self,
        fields: &Fields<'_>,
        supported: u32,
        unsupported: fn(String) -> Problem,
    ) -> Result<u32, Problem> {
        let Some(node) = fields.get("version") else {
            return Err(self
                .invalid(
                    fields.at,
                    format!("version is missing; write version: {supported}"),
                )
                .with("missing", vec!["version"]));
        };
        match node.integer() {
            Some(number) if number == i64::from(supported) => Ok(supported),
            Some(number) => Err(self
                .located(
                    unsupported,
                    node.start,
                    format!("version {number} is not supported; this program knows {supported}"),
                )
                .with("version", number)
                .with("supported", vec![supported])),
            None => Err(self.invalid(
                node.start,
                format!("version must be a number, not {}", node.describe()),
            )),
        }
    }
}
