//! Verbs that mean another thing than they say: what is put into a cart is used and not made, and what
//! is sent, bought or published is made where nothing else makes it.

use std::collections::BTreeSet;

use crate::model::analysis::{Statement, VerbKind};
use crate::model::strategy::Priority;
use crate::spec::statements::Draft;

/// What others' things are put into.
const COLLECTIONS: &[&str] = &[
    "bag",
    "basket",
    "bookmark",
    "cart",
    "favorite",
    "favourite",
    "library",
    "playlist",
    "queue",
    "shelf",
    "trolley",
    "watchlist",
    "wishlist",
];

/// Verbs by which something is put somewhere.
const PUTS: &[&str] = &[
    "add", "drop", "place", "put", "save", "move", "store", "collect", "pin",
];

/// Verbs by which rows come to be where no other verb makes them.
const MAKES: &[&str] = &[
    "buy", "donate", "exchange", "file", "host", "issue", "launch", "leave", "log", "offer",
    "open", "order", "plan", "pledge", "post", "propose", "publish", "purchase", "raise", "record",
    "register", "report", "request", "schedule", "send", "share", "start", "submit", "track",
    "upload",
];

/// The collection a draft puts its object into: `add the products to a cart` → `cart`.
fn collection(draft: &Draft) -> Option<&str> {
    if !PUTS.contains(&draft.verb.as_str()) {
        return None;
    }
    draft.others.iter().find_map(|(preposition, other)| {
        let head = COLLECTIONS.iter().find(|name| **name == other.head())?;
        matches!(preposition.as_str(), "to" | "in" | "into" | "on").then_some(*head)
    })
}

/// What is put into a cart is there already.
pub fn uses(drafts: &mut [Draft]) {
    for draft in drafts {
        if let Some(collection) = collection(draft) {
            draft.verb = format!("add to {collection}");
            draft.kind = VerbKind::Other;
            draft.list = None;
        }
    }
}

/// Whether a verb makes rows where the sentence lists what is kept of them.
pub fn makes(verb: &str) -> bool {
    MAKES.contains(&verb)
}

/// What nothing else makes is made by the first verb that can: `a visitor sends an enquiry`.
pub fn makers(statements: &mut [Statement]) {
    let counts = |statement: &Statement| {
        statement.priority != Priority::Wont
            && !statement.negated
            && statement.actor.as_deref() != Some("system")
    };
    let made: BTreeSet<String> = statements
        .iter()
        .filter(|statement| statement.kind == VerbKind::Create && counts(statement))
        .filter_map(|statement| statement.entity.clone())
        .collect();
    let mut settled: BTreeSet<(String, String)> = BTreeSet::new();
    for statement in statements {
        let Some(entity) = statement.entity.clone() else {
            continue;
        };
        if made.contains(&entity)
            || statement.kind != VerbKind::Other
            || !counts(statement)
            || !makes(&statement.verb)
            || statement.object.as_ref().is_some_and(|object| object.own)
        {
            continue;
        }
        // The same verb makes it for everyone who does it; another verb then does something else.
        let first = settled.iter().find(|(known, _)| *known == entity);
        if first.is_none_or(|(_, verb)| *verb == statement.verb) {
            settled.insert((entity, statement.verb.clone()));
            statement.kind = VerbKind::Create;
        }
    }
}
