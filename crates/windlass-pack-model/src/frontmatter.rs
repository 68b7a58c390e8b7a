//! Frontmatter: a YAML mapping between two lines `---` at the start of a Markdown file.

use serde_json::{Map, Value};

use windlass_text::yaml;

use crate::reader::MAX_VALUES;

/// A file with frontmatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontmatter<'a> {
    /// The mapping.
    pub fields: Map<String, Value>,
    /// What follows it.
    pub body: &'a str,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    /// The first line is not `---`.
    #[error("it does not start with a line ---")]
    Missing,
    /// There is no second line `---`.
    #[error("the frontmatter that starts on line 1 has no closing line ---")]
    Open,
    /// What is between is not YAML.
    #[error("line {line}: {message}")]
    Invalid {
        /// The line of the file.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// What is between is not a mapping.
    #[error("the frontmatter is not a mapping")]
    NotMapping,
}

impl<'a> Frontmatter<'a> {
    /// Reads the frontmatter of a file.
    pub fn parse(text: &'a str) -> Result<Self, FrontmatterError> {
        let (yaml, body) = split(text)?;
        let node = yaml::parse(yaml, MAX_VALUES).map_err(|error| FrontmatterError::Invalid {
            line: error.at.line + 1,
            message: error.message,
        })?;
        match node.to_json() {
            Value::Object(fields) => Ok(Self { fields, body }),
            _ => Err(FrontmatterError::NotMapping),
        }
    }

    /// A field that is text and not blank.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields
            .get(field)?
            .as_str()
            .filter(|text| !text.trim().is_empty())
    }

    /// Those of the fields that are not text, or blank.
    pub fn missing<'b>(&self, fields: &[&'b str]) -> Vec<&'b str> {
        fields
            .iter()
            .copied()
            .filter(|field| self.text(field).is_none())
            .collect()
    }
}

/// The YAML between the two lines, and what follows.
fn split(text: &str) -> Result<(&str, &str), FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != "---" {
        return Err(FrontmatterError::Missing);
    }
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..offset], &rest[offset + line.len()..]));
        }
        offset += line.len();
    }
    Err(FrontmatterError::Open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_body_are_separated() {
        for text in [
            "---\nname: demo\ndescription: \"a: b\"\n---\nbody\n---\n",
            "---\r\nname: demo\r\ndescription: \"a: b\"\r\n---\r\nbody\n---\n",
            "\u{feff}---  \nname: demo\ndescription: 'a: b'\n--- \nbody\n---\n",
        ] {
            let matter = Frontmatter::parse(text).unwrap();
            assert_eq!(matter.text("name"), Some("demo"), "{text:?}");
            assert_eq!(matter.text("description"), Some("a: b"));
            assert_eq!(matter.body, "body\n---\n");
        }
        let matter = Frontmatter::parse("---\nname: 7\ndescription: ' '\nok: x\n---").unwrap();
        assert_eq!(
            matter.missing(&["name", "description", "ok", "gone"]),
            ["name", "description", "gone"]
        );
        assert_eq!(matter.body, "");
    }

    #[test]
    fn failures_say_what_is_wrong() {
        for (text, expected) in [
            ("", FrontmatterError::Missing),
            ("# title\n---\n", FrontmatterError::Missing),
            ("----\na: b\n---\n", FrontmatterError::Missing),
            ("---\na: b\n", FrontmatterError::Open),
            ("---", FrontmatterError::Open),
            ("---\n---\n", FrontmatterError::NotMapping),
            ("---\n- a\n---\n", FrontmatterError::NotMapping),
        ] {
            assert_eq!(Frontmatter::parse(text).unwrap_err(), expected, "{text:?}");
        }
        let error = Frontmatter::parse("---\na: b\nc: [\n---\n").unwrap_err();
        assert!(
            matches!(error, FrontmatterError::Invalid { line: 3.., .. }),
            "{error}"
        );
    }
}
