//! A question on the screen: what would be written, and the calls a yes leads to.

use crate::event::{Adopt, Call, Key};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) ask: Ask,
}

/// What a yes means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Apply the plan; these files in the way are asked about separately.
    Apply {
        unmanaged: Vec<Unmanaged>,
    },
    /// Replace these files, which pack did not write.
    Adopt {
        unmanaged: Vec<Unmanaged>,
    },
    Undo(String),
    Rollback(String),
}

/// A file in the way that pack did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmanaged {
    pub(crate) path: String,
    /// The same for people.
    pub(crate) shown: String,
}

/// What an answer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go(Call),
    /// One more question.
    Ask(Question),
    No,
    /// The key is no answer.
    Unclear,
}

/// How many files a question names.
pub(crate) const NAMED: usize = 6;

impl Question {
    /// What can be answered.
    pub(crate) const fn answers(&self) -> &'static str {
        match self.ask {
            Ask::Adopt { .. } => "y replace   s leave them out   N cancel",
            _ => "y yes   N no",
        }
    }

    /// What a key answers; everything but a clear yes is a no, and unknown keys are nothing.
    pub(crate) fn answer(self, key: Key) -> Verdict {
        match (key, self.ask) {
            (Key::Char('y' | 'Y'), Ask::Apply { unmanaged }) if unmanaged.is_empty() => {
                Verdict::Go(Call::Apply(Adopt::Nothing))
            }
            (Key::Char('y' | 'Y'), Ask::Apply { unmanaged }) => {
                Verdict::Ask(Self::about(unmanaged))
            }
            (Key::Char('y' | 'Y'), Ask::Adopt { unmanaged }) => {
                let paths = unmanaged.into_iter().map(|file| file.path);
                Verdict::Go(Call::Apply(Adopt::These(paths.collect())))
            }
            (Key::Char('s' | 'S'), Ask::Adopt { .. }) => Verdict::Go(Call::Apply(Adopt::LeaveOut)),
            (Key::Char('y' | 'Y'), Ask::Undo(id)) => Verdict::Go(Call::Undo(id)),
            (Key::Char('y' | 'Y'), Ask::Rollback(id)) => Verdict::Go(Call::Rollback(id)),
            (Key::Char('n' | 'N' | 'q') | Key::Escape | Key::Enter, _) => Verdict::No,
            _ => Verdict::Unclear,
        }
    }

    fn about(unmanaged: Vec<Unmanaged>) -> Self {
        let title = match unmanaged.len() {
            1 => "Replace 1 file that pack did not write?".to_owned(),
            many => format!("Replace {many} files that pack did not write?"),
        };
        let names = unmanaged.iter().map(|file| format!("! {}", file.shown));
        let mut lines = named(names.collect());
        lines.push("Their contents are kept; undo restores them.".to_owned());
        Self {
            title,
            lines,
            ask: Ask::Adopt { unmanaged },
        }
    }
}

/// The first few of many lines, and how many more there are.
pub(crate) fn named(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!("… and {more} more"));
    }
    lines
}
