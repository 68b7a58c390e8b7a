//! Endpoints: what each does to which table, and the paths they are served at.

use windlass_pipeline_design::model::architecture::{Architecture, Endpoint};
use windlass_pipeline_design::model::{Trace, naming};

use super::action;
use super::entity::Entity;
use super::policy::Policy;
use crate::names;

/// What can be done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    List,
    Read,
    Create,
    Update,
    Delete,
}

impl Operation {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::List,
        Self::Read,
        Self::Create,
        Self::Update,
        Self::Delete,
    ];

    /// Whether it is about one row that is there.
    pub(crate) const fn names_one(self) -> bool {
        matches!(self, Self::Read | Self::Update | Self::Delete)
    }

    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::List | Self::Read => "GET",
            Self::Create => "POST",
            Self::Update => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anyone; the policies decide what is visible.
    Public,
    /// Any signed-in user; the policies distinguish roles.
    Authenticated,
}

impl Access {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Authenticated => "authenticated",
        }
    }
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// An operation; within the row of another entity when a parent is given.
    Operation {
        operation: Operation,
        parent: Option<usize>,
    },
    /// An action, by its place.
    Action(usize),
}

/// A route of the API.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) method: String,
    /// `/api/quizzes/[id]`, parameters called `id`, `subId`, ….
    pub(crate) segments: Vec<Segment>,
    pub(crate) entity: usize,
    pub(crate) work: Work,
    pub(crate) access: Access,
    pub(crate) about: String,
    pub(crate) trace: Vec<Trace>,
    /// As the architecture writes it: `GET /api/quizzes`.
    pub(crate) source: String,
}

/// A piece of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Segment {
    Fixed(String),
    Parameter(String),
}

/// The name of the n-th parameter of a path. It depends on its place only, because two routes may not
/// call the same place differently.
pub(crate) fn parameter(at: usize) -> String {
    match at {
        0 => "id".to_owned(),
        1 => "subId".to_owned(),
        at => format!("id{}", at + 1),
    }
}

/// The pieces of a path. Every fixed one is plain ASCII.
pub(crate) fn segments(path: &str) -> Vec<Segment> {
    let mut parameters = 0;
    path.split('/')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .enumerate()
        .map(|(at, part)| {
            let is_parameter = (part.starts_with('{') && part.ends_with('}'))
                || (part.starts_with('[') && part.ends_with(']'))
                || part.starts_with(':');
            if is_parameter {
                parameters += 1;
                Segment::Parameter(parameter(parameters - 1))
            } else {
                Segment::Fixed(names::kebab(part, &format!("part-{}", at + 1)))
            }
        })
        .collect()
}

impl Route {
    pub(crate) fn parameters(&self) -> Vec<&str> {
        self.segments
            .iter()
            .filter_map(|segment| match segment {
                Segment::Parameter(name) => Some(name.as_str()),
                Segment::Fixed(_) => None,
            })
            .collect()
    }
}

/// The entity that a piece of a path names.
pub(crate) fn entity_of_segment(entities: &[Entity], segment: &Segment) -> Option<usize> {
    let Segment::Fixed(name) = segment else {
        return None;
    };
    entities
        .iter()
        .position(|entity| entity.path == *name || entity.file == *name)
}

fn access(endpoint: &Endpoint) -> Access {
    if endpoint.auth == "public" {
        Access::Public
    } else {
        Access::Authenticated
    }
}

/// Every endpoint that a table stands behind, and the names of those without one.
pub(crate) fn routes(
    architecture: &Architecture,
    entities: &mut [Entity],
) -> (Vec<Route>, Vec<String>) {
    let mut routes: Vec<Route> = Vec::new();
    let mut unserved = Vec::new();
    for endpoint in &architecture.api_design.endpoints {
        let source = format!("{} {}", endpoint.method, endpoint.path);
        match route(endpoint, entities, &source) {
            Some(route) => {
                let known = routes
                    .iter_mut()
                    .find(|known| known.method == route.method && known.segments == route.segments);
                match known {
                    Some(known) => known.trace.extend(route.trace),
                    None => routes.push(route),
                }
            }
            None => unserved.push(source),
        }
    }
    (routes, unserved)
}

