//! Who sends a request: the holder of a key, the local user of open mode, or nobody.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use http::{HeaderMap, header::AUTHORIZATION, request::Parts};
use windlass_types::{Principal, Problem, code};

use crate::{
    AuthMode,
    challenge::{Lack, MCP_PATH, METADATA_PATH},
    failure::Failure,
    resource::HEALTH_ALIAS,
    state::Shared,
};

/// Who sends a request.
#[derive(Debug)]
pub(crate) enum Caller {
    /// Somebody at an address, who may see what everybody may see.
    Anonymous,
    /// The local user of open mode.
    Local(Principal),
    /// The holder of a key, and the key's tier.
    Key(Principal, String),
}

/// What everybody may see.
pub(crate) fn is_public(path: &str) -> bool {
    is_probe(path)
        || path
            .strip_prefix(METADATA_PATH)
            .is_some_and(|rest| rest.is_empty() || rest == MCP_PATH)
}

/// What an orchestrator asks; never refused for being asked too often.
pub(crate) fn is_probe(path: &str) -> bool {
    matches!(path, "/v1/health" | "/v1/ready" | HEALTH_ALIAS)
}

/// The address of the other end, as far as the server told.
pub(crate) fn peer(parts: &Parts) -> Option<IpAddr> {
    parts
        .extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|ConnectInfo(address)| address.ip().to_canonical())
}

/// Finds out who sends a request, or what they lack.
pub(crate) async fn identify(
    shared: &Shared,
    parts: &Parts,
) -> Result<Caller, (Failure, Option<Lack>)> {
    if is_public(parts.uri.path()) {
        return Ok(Caller::Anonymous);
    }
    if let AuthMode::LoopbackOpen(principal) = &shared.state.auth
        && !parts.headers.contains_key(AUTHORIZATION)
        && peer(parts).is_some_and(|address| address.is_loopback())
    {
        return Ok(Caller::Local(principal.clone()));
    }
    let token = bearer(&parts.headers)?;
    match shared.state.keys.authenticate(token).await {
        Ok((principal, tier)) => Ok(Caller::Key(principal, tier)),
        Err(problem) => {
            let lack = (*problem.code() == code::UNAUTHORIZED).then_some(Lack::ValidToken);
            Err((problem.into(), lack))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, (Failure, Option<Lack>)> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let refuse = |lack: Lack, message: &str| {
        let problem = Problem::new(&code::UNAUTHORIZED, message).next("windlass keys create");
        (Failure::from(problem), Some(lack))
    };
    let Some(value) = sent.next() else {
        return Err(refuse(
            Lack::Credentials,
            "the request carries no API key; send `Authorization: Bearer wk_…`",
        ));
    };
    if sent.next().is_some() {
        return Err(refuse(
            Lack::ValidToken,
            "the request carries more than one Authorization header",
        ));
    }
    value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty())
        .ok_or_else(|| {
            refuse(
                Lack::ValidToken,
                "the Authorization header is not of the form `Bearer wk_…`",
            )
        })
}
