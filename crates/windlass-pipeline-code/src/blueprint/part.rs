//! Components: what the parts of pages are, by the names the UX spec gives them, and what else the
//! kind of a page asks for.

use windlass_pipeline_design::model::strategy::Priority;
use windlass_pipeline_design::model::{Requirements, Trace, naming};

use super::entity::{Entity, Reference};
use super::page::{self, Page, PageKind};
use super::route::Operation;
use crate::names::{self, Taken};

/// What a component does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComponentKind {
    /// All rows of an entity.
    List(usize),
    /// The newest rows of an entity.
    Recent(usize),
    /// Makes or changes a row.
    Form(usize),
    /// Asks for what an action needs.
    ActionForm(usize, usize),
    /// One row.
    Detail(usize),
    /// How many rows there are of each entity.
    Stats,
    /// Ways to other pages, on the page at that place.
    Links(usize),
    /// What can be done, on the page at that place.
    Capabilities(usize),
    /// What is stated about something that no table stands behind, by the name of the component.
    Statements(usize, String),
    SignIn,
    SignUp,
    /// Other ways to sign in.
    SignInOptions,
}

/// A component.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// The name of the file and of what it exports.
    pub(crate) name: String,
    pub(crate) kind: ComponentKind,
    /// Whether a list can be searched.
    pub(crate) search: bool,
    pub(crate) trace: Vec<Trace>,
}

/// What a name of the UX spec says.
enum Meaning {
    Part(ComponentKind),
    /// The list on the page can be searched.
    Search,
    /// Part of every page, or of another component.
    Included,
}

fn meaning(name: &str, page: &Page, at: usize, entities: &[Entity]) -> Meaning {
    let called = page::entity_of_component(name, entities);
    // The words of the entity say what it is about, not what is done: a board's details are no board.
    let own = called.map_or_else(Vec::new, |entity| {
        naming::words(&entities[entity].type_name)
    });
    let mut words = naming::words(name);
    words.retain(|word| !own.contains(word));
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let entity = called.or(page.entity);
    if has(&["search", "filter", "filters", "sort"]) {
        return Meaning::Search;
    }
    if has(&["signup", "register", "registration"]) || has(&["sign"]) && has(&["up"]) {
        return Meaning::Part(ComponentKind::SignUp);
    }
    if has(&["login", "signin"]) || (has(&["sign", "log"]) && has(&["in"])) {
        return Meaning::Part(ComponentKind::SignIn);
    }
    if has(&[
        "sidebar",
        "nav",
        "navigation",
        "navbar",
        "header",
        "footer",
        "topbar",
        "breadcrumb",
        "breadcrumbs",
        "menu",
        "layout",
        "button",
        "skeleton",
        "loading",
        "empty",
        "error",
        "alert",
        "toast",
        "pagination",
        "dialog",
        "modal",
        "row",
        "item",
        "cell",
        "title",
        "heading",
        "spinner",
        "badge",
        "input",
        "label",
        "select",
        "textarea",
        "checkbox",
    ]) {
        return Meaning::Included;
    }
    if has(&[
        "stat",
        "stats",
        "statistics",
        "metrics",
        "metric",
        "kpi",
        "chart",
        "counts",
        "numbers",
    ]) {
        return Meaning::Part(ComponentKind::Stats);
    }
    if page.kind == PageKind::Dashboard && has(&["summary", "overview", "list", "table"]) {
        return Meaning::Part(match page::entity_of_component(name, entities) {
            Some(entity) => ComponentKind::Recent(entity),
            None => ComponentKind::Stats,
        });
    }
    if has(&["quick", "hero", "cta", "links", "shortcuts"]) {
        return Meaning::Part(ComponentKind::Links(at));
    }
    if has(&["feature", "features", "capabilities"]) {
        return Meaning::Part(ComponentKind::Capabilities(at));
    }
    let Some(entity) = entity else {
        return Meaning::Part(ComponentKind::Capabilities(at));
    };
    if has(&["form", "editor", "wizard", "composer"]) {
        return Meaning::Part(ComponentKind::Form(entity));
    }
    if has(&["recent", "activity", "timeline", "latest"]) {
        return Meaning::Part(ComponentKind::Recent(entity));
    }
    if has(&[
        "list",
        "table",
        "grid",
        "cards",
        "feed",
        "board",
        "results",
        "collection",
        "history",
    ]) {
        return Meaning::Part(ComponentKind::List(entity));
    }
    let names_one = page.takes_own_id && page.entity == Some(entity);
    if has(&[
        "detail", "details", "view", "card", "profile", "summary", "info", "panel",
    ]) {
        return if names_one {
            Meaning::Part(ComponentKind::Detail(entity))
        } else if has(&["card"]) {
            Meaning::Included
        } else {
            Meaning::Part(ComponentKind::List(entity))
        };
    }
    if has(&["action", "actions", "toolbar"]) {
        return Meaning::Included;
    }
    if page::entity_of_component(name, entities).is_none() {
        return Meaning::Part(ComponentKind::Statements(at, name.to_owned()));
    }
    Meaning::Part(if names_one {
        ComponentKind::Detail(entity)
    } else {
        ComponentKind::List(entity)
    })
}

