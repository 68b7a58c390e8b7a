//! Pages: stated ones first, then what the actions on entities need, sign-in and a first page.

use crate::actor::{self, Actor};
use crate::endpoints::{Action, actions};
use crate::model::analysis::{Analysis, Statement, VerbKind};
use crate::model::strategy::Priority;
use crate::model::trace::rule;
use crate::model::ux::{Layout, UxPage};
use crate::model::{Trace, naming};
use crate::stated_pages::{self, Kind};
use crate::words::with_article;
use crate::{auth, tagline, traces};

/// Pages while they are being worked out.
pub(crate) struct Site {
    pub(crate) pages: Vec<UxPage>,
    kinds: Vec<Kind>,
    layout: Option<Layout>,
    /// How many of the first ones are stated.
    stated: usize,
}

/// The layout that the spec's words on style ask for.
fn stated_layout(analysis: &Analysis) -> Option<Layout> {
    let text: String = analysis
        .styles
        .iter()
        .map(|stated| stated.text.to_lowercase() + "\n")
        .collect();
    [
        ("sidebar", Layout::SidebarMain),
        ("side bar", Layout::SidebarMain),
        ("master-detail", Layout::MasterDetail),
        ("split", Layout::Split),
        ("two-column", Layout::Split),
        ("two columns", Layout::Split),
        ("single-column", Layout::SingleColumn),
        ("single column", Layout::SingleColumn),
        ("one column", Layout::SingleColumn),
        ("grid", Layout::Grid),
        ("cards", Layout::Grid),
    ]
    .into_iter()
    .find(|(word, _)| text.contains(word))
    .map(|(_, layout)| layout)
}

/// A part of a route: ASCII, so that a folder and a URL spell it alike.
fn slug(name: &str) -> String {
    let words = naming::words(name);
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "page" | "screen"))
        .collect();
    let slug: String = naming::kebab(&words.join(" "))
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    let slug = slug.trim_matches('-').to_owned();
    if slug.is_empty() || slug == "api" {
        format!("page{}{slug}", if slug.is_empty() { "" } else { "-" })
    } else {
        slug
    }
}

fn ascii_path(entity: &str) -> String {
    let path: String = naming::path_name(entity)
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    if path.is_empty() || path == "api" {
        format!("{path}items")
    } else {
        path
    }
}

fn route(kind: Kind, entity: Option<&str>, name: &str) -> String {
    let of_entity = |rest: &str| entity.map(|entity| format!("/{}{rest}", ascii_path(entity)));
    let own = || format!("/{}", slug(name));
    match kind {
        Kind::List => of_entity("").unwrap_or_else(own),
        Kind::Detail => of_entity("/{id}").unwrap_or_else(own),
        Kind::New => of_entity("/new").unwrap_or_else(own),
        Kind::Edit => of_entity("/{id}/edit").unwrap_or_else(own),
        Kind::SignIn => "/sign-in".to_owned(),
        Kind::SignUp => "/sign-up".to_owned(),
        Kind::Landing => "/".to_owned(),
        Kind::Dashboard => "/dashboard".to_owned(),
        Kind::Custom => own(),
    }
}

/// What a page is for, in words for those who use it.
fn purpose(analysis: &Analysis, kind: Kind, entity: Option<&str>, name: &str) -> String {
    let product = Site::product(analysis);
    let one = entity.map(naming::human).unwrap_or_default();
    match kind {
        Kind::List => format!("All {} you have access to", naming::plural(&one)),
        Kind::Detail => format!("Everything about this {one}"),
        Kind::New => format!("Fill in the details to create {}", with_article(&one)),
        Kind::Edit => format!("Change the details of this {one}"),
        Kind::SignIn => format!("Sign in to {product}"),
        Kind::SignUp => format!("Create an account for {product}"),
        Kind::Landing => tagline::of(analysis).unwrap_or_else(|| format!("Welcome to {product}")),
        Kind::Dashboard => format!("Overview of {product}"),
        Kind::Custom => format!("{name} in {product}"),
    }
}

/// Whether a statement asks for something to be on a page.
pub(crate) fn is_wanted(statement: &Statement) -> bool {
    statement.priority != Priority::Wont
}

