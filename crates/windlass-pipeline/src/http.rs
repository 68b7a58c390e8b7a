//! The REST routes of contract 001, and the paths whose failures it shapes.

use windlass_engine::contract::http::{
    Failures::{self, All, RateLimit},
    HttpPaths,
    Input::BodyWithKey,
    Output::{Accepted, JsonWithoutTimeout, RunEvents, Tagged},
    PathContract, Route,
    Verb::{Get, Post},
};

use crate::contract::PipelineContract;

pub(crate) const PATHS: HttpPaths = HttpPaths {
    routes: ROUTES,
    contracts: CONTRACTS,
};

const ROUTES: &[Route] = &[
    Route::new(Post, "/v1/strategize", "pipeline.strategize", "strategize")
        .gives(JsonWithoutTimeout),
    Route::new(
        Post,
        "/v1/architecture",
        "pipeline.design_architecture",
        "design_architecture",
    )
    .gives(JsonWithoutTimeout),
    Route::new(Post, "/v1/ux", "pipeline.design_ux", "design_ux").gives(JsonWithoutTimeout),
    Route::new(Post, "/v1/code", "pipeline.generate_code", "generate_code")
        .gives(JsonWithoutTimeout),
    Route::new(
        Post,
        "/v1/pipelines",
        "pipeline.full_pipeline",
        "start_pipeline",
    )
    .reads(BodyWithKey)
    .gives(Accepted {
        location: "/v1/pipelines/",
    }),
    Route::new(
        Get,
        "/v1/pipelines/{job_id}",
        "pipeline.get_status",
        "show_pipeline",
    ),
    Route::new(
        Get,
        "/v1/pipelines/{job_id}/artifacts/{artifact_type}",
        "pipeline.get_artifact",
        "fetch_pipeline_artifact",
    )
    .gives(Tagged),
    Route::new(
        Get,
        "/artifacts/{job_id}/{artifact_type}",
        "pipeline.get_artifact",
        "fetch_artifact_by_address",
    )
    .gives(Tagged)
    .admits_signed_addresses(),
    Route::new(
        Get,
        "/v1/pipelines/{job_id}/events",
        "pipeline.get_status",
        "watch_pipeline",
    )
    .gives(RunEvents),
];

/// Its MCP endpoint, and what is below its routes. Too many requests look the same at every path
/// of the endpoint.
const CONTRACTS: &[PathContract] = &[
    path("/v1", All),
    path("/v1/mcp", All),
    path("/v1/pipelines/", All),
    path("/artifacts/", All),
    path("/mcp", RateLimit),
    path("/v1", RateLimit),
    path("/v1/mcp", RateLimit),
];

const fn path(path: &'static str, failures: Failures) -> PathContract {
    PathContract {
        path,
        failures,
        contract: &PipelineContract,
    }
}