/// Whether something on this page can exist.
fn is_possible(kind: &ComponentKind, page: &Page, entities: &[Entity]) -> bool {
    match kind {
        ComponentKind::Form(entity) => {
            let entity = &entities[*entity];
            entity.inputs().next().is_some()
                && (entity.has(Operation::Create)
                    || entity.has(Operation::Update)
                    || page.kind == PageKind::Form)
        }
        ComponentKind::Detail(entity) => page.takes_own_id && entities[*entity].key().is_some(),
        _ => true,
    }
}

/// What a page of its kind has, whatever its components are called.
fn wanted(
    page: &Page,
    at: usize,
    entities: &[Entity],
    has_capabilities: bool,
) -> Vec<ComponentKind> {
    let listed = entities.iter().any(|entity| entity.has(Operation::List));
    match (page.kind, page.entity) {
        (PageKind::List, Some(entity)) => vec![ComponentKind::List(entity)],
        (PageKind::Detail, Some(entity)) => vec![ComponentKind::Detail(entity)],
        (PageKind::Form, Some(entity)) => vec![ComponentKind::Form(entity)],
        (PageKind::SignIn, _) => vec![ComponentKind::SignIn],
        (PageKind::SignUp, _) => vec![ComponentKind::SignUp],
        (PageKind::Dashboard, _) if listed => vec![ComponentKind::Stats, ComponentKind::Links(at)],
        (PageKind::Custom, Some(entity)) if page.takes_own_id => {
            vec![ComponentKind::Detail(entity)]
        }
        (PageKind::Custom, Some(entity)) => vec![ComponentKind::List(entity)],
        _ if has_capabilities => vec![ComponentKind::Capabilities(at), ComponentKind::Links(at)],
        _ => vec![ComponentKind::Links(at)],
    }
}

struct Parts<'a> {
    components: Vec<Component>,
    taken: Taken,
    entities: &'a mut [Entity],
}

impl Parts<'_> {
    /// The component of a kind, made when it is not there.
    fn get(&mut self, kind: ComponentKind, name: Option<&str>, trace: &[Trace]) -> usize {
        if let Some(at) = self.components.iter().position(|known| known.kind == kind) {
            let known = &mut self.components[at];
            for reason in trace {
                if !known.trace.contains(reason) {
                    known.trace.push(reason.clone());
                }
            }
            return at;
        }
        let of =
            |entity: usize, suffix: &str| format!("{}{suffix}", self.entities[entity].type_name);
        let own = match &kind {
            ComponentKind::List(entity) => of(*entity, "List"),
            ComponentKind::Recent(entity) => {
                format!("Recent{}", self.entities[*entity].type_plural)
            }
            ComponentKind::Form(entity) => of(*entity, "Form"),
            ComponentKind::ActionForm(entity, action) => {
                format!("{}Form", self.entities[*entity].actions[*action].type_name)
            }
            ComponentKind::Detail(entity) => of(*entity, "Detail"),
            ComponentKind::Stats => "StatCards".to_owned(),
            ComponentKind::Links(_) => "QuickLinks".to_owned(),
            ComponentKind::Capabilities(_) => "Capabilities".to_owned(),
            ComponentKind::Statements(_, name) => names::pascal(name, "Told"),
            ComponentKind::SignIn => "SignInForm".to_owned(),
            ComponentKind::SignUp => "SignUpForm".to_owned(),
            ComponentKind::SignInOptions => "SignInOptions".to_owned(),
        };
        let name = self.taken.claim(
            &name.map_or_else(|| own.clone(), |name| names::pascal(name, &own)),
            "",
        );
        self.components.push(Component {
            name,
            kind: kind.clone(),
            search: false,
            trace: trace.to_vec(),
        });
        let at = self.components.len() - 1;
        self.require(&kind, trace);
        at
    }

    /// What a component of this kind needs: data, and other components.
    fn require(&mut self, kind: &ComponentKind, trace: &[Trace]) {
        match *kind {
            ComponentKind::List(entity) | ComponentKind::Recent(entity) => {
                self.entities[entity].needs(Operation::List, trace.to_vec());
            }
            ComponentKind::Form(entity) => {
                let inputs: Vec<Reference> = self.entities[entity]
                    .inputs()
                    .filter_map(|field| field.reference)
                    .collect();
                self.require_choices(&inputs, trace);
                if !self.entities[entity].has(Operation::Create)
                    && !self.entities[entity].has(Operation::Update)
                {
                    self.entities[entity].needs(Operation::Create, trace.to_vec());
                }
            }
            ComponentKind::ActionForm(entity, action) => {
                let entity = &self.entities[entity];
                let inputs: Vec<Reference> = entity.actions[action]
                    .inputs
                    .iter()
                    .filter_map(|column| entity.field(column)?.reference)
                    .collect();
                self.require_choices(&inputs, trace);
            }
            ComponentKind::Detail(entity) => {
                self.entities[entity].needs(Operation::Read, trace.to_vec());
                for action in 0..self.entities[entity].actions.len() {
                    if !self.entities[entity].actions[action].inputs.is_empty() {
                        self.get(ComponentKind::ActionForm(entity, action), None, trace);
                    }
                }
                for child in 0..self.entities.len() {
                    let points_here = self.entities[child].reference_to(entity).is_some();
                    if child != entity && points_here && self.entities[child].has(Operation::List) {
                        self.get(ComponentKind::List(child), None, trace);
                    }
                }
            }
            _ => {}
        }
    }

    fn require_choices(&mut self, references: &[Reference], trace: &[Trace]) {
        for reference in references {
            if let Reference::Entity(other) = reference {
                self.entities[*other].needs(Operation::List, trace.to_vec());
            }
        }
    }
}

