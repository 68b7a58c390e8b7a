//! What kind of actor the spec names: anyone, any signed-in user, a role, the product.

use crate::model::Analysis;
use crate::model::analysis::Statement;

/// Words for an anonymous user.
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

/// Words for a signed-in user.
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

/// `author`, `workspace owner`: the creator of a row, under another name.
pub(crate) fn is_owner_word(role: &str) -> bool {
    matches!(role, "author" | "creator" | "owner") || role.ends_with(" owner")
}

/// `member`, `team member`: a user who belongs to a tenant.
pub(crate) fn is_member_word(role: &str) -> bool {
    role == "member" || role.ends_with(" member")
}

/// What kind of actor a name stands for.
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

/// The stated roles that a user is given: neither anyone nor any user, and not what a user is by
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
    fn names_are_distinguished() {
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