/// The statements that act on an entity from outside.
pub(crate) fn acting<'a>(
    analysis: &'a Analysis,
    entity: &'a str,
) -> impl Iterator<Item = &'a Statement> {
    analysis.statements.iter().filter(move |statement| {
        is_wanted(statement)
            && !statement.negated
            && statement.kind != VerbKind::Keep
            && statement.entity.as_deref() == Some(entity)
            && actor::of_statement(analysis, statement) != Actor::Product
    })
}

impl Site {
    /// The product's name where it is stated.
    pub(crate) fn product(analysis: &Analysis) -> &str {
        analysis
            .product
            .as_ref()
            .map_or("the product", |product| product.text.as_str())
    }

    /// The page of a kind, for an entity where that matters.
    pub(crate) fn find(&self, kind: Kind, entity: Option<&str>) -> Option<usize> {
        self.kinds
            .iter()
            .zip(&self.pages)
            .position(|(known, page)| *known == kind && page.entity.as_deref() == entity)
    }

    /// The first page, where everyone starts.
    pub(crate) fn home(&self) -> usize {
        self.pages
            .iter()
            .position(|page| page.route == "/")
            .unwrap_or(0)
    }

    /// The stated page that a text names. The name of a list is also just the plural of a noun, so
    /// one word is enough only for pages that show something else.
    pub(crate) fn named_in(&self, text: &str) -> Option<usize> {
        let words = naming::words(text);
        (0..self.stated).find(|at| {
            let mut name = naming::words(&self.pages[*at].name);
            name.retain(|word| !matches!(word.as_str(), "page" | "screen"));
            let clear = name.len() > 1 || matches!(self.kinds[*at], Kind::Dashboard | Kind::Custom);
            clear && !name.is_empty() && words.windows(name.len()).any(|part| part == name)
        })
    }

    /// The kind of a page.
    pub(crate) fn kind(&self, at: usize) -> Kind {
        self.kinds[at]
    }

    fn layout(&self, kind: Kind) -> Layout {
        match kind {
            Kind::SignIn | Kind::SignUp | Kind::New | Kind::Edit => Layout::Centered,
            Kind::Landing => Layout::SingleColumn,
            Kind::Dashboard => self.layout.unwrap_or(Layout::SidebarMain),
            Kind::List => self.layout.unwrap_or(Layout::Grid),
            Kind::Detail | Kind::Custom => self.layout.unwrap_or(Layout::SingleColumn),
        }
    }

    /// One more page; its name and its route are made unique.
    pub(crate) fn add(
        &mut self,
        analysis: &Analysis,
        name: &str,
        kind: Kind,
        entity: Option<&str>,
        trace: Vec<Trace>,
    ) -> usize {
        let taken = |pages: &[UxPage], name: &str| {
            pages
                .iter()
                .any(|page| page.name.to_lowercase() == name.to_lowercase())
        };
        let mut unique = name.to_owned();
        let mut number = 2;
        while taken(&self.pages, &unique) {
            unique = format!("{name} {number}");
            number += 1;
        }
        let mut path = route(kind, entity, name);
        let has = |pages: &[UxPage], path: &str| pages.iter().any(|page| page.route == path);
        if has(&self.pages, &path) {
            let base = format!("/{}", slug(name));
            path.clone_from(&base);
            let mut number = 2;
            while has(&self.pages, &path) {
                path = format!("{base}-{number}");
                number += 1;
            }
        }
        self.pages.push(UxPage {
            components: Vec::new(),
            layout: self.layout(kind),
            route: path,
            purpose: purpose(analysis, kind, entity, &unique),
            kind: kind.as_str().to_owned(),
            entity: entity.map(str::to_owned),
            states: ["loading", "empty", "error"].map(str::to_owned).to_vec(),
            name: unique,
            trace,
        });
        self.kinds.push(kind);
        self.pages.len() - 1
    }
}

/// Stated pages, then pages per entity and action. Sign-in and the first page come last.
pub(crate) fn pages(analysis: &Analysis, entities: &[String]) -> Site {
    let mut site = Site {
        pages: Vec::new(),
        kinds: Vec::new(),
        layout: stated_layout(analysis),
        stated: 0,
    };
    stated(analysis, entities, &mut site);
    site.stated = site.pages.len();
    for entity in entities {
        of_entity(analysis, entity, &mut site);
    }
    site
}