/// Whether what is said about a page asks for a search.
fn asks_for_search(trace: &[Trace], requirements: &Requirements) -> bool {
    page::requirement_ids(trace).any(|id| {
        requirements.functional.iter().any(|requirement| {
            requirement.id == id
                && requirement.priority != Priority::Wont
                && naming::words(&requirement.description)
                    .iter()
                    .any(|word| matches!(word.as_str(), "search" | "filter" | "find"))
        })
    })
}

/// All components; every page learns which of them are on it.
pub(crate) fn components(
    pages: &mut [Page],
    entities: &mut [Entity],
    requirements: &Requirements,
    other_ways: bool,
) -> Vec<Component> {
    let mut taken = Taken::types();
    for entity in entities.iter() {
        taken.claim(&entity.type_name, "");
    }
    for page in pages.iter() {
        taken.claim(&page.view, "");
    }
    let mut parts = Parts {
        components: Vec::new(),
        taken,
        entities,
    };
    let edits: Vec<usize> = pages
        .iter()
        .filter(|page| page.kind == PageKind::Form && page.takes_own_id)
        .filter_map(|page| page.entity)
        .collect();
    for entity in &edits {
        parts.entities[*entity].needs(Operation::Read, Vec::new());
        parts.entities[*entity].needs(Operation::Update, Vec::new());
    }
    for (at, page) in pages.iter_mut().enumerate() {
        let reasons = page.reasons();
        // Decided by the reasons alone, so that a plan of files needs no requirements.
        let has_capabilities =
            page.kind == PageKind::Landing || page.requirements().next().is_some();
        let mut search = asks_for_search(&page.trace, requirements);
        let mut named: Vec<(ComponentKind, Option<String>)> = Vec::new();
        for name in page.named.clone() {
            match meaning(&name, page, at, parts.entities) {
                Meaning::Part(ComponentKind::Capabilities(_)) if !has_capabilities => {}
                Meaning::Part(ComponentKind::Statements(..)) if !has_capabilities => {}
                Meaning::Part(kind) if is_possible(&kind, page, parts.entities) => {
                    named.push((kind, Some(name)));
                }
                Meaning::Search => search = true,
                Meaning::Part(_) | Meaning::Included => {}
            }
        }
        for kind in wanted(page, at, parts.entities, has_capabilities) {
            // A page that shows something needs no signposts of ours.
            let signpost = matches!(
                kind,
                ComponentKind::Links(_) | ComponentKind::Capabilities(_)
            );
            let known = named.iter().any(|(known, _)| *known == kind);
            let enough = signpost && page.kind == PageKind::Custom && !named.is_empty();
            if !known && !enough {
                named.push((kind, None));
            }
        }
        if page.kind == PageKind::SignIn && other_ways {
            named.push((ComponentKind::SignInOptions, None));
        }
        let listed: Vec<usize> = named
            .iter()
            .filter_map(|(kind, _)| match kind {
                ComponentKind::List(entity) => Some(*entity),
                _ => None,
            })
            .collect();
        let shows_one = page.takes_own_id.then_some(page.entity).flatten();
        named.retain(|(kind, _)| match kind {
            // A page of one row does not list them all; a list needs no list of the newest beside it.
            ComponentKind::List(entity) => shows_one != Some(*entity),
            ComponentKind::Recent(entity) => !listed.contains(entity),
            _ => true,
        });
        for (kind, _) in &named {
            match kind {
                ComponentKind::Statements(_, name) => page.told.push(name.clone()),
                ComponentKind::Capabilities(_) => page.tells_the_rest = true,
                _ => {}
            }
        }
        for (kind, name) in named {
            let list = matches!(kind, ComponentKind::List(_));
            let part = parts.get(kind, name.as_deref(), &reasons);
            parts.components[part].search |= search && list;
            if !page.parts.contains(&part) {
                page.parts.push(part);
            }
        }
    }
    add_forms(pages, &mut parts);
    parts.components
}

