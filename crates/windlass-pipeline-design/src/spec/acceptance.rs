//! Given, when, then: from actor, verb, object, condition and nothing else.

use crate::model::analysis::{Statement, VerbKind};
use crate::spec::{
    lexicon::{
        small::{self, Tags},
        verbs,
    },
    reading::lower_first,
};

/// The acceptance of a statement.
pub fn of(statement: &Statement) -> String {
    if statement.kind == VerbKind::Keep {
        let thing = statement
            .object
            .as_ref()
            .map_or("data", |object| object.text.as_str());
        return format!(
            "Given {}, when it is saved and read again, then what is stated is kept: {}",
            lower_first(thing),
            lower_first(&statement.text)
        );
    }
    if names_a_feature(statement) {
        let feature = lower_first(&statement.text);
        return format!("Given the product, when it is used, then it offers {feature}");
    }
    let actor = match statement.actor.as_deref() {
        None => "a user".to_owned(),
        Some("system") => "the product".to_owned(),
        Some(actor) => format!("the {actor}"),
    };
    let given = match (&statement.condition, statement.actor.as_deref()) {
        (Some(condition), _) => format!("that {}", situation(condition)),
        (None, Some("system")) => "the product".to_owned(),
        (None, Some(actor)) => format!("{} {actor}", article(actor)),
        (None, None) => "the product".to_owned(),
    };
    let object = statement
        .object
        .as_ref()
        .map(|object| lower_first(&object.text));
    let does = match &object {
        Some(object) => format!("{} {object}", verbs::third_person(&statement.verb)),
        None => verbs::third_person(&statement.verb),
    };
    if statement.negated {
        let tries = match &object {
            Some(object) => format!("{} {object}", statement.verb),
            None => statement.verb.clone(),
        };
        return format!("Given {given}, when {actor} tries to {tries}, then it is refused");
    }
    let then = match (
        &object,
        statement
            .object
            .as_ref()
            .is_some_and(|object| object.plural),
    ) {
        (Some(object), many) => format!(
            "{object} {} {}",
            if many { "are" } else { "is" },
            verbs::participle(&statement.verb)
        ),
        (None, _) => format!("it succeeds: {}", lower_first(&statement.text)),
    };
    format!("Given {given}, when {actor} {does}, then {then}")
}

/// `Order tracking`, `Label printing for locations`: a name and no sentence.
fn names_a_feature(statement: &Statement) -> bool {
    let Some(object) = &statement.object else {
        return statement.verb == "offer";
    };
    let (text, name) = (statement.text.to_lowercase(), object.text.to_lowercase());
    text == name
        || text.strip_prefix(&name).is_some_and(|rest| {
            let mut words = rest.split_whitespace();
            words
                .next()
                .is_some_and(|word| small::tags(word).has(Tags::PREPOSITION))
                && !rest.split_whitespace().any(|word| {
                    small::tags(word).has(Tags::BE) || small::tags(word).has(Tags::MODAL)
                })
        })
}

/// A condition without the word that makes it one.
fn situation(condition: &str) -> String {
    let lower = lower_first(condition);
    for word in [
        "only if ",
        "only when ",
        "as soon as ",
        "as long as ",
        "when ",
        "whenever ",
        "if ",
        "once ",
        "while ",
    ] {
        if let Some(rest) = lower.strip_prefix(word) {
            return rest.to_owned();
        }
    }
    format!("it is {lower}")
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u'])
        && !noun.starts_with("user")
        && !noun.starts_with("uni")
    {
        "an"
    } else {
        "a"
    }
}
