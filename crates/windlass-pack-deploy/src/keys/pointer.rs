//! Places inside a JSON or TOML document, as JSON pointers.
//!
//! A pointer names a key, or, with `/-` at its end, an element of an array. Elements have no
//! place of their own: they are known by their value.

use std::fmt;

use super::KeyError;

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The keys from the top, unescaped; without the `-` of an element.
    keys: Vec<String>,
    element: bool,
}

impl Pointer {
    /// Reads a pointer. It names something inside the document, never the document itself.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bad = |reason| KeyError::Pointer {
            pointer: text.to_owned(),
            reason,
        };
        let rest = text
            .strip_prefix('/')
            .ok_or_else(|| bad("it does not begin with /"))?;
        let mut keys = rest
            .split('/')
            .map(|token| unescape(token).ok_or_else(|| bad("~ is followed by neither 0 nor 1")))
            .collect::<Result<Vec<_>, _>>()?;
        let element = keys.last().is_some_and(|last| last == "-");
        if element {
            keys.pop();
        }
        if keys.is_empty() {
            return Err(bad("it names the whole document"));
        }
        Ok(Self { keys, element })
    }

    /// The keys that lead to the value, or to the array of the element.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether it means an element of an array.
    pub fn is_element(&self) -> bool {
        self.element
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&render(&self.keys))?;
        if self.element {
            formatter.write_str("/-")?;
        }
        Ok(())
    }
}

/// The text of a list of keys.
pub fn render(keys: &[String]) -> String {
    let mut text = String::new();
    for key in keys {
        text.push('/');
        text.push_str(&key.replace('~', "~0").replace('/', "~1"));
    }
    text
}

fn unescape(token: &str) -> Option<String> {
    if !token.contains('~') {
        return Some(token.to_owned());
    }
    let mut text = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        match character {
            '~' => match characters.next() {
                Some('0') => text.push('~'),
                Some('1') => text.push('/'),
                _ => return None,
            },
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_shown() {
        for (text, keys, element) in [
            ("/mcpServers/demo", vec!["mcpServers", "demo"], false),
            ("/a~1b/c~0d", vec!["a/b", "c~d"], false),
            ("/hooks/PreToolUse/-", vec!["hooks", "PreToolUse"], true),
            ("/", vec![""], false),
        ] {
            let pointer = Pointer::parse(text).unwrap();
            assert_eq!(pointer.keys(), keys, "{text}");
            assert_eq!(pointer.is_element(), element, "{text}");
            assert_eq!(pointer.to_string(), text);
        }
        for text in ["", "a", "/-", "/a~2", "/a~"] {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }
}
