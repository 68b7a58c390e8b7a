//! CORS: nothing unless it is switched on, and then for allowed origins only.

use http::StatusCode;

use super::support::{get, server, server_with};

const PAGE: &str = "https://app.example";

#[tokio::test]
async fn off_by_default() {
    let server = server().await;
    let reply = server
        .ask(get("/v1/health").with("origin", "http://localhost:3000"))
        .await;
    assert_eq!(
        (reply.status, reply.header("access-control-allow-origin")),
        (StatusCode::OK, "")
    );
}

#[tokio::test]
async fn allowed_pages_may_ask_and_read() {
    let server = server_with(|state| {
        state.cors = true;
        state.allowed_origins = vec![PAGE.to_owned()];
    })
    .await;
    let preflight = get("/v1/runs")
        .method("OPTIONS")
        .with("origin", PAGE)
        .with("access-control-request-method", "POST")
        .with(
            "access-control-request-headers",
            "authorization, content-type",
        );
    let reply = server.ask(preflight.clone()).await;
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    reply.check_headers("preflight");
    for (name, value) in [
        ("access-control-allow-origin", PAGE),
        ("access-control-allow-methods", "GET, POST, PATCH, DELETE"),
        (
            "access-control-allow-headers",
            "authorization, content-type",
        ),
        ("vary", "origin"),
    ] {
        assert_eq!(reply.header(name), value, "{name}");
    }
    for (ask, status) in [
        (get("/v1/runs").with("origin", PAGE).key(&server.root), 200),
        (get("/v1/runs").with("origin", PAGE), 401),
        (
            get("/v1/nowhere").with("origin", PAGE).key(&server.root),
            404,
        ),
    ] {
        let reply = server.ask(ask).await;
        assert_eq!(
            (
                reply.status.as_u16(),
                reply.header("access-control-allow-origin")
            ),
            (status, PAGE)
        );
        assert!(
            reply
                .header("access-control-expose-headers")
                .contains("x-request-id")
        );
    }
    let foreign = preflight
        .without("origin")
        .with("origin", "https://evil.example");
    let reply = server.ask(foreign).await;
    assert_eq!(
        (reply.status, reply.header("access-control-allow-origin")),
        (StatusCode::FORBIDDEN, "")
    );
    let bare = server.ask(get("/v1/health")).await;
    assert_eq!(bare.header("access-control-allow-origin"), "");
}
