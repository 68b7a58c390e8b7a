//! The routes of the telemetry interface of contract 004.

use windlass_engine::contract::http::{
    HttpPaths,
    Input::BodyOrList,
    Output::CreatedWhen,
    Route,
    Verb::{Get, Patch, Post},
};

pub(crate) const PATHS: HttpPaths = HttpPaths {
    routes: ROUTES,
    contracts: &[],
};

const ROUTES: &[Route] = &[
    Route::new(
        Post,
        "/api/v1/runs",
        "launch.telemetry_report",
        "report_telemetry_run",
    )
    .gives(CreatedWhen {
        field: "result",
        value: "created",
    }),
    Route::new(
        Get,
        "/api/v1/runs",
        "launch.telemetry_list",
        "list_telemetry_runs",
    ),
    Route::new(
        Post,
        "/api/v1/runs/batch",
        "launch.telemetry_batch",
        "report_telemetry_runs",
    )
    .reads(BodyOrList("runs")),
    Route::new(
        Post,
        "/api/v1/runs/batch-transactional",
        "launch.telemetry_batch_transactional",
        "report_telemetry_runs_together",
    )
    .reads(BodyOrList("runs")),
    Route::new(
        Get,
        "/api/v1/runs/{id}",
        "launch.telemetry_get",
        "show_telemetry_run",
    ),
    Route::new(
        Patch,
        "/api/v1/runs/{id}",
        "launch.telemetry_update",
        "update_telemetry_run",
    ),
    Route::new(
        Post,
        "/api/v1/runs/{id}/associate-commit",
        "launch.telemetry_associate_commit",
        "associate_telemetry_commit",
    ),
    Route::new(
        Get,
        "/api/v1/runs/{id}/events",
        "launch.telemetry_events",
        "list_telemetry_events",
    ),
    Route::new(
        Get,
        "/api/v1/metadata",
        "launch.telemetry_metadata",
        "list_telemetry_values",
    ),
    Route::new(
        Get,
        "/telemetry/{id}",
        "launch.telemetry_show",
        "show_telemetry",
    ),
];
