//! Pages: their kind, the entity they show, where they are and what they are called in code.

use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::ux::{Layout, UxPage};
use windlass_pipeline_design::model::{Trace, UxSpec, naming};

use super::entity::Entity;
use super::route::{self, Segment};
use crate::names::{self, Taken};

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    List,
    Detail,
    Form,
    SignIn,
    SignUp,
    Landing,
    Dashboard,
    Custom,
}

/// A page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// As the UX spec has it; what the reader sees.
    pub(crate) name: String,
    /// `QuizzesPage`.
    pub(crate) view: String,
    pub(crate) kind: PageKind,
    pub(crate) entity: Option<usize>,
    pub(crate) segments: Vec<Segment>,
    /// `/quizzes`, parameters as `:id`.
    pub(crate) path: String,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
    /// Whether the last parameter is the key of its own entity.
    pub(crate) takes_own_id: bool,
    /// The entity whose key the last parameter is, when it is another one that its own points to.
    pub(crate) parent: Option<usize>,
    pub(crate) layout: Layout,
    pub(crate) purpose: String,
    /// The components the UX spec names.
    pub(crate) named: Vec<String>,
    pub(crate) trace: Vec<Trace>,
    /// What is on it, by its place among the components.
    pub(crate) parts: Vec<usize>,
    /// The names of the components that state requirements in their words.
    pub(crate) told: Vec<String>,
    /// Whether what no such component states is stated by another one.
    pub(crate) tells_the_rest: bool,
}

impl Page {
    /// Whether it can be linked to without knowing a key.
    pub(crate) fn is_open(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The reasons of the page and the page itself.
    pub(crate) fn reasons(&self) -> Vec<Trace> {
        let mut trace = self.trace.clone();
        trace.push(Trace::page(&self.name));
        trace
    }

    /// The requirements it is there for.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = &str> {
        requirement_ids(&self.trace)
    }

    /// Its address for the row with this key, as a template literal.
    pub(crate) fn address_of(&self, key: &str) -> String {
        let mut text = String::from("`");
        for segment in &self.segments {
            match segment {
                Segment::Fixed(name) => text.push_str(&format!("/{name}")),
                Segment::Parameter(_) => text.push_str(&format!("/${{{key}}}")),
            }
        }
        text.push('`');
        text
    }
}