/// Makes sure that what can be made or changed has a form somewhere.
fn add_forms(pages: &mut [Page], parts: &mut Parts<'_>) {
    for entity in 0..parts.entities.len() {
        let own = |page: &Page| page.entity == Some(entity);
        let has_create_page = pages
            .iter()
            .any(|page| page.kind == PageKind::Form && own(page) && !page.takes_own_id);
        let writes = parts.entities[entity].inputs().next().is_some();
        if !writes {
            continue;
        }
        if parts.entities[entity].has(Operation::Create) && !has_create_page {
            let list = parts
                .components
                .iter()
                .position(|component| component.kind == ComponentKind::List(entity));
            let place = pages
                .iter()
                .position(|page| list.is_some_and(|list| page.parts.contains(&list)) && own(page));
            if let Some(place) = place {
                let form = parts.get(ComponentKind::Form(entity), None, &pages[place].reasons());
                if !pages[place].parts.contains(&form) {
                    pages[place].parts.push(form);
                }
            }
        }
        let details: Vec<usize> = (0..pages.len())
            .filter(|at| own(&pages[*at]) && pages[*at].takes_own_id)
            .collect();
        let has_edit_page = pages
            .iter()
            .any(|page| page.kind == PageKind::Form && own(page) && page.takes_own_id);
        if parts.entities[entity].has(Operation::Update) && !has_edit_page && !details.is_empty() {
            let reasons = pages[details[0]].reasons();
            parts.get(ComponentKind::Form(entity), None, &reasons);
        }
    }
}

/// Singular words of a text.
fn stems(text: &str) -> Vec<String> {
    naming::words(text)
        .iter()
        .map(|word| naming::singular(word))
        .collect()
}

/// Which of the components on a page that state requirements states this one: the first that is called
/// after it.
fn teller<'a>(page: &'a Page, text: &str) -> Option<&'a str> {
    let words = stems(text);
    page.told
        .iter()
        .find(|name| stems(name).iter().all(|word| words.contains(word)))
        .map(String::as_str)
}

/// The requirements that a component states: those it is called after, and the first component also
/// those that no other one states. Each is on a page once.
pub(crate) fn statements<'a>(
    page: &'a Page,
    name: &str,
    requirements: &'a Requirements,
) -> Vec<(&'a str, &'a str)> {
    let first = page.told.first().is_some_and(|told| told == name);
    of_page(page, requirements)
        .filter(|(_, text)| match teller(page, text) {
            Some(teller) => teller == name,
            None => first && !page.tells_the_rest,
        })
        .collect()
}

/// What can be done on a page, as requirements; everything on a landing page.
pub(crate) fn capabilities<'a>(
    page: &'a Page,
    requirements: &'a Requirements,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    of_page(page, requirements).filter(|(_, text)| teller(page, text).is_none())
}

fn of_page<'a>(
    page: &'a Page,
    requirements: &'a Requirements,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    requirements
        .functional
        .iter()
        .filter(move |requirement| {
            requirement.priority != Priority::Wont
                && (page.kind == PageKind::Landing
                    || page.requirements().any(|id| id == requirement.id))
        })
        .map(|requirement| (requirement.id.as_str(), requirement.description.as_str()))
        .take(18)
}
