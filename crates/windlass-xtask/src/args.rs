//! The few argument shapes the verbs need: flags, `--name value`, plain words.
//!
//! Not a general parser: no short options, no clustering. Each verb takes what it
//! knows and calls [`Args::finish`], which refuses whatever is left.

use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

/// The arguments not consumed yet, in the order given.
pub struct Args {
    rest: Vec<String>,
}

impl Args {
    /// The arguments of this process, without the program name.
    pub fn from_environment() -> Args {
        Args {
            rest: std::env::args().skip(1).collect(),
        }
    }

    #[cfg(test)]
    pub fn of(words: &[&str]) -> Args {
        Args {
            rest: words.iter().map(ToString::to_string).collect(),
        }
    }

    /// Takes the first argument if it is a word and not an option.
    pub fn next_word(&mut self) -> Option<String> {
        let is_word = self.rest.first().is_some_and(|first| !is_option(first));
        is_word.then(|| self.rest.remove(0))
    }

    /// Takes every occurrence of a flag; true if there was one. `-h` stands for `--help`.
    pub fn take_flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest
            .retain(|word| word != name && !(name == "--help" && word == "-h"));
        self.rest.len() < before
    }

    /// Takes every `name value` and `name=value`, in the order given.
    pub fn take_values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut values = Vec::new();
        let mut kept = Vec::new();
        let mut words = std::mem::take(&mut self.rest).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                match words.next() {
                    Some(value) if !is_option(&value) => values.push(value),
                    _ => bail!("{name} needs a value"),
                }
            } else if let Some(value) = word
                .strip_prefix(name)
                .and_then(|tail| tail.strip_prefix('='))
            {
                values.push(value.to_owned());
            } else {
                kept.push(word);
            }
        }
        self.rest = kept;
        Ok(values)
    }

    /// Takes one optional value; given twice, the last one counts.
    pub fn take_value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let Some(text) = self.take_values(name)?.pop() else {
            return Ok(None);
        };
        let value = text
            .parse()
            .with_context(|| format!("{name} does not take `{text}`"))?;
        Ok(Some(value))
    }

    /// Takes all remaining words; an option among them is an error.
    pub fn take_words(&mut self) -> Result<Vec<String>> {
        match self.rest.iter().find(|word| is_option(word)) {
            Some(option) => bail!("unknown option `{option}`; try --help"),
            None => Ok(std::mem::take(&mut self.rest)),
        }
    }

    /// Refuses anything that no one took.
    pub fn finish(mut self) -> Result<()> {
        match self.take_words()?.first() {
            Some(word) => bail!("unexpected argument `{word}`; try --help"),
            None => Ok(()),
        }
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_words_flags_and_values_in_any_order() {
        let mut args = Args::of(&["test", "--only", "fmt", "--fast", "--only=tidy"]);
        assert_eq!(args.next_word().as_deref(), Some("test"));
        assert!(args.take_flag("--fast"));
        assert_eq!(args.take_values("--only").unwrap(), ["fmt", "tidy"]);
        args.finish().unwrap();
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let cases: &[(&[&str], &str)] = &[
            (&["--wat"], "unknown option `--wat`; try --help"),
            (&["extra"], "unexpected argument `extra`; try --help"),
        ];
        for (words, message) in cases {
            let error = Args::of(words).finish().unwrap_err();
            assert_eq!(error.to_string(), *message, "{words:?}");
        }
    }

    #[test]
    fn refuses_missing_and_malformed_values() {
        let cases: &[(&[&str], &str)] = &[
            (&["--seconds"], "--seconds needs a value"),
            (&["--seconds", "--fast"], "--seconds needs a value"),
            (&["--seconds", "soon"], "--seconds does not take `soon`"),
        ];
        for (words, message) in cases {
            let error = Args::of(words).take_value::<u64>("--seconds").unwrap_err();
            assert_eq!(error.to_string(), *message, "{words:?}");
        }
    }

    #[test]
    fn the_last_value_counts() {
        let mut args = Args::of(&["--seconds", "5", "--seconds", "7"]);
        assert_eq!(args.take_value::<u64>("--seconds").unwrap(), Some(7));
    }
}
