//! What a user may do with the rows of a table.

use crate::condition::Condition;
use crate::model::Trace;
use crate::traces;

/// What is done to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Command {
    Select,
    Insert,
    Update,
    Delete,
}

impl Command {
    pub(crate) const ALL: [Self; 4] = [Self::Select, Self::Insert, Self::Update, Self::Delete];

    /// In SQL.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// In a sentence.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Select => "read",
            Self::Insert => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A user, some rows, one command.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) command: Command,
    /// Whether those who are not signed in are meant as well.
    pub(crate) anonymous: bool,
    pub(crate) condition: Condition,
    /// Who, as the subject of a sentence.
    pub(crate) who: String,
    /// What, as its object.
    pub(crate) what: String,
    /// What holds where no sentence of the spec decides; empty for a right that is stated.
    pub(crate) rule: &'static str,
    pub(crate) trace: Vec<Trace>,
}

/// All grants on one table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grants(pub(crate) Vec<Grant>);

impl Grants {
    /// One more; the same one again only adds its reasons.
    pub(crate) fn add(&mut self, grant: Grant) {
        let same = self.0.iter_mut().find(|known| {
            known.command == grant.command
                && known.condition == grant.condition
                && known.anonymous == grant.anonymous
        });
        match same {
            Some(known) => traces::extend(&mut known.trace, grant.trace),
            None => self.0.push(grant),
        }
    }

    /// Which rows a command may touch.
    pub(crate) fn condition(&self, command: Command, anonymous: bool) -> Condition {
        Condition::any(
            self.of(command, anonymous)
                .map(|grant| grant.condition.clone())
                .collect(),
        )
    }

    /// The grants of a command.
    pub(crate) fn of(&self, command: Command, anonymous: bool) -> impl Iterator<Item = &Grant> {
        self.0.iter().filter(move |grant| {
            grant.command == command
                && if anonymous {
                    grant.anonymous
                } else {
                    grant.condition != Condition::Unowned
                }
        })
    }
}
