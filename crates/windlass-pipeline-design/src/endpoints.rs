//! Endpoints: one per action that a requirement states, and no other.

use crate::access::kind::Dealings;
use crate::actor::{self, Actor};
use crate::data::SYSTEM_FIELDS;
use crate::model::analysis::{Analysis, Statement, VerbKind};
use crate::model::architecture::{DataModel, Endpoint, EntityModel};
use crate::model::strategy::Priority;
use crate::model::{Trace, naming};
use crate::traces;
use crate::words::{capitalised, with_article};

/// An action on an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    List,
    Read,
    Create,
    Update,
    Delete,
    Other,
}

/// `manage suppliers`: to see, make, change and remove them.
pub(crate) fn is_manage(statement: &Statement) -> bool {
    // Where a reader has made four statements of it, the verb is only in the text.
    let said = |word: &str| {
        matches!(
            word,
            "administer"
                | "administers"
                | "maintain"
                | "maintains"
                | "manage"
                | "manages"
                | "organise"
                | "organises"
                | "organize"
                | "organizes"
        )
    };
    said(&statement.verb) || naming::words(&statement.text).iter().any(|word| said(word))
}

/// What a statement does to its entity.
pub(crate) fn actions(statement: &Statement) -> Vec<Action> {
    let many = statement
        .object
        .as_ref()
        .is_some_and(|object| object.plural);
    match statement.kind {
        VerbKind::List => vec![Action::List],
        VerbKind::Read if many => vec![Action::List],
        VerbKind::Read => vec![Action::Read],
        VerbKind::Create => vec![Action::Create],
        VerbKind::Update => vec![Action::Update],
        VerbKind::Delete => vec![Action::Delete],
        VerbKind::Other if is_manage(statement) => {
            vec![Action::List, Action::Create, Action::Update, Action::Delete]
        }
        VerbKind::Other if naming::kebab(&statement.verb).is_empty() => Vec::new(),
        VerbKind::Other => vec![Action::Other],
        VerbKind::SignIn | VerbKind::SignUp | VerbKind::Keep => Vec::new(),
    }
}

fn route(action: Action, entity: &str, verb: &str) -> (&'static str, String) {
    let all = format!("/api/{}", naming::path_name(entity));
    match action {
        Action::List => ("GET", all),
        Action::Create => ("POST", all),
        Action::Read => ("GET", format!("{all}/{{id}}")),
        Action::Update => ("PATCH", format!("{all}/{{id}}")),
        Action::Delete => ("DELETE", format!("{all}/{{id}}")),
        Action::Other => ("POST", format!("{all}/{{id}}/{}", naming::kebab(verb))),
    }
}

fn description(action: Action, entity: &str, verb: &str) -> String {
    let one = naming::human(entity);
    match action {
        Action::List => format!("List {}", naming::plural(&one)),
        Action::Read => format!("Read {}", with_article(&one)),
        Action::Create => format!("Create {}", with_article(&one)),
        Action::Update => format!("Update {}", with_article(&one)),
        Action::Delete => format!("Delete {}", with_article(&one)),
        Action::Other => capitalised(&format!("{verb} {}", with_article(&one))),
    }
}

/// What a client may send: everything that is not decided by the server.
fn writable(entity: &EntityModel) -> Vec<String> {
    entity
        .fields
        .iter()
        .filter(|field| !field.primary && !SYSTEM_FIELDS.contains(&field.name.as_str()))
        .map(|field| field.name.clone())
        .collect()
}

/// Whether something is brought to the other entity that takes part: `assign a task to a project`,
/// not `cancel appointments for any patient`.
pub(crate) fn is_brought_to(statement: &Statement) -> bool {
    let words = naming::words(&statement.text);
    let other = statement.indirect.as_deref().map(naming::words);
    let Some(last) = other.as_ref().and_then(|other| other.last()) else {
        return false;
    };
    words.iter().enumerate().any(|(at, word)| {
        naming::singular(word) == *last
            && words[at.saturating_sub(3)..at]
                .iter()
                .any(|before| matches!(before.as_str(), "to" | "into" | "in" | "with"))
    })
}

/// What goes in for another verb: the key of the other entity that takes part.
fn taking_part(entity: &EntityModel, statement: &Statement) -> Vec<String> {
    if !is_brought_to(statement) {
        return Vec::new();
    }
    entity
        .fields
        .iter()
        .filter(|field| field.references.is_some() && field.references == statement.indirect)
        .map(|field| field.name.clone())
        .collect()
}

fn auth(actor: Actor<'_>) -> &str {
    match actor {
        Actor::Anybody => "public",
        Actor::Role(role) if actor::is_owner_word(role) || actor::is_member_word(role) => {
            "authenticated"
        }
        Actor::Role(role) => role,
        Actor::SignedIn | Actor::Product => "authenticated",
    }
}

