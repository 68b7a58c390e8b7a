//! The resource routes: paths under `/v1`, those of artifacts and those of the telemetry
//! interface, that call an operation of the catalogue.
//!
//! One table from which the router and the OpenAPI document are both made, so that neither
//! can say something the other does not.

use axum::routing::MethodFilter;
use http::Method;
use serde_json::Value;
use windlass_engine::envelope::Envelope;

use crate::{failure::Failure, state::Shared};

pub(crate) const OPERATIONS: &str = "/v1/operations/";
/// Where artifacts of jobs are, with a key or by a signed address.
pub(crate) const ARTIFACTS: &str = "/artifacts/";
/// Where the telemetry interface has what is also below `/v1`.
pub(crate) const HEALTH_ALIAS: &str = "/health";
pub(crate) const METRICS_ALIAS: &str = "/metrics";

/// Where an operation's input comes from, besides the parameters in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Query,
    Body,
    /// A body that may also be the bare list of its runs.
    Runs,
    /// A body whose idempotency key may be in the header of that name.
    Keyed,
}

/// How the answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The operation's answer as JSON.
    Json,
    /// The same, with 201 for the thing created.
    Created,
    /// The same, with 201 where it was created and 200 where it was there before.
    Reported,
    /// As JSON, however long it takes to make: the operation has limits of its own.
    Made,
    /// As JSON with 202 and the place to ask after the job that was begun.
    Accepted,
    /// As JSON with a tag of its content, which a caller that has it already may name.
    Tagged,
    /// The events of a job as a stream.
    JobEvents,
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
    Patch,
    Delete,
}

impl Verb {
    pub(crate) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    /// The name OpenAPI uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
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
    use Input::{Body, Keyed, Query, Runs};
    use Output::{
        Accepted, Approvals, Bytes, Created, Events, JobEvents, Json, Made, Reported, Tagged,
    };
    use Verb::{Delete, Get, Patch, Post};
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
        resource(
            Post,
            "/v1/strategize",
            "pipeline.strategize",
            "strategize",
            Body,
            Made,
        ),
        resource(
            Post,
            "/v1/architecture",
            "pipeline.design_architecture",
            "design_architecture",
            Body,
            Made,
        ),
        resource(
            Post,
            "/v1/ux",
            "pipeline.design_ux",
            "design_ux",
            Body,
            Made,
        ),
        resource(
            Post,
            "/v1/code",
            "pipeline.generate_code",
            "generate_code",
            Body,
            Made,
        ),
        resource(
            Post,
            "/v1/pipelines",
            "pipeline.full_pipeline",
            "start_pipeline",
            Keyed,
            Accepted,
        ),
        resource(
            Get,
            "/v1/pipelines/{job_id}",
            "pipeline.get_status",
            "show_pipeline",
            Query,
            Json,
        ),
        resource(
            Get,
            "/v1/pipelines/{job_id}/artifacts/{artifact_type}",
            "pipeline.get_artifact",
            "fetch_pipeline_artifact",
            Query,
            Tagged,
        ),
        resource(
            Get,
            "/artifacts/{job_id}/{artifact_type}",
            "pipeline.get_artifact",
            "fetch_artifact_by_address",
            Query,
            Tagged,
        ),
        resource(
            Get,
            "/v1/pipelines/{job_id}/events",
            "pipeline.get_status",
            "watch_pipeline",
            Query,
            JobEvents,
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
        resource(
            Post,
            "/api/v1/runs",
            "launch.telemetry_report",
            "report_telemetry_run",
            Body,
            Reported,
        ),
        resource(
            Get,
            "/api/v1/runs",
            "launch.telemetry_list",
            "list_telemetry_runs",
            Query,
            Json,
        ),
        resource(
            Post,
            "/api/v1/runs/batch",
            "launch.telemetry_batch",
            "report_telemetry_runs",
            Runs,
            Json,
        ),
        resource(
            Post,
            "/api/v1/runs/batch-transactional",
            "launch.telemetry_batch_transactional",
            "report_telemetry_runs_together",
            Runs,
            Json,
        ),
        resource(
            Get,
            "/api/v1/runs/{id}",
            "launch.telemetry_get",
            "show_telemetry_run",
            Query,
            Json,
        ),
        resource(
            Patch,
            "/api/v1/runs/{id}",
            "launch.telemetry_update",
            "update_telemetry_run",
            Body,
            Json,
        ),
        resource(
            Post,
            "/api/v1/runs/{id}/associate-commit",
            "launch.telemetry_associate_commit",
            "associate_telemetry_commit",
            Body,
            Json,
        ),
        resource(
            Get,
            "/api/v1/runs/{id}/events",
            "launch.telemetry_events",
            "list_telemetry_events",
            Query,
            Json,
        ),
        resource(
            Get,
            "/api/v1/metadata",
            "launch.telemetry_metadata",
            "list_telemetry_values",
            Query,
            Json,
        ),
        resource(
            Get,
            "/telemetry/{id}",
            "launch.telemetry_show",
            "show_telemetry",
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

/// The operation a path leads to, by name or by one of the routes; where several verbs share a
/// path, that of any.
pub(crate) fn operation_of_path(path: &str) -> Option<&str> {
    let fits = |resource: &&Resource| {
        let mut given = path.split('/');
        let fits = resource.path.split('/').all(|part| {
            given
                .next()
                .is_some_and(|given| part.starts_with('{') || part == given)
        });
        fits && given.next().is_none()
    };
    called_by_name(path).or_else(|| {
        RESOURCES
            .iter()
            .find(fits)
            .map(|resource| resource.operation)
    })
}

/// The failure in the envelope of what the path leads to.
pub(crate) fn dress(shared: &Shared, failure: Failure, path: &str) -> Failure {
    let known = operation_of_path(path).and_then(|name| shared.state.catalogue.find(name));
    match known {
        Some(info) => failure.within(info, Value::Null),
        None if is_of_pipeline(path) => failure.in_envelope(Envelope::Pipeline),
        None => failure,
    }
}

/// Whether a path without an operation belongs to contract 001 all the same: its MCP endpoint,
/// and what is below its routes.
fn is_of_pipeline(path: &str) -> bool {
    path == "/v1"
        || path == "/v1/mcp"
        || path.starts_with("/v1/pipelines/")
        || path.starts_with(ARTIFACTS)
}

/// Whether the answer may take as long as it takes to make.
pub(crate) fn is_patient(method: &Method, path: &str) -> bool {
    let made = |name: &str| {
        RESOURCES
            .iter()
            .any(|resource| resource.output == Output::Made && resource.operation == name)
    };
    *method == Method::POST && operation_of_path(path).is_some_and(made)
}

/// The scopes a request to this path is likely to need; all there are where that is open.
pub(crate) fn scopes_of_path(shared: &Shared, path: &str) -> String {
    let noun = path.split('/').nth(2).unwrap_or_default();
    let operation = operation_of_path(path).or_else(|| {
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
