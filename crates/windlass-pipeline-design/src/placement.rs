//! Which page a behaviour happens on. Every behaviour has one.

use std::collections::{BTreeSet, VecDeque};

use crate::endpoints::is_manage;
use crate::model::analysis::{Analysis, Statement, VerbKind};
use crate::model::architecture::DataModel;
use crate::model::{Trace, naming};
use crate::pages::{Site, is_wanted};
use crate::stated_pages::{Kind, topic};
use crate::traces;

/// Nouns that are something to look at and therefore get a page when no stated one shows them.
const VIEWS: &[&str] = &[
    "activity",
    "analytics",
    "calendar",
    "cart",
    "chart",
    "checkout",
    "graph",
    "history",
    "inbox",
    "leaderboard",
    "log",
    "map",
    "preference",
    "profile",
    "progress",
    "ranking",
    "report",
    "result",
    "schedule",
    "score",
    "setting",
    "statistic",
    "statistics",
    "summary",
    "timeline",
];

/// A behaviour and its page.
pub(crate) struct Placed<'a> {
    pub(crate) statement: &'a Statement,
    pub(crate) page: usize,
}

/// The first page of an entity that there is.
fn of_entity(site: &Site, entity: &str, kinds: &[Kind]) -> Option<usize> {
    kinds
        .iter()
        .find_map(|kind| site.find(*kind, Some(entity)))
        .or_else(|| {
            site.pages
                .iter()
                .position(|page| page.entity.as_deref() == Some(entity))
        })
}

/// A page of the entity, or of the nearest one it belongs to.
fn of_entity_or_whole(
    site: &Site,
    model: &DataModel,
    entity: &str,
    kinds: &[Kind],
) -> Option<usize> {
    let mut open = VecDeque::from([entity]);
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop_front() {
        if !seen.insert(at) {
            continue;
        }
        if let Some(page) = of_entity(site, at, kinds) {
            return Some(page);
        }
        open.extend(
            model
                .relationships
                .iter()
                .filter(|relation| relation.to == at)
                .map(|relation| relation.from.as_str()),
        );
    }
    None
}

/// The kinds of page a behaviour belongs to, the best first.
fn kinds(statement: &Statement) -> &'static [Kind] {
    let many = statement
        .object
        .as_ref()
        .is_some_and(|object| object.plural);
    match statement.kind {
        VerbKind::Create if !statement.negated => &[Kind::New, Kind::List],
        VerbKind::Update if !statement.negated => &[Kind::Edit, Kind::Detail, Kind::List],
        VerbKind::Read if !many => &[Kind::Detail, Kind::List],
        VerbKind::Other if !is_manage(statement) => &[Kind::Detail, Kind::List],
        VerbKind::Delete | VerbKind::Keep => &[Kind::Detail, Kind::List],
        _ => &[Kind::List, Kind::Detail],
    }
}

/// A page whose name shares a word with what is done.
fn by_topic(site: &Site, statement: &Statement) -> Option<usize> {
    let object = statement.object.as_ref()?;
    let mut words = topic(&object.text);
    words.push(object.head.clone());
    site.pages.iter().position(|page| {
        page.entity.is_none() && topic(&page.name).iter().any(|word| words.contains(word))
    })
}

/// An entity that the text names, in the singular or the plural.
fn mentioned<'a>(entities: &'a [String], text: &str) -> Option<&'a String> {
    let words: Vec<String> = naming::words(text)
        .iter()
        .map(|word| naming::singular(word))
        .collect();
    entities.iter().find(|entity| {
        let wanted = naming::words(entity);
        !wanted.is_empty() && words.windows(wanted.len()).any(|part| part == wanted)
    })
}

/// Pages for what is looked at and has none: made before sign-in and the first page.
pub(crate) fn views(analysis: &Analysis, entities: &[String], site: &mut Site) {
    for statement in &analysis.statements {
        if !is_wanted(statement) || statement.negated || statement.kind == VerbKind::Keep {
            continue;
        }
        let known = statement
            .entity
            .as_ref()
            .is_some_and(|entity| entities.contains(entity));
        let Some(object) = &statement.object else {
            continue;
        };
        if known || !VIEWS.contains(&object.head.as_str()) || by_topic(site, statement).is_some() {
            continue;
        }
        let name = naming::sentence(&if object.plural {
            naming::plural(&object.head)
        } else {
            object.head.clone()
        });
        let trace = vec![Trace::requirement(&statement.requirement)];
        site.add(analysis, &name, Kind::Custom, None, trace);
    }
}

/// Places every behaviour and notes it as a reason of its page.
pub(crate) fn place<'a>(
    analysis: &'a Analysis,
    model: &DataModel,
    entities: &[String],
    site: &mut Site,
) -> Vec<Placed<'a>> {
    let mut placed = Vec::new();
    for statement in analysis
        .statements
        .iter()
        .filter(|statement| is_wanted(statement))
    {
        let page = match statement.kind {
            VerbKind::SignUp => site
                .find(Kind::SignUp, None)
                .or_else(|| site.find(Kind::SignIn, None)),
            VerbKind::SignIn => site.find(Kind::SignIn, None),
            // What a page is said to show is on that page.
            VerbKind::Read | VerbKind::List => site.named_in(&statement.text),
            _ => None,
        }
        .or_else(|| of_entity_or_whole(site, model, statement.entity.as_deref()?, kinds(statement)))
        .or_else(|| by_topic(site, statement))
        .or_else(|| {
            let entity = mentioned(entities, &statement.text)?;
            of_entity_or_whole(site, model, entity, &[Kind::Detail, Kind::List])
        })
        .unwrap_or_else(|| site.home());
        traces::add(
            &mut site.pages[page].trace,
            Trace::requirement(&statement.requirement),
        );
        placed.push(Placed { statement, page });
    }
    placed
}