fn stated(analysis: &Analysis, entities: &[String], site: &mut Site) {
    let read: Vec<(Kind, Option<String>)> = analysis
        .pages
        .iter()
        .map(|page| stated_pages::read(analysis, entities, &page.text))
        .collect();
    let has_landing = read.iter().any(|(kind, _)| *kind == Kind::Landing);
    for (page, (kind, entity)) in analysis.pages.iter().zip(read) {
        let name = page.text.trim();
        if name.is_empty() {
            continue;
        }
        let known = site
            .pages
            .iter_mut()
            .find(|known| known.name.to_lowercase() == name.to_lowercase());
        if let Some(known) = known {
            traces::extend(&mut known.trace, traces::of_spans(&page.spans));
            continue;
        }
        // A second page of the same kind for the same entity is one of its own.
        let kind = match kind {
            Kind::Custom => Kind::Custom,
            kind if site.find(kind, entity.as_deref()).is_some() => Kind::Custom,
            kind => kind,
        };
        let at = site.add(
            analysis,
            name,
            kind,
            entity.as_deref(),
            traces::of_spans(&page.spans),
        );
        if kind == Kind::Dashboard
            && !has_landing
            && !site.pages.iter().any(|page| page.route == "/")
        {
            site.pages[at].route = "/".to_owned();
        }
    }
}

fn of_entity(analysis: &Analysis, entity: &str, site: &mut Site) {
    let all: Vec<&Statement> = acting(analysis, entity).collect();
    if all.is_empty() {
        return;
    }
    let why = |wanted: &[Action]| {
        let mut trace = Vec::new();
        for statement in &all {
            if actions(statement)
                .iter()
                .any(|action| wanted.contains(action))
            {
                traces::add(&mut trace, Trace::requirement(&statement.requirement));
            }
        }
        trace
    };
    let human = naming::human(entity);
    let mut list = why(&[Action::List, Action::Delete]);
    if list.is_empty() {
        // Every other action begins at the list.
        for statement in &all {
            traces::add(&mut list, Trace::requirement(&statement.requirement));
        }
    }
    for (kind, name, trace) in [
        (Kind::List, naming::sentence(&naming::plural(&human)), list),
        (
            Kind::Detail,
            format!("{} details", naming::sentence(&human)),
            why(&[Action::Read, Action::Other]),
        ),
        (Kind::New, format!("New {human}"), why(&[Action::Create])),
        (Kind::Edit, format!("Edit {human}"), why(&[Action::Update])),
    ] {
        if trace.is_empty() {
            continue;
        }
        match site.find(kind, Some(entity)) {
            Some(at) => traces::extend(&mut site.pages[at].trace, trace),
            None => {
                site.add(analysis, &name, kind, Some(entity), trace);
            }
        }
    }
}

/// The page where people sign in, when they have to, and the first page, when there is none.
pub(crate) fn entry_pages(analysis: &Analysis, site: &mut Site) {
    let signing = |kind: VerbKind| {
        analysis
            .statements
            .iter()
            .filter(move |statement| statement.kind == kind && is_wanted(statement))
            .map(|statement| Trace::requirement(&statement.requirement))
    };
    if auth::is_needed(analysis) || signing(VerbKind::SignIn).next().is_some() {
        let mut trace: Vec<Trace> = signing(VerbKind::SignIn).collect();
        if site.find(Kind::SignUp, None).is_none() {
            traces::extend(&mut trace, signing(VerbKind::SignUp));
        }
        traces::extend(&mut trace, traces::of_spans(&analysis.sign_in));
        if trace.is_empty() {
            trace = traces::of_default(rule::SYSTEM_FIELDS);
        }
        match site.find(Kind::SignIn, None) {
            Some(at) => traces::extend(&mut site.pages[at].trace, trace),
            None => {
                site.add(analysis, "Sign in", Kind::SignIn, None, trace);
            }
        }
    }
    if let Some(at) = site.find(Kind::SignUp, None) {
        let trace: Vec<Trace> = signing(VerbKind::SignUp).collect();
        traces::extend(&mut site.pages[at].trace, trace);
    }
    if !site.pages.iter().any(|page| page.route == "/") {
        let mut trace = analysis
            .product
            .as_ref()
            .map(|product| traces::of_spans(&product.spans))
            .unwrap_or_default();
        if trace.is_empty() {
            trace = traces::of_default(rule::SCAFFOLDING);
        }
        site.add(analysis, "Home", Kind::Landing, None, trace);
    }
}