fn route(endpoint: &Endpoint, entities: &mut [Entity], source: &str) -> Option<Route> {
    let mut segments = segments(&endpoint.path);
    if segments.first() != Some(&Segment::Fixed("api".to_owned())) {
        segments.insert(0, Segment::Fixed("api".to_owned()));
    }
    let named: Vec<usize> = segments
        .iter()
        .filter_map(|segment| entity_of_segment(entities, segment))
        .collect();
    let entity = endpoint
        .entity
        .as_deref()
        .and_then(|name| entities.iter().position(|entity| entity.source == name))
        .or_else(|| named.last().copied())?;
    let parameters = segments
        .iter()
        .filter(|segment| matches!(segment, Segment::Parameter(_)))
        .count();
    let ends_in_parameter = matches!(segments.last(), Some(Segment::Parameter(_)));
    let ends_in_entity = segments
        .last()
        .and_then(|last| entity_of_segment(entities, last))
        == Some(entity);
    let parent = named
        .iter()
        .rev()
        .find(|other| **other != entity && entities[entity].reference_to(**other).is_some())
        .copied()
        .filter(|_| ends_in_entity && parameters == 1);
    let method = endpoint.method.to_uppercase();
    let mut trace = vec![];
    trace.extend(endpoint.trace.iter().cloned());
    trace.push(Trace::endpoint(&endpoint.method, &endpoint.path));
    let operation = match (method.as_str(), ends_in_parameter) {
        ("GET", true) => Some(Operation::Read),
        ("GET", false) if parameters == 0 || parent.is_some() => Some(Operation::List),
        ("GET", false) => Some(Operation::Read),
        ("POST", false) if parameters == 0 || parent.is_some() => Some(Operation::Create),
        ("PATCH" | "PUT", true) => Some(Operation::Update),
        ("DELETE", true) => Some(Operation::Delete),
        _ => None,
    };
    let work = match operation {
        Some(operation) => {
            if operation.names_one() && entities[entity].key().is_none() {
                return None;
            }
            if matches!(operation, Operation::Create | Operation::Update)
                && !endpoint.request.is_empty()
            {
                let names = endpoint.request.iter().map(|name| names::column(name, ""));
                entities[entity]
                    .writable
                    .get_or_insert_default()
                    .extend(names);
            }
            entities[entity].needs(operation, trace.clone());
            Work::Operation { operation, parent }
        }
        None if parameters == 1 && method != "DELETE" && entities[entity].key().is_some() => {
            let verb = match segments.last() {
                Some(Segment::Fixed(verb)) => verb.clone(),
                _ => naming::human(&endpoint.description),
            };
            let at = action::add(
                &mut entities[entity],
                &verb,
                &endpoint.description,
                &endpoint.request,
                &trace,
            );
            // A recorded action first makes sure that the row is there.
            if entities[entity].actions[at].effect.is_record() {
                entities[entity].needs(Operation::Read, trace.clone());
            }
            Work::Action(at)
        }
        None => return None,
    };
    Some(Route {
        method: match work {
            Work::Operation { operation, .. } => operation.method().to_owned(),
            Work::Action(_) => "POST".to_owned(),
        },
        segments,
        entity,
        work,
        access: access(endpoint),
        about: if endpoint.description.is_empty() {
            source.to_owned()
        } else {
            endpoint.description.clone()
        },
        trace,
        source: source.to_owned(),
    })
}

/// Routes for what pages need although no endpoint states it.
pub(crate) fn add_needed(routes: &mut Vec<Route>, entities: &[Entity], policies: &[Policy]) {
    for (at, entity) in entities.iter().enumerate() {
        for operation in Operation::ALL {
            let served = routes.iter().any(|route| {
                route.entity == at
                    && matches!(route.work, Work::Operation { operation: known, parent: None } if known == operation)
            });
            let Some(trace) = entity.operations.get(&operation) else {
                continue;
            };
            if served {
                continue;
            }
            let mut segments = vec![
                Segment::Fixed("api".to_owned()),
                Segment::Fixed(entity.path.clone()),
            ];
            if operation.names_one() {
                segments.push(Segment::Parameter(parameter(0)));
            }
            let taken = routes
                .iter()
                .any(|route| route.method == operation.method() && route.segments == segments);
            if taken {
                continue;
            }
            let verb = match operation {
                Operation::List => "List",
                Operation::Read => "Read",
                Operation::Create => "Create",
                Operation::Update => "Update",
                Operation::Delete => "Delete",
            };
            let what = if operation == Operation::List {
                &entity.human_plural
            } else {
                &entity.human
            };
            routes.push(Route {
                method: operation.method().to_owned(),
                access: if policies
                    .iter()
                    .any(|policy| policy.lets_anybody(&entity.table, operation))
                {
                    Access::Public
                } else {
                    Access::Authenticated
                },
                about: format!("{verb} {what}"),
                trace: trace.clone(),
                source: String::new(),
                entity: at,
                work: Work::Operation {
                    operation,
                    parent: None,
                },
                segments,
            });
        }
    }
}
