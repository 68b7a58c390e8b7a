//! What a project is made of, with every name decided: read from an architecture and a UX spec once,
//! then only looked at while files are written.
//!
//! This is where an input is found wanting. Nothing here knows how a file looks.

mod action;
mod entity;
mod page;
mod part;
mod policy;
mod route;
mod sign_in;

use windlass_pipeline_design::model::architecture::Right;
use windlass_pipeline_design::model::{Architecture, InputProblem, Preset, Requirements, UxSpec};

pub(crate) use action::{Action, Effect};
pub(crate) use entity::{Entity, Field, Reference};
pub(crate) use page::{Page, PageKind, requirement_ids};
pub(crate) use part::{Component, ComponentKind, capabilities, statements};
pub(crate) use policy::{Function, Policy, RECORDED_ACTIONS, owner_policies};
pub(crate) use route::{Access, Operation, Route, Segment, Work};
pub(crate) use sign_in::Way;

/// A project before it is written.
#[derive(Debug)]
pub(crate) struct Blueprint<'a> {
    pub(crate) preset: Preset,
    /// The product's name as it is shown.
    pub(crate) product: String,
    /// The name of the package.
    pub(crate) slug: String,
    pub(crate) ux: &'a UxSpec,
    pub(crate) requirements: &'a Requirements,
    pub(crate) roles: Vec<String>,
    /// Ways to sign in besides email and password.
    pub(crate) ways: Vec<Way>,
    pub(crate) entities: Vec<Entity>,
    pub(crate) routes: Vec<Route>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) functions: Vec<Function>,
    /// Who may do what, for review.
    pub(crate) rights: Vec<Right>,
    pub(crate) pages: Vec<Page>,
    pub(crate) components: Vec<Component>,
    /// Endpoints of the architecture that no table stands behind.
    pub(crate) unserved: Vec<String>,
}

impl<'a> Blueprint<'a> {
    /// Decides everything.
    pub(crate) fn new(
        product: &str,
        architecture: &Architecture,
        ux: &'a UxSpec,
        requirements: &'a Requirements,
        preset: Preset,
    ) -> Result<Self, InputProblem> {
        let mut entities = entity::entities(architecture)?;
        let (mut routes, unserved) = route::routes(architecture, &mut entities);
        let policies = policy::policies(architecture, &mut entities)?;
        let functions = policy::functions(architecture, &policies)?;
        let mut pages = page::pages(ux, &entities, policies.iter().any(Policy::needs_user));
        let ways = sign_in::ways(&architecture.security.auth_strategy);
        let components =
            part::components(&mut pages, &mut entities, requirements, !ways.is_empty());
        route::add_needed(&mut routes, &entities, &policies);
        let shown = crate::escape::one_line(product);
        Ok(Self {
            preset,
            slug: crate::names::kebab(&shown, "app"),
            product: if shown.is_empty() {
                "App".to_owned()
            } else {
                shown
            },
            ux,
            requirements,
            roles: architecture.security.roles.clone(),
            ways,
            entities,
            routes,
            policies,
            functions,
            rights: architecture.security.rights.clone(),
            pages,
            components,
            unserved,
        })
    }

    /// Whether anything is stored or anyone signs in.
    pub(crate) fn has_supabase(&self) -> bool {
        !self.entities.is_empty() || self.has_sign_in()
    }

    /// Whether anyone signs in.
    pub(crate) fn has_sign_in(&self) -> bool {
        self.sign_in_path().is_some()
    }

    /// Where one signs in.
    pub(crate) fn sign_in_path(&self) -> Option<&str> {
        self.pages
            .iter()
            .find(|page| page.kind == PageKind::SignIn)
            .map(|page| page.path.as_str())
    }

    /// Whether some action leaves nothing but the fact that it happened.
    pub(crate) fn records_actions(&self) -> bool {
        self.entities.iter().any(|entity| {
            entity
                .actions
                .iter()
                .any(|action| action.effect.is_record())
        })
    }

    /// A page of a kind for an entity.
    pub(crate) fn page_of(&self, kind: PageKind, entity: usize) -> Option<&Page> {
        self.pages
            .iter()
            .find(|page| page.kind == kind && page.entity == Some(entity))
    }

    /// Where a new one is made: a page that asks for nothing else first.
    pub(crate) fn create_page(&self, entity: usize) -> Option<&Page> {
        self.pages.iter().find(|page| {
            page.kind == PageKind::Form && page.entity == Some(entity) && page.parameters.is_empty()
        })
    }

    /// Where one is changed.
    pub(crate) fn edit_page(&self, entity: usize) -> Option<&Page> {
        self.pages.iter().find(|page| {
            page.kind == PageKind::Form && page.entity == Some(entity) && page.takes_own_id
        })
    }

    /// The first component of a kind.
    pub(crate) fn component(&self, kind: &ComponentKind) -> Option<&Component> {
        self.components
            .iter()
            .find(|component| component.kind == *kind)
    }

    /// The words of a requirement; nothing when it does not exist or is out of scope.
    pub(crate) fn requirement(&self, id: &str) -> Option<&str> {
        self.requirements
            .functional
            .iter()
            .find(|requirement| {
                requirement.id == id
                    && requirement.priority
                        != windlass_pipeline_design::model::strategy::Priority::Wont
            })
            .map(|requirement| requirement.description.as_str())
    }
}
