//! Actions beyond making, reading, changing and removing: what `publish` does to a row.

use windlass_pipeline_design::model::architecture::FieldType;
use windlass_pipeline_design::model::{Trace, naming};

use super::entity::Entity;

/// What is left when the action is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// An enum has the value that the verb leads to: `publish` → `published`.
    Value { column: String, value: String },
    /// A flag is set: `is_archived`.
    Flag { column: String },
    /// A moment is kept: `approved_at`.
    Moment { column: String },
    /// What is sent along is stored, and nothing else changes.
    Input,
    /// Nothing in the row says it: who did it and when is recorded.
    Record,
}

impl Effect {
    pub(crate) fn is_record(&self) -> bool {
        *self == Self::Record
    }
}

/// An action on one row.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// `publish`.
    pub(crate) verb: String,
    /// `publishQuiz`.
    pub(crate) name: String,
    /// `PublishQuiz`, in front of `Form` and behind the schema's name.
    pub(crate) type_name: String,
    /// `Publish`.
    pub(crate) label: String,
    /// One line.
    pub(crate) about: String,
    pub(crate) effect: Effect,
    /// Columns that are sent along.
    pub(crate) inputs: Vec<String>,
    pub(crate) trace: Vec<Trace>,
}

/// The past participles a verb may have, so that `cancel` finds `canceled` and `cancelled`.
fn participles(verb: &str) -> Vec<String> {
    const IRREGULAR: &[(&str, &str)] = &[
        ("begin", "begun"),
        ("buy", "bought"),
        ("choose", "chosen"),
        ("do", "done"),
        ("draw", "drawn"),
        ("find", "found"),
        ("give", "given"),
        ("hide", "hidden"),
        ("hold", "held"),
        ("leave", "left"),
        ("lend", "lent"),
        ("lose", "lost"),
        ("make", "made"),
        ("pay", "paid"),
        ("put", "put"),
        ("read", "read"),
        ("sell", "sold"),
        ("send", "sent"),
        ("set", "set"),
        ("take", "taken"),
        ("tell", "told"),
        ("undo", "undone"),
        ("withdraw", "withdrawn"),
        ("write", "written"),
        ("win", "won"),
    ];
    if let Some((_, past)) = IRREGULAR.iter().find(|(base, _)| *base == verb) {
        return vec![(*past).to_owned()];
    }
    let mut forms = vec![format!("{verb}ed"), format!("{verb}d")];
    if let Some(stem) = verb.strip_suffix('y') {
        forms.push(format!("{stem}ied"));
    }
    if let Some(last) = verb.chars().last() {
        forms.push(format!("{verb}{last}ed"));
    }
    forms
}

/// What the verb leaves behind in a row of this entity.
fn effect(entity: &Entity, verb: &str, has_input: bool) -> Effect {
    let head = naming::words(verb).first().cloned().unwrap_or_default();
    let mut wanted = participles(&head);
    wanted.push(naming::snake(verb));
    for field in entity.fields.iter().filter(|field| !field.system) {
        if field.kind == FieldType::Enum
            && let Some(value) = field
                .values
                .iter()
                .find(|value| wanted.contains(&naming::snake(value)))
        {
            return Effect::Value {
                column: field.column.clone(),
                value: value.clone(),
            };
        }
    }
    for field in entity.fields.iter().filter(|field| !field.system) {
        let stem = |prefix: &str, suffix: &str| {
            field
                .column
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_suffix(suffix))
                .is_some_and(|rest| wanted.iter().any(|word| word == rest))
        };
        let column = field.column.clone();
        match field.kind {
            FieldType::Boolean if stem("", "") || stem("is_", "") => {
                return Effect::Flag { column };
            }
            FieldType::Datetime if stem("", "_at") || stem("", "_on") => {
                return Effect::Moment { column };
            }
            _ => {}
        }
    }
    if has_input {
        Effect::Input
    } else {
        Effect::Record
    }
}

/// Adds an action, or its reasons to the one that is there. Gives its place.
pub(crate) fn add(
    entity: &mut Entity,
    verb: &str,
    about: &str,
    request: &[String],
    trace: &[Trace],
) -> usize {
    let slug = crate::names::kebab(verb, "act");
    if let Some(at) = entity.actions.iter().position(|action| action.verb == slug) {
        entity.actions[at].trace.extend(trace.iter().cloned());
        return at;
    }
    let inputs: Vec<String> = request
        .iter()
        .map(|name| crate::names::column(name, ""))
        .filter(|name| {
            entity
                .field(name)
                .is_some_and(|field| !field.system && !field.primary)
        })
        .collect();
    let mut head = crate::names::pascal(verb, "Act");
    if matches!(
        head.as_str(),
        "List" | "Get" | "Create" | "Update" | "Delete"
    ) {
        head.push_str("Now");
    }
    let type_name = format!("{head}{}", entity.type_name);
    entity.actions.push(Action {
        name: crate::names::uncapitalised(&type_name),
        type_name,
        label: naming::sentence(verb),
        about: if about.is_empty() {
            naming::sentence(verb)
        } else {
            about.to_owned()
        },
        effect: effect(entity, verb, !inputs.is_empty()),
        verb: slug,
        inputs,
        trace: trace.to_vec(),
    });
    entity.actions.len() - 1
}
