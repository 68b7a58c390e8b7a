//! One tarball over the outbound port: redirects followed by hand, credentials kept at home.

use std::time::Duration;

use futures::StreamExt as _;
use url::Url;
use windlass_ports::{Outbound, OutboundError, OutboundRequest};

use crate::registry::Registry;
use crate::release::Package;

/// How long a package may take to arrive.
const TIME: Duration = Duration::from_secs(180);
/// No package that is fetched has more.
const MOST_BYTES: usize = 32 << 20;
/// How often a registry may send somewhere else.
const MOST_REDIRECTS: usize = 5;

/// Why a package did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// There was no answer, or it broke off.
    #[error("{0}")]
    Outbound(#[from] OutboundError),
    /// The answer was another one than the package.
    #[error("it answered {0}")]
    Status(u16),
    /// It sent to an address that is none, or less secure.
    #[error("it redirected to {0}, which is not followed")]
    Redirect(String),
    /// It sent somewhere else too often.
    #[error("it redirected more than {MOST_REDIRECTS} times")]
    Redirects,
}

/// Where a registry keeps a package.
pub fn address(registry: &Registry, package: &Package) -> String {
    let name = package.name;
    let file = name.rsplit('/').next().unwrap_or(name);
    format!(
        "{}/{name}/-/{file}-{}.tgz",
        registry.address, package.version
    )
}

/// The bytes of a package, as they were sent.
pub async fn download(
    outbound: &dyn Outbound,
    registry: &Registry,
    package: &Package,
) -> Result<Vec<u8>, DownloadError> {
    let unusable = |error: url::ParseError| OutboundError::InvalidUrl(error.to_string());
    let mut place = Url::parse(&address(registry, package)).map_err(unusable)?;
    let home = place.origin();
    for _ in 0..=MOST_REDIRECTS {
        let secret = registry.authorization.as_ref();
        let headers = secret
            .filter(|_| place.origin() == home)
            .map(|secret| ("authorization".to_owned(), secret.expose_secret().clone()));
        let answer = outbound
            .send_streaming(
                OutboundRequest {
                    method: "GET".to_owned(),
                    url: place.to_string(),
                    headers: headers.into_iter().collect(),
                    body: Vec::new(),
                    timeout: TIME,
                },
                MOST_BYTES,
            )
            .await?;
        match answer.status {
            200 => {
                let mut body = answer.body;
                let mut bytes = Vec::new();
                while let Some(piece) = body.next().await {
                    bytes.extend(piece?);
                }
                return Ok(bytes);
            }
            301 | 302 | 303 | 307 | 308 => {
                let target = answer.header("location").unwrap_or_default().to_owned();
                place = place
                    .join(&target)
                    .ok()
                    .filter(|next| {
                        let schemes = (place.scheme(), next.scheme());
                        matches!(schemes, (_, "https") | ("http", "http"))
                    })
                    .ok_or(DownloadError::Redirect(shown(&target)))?;
            }
            status => return Err(DownloadError::Status(status)),
        }
    }
    Err(DownloadError::Redirects)
}

/// A target without its query, which may hold a signature.
fn shown(target: &str) -> String {
    let plain = target.split(['?', '#']).next().unwrap_or_default();
    plain
        .chars()
        .filter(|it| !it.is_control())
        .take(200)
        .collect()
}
