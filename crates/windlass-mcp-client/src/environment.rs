//! Variables: expanded in settings, and allowed to programs.
//!
//! A program of others gets the harmless variables, those that its settings name, and nothing
//! else: the environment of a person's shell holds keys.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
};

/// What a program needs to find its files, its language and its user.
const HARMLESS: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "COLORTERM",
    "NO_COLOR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The variables of Windlass's own environment, handed in by the binary.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Environment({} variables)", self.0.len())
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// A setting names a variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MissingVariable(String);

/// Which spellings of a variable are expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `$NAME` and `${NAME}`.
    Both,
    /// `${NAME}` only: where a program may want to see a `$`.
    Braces,
}

impl Environment {
    /// A variable.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A text with its variables replaced. `${NAME:-text}` has a text for a variable that is not
    /// set or empty, `$$` is a dollar. A variable that is not set is an error: a header with half
    /// a token would be sent otherwise.
    pub(crate) fn expand(&self, text: &str, spelling: Spelling) -> Result<String, MissingVariable> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(inside) = rest.strip_prefix('{') {
                let Some(end) = inside.find('}') else {
                    return Err(MissingVariable("a `${` is not closed by a `}`".to_owned()));
                };
                expanded.push_str(&self.braced(&inside[..end])?);
                rest = &inside[end + 1..];
                continue;
            }
            if spelling == Spelling::Braces {
                expanded.push('$');
                continue;
            }
            if let Some(after) = rest.strip_prefix('$') {
                expanded.push('$');
                rest = after;
                continue;
            }
            let length = name_length(rest);
            if length == 0 {
                expanded.push('$');
                continue;
            }
            expanded.push_str(&self.value(&rest[..length])?);
            rest = &rest[length..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn braced(&self, inside: &str) -> Result<String, MissingVariable> {
        // Another spelling of the same thing.
        let inside = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        if name.is_empty() || name_length(name) != name.len() {
            return Err(MissingVariable(format!(
                "`${{{inside}}}` does not name a variable"
            )));
        }
        match (self.value(name), otherwise) {
            (Ok(value), Some(otherwise)) if value.is_empty() => Ok(otherwise.to_owned()),
            (Ok(value), _) => Ok(value),
            (Err(_), Some(otherwise)) => Ok(otherwise.to_owned()),
            (Err(error), None) => Err(error),
        }
    }

    fn value(&self, name: &str) -> Result<String, MissingVariable> {
        match self.get(name).map(OsStr::to_str) {
            Some(Some(value)) => Ok(value.to_owned()),
            Some(None) => Err(MissingVariable(format!(
                "the variable `{name}` is not valid UTF-8"
            ))),
            None => Err(MissingVariable(format!("the variable `{name}` is not set"))),
        }
    }

    /// The whole environment of a program: the harmless variables, those that are passed by name,
    /// and those that are set.
    pub(crate) fn for_child(
        &self,
        pass: &[String],
        set: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<OsString, OsString>, MissingVariable> {
        let is_harmless = |name: &OsStr| {
            name.to_str()
                .is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("LC_"))
        };
        let mut child: BTreeMap<OsString, OsString> = self
            .0
            .iter()
            .filter(|(name, _)| is_harmless(name) || pass.iter().any(|pass| *name == pass.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (name, value) in set {
            let value = self.expand(value, Spelling::Both)?;
            child.insert(name.into(), value.into());
        }
        if let Some(path) = child.get_mut(OsStr::new("PATH")) {
            // A relative entry would mean the directory that the program works in.
            *path = windlass_process::absolute_entries(path);
        }
        Ok(child)
    }
}

/// How many bytes at the beginning are a variable's name.
fn name_length(text: &str) -> usize {
    let fits = |(at, byte): &(usize, u8)| {
        byte.is_ascii_alphabetic() || *byte == b'_' || (*at > 0 && byte.is_ascii_digit())
    };
    text.bytes().enumerate().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        [
            ("PATH", "/bin:relative"),
            ("TOKEN", "t-1"),
            ("EMPTY", ""),
            ("AWS_SECRET_ACCESS_KEY", "hidden"),
            ("LD_PRELOAD", "evil.so"),
            ("LC_ALL", "C"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }

    #[test]
    fn variables_are_expanded() {
        for (text, both, braces) in [
            ("plain", "plain", "plain"),
            ("Bearer $TOKEN", "Bearer t-1", "Bearer $TOKEN"),
            ("Bearer ${TOKEN}!", "Bearer t-1!", "Bearer t-1!"),
            ("${env:TOKEN}", "t-1", "t-1"),
            ("${NONE:-other}", "other", "other"),
            ("${EMPTY:-other}", "other", "other"),
            ("$$TOKEN $", "$TOKEN $", "$$TOKEN $"),
            ("$1 a$", "$1 a$", "$1 a$"),
        ] {
            let environment = environment();
            assert_eq!(environment.expand(text, Spelling::Both).unwrap(), both);
            assert_eq!(environment.expand(text, Spelling::Braces).unwrap(), braces);
        }
        for (text, error) in [
            ("$NONE", "the variable `NONE` is not set"),
            ("x${NONE}", "the variable `NONE` is not set"),
            ("${TOKEN", "a `${` is not closed by a `}`"),
            ("${input:key}", "`${input:key}` does not name a variable"),
        ] {
            let found = environment().expand(text, Spelling::Both).unwrap_err();
            assert_eq!(found.to_string(), error);
        }
    }

    #[test]
    fn a_program_gets_only_what_is_harmless_or_named() {
        let set = BTreeMap::from([("KEY".to_owned(), "${TOKEN}".to_owned())]);
        let child = environment()
            .for_child(&["EMPTY".to_owned()], &set)
            .unwrap();
        let shown: Vec<String> = child
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(shown, ["EMPTY=", "KEY=t-1", "LC_ALL=C", "PATH=/bin"]);
    }
}