/// Who may call what a statement states: visitors only read, and leave what they are said to leave.
fn caller<'a>(analysis: &Analysis, actor: Actor<'a>, action: Action, entity: &str) -> &'a str {
    let writes = match action {
        Action::List | Action::Read => false,
        Action::Create => !Dealings::of(analysis, entity).visitors_create(),
        Action::Update | Action::Delete | Action::Other => true,
    };
    match actor {
        Actor::Anybody if writes => "authenticated",
        actor => auth(actor),
    }
}

/// Who may call what several statements state: the widest of them, and `authenticated` for several
/// roles, because the policies distinguish these.
fn widest(one: &str, other: &str) -> String {
    if one == other {
        one.to_owned()
    } else if one == "public" || other == "public" {
        "public".to_owned()
    } else {
        "authenticated".to_owned()
    }
}

/// Who may call a read: everyone who does anything with the entity, because the policies decide
/// which rows each of them sees.
fn readers(analysis: &Analysis, entity: &str) -> String {
    let mut acting = analysis
        .statements
        .iter()
        .filter(|statement| {
            statement.entity.as_deref() == Some(entity)
                && statement.priority != Priority::Wont
                && !statement.negated
                && !matches!(statement.kind, VerbKind::Keep)
        })
        .map(|statement| (actor::of_statement(analysis, statement), statement.kind))
        // A visitor who leaves something does not see what others left.
        .filter(|(actor, kind)| match actor {
            Actor::Product => false,
            Actor::Anybody => matches!(kind, VerbKind::List | VerbKind::Read),
            _ => true,
        })
        .map(|(actor, _)| auth(actor));
    let first = acting.next().unwrap_or("authenticated").to_owned();
    acting.fold(first, |known, other| widest(&known, other))
}

/// The endpoints a statement belongs to, as method and path.
pub(crate) fn routes_of(model: &DataModel, statement: &Statement) -> Vec<(&'static str, String)> {
    let Some(entity) = statement
        .entity
        .as_deref()
        .filter(|name| model.entities.iter().any(|entity| entity.name == *name))
    else {
        return Vec::new();
    };
    actions(statement)
        .into_iter()
        .map(|action| route(action, entity, &statement.verb))
        .collect()
}

/// All endpoints, in the order of the requirements that state them.
pub(crate) fn endpoints(analysis: &Analysis, model: &DataModel) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let stated = || {
        analysis
            .statements
            .iter()
            .filter(|statement| statement.priority != Priority::Wont)
    };
    for statement in stated().filter(|statement| !statement.negated) {
        let actor = actor::of_statement(analysis, statement);
        let Some(entity) = statement
            .entity
            .as_deref()
            .and_then(|name| model.entities.iter().find(|entity| entity.name == name))
        else {
            continue;
        };
        // What the product does by itself is not asked for from outside.
        if actor == Actor::Product {
            continue;
        }
        for action in actions(statement) {
            let (method, path) = route(action, &entity.name, &statement.verb);
            let request = match action {
                Action::Create | Action::Update => writable(entity),
                Action::Other => taking_part(entity, statement),
                Action::List | Action::Read | Action::Delete => Vec::new(),
            };
            let trace = Trace::requirement(&statement.requirement);
            let known = endpoints
                .iter_mut()
                .find(|known| known.method == method && known.path == path);
            if let Some(known) = known {
                if !matches!(action, Action::List | Action::Read) {
                    let caller = caller(analysis, actor, action, &entity.name);
                    known.auth = widest(&known.auth, caller);
                }
                for name in request {
                    if !known.request.contains(&name) {
                        known.request.push(name);
                    }
                }
                traces::add(&mut known.trace, trace);
                continue;
            }
            endpoints.push(Endpoint {
                method: method.to_owned(),
                path,
                description: description(action, &entity.name, &statement.verb),
                auth: match action {
                    Action::List | Action::Read => readers(analysis, &entity.name),
                    _ => caller(analysis, actor, action, &entity.name).to_owned(),
                },
                entity: Some(entity.name.clone()),
                request,
                response: match action {
                    Action::List => format!("{}[]", entity.name),
                    Action::Delete => String::new(),
                    _ => entity.name.clone(),
                },
                trace: vec![trace],
            });
        }
    }
    // What must not happen, what the product does by itself and what is kept bounds endpoints that
    // are there.
    for statement in stated() {
        if statement.kind == VerbKind::Keep {
            for known in &mut endpoints {
                if known.entity.is_some() && known.entity == statement.entity {
                    traces::add(&mut known.trace, Trace::requirement(&statement.requirement));
                }
            }
        }
        for (method, path) in routes_of(model, statement) {
            if let Some(known) = endpoints
                .iter_mut()
                .find(|known| known.method == method && known.path == path)
            {
                traces::add(&mut known.trace, Trace::requirement(&statement.requirement));
            }
        }
    }
    endpoints
}
