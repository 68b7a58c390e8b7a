//! The routes of runs and approvals.

use windlass_engine::contract::http::{
    HttpPaths,
    Output::{Approvals, Bytes, Events},
    Route,
    Verb::{Get, Post},
};

pub(crate) const PATHS: HttpPaths = HttpPaths {
    routes: ROUTES,
    contracts: &[],
};

const ROUTES: &[Route] = &[
    Route::new(Get, "/v1/runs", "runs.list", "list_runs"),
    Route::new(Get, "/v1/runs/{run_id}", "runs.show", "show_run"),
    Route::new(Get, "/v1/runs/{run_id}/events", "runs.watch", "watch_run").gives(Events),
    Route::new(
        Get,
        "/v1/runs/{run_id}/artifacts",
        "runs.artifacts",
        "list_artifacts",
    ),
    Route::new(
        Get,
        "/v1/runs/{run_id}/artifacts/{name}",
        "runs.artifact",
        "fetch_artifact",
    )
    .gives(Bytes),
    Route::new(
        Post,
        "/v1/runs/{run_id}/cancel",
        "runs.cancel",
        "cancel_run",
    ),
    Route::new(
        Post,
        "/v1/runs/{run_id}/approve",
        "runs.approve",
        "approve_run",
    ),
    Route::new(
        Post,
        "/v1/runs/{run_id}/reject",
        "runs.reject",
        "reject_run",
    ),
    Route::new(
        Post,
        "/v1/runs/{run_id}/resume",
        "runs.resume",
        "resume_run",
    ),
    Route::new(Get, "/v1/approvals", "runs.list", "list_approvals").gives(Approvals),
];
