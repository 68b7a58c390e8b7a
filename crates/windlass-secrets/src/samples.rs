//! Reads written samples: text in which the secrets are marked, and text without any.
//!
//! A positive is `kind<TAB>text`, with `«…»` around the secret, `⏎` for a line end and `¦` for
//! nothing. Called by the tests and the benchmark; no part of redaction.

use crate::{Redactor, rules::PLACEHOLDER};

/// One text with a secret in it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What kind of secret it is.
    pub kind: String,
    /// The text as it would be found.
    pub text: String,
    /// The part that must not be seen.
    pub secret: String,
}

impl Sample {
    /// The samples of a data file; lines that begin with `#` are comments.
    pub fn read(file: &str) -> Vec<Self> {
        lines(file).filter_map(Self::parse).collect()
    }

    /// The sample of one line.
    pub fn parse(line: &str) -> Option<Self> {
        let (kind, text) = line.split_once('\t')?;
        let text = text.replace('¦', "").replace('⏎', "\n");
        let (before, rest) = text.split_once('«')?;
        let (secret, after) = rest.split_once('»')?;
        Some(Self {
            kind: kind.to_owned(),
            text: format!("{before}{secret}{after}"),
            secret: secret.to_owned(),
        })
    }

    /// Whether the redactor hides the secret, wherever the text has it. A label may have the same
    /// word.
    pub fn is_found(&self, redactor: &Redactor) -> bool {
        let redacted = redactor.redact(&self.text);
        let mut parts = redacted.split(PLACEHOLDER);
        let in_first = parts.next().is_some_and(|part| part.contains(&self.secret));
        let in_rest = parts.any(|part| {
            let after = part.split_once(']').map_or(part, |(_, after)| after);
            after.contains(&self.secret)
        });
        !in_first && !in_rest
    }
}

/// The texts of a data file of negatives.
pub fn negatives(file: &str) -> Vec<&str> {
    lines(file).collect()
}

fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed_and_the_secret_is_known() {
        let file = "# comment\nnpm\tNPM=«npm_¦ab»⏎next\n";
        let samples = Sample::read(file);
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].kind, "npm");
        assert_eq!(samples[0].text, "NPM=npm_ab\nnext");
        assert_eq!(samples[0].secret, "npm_ab");
        assert_eq!(negatives(file).len(), 1);
    }
}