/// The requirements that reasons name.
pub(crate) fn requirement_ids(trace: &[Trace]) -> impl Iterator<Item = &str> {
    trace.iter().filter_map(|reason| match reason.parts() {
        Some(("req", id)) => Some(id),
        _ => None,
    })
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The entity a page shows: the stated one, else the one its path, name or components name.
fn entity(page: &UxPage, entities: &[Entity]) -> Option<usize> {
    let by_name = |name: &str| entities.iter().position(|entity| entity.source == name);
    if let Some(name) = page.entity.as_deref() {
        return by_name(name);
    }
    let from_path = || {
        route::segments(&page.route)
            .iter()
            .rev()
            .find_map(|segment| route::entity_of_segment(entities, segment))
    };
    let from_name = || {
        let words = naming::words(&page.name);
        entities.iter().position(|entity| {
            words
                .iter()
                .any(|word| *word == entity.human || *word == entity.human_plural)
        })
    };
    let from_components = || {
        page.components
            .iter()
            .find_map(|name| entity_of_component(name, entities))
    };
    from_path().or_else(from_name).or_else(from_components)
}

/// The entity a component is called after: the longest name it begins with.
pub(crate) fn entity_of_component(name: &str, entities: &[Entity]) -> Option<usize> {
    let name = naming::pascal(name);
    entities
        .iter()
        .enumerate()
        .filter(|(_, entity)| {
            name.starts_with(&entity.type_name) || name.starts_with(&entity.type_plural)
        })
        .max_by_key(|(_, entity)| entity.type_name.len())
        .map(|(at, _)| at)
}

fn kind(page: &UxPage, entity: Option<usize>) -> PageKind {
    let name = naming::human(&page.name);
    let registers = has_any(
        &name,
        &[
            "sign up",
            "signup",
            "register",
            "registration",
            "create account",
        ],
    );
    match page.kind.as_str() {
        "list" if entity.is_some() => return PageKind::List,
        "detail" if entity.is_some() => return PageKind::Detail,
        "form" if entity.is_some() => return PageKind::Form,
        "sign-in" if registers => return PageKind::SignUp,
        "sign-in" => return PageKind::SignIn,
        "sign-up" => return PageKind::SignUp,
        "landing" => return PageKind::Landing,
        "dashboard" => return PageKind::Dashboard,
        "" => {}
        _ => return PageKind::Custom,
    }
    let ends = |suffixes: &[&str]| {
        page.components
            .iter()
            .any(|component| suffixes.iter().any(|suffix| component.ends_with(suffix)))
    };
    if registers {
        PageKind::SignUp
    } else if has_any(&name, &["sign in", "signin", "log in", "login"]) {
        PageKind::SignIn
    } else if has_any(&name, &["dashboard", "overview"]) {
        PageKind::Dashboard
    } else if has_any(&name, &["landing", "home", "welcome"]) {
        PageKind::Landing
    } else if entity.is_none() {
        PageKind::Custom
    } else if ends(&["Form", "Editor"]) || has_any(&name, &["create", "new", "edit"]) {
        PageKind::Form
    } else if ends(&["Detail", "Details", "View"]) || page.route.ends_with('}') {
        PageKind::Detail
    } else {
        PageKind::List
    }
}

fn default_route(page: &UxPage, kind: PageKind, entity: Option<&Entity>, at: usize) -> String {
    let own = names::kebab(&page.name, &format!("page-{}", at + 1));
    match (kind, entity) {
        (PageKind::Landing, _) => "/".to_owned(),
        (PageKind::SignIn, _) => "/sign-in".to_owned(),
        (PageKind::SignUp, _) => "/sign-up".to_owned(),
        (PageKind::List, Some(entity)) => format!("/{}", entity.path),
        (PageKind::Detail, Some(entity)) => format!("/{}/{{id}}", entity.path),
        (PageKind::Form, Some(entity))
            if naming::words(&page.name).contains(&"edit".to_owned()) =>
        {
            format!("/{}/{{id}}/edit", entity.path)
        }
        (PageKind::Form, Some(entity)) => format!("/{}/new", entity.path),
        _ => format!("/{own}"),
    }
}

fn path_of(segments: &[Segment]) -> String {
    if segments.is_empty() {
        return "/".to_owned();
    }
    segments
        .iter()
        .map(|segment| match segment {
            Segment::Fixed(name) => format!("/{name}"),
            Segment::Parameter(name) => format!("/:{name}"),
        })
        .collect()
}

/// All pages in the order of the UX spec, with those added that nothing works without.
pub(crate) fn pages(ux: &UxSpec, entities: &[Entity], needs_sign_in: bool) -> Vec<Page> {
    let mut views = Taken::types();
    let mut paths = Taken::default();
    let mut pages: Vec<Page> = Vec::new();
    for (at, given) in ux.pages.iter().enumerate() {
        let entity = entity(given, entities);
        let kind = kind(given, entity);
        let wanted = if given.route.trim().is_empty() {
            default_route(given, kind, entity.map(|at| &entities[at]), at)
        } else {
            given.route.clone()
        };
        let mut segments = route::segments(&wanted);
        // The API has its own place, and so has what the framework serves.
        if matches!(segments.first(), Some(Segment::Fixed(first)) if first == "api") {
            segments[0] = Segment::Fixed("api-pages".to_owned());
        }
        let has_parameter = |segments: &[Segment]| {
            segments
                .iter()
                .any(|segment| matches!(segment, Segment::Parameter(_)))
        };
        if kind == PageKind::Detail && !has_parameter(&segments) {
            segments.push(Segment::Parameter(route::parameter(0)));
        }
        make_unique(&mut segments, &mut paths);
        let own = names::kebab(&given.name, &format!("page-{}", at + 1));
        let name = naming::words(&own);
        let head = names::pascal(&name.join(" "), &format!("Page{}", at + 1));
        let head = head
            .strip_suffix("Page")
            .filter(|rest| !rest.is_empty())
            .unwrap_or(&head)
            .to_owned();
        let owner = parameter_owner(&segments, entities);
        let title = crate::escape::one_line(&given.name);
        pages.push(Page {
            name: if title.is_empty() {
                naming::title(&own)
            } else {
                title
            },
            view: views.claim(&format!("{head}Page"), ""),
            kind,
            entity,
            path: path_of(&segments),
            parameters: parameters(&segments),
            takes_own_id: has_parameter(&segments)
                && entity.is_some()
                && (owner == entity || owner.is_none()),
            parent: owner.filter(|owner| {
                Some(*owner) != entity
                    && entity.is_some_and(|own| entities[own].reference_to(*owner).is_some())
            }),
            segments,
            layout: given.layout,
            purpose: crate::escape::one_line(&given.purpose),
            named: given.components.clone(),
            trace: if given.trace.is_empty() {
                vec![Trace::page(&given.name)]
            } else {
                given.trace.clone()
            },
            parts: Vec::new(),
            told: Vec::new(),
            tells_the_rest: false,
        });
    }
    if pages.is_empty() {
        pages.push(added(
            "Home",
            PageKind::Landing,
            "/",
            &mut views,
            &mut paths,
            rule::SCAFFOLDING,
        ));
    }
    if needs_sign_in && !pages.iter().any(|page| page.kind == PageKind::SignIn) {
        pages.push(added(
            "Sign in",
            PageKind::SignIn,
            "/sign-in",
            &mut views,
            &mut paths,
            rule::SYSTEM_FIELDS,
        ));
    }
    pages
}

fn added(
    name: &str,
    kind: PageKind,
    path: &str,
    views: &mut Taken,
    paths: &mut Taken,
    rule: &str,
) -> Page {
    let mut segments = route::segments(path);
    make_unique(&mut segments, paths);
    Page {
        name: name.to_owned(),
        view: views.claim(&format!("{}Page", names::pascal(name, "Added")), ""),
        kind,
        entity: None,
        path: path_of(&segments),
        segments,
        parameters: Vec::new(),
        takes_own_id: false,
        parent: None,
        layout: if kind == PageKind::SignIn {
            Layout::Centered
        } else {
            Layout::SingleColumn
        },
        purpose: String::new(),
        named: Vec::new(),
        trace: vec![Trace::default_rule(rule)],
        parts: Vec::new(),
        told: Vec::new(),
        tells_the_rest: false,
    }
}

fn parameters(segments: &[Segment]) -> Vec<String> {
    segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Parameter(name) => Some(name.clone()),
            Segment::Fixed(_) => None,
        })
        .collect()
}

/// Changes the last fixed piece until nothing else is at the same place.
fn make_unique(segments: &mut Vec<Segment>, paths: &mut Taken) {
    let wanted = path_of(segments);
    let claimed = paths.claim(&wanted, "-");
    if claimed == wanted {
        return;
    }
    let suffix = claimed[wanted.len()..].to_owned();
    match segments.iter_mut().rev().find_map(|segment| match segment {
        Segment::Fixed(name) => Some(name),
        Segment::Parameter(_) => None,
    }) {
        Some(name) => name.push_str(&suffix),
        None => segments.insert(0, Segment::Fixed(format!("page{suffix}"))),
    }
    // The new place may be taken as well: it is claimed like any other.
    let path = path_of(segments);
    if path != claimed {
        make_unique(segments, paths);
    }
}

/// The entity whose key the last parameter is: the one named in front of it.
fn parameter_owner(segments: &[Segment], entities: &[Entity]) -> Option<usize> {
    let at = segments
        .iter()
        .rposition(|segment| matches!(segment, Segment::Parameter(_)))?;
    segments[..at]
        .iter()
        .rev()
        .find_map(|segment| route::entity_of_segment(entities, segment))
}
