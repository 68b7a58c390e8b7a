//! What kind of somebody an actor of the spec is: anybody, any signed-in user, a role, the product.

use crate::model::Analysis;
use crate::model::analysis::Statement;

/// Words for somebody who need not be signed in.
const ANYBODY: &[&str] = &[
    "anybody",
    "anyone",
    "everybody",
    "everyone",
    "guest",
    "public",
    "visitor",
    "website visitor",
];

/// Words for whoever is signed in.
const SIGNED_IN: &[&str] = &[
    "account holder",
    "each user",
    "end user",
    "individual",
    "people",
    "person",
    "registered user",
    "user",
];

/// Words for the product itself.
const PRODUCT: &[&str] = &[
    "api",
    "app",
    "application",
    "backend",
    "database",
    "interface",
    "platform",
    "product",
    "server",
    "service",
    "site",
    "software",
    "system",
    "tool",
    "web app",
    "website",
];

/// An actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor<'a> {
    /// Not necessarily signed in.
    Anybody,
    /// Signed in; nothing more is said.
    SignedIn,
    /// With a role.
    Role(&'a str),
    /// Not a person.
    Product,
}

/// `author`, `workspace owner`: whoever made a row, under another name.
pub(crate) fn is_owner_word(role: &str) -> bool {
    matches!(role, "author" | "creator" | "owner") || role.ends_with(" owner")
}

/// `member`, `team member`: whoever belongs to a tenant.
pub(crate) fn is_member_word(role: &str) -> bool {
    role == "member" || role.ends_with(" member")
}

/// What kind of somebody a name stands for.
pub(crate) fn of_name(name: Option<&str>) -> Actor<'_> {
    let Some(name) = name else {
        return Actor::SignedIn;
    };
    let is = |list: &[&str]| list.contains(&name);
    if is(ANYBODY) {
        Actor::Anybody
    } else if name.is_empty() || is(SIGNED_IN) {
        Actor::SignedIn
    } else if is(PRODUCT) {
        Actor::Product
    } else {
        Actor::Role(name)
    }
}

/// Who acts in a statement.
pub(crate) fn of_statement<'a>(analysis: &'a Analysis, statement: &'a Statement) -> Actor<'a> {
    match of_name(statement.actor.as_deref()) {
        // The product named as the subject: `Quizly sends an email`.
        Actor::Role(name)
            if analysis
                .product
                .as_ref()
                .is_some_and(|product| product.text.eq_ignore_ascii_case(name))
                && !analysis.roles.iter().any(|role| role.name == name) =>
        {
            Actor::Product
        }
        actor => actor,
    }
}

/// The stated roles that somebody is given: neither anybody nor any user, and not what one is by
/// having made something or belonging somewhere.
pub(crate) fn roles(analysis: &Analysis) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let stated = analysis.roles.iter().map(|role| role.name.as_str());
    for name in stated {
        let given = matches!(of_name(Some(name)), Actor::Role(_))
            && !is_owner_word(name)
            && !is_member_word(name);
        if given && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for (name, expected) in [
            (None, Actor::SignedIn),
            (Some("user"), Actor::SignedIn),
            (Some("visitor"), Actor::Anybody),
            (Some("system"), Actor::Product),
            (Some("teacher"), Actor::Role("teacher")),
        ] {
            assert_eq!(of_name(name), expected, "{name:?}");
        }
    }
}
