//! Components of a page, by what it shows and what is done on it.

use crate::actor::{self, Actor};
use crate::endpoints::{Action, actions, is_manage};
use crate::model::analysis::{Analysis, VerbKind};
use crate::model::architecture::{Architecture, RelationType};
use crate::model::naming;
use crate::pages::{Site, acting};
use crate::placement::Placed;
use crate::stated_pages::Kind;

/// A name for a component: ASCII PascalCase, not too long; empty when nothing is left of it.
fn component(text: &str) -> String {
    let mut name = String::new();
    for word in naming::words(text) {
        let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
        if name.len() + word.len() > 40 {
            break;
        }
        name.push_str(&naming::pascal(&word));
    }
    naming::pascal(&name)
}

fn push(components: &mut Vec<String>, name: String) {
    if !name.is_empty() && !components.contains(&name) {
        components.push(name);
    }
}

/// What a page of a kind has before anything is done on it.
fn base(
    analysis: &Analysis,
    architecture: &Architecture,
    site: &Site,
    at: usize,
    into: &mut Vec<String>,
) {
    let page = &site.pages[at];
    let entity = page.entity.as_deref().map(component).unwrap_or_default();
    match site.kind(at) {
        Kind::List => push(into, format!("{entity}List")),
        Kind::Detail => {
            push(into, format!("{entity}Detail"));
            let name = page.entity.as_deref().unwrap_or_default();
            for relation in &architecture.data_model.relationships {
                let part = relation.from == name && relation.kind == RelationType::OneToMany;
                // What has pages of its own is not shown inside another page as well.
                if part && acting(analysis, &relation.to).next().is_none() {
                    push(into, format!("{}List", component(&relation.to)));
                }
            }
        }
        Kind::New | Kind::Edit => push(into, format!("{entity}Form")),
        Kind::SignIn => {
            push(into, "SignInForm".to_owned());
            let signs_up = analysis
                .statements
                .iter()
                .any(|statement| statement.kind == VerbKind::SignUp);
            if signs_up && site.find(Kind::SignUp, None).is_none() {
                push(into, "SignUpForm".to_owned());
            }
        }
        Kind::SignUp => push(into, "SignUpForm".to_owned()),
        Kind::Landing => push(into, "Hero".to_owned()),
        Kind::Dashboard => {
            let spans: String = analysis
                .spans
                .iter()
                .filter(|span| {
                    page.trace
                        .iter()
                        .any(|trace| trace.parts() == Some(("spec", &span.id)))
                })
                .map(|span| span.text.clone() + " ")
                .collect();
            let words: Vec<String> = naming::words(&spans)
                .iter()
                .map(|word| naming::singular(word))
                .collect();
            let named = |entity: &str| {
                let wanted = naming::words(entity);
                !wanted.is_empty() && words.windows(wanted.len()).any(|part| part == wanted)
            };
            let shown: Vec<&str> = architecture
                .data_model
                .entities
                .iter()
                .map(|entity| entity.name.as_str())
                .filter(|entity| site.find(Kind::List, Some(entity)).is_some())
                .collect();
            let any_named = shown.iter().any(|entity| named(entity));
            for entity in shown
                .iter()
                .filter(|entity| !any_named || named(entity))
                .take(6)
            {
                push(into, format!("{}Summary", component(entity)));
            }
            if into.is_empty() {
                push(into, "Overview".to_owned());
            }
        }
        Kind::Custom => push(into, format!("{}Panel", component(&page.name))),
    }
}

/// Adds what a behaviour needs on its page.
fn for_behaviour(
    analysis: &Analysis,
    kind: Kind,
    placed: &Placed<'_>,
    entity: Option<&str>,
    into: &mut Vec<String>,
) {
    let statement = placed.statement;
    let nothing_done = matches!(
        statement.kind,
        VerbKind::SignIn | VerbKind::SignUp | VerbKind::Keep
    );
    if statement.negated || nothing_done {
        return;
    }
    let same = entity.is_some() && statement.entity.as_deref() == entity;
    let name = component(entity.unwrap_or_default());
    let object = statement
        .object
        .as_ref()
        .map(|object| object.head.as_str())
        .filter(|head| !head.is_empty());
    if actor::of_statement(analysis, statement) == Actor::Product {
        // Nobody starts it; what is to be seen is that it happened.
        if let Some(object) = object.filter(|_| !same) {
            push(into, component(&format!("{object} notice")));
        }
        return;
    }
    if !same {
        push(
            into,
            match object {
                Some(object) => component(&format!("{} {object}", statement.verb)),
                None => component(&statement.text),
            },
        );
        return;
    }
    for action in actions(statement) {
        match (action, kind) {
            (Action::List, _) => match statement.verb.as_str() {
                "search" | "find" => push(into, format!("{name}Search")),
                "filter" | "sort" => push(into, format!("{name}Filter")),
                _ => {}
            },
            (Action::Create, Kind::List | Kind::Custom) => {
                push(into, format!("New{name}Button"));
            }
            (Action::Update, Kind::List | Kind::Detail | Kind::Custom) if !is_manage(statement) => {
                push(into, format!("Edit{name}Button"));
            }
            (Action::Delete, _) => push(into, format!("Delete{name}Button")),
            (Action::Other, _) => push(into, format!("{}{name}Button", component(&statement.verb))),
            _ => {}
        }
    }
}

/// Fills the components of every page.
pub(crate) fn fill(
    analysis: &Analysis,
    architecture: &Architecture,
    site: &mut Site,
    placed: &[Placed<'_>],
) {
    for at in 0..site.pages.len() {
        let mut components = Vec::new();
        base(analysis, architecture, site, at, &mut components);
        let entity = site.pages[at].entity.clone();
        let kind = site.kind(at);
        if kind == Kind::List && site.find(Kind::New, entity.as_deref()).is_some() {
            let name = component(entity.as_deref().unwrap_or_default());
            push(&mut components, format!("New{name}Button"));
        }
        for one in placed.iter().filter(|one| one.page == at) {
            for_behaviour(analysis, kind, one, entity.as_deref(), &mut components);
        }
        if components.is_empty() {
            components.push("Panel".to_owned());
        }
        site.pages[at].components = components;
    }
}
