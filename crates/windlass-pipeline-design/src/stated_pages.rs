//! What a stated page is: its name read as a kind of page and the entity it shows.

use crate::model::analysis::{Analysis, VerbKind};
use crate::model::naming;

/// A kind of page, with what its route needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Detail,
    New,
    Edit,
    SignIn,
    SignUp,
    Landing,
    Dashboard,
    Custom,
}

impl Kind {
    /// As the UX specification has it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Detail => "detail",
            Self::New | Self::Edit => "form",
            Self::SignIn | Self::SignUp => "sign-in",
            Self::Landing => "landing",
            Self::Dashboard => "dashboard",
            Self::Custom => "custom",
        }
    }
}

/// Words in a page's name that say nothing about it.
const NOISE: &[&str] = &[
    "a", "all", "an", "and", "for", "my", "of", "our", "page", "pages", "screen", "screens", "the",
    "their", "to", "with", "your",
];

const LISTS: &[&str] = &[
    "browser",
    "catalog",
    "catalogue",
    "directory",
    "feed",
    "gallery",
    "index",
    "library",
    "list",
    "overview",
    "search",
    "table",
];

const DETAILS: &[&str] = &["detail", "details", "profile", "view", "viewer"];

const FORMS: &[&str] = &[
    "add",
    "builder",
    "create",
    "creation",
    "creator",
    "form",
    "new",
    "submission",
    "submit",
];

const EDITS: &[&str] = &["change", "edit", "editing", "editor", "update"];

/// Where the words of an entity stand in the words of a name, the number of the last one aside.
fn position(name: &[String], entity: &[String]) -> Option<usize> {
    if entity.is_empty() || entity.len() > name.len() {
        return None;
    }
    (0..=name.len() - entity.len()).find(|at| {
        name[*at..at + entity.len()]
            .iter()
            .zip(entity)
            .all(|(one, other)| one == other || naming::singular(one) == *other)
    })
}

/// `booking` is about to `book`.
fn is_doing(word: &str, verb: &str) -> bool {
    word.strip_suffix("ing").is_some_and(|stem| {
        stem == verb
            || verb.strip_suffix('e') == Some(stem)
            || stem.len() > 2 && {
                let doubled = verb.chars().last().map(|last| format!("{verb}{last}"));
                doubled.as_deref() == Some(stem)
            }
    })
}

/// What a name says.
pub(crate) fn read(analysis: &Analysis, entities: &[String], name: &str) -> (Kind, Option<String>) {
    let all = naming::words(name);
    let joined = all.join(" ");
    let says = |words: &[&str]| words.iter().any(|word| joined.contains(word));
    let has = |words: &[&str]| all.iter().any(|word| words.contains(&word.as_str()));
    if says(&["sign up", "signup"]) || has(&["register", "registration"]) {
        return (Kind::SignUp, None);
    }
    if says(&["sign in", "signin", "log in", "login"]) {
        return (Kind::SignIn, None);
    }
    if has(&["landing", "homepage", "welcome"]) || joined == "home" || joined == "home page" {
        return (Kind::Landing, None);
    }
    if has(&["dashboard"]) || joined == "overview" || joined == "overview page" {
        return (Kind::Dashboard, None);
    }
    let found = entities
        .iter()
        .filter_map(|entity| {
            let words = naming::words(entity);
            position(&all, &words).map(|at| (entity, at, words.len()))
        })
        .max_by_key(|(_, at, length)| (*length, usize::MAX - at));
    if let Some((entity, at, length)) = found {
        let rest: Vec<&str> = all
            .iter()
            .enumerate()
            .filter(|(index, _)| *index < at || *index >= at + length)
            .map(|(_, word)| word.as_str())
            .filter(|word| !NOISE.contains(word))
            .collect();
        let only =
            |words: &[&str]| !rest.is_empty() && rest.iter().all(|word| words.contains(word));
        let last = &all[at + length - 1];
        let kind = if rest.is_empty() {
            if naming::is_plural(last) {
                Kind::List
            } else {
                Kind::Detail
            }
        } else if only(LISTS) {
            Kind::List
        } else if only(DETAILS) {
            Kind::Detail
        } else if only(FORMS) {
            Kind::New
        } else if only(EDITS) {
            let created = analysis.statements.iter().any(|statement| {
                statement.entity.as_ref() == Some(entity) && statement.kind == VerbKind::Create
            });
            // An editor that is the only form is also where a new one begins.
            if created && !rest.contains(&"edit") {
                Kind::New
            } else {
                Kind::Edit
            }
        } else {
            Kind::Custom
        };
        return (kind, Some(entity.clone()));
    }
    let doing = analysis.statements.iter().find(|statement| {
        statement
            .entity
            .as_ref()
            .is_some_and(|entity| entities.contains(entity))
            && all.iter().any(|word| is_doing(word, &statement.verb))
    });
    if let Some(statement) = doing {
        let kind = match statement.kind {
            VerbKind::Create => Kind::New,
            VerbKind::Update => Kind::Edit,
            VerbKind::List => Kind::List,
            _ => Kind::Custom,
        };
        return (kind, statement.entity.clone());
    }
    (Kind::Custom, None)
}

/// The words of a name that mean something, singular.
pub(crate) fn topic(name: &str) -> Vec<String> {
    naming::words(name)
        .into_iter()
        .filter(|word| !NOISE.contains(&word.as_str()))
        .map(|word| naming::singular(&word))
        .collect()
}
