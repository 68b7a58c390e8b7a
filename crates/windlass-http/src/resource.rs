//! The resource routes: paths under `/v1` that call an operation of the catalogue.
//!
//! One table from which the router and the OpenAPI document are both made, so that neither
//! can say something the other does not.

use axum::routing::MethodFilter;

use crate::state::Shared;

pub(crate) const OPERATIONS: &str = "/v1/operations/";

/// Where an operation's input comes from, besides the parameters in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Query,
    Body,
}

/// How the answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The operation's answer as JSON.
    Json,
    /// The same, with 201 for the thing created.
    Created,
    /// As JSON, or as an event stream where the caller accepts one.
    Events,
    /// An artifact's bytes.
    Bytes,
    /// The runs that wait for an approval.
    Approvals,
}

/// A verb of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    pub(crate) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    /// The name OpenAPI uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }
}

/// One resource route.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) verb: Verb,
    /// The path; a parameter has the name of the input field it fills.
    pub(crate) path: &'static str,
    pub(crate) operation: &'static str,
    /// The name in the OpenAPI document.
    pub(crate) id: &'static str,
    pub(crate) input: Input,
    pub(crate) output: Output,
}

const fn resource(
    verb: Verb,
    path: &'static str,
    operation: &'static str,
    id: &'static str,
    input: Input,
    output: Output,
) -> Resource {
    Resource {
        verb,
        path,
        operation,
        id,
        input,
        output,
    }
}

/// Every resource route.
pub(crate) static RESOURCES: &[Resource] = {
    use Input::{Body, Query};
    use Output::{Approvals, Bytes, Created, Events, Json};
    use Verb::{Delete, Get, Post};
    &[
        resource(Get, "/v1/runs", "runs.list", "list_runs", Query, Json),
        resource(
            Get,
            "/v1/runs/{run_id}",
            "runs.show",
            "show_run",
            Query,
            Json,
        ),
        resource(
            Get,
            "/v1/runs/{run_id}/events",
            "runs.watch",
            "watch_run",
            Query,
            Events,
        ),
        resource(
            Get,
            "/v1/runs/{run_id}/artifacts",
            "runs.artifacts",
            "list_artifacts",
            Query,
            Json,
        ),
        resource(
            Get,
            "/v1/runs/{run_id}/artifacts/{name}",
            "runs.artifact",
            "fetch_artifact",
            Query,
            Bytes,
        ),
        resource(
            Post,
            "/v1/runs/{run_id}/cancel",
            "runs.cancel",
            "cancel_run",
            Body,
            Json,
        ),
        resource(
            Post,
            "/v1/runs/{run_id}/approve",
            "runs.approve",
            "approve_run",
            Body,
            Json,
        ),
        resource(
            Post,
            "/v1/runs/{run_id}/reject",
            "runs.reject",
            "reject_run",
            Body,
            Json,
        ),
        resource(
            Post,
            "/v1/runs/{run_id}/resume",
            "runs.resume",
            "resume_run",
            Body,
            Json,
        ),
        resource(
            Get,
            "/v1/approvals",
            "runs.list",
            "list_approvals",
            Query,
            Approvals,
        ),
        resource(Get, "/v1/keys", "admin.keys_list", "list_keys", Query, Json),
        resource(
            Post,
            "/v1/keys",
            "admin.keys_create",
            "create_key",
            Body,
            Created,
        ),
        resource(
            Delete,
            "/v1/keys/{key_id}",
            "admin.keys_revoke",
            "revoke_key",
            Query,
            Json,
        ),
    ]
};

/// The operation a path names, when it is the generic door.
pub(crate) fn called_by_name(path: &str) -> Option<&str> {
    path.strip_prefix(OPERATIONS)
        .filter(|name| !name.is_empty() && !name.contains('/'))
}

/// The scopes a request to this path is likely to need; all there are where that is open.
pub(crate) fn scopes_of_path(shared: &Shared, path: &str) -> String {
    let noun = path.split('/').nth(2).unwrap_or_default();
    let operation = called_by_name(path).or_else(|| {
        let of_noun = |resource: &&Resource| {
            !noun.is_empty() && resource.path.split('/').nth(2) == Some(noun)
        };
        RESOURCES
            .iter()
            .find(of_noun)
            .map(|resource| resource.operation)
    });
    let scope = operation
        .and_then(|name| shared.state.catalogue.find(name))
        .map(|info| info.scope.clone());
    scope.unwrap_or_else(|| shared.scopes.clone())
}
