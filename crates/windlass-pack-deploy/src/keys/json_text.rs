//! A JSON text as a tree of spans: what is where, so that one value can be changed and the rest
//! stays. Line and block comments and trailing commas are tolerated, since editors write them.

use std::ops::Range;

use serde_json::{Map, Value};

use super::KeyError;

/// How deep a document may nest.
const MAX_DEPTH: usize = 128;

/// A value and where it is.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    /// Where the key begins; the member ends with its value.
    pub start: usize,
    pub value: Node,
}

impl Node {
    /// The value without its spans.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.name.clone(), member.value.value()))
                    .collect::<Map<_, _>>(),
            ),
            Kind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Scalar(value) => value.clone(),
        }
    }

    /// The member of a name; the last one counts, as for every parser.
    pub fn member(&self, name: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().rev().find(|member| member.name == name),
            _ => None,
        }
    }

    /// The value below some keys.
    pub fn at(&self, keys: &[String]) -> Option<&Self> {
        keys.iter()
            .try_fold(self, |node, key| node.member(key).map(|found| &found.value))
    }

    /// The spans of the parts of an object or array.
    pub fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members
                .iter()
                .map(|member| member.start..member.value.span.end)
                .collect(),
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }
}

/// Reads a text with exactly one value in it.
pub fn parse(text: &str) -> Result<Node, KeyError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip()?;
    let node = reader.node(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.fault("something follows the end of the document"));
    }
    Ok(node)
}

/// The position after white space and comments; `None` inside a comment that does not end.
pub fn skip_blank(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'/') => at = skip_comment(text, at)?,
            _ => return Some(at),
        }
    }
}

/// The position after the comment that begins here; the line end is not part of it. A slash
/// that begins no comment is left where it is.
pub fn skip_comment(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.starts_with("//") {
        Some(
            at + rest.find('\n').map_or(rest.len(), |end| {
                end - usize::from(rest[..end].ends_with('\r'))
            }),
        )
    } else {
        let inside = rest.strip_prefix("/*")?;
        inside.find("*/").map(|end| at + 2 + end + 2)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, message: impl Into<String>) -> KeyError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        KeyError::Syntax {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) -> Result<(), KeyError> {
        match skip_blank(self.text, self.at) {
            Some(at) => {
                self.at = at;
                Ok(())
            }
            None => {
                // Name the place of the comment, not of what came before it.
                while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                    self.at += 1;
                }
                Err(self.fault("a comment does not end, or / begins none"))
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, KeyError> {
        if depth > MAX_DEPTH {
            return Err(self.fault("the document nests too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.fault("a value is missing")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, KeyError> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                _ => return Err(self.fault("a key in double quotes, or }, is missing")),
            }
            let start = self.at;
            let name = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.fault(format!("a colon is missing after {name:?}")));
            }
            self.at += 1;
            self.skip()?;
            let value = self.node(depth + 1)?;
            members.push(Member { name, start, value });
            if !self.comma(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Kind, KeyError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.node(depth + 1)?);
            if !self.comma(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::Array(items))
    }

    /// Whether a comma follows; otherwise the end has to.
    fn comma(&mut self, end: u8) -> Result<bool, KeyError> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => Err(self.fault(format!("a comma or {} is missing", end as char))),
        }
    }

    fn string(&mut self) -> Result<String, KeyError> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.fault("a text does not end")),
            }
        }
        end += 1;
        let text = serde_json::from_str(&self.text[self.at..end])
            .map_err(|error| self.fault(format!("a text is not valid ({error})")))?;
        self.at = end;
        Ok(text)
    }

    fn word(&mut self) -> Result<Kind, KeyError> {
        let rest = &self.text[self.at..];
        let len = rest
            .find(|character: char| {
                !(character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.'))
            })
            .unwrap_or(rest.len());
        let value = serde_json::from_str(&rest[..len])
            .map_err(|_| self.fault("a value is missing or not valid"))?;
        self.at += len;
        Ok(Kind::Scalar(value))
    }
}
