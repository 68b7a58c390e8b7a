//! Front matter in YAML, TOML or JSON: found, read, written, and changed key by key.
//!
//! A change touches the lines of its keys and no others, so comments, order and spelling of the
//! rest survive. A broken block is still found, so that it can be fixed. Knows nothing
//! of what the keys mean.

mod edit;
mod entry;
mod value;

use std::ops::Range;

use serde_json::{Map, Value};

pub use edit::{put_key, remove_key, set_keys, write, write_pair};
pub use entry::{entry_end, key_of};
pub use value::{is_date, is_type, type_of};

/// How front matter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Between lines of `---`.
    Yaml,
    /// Between lines of `+++`.
    Toml,
    /// An object at the very start.
    Json,
}

impl Format {
    /// The format a contract or a file's ending names; YAML for anything unknown.
    pub fn named(name: &str) -> Self {
        match name {
            "toml" => Self::Toml,
            "json" => Self::Json,
            _ => Self::Yaml,
        }
    }

    /// The name in a contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Json => "json",
        }
    }

    /// What stands between a key and its value.
    pub const fn separator(self) -> char {
        match self {
            Self::Toml => '=',
            Self::Yaml | Self::Json => ':',
        }
    }
}

/// Why front matter cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// The page has none.
    #[error("the page has no front matter")]
    Missing,
    /// It begins and never ends.
    #[error("the front matter has no closing {fence} line")]
    Unclosed {
        /// The line that is missing.
        fence: &'static str,
    },
    /// It does not parse.
    #[error("the {format} front matter does not parse: {cause}")]
    Invalid {
        /// The format.
        format: &'static str,
        /// What the parser said.
        cause: String,
    },
    /// It is a list or a single value.
    #[error("the front matter is not a set of keys")]
    NotAnObject,
    /// A key is written in a way that its lines cannot be determined.
    #[error("the key {0:?} cannot be changed in place")]
    Entangled(String),
}

/// The front matter of a page, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How it is written.
    pub format: Format,
    /// The bytes of what is written, without the fences; for JSON the object itself.
    pub inner: Range<usize>,
    /// Where the body begins.
    pub body: usize,
    /// Whether its end is there; otherwise `inner` is what seems to belong to it.
    pub closed: bool,
}

/// Front matter read: how it is written, and its keys.
pub type Keys = (Format, Map<String, Value>);

/// Finds front matter at the start of a page, closed or not.
pub fn find(page: &str) -> Option<Block> {
    let text = page.strip_prefix('\u{feff}').unwrap_or(page);
    let start = page.len() - text.len();
    let first = text.lines().next().unwrap_or_default().trim_end();
    let format = match first {
        "---" => Format::Yaml,
        "+++" => Format::Toml,
        _ if text.starts_with('{') && !text.starts_with("{{") => return Some(object(page, start)),
        _ => return None,
    };
    let inner = start + text.find('\n').map_or(text.len(), |at| at + 1);
    let mut at = inner;
    for line in page[inner..].split_inclusive('\n') {
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
    // It ends where the first blank line or heading is, so that the body is kept.
    let seems_inside = |line: &&str| !line.trim().is_empty() && !line.starts_with("# ");
    let lines = page[inner..].split_inclusive('\n');
    let end = inner + lines.take_while(seems_inside).map(str::len).sum::<usize>();
    Some(Block {
        format,
        inner: inner..end,
        body: end,
        closed: false,
    })
}

fn object(page: &str, start: usize) -> Block {
    let mut stream = serde_json::Deserializer::from_str(&page[start..]).into_iter::<Value>();
    let closed = matches!(stream.next(), Some(Ok(_)));
    if !closed {
        let text = &page[start..];
        let end = start + text.find("\n\n").map_or(text.len(), |at| at + 1);
        return Block {
            format: Format::Json,
            inner: start..end,
            body: end,
            closed,
        };
    }
    let end = start + stream.byte_offset();
    let rest = &page[end..];
    let line_break = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(rest.starts_with('\n'))
    };
    Block {
        format: Format::Json,
        inner: start..end,
        body: end + line_break,
        closed,
    }
}

/// The keys of front matter that was found.
pub fn parse(page: &str, block: &Block) -> Result<Map<String, Value>, FrontMatterError> {
    match (block.closed, block.format) {
        (false, Format::Yaml) => Err(FrontMatterError::Unclosed { fence: "---" }),
        (false, Format::Toml) => Err(FrontMatterError::Unclosed { fence: "+++" }),
        // The parser knows what is missing.
        _ => parse_inner(block.format, &page[block.inner.clone()]),
    }
}

/// A page's front matter with its keys; none when it has none.
pub fn read(page: &str) -> Result<Option<Keys>, FrontMatterError> {
    let Some(block) = find(page) else {
        return Ok(None);
    };
    Ok(Some((block.format, parse(page, &block)?)))
}

/// The keys of a text without fences, such as a configuration file.
pub fn parse_inner(format: Format, text: &str) -> Result<Map<String, Value>, FrontMatterError> {
    let value: Value = match format {
        Format::Yaml if says_nothing(text) => Value::Null,
        // `y` and `on` are words, as they are to Hugo.
        Format::Yaml => {
            let options = serde_saphyr::options! { strict_booleans: true };
            serde_saphyr::from_str_with_options(text, options)
                .map_err(|error| invalid(format, &error))?
        }
        Format::Toml => {
            let table: toml::Table = text
                .parse()
                .map_err(|error: toml::de::Error| invalid(format, &error.message()))?;
            value::from_toml(toml::Value::Table(table))
        }
        Format::Json => serde_json::from_str(text).map_err(|error| invalid(format, &error))?,
    };
    match value {
        Value::Object(keys) => Ok(keys),
        Value::Null => Ok(Map::new()),
        _ => Err(FrontMatterError::NotAnObject),
    }
}

fn says_nothing(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .all(|line| line.is_empty() || line.starts_with('#'))
}

fn invalid(format: Format, error: &dyn std::fmt::Display) -> FrontMatterError {
    let cause = error.to_string();
    FrontMatterError::Invalid {
        format: format.as_str(),
        cause: cause.lines().next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
