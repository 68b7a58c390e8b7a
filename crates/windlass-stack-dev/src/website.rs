//! A hosting bucket without a command of its own: its files, served.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Files and how they are served.
pub(crate) struct Website {
    pub root: PathBuf,
    pub index: String,
    pub error: Option<String>,
    /// Whether every unknown path is the index: a single-page app.
    pub is_single_page: bool,
}

/// Serves files until it is cancelled.
pub(crate) fn serve(listener: TcpListener, website: Website, until: CancellationToken) {
    let router = Router::new().fallback(file).with_state(Arc::new(website));
    tokio::spawn(async move {
        tokio::select! {
            _ = async { axum::serve(listener, router).await } => {}
            () = until.cancelled() => {}
        }
    });
}

async fn file(State(website): State<Arc<Website>>, request: Request) -> Response<Body> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    for (status, path) in website.candidates(request.uri().path()) {
        if let Ok(bytes) = tokio::fs::read(&path).await {
            return (status, [(header::CONTENT_TYPE, kind(&path))], bytes).into_response();
        }
    }
    (StatusCode::NOT_FOUND, "not found\n").into_response()
}

impl Website {
    /// The files that answer a path, best first, all of them beneath the root.
    fn candidates(&self, path: &str) -> Vec<(StatusCode, PathBuf)> {
        let decoded =
            url::form_urlencoded::parse(format!("a={}", path.replace('+', "%2B")).as_bytes())
                .next()
                .map(|(_, value)| value.into_owned())
                .unwrap_or_default();
        let mut found = Vec::new();
        let relative = Path::new(decoded.trim_start_matches('/'));
        let stays_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let index = self.index.trim_start_matches('/');
        if stays_inside {
            let place = self.root.join(relative);
            if !decoded.ends_with('/') && !relative.as_os_str().is_empty() {
                found.push((StatusCode::OK, place.clone()));
                found.push((StatusCode::OK, place.with_extension("html")));
            }
            found.push((StatusCode::OK, place.join(index)));
        }
        if self.is_single_page {
            found.push((StatusCode::OK, self.root.join(index)));
        } else if let Some(error) = &self.error {
            found.push((
                StatusCode::NOT_FOUND,
                self.root.join(error.trim_start_matches('/')),
            ));
        }
        found
    }
}

fn kind(path: &Path) -> &'static str {
    match path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default()
    {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_root_is_served() {
        let website = Website {
            root: "/site".into(),
            index: "/index.html".to_owned(),
            error: None,
            is_single_page: false,
        };
        for path in ["/../etc/passwd", "/%2e%2e/etc/passwd", "/a/../../etc"] {
            assert_eq!(website.candidates(path), [], "{path}");
        }
        let files: Vec<PathBuf> = website
            .candidates("/docs")
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        assert_eq!(
            files,
            ["/site/docs", "/site/docs.html", "/site/docs/index.html"].map(PathBuf::from)
        );
    }
}
