//! Who sends a request: the holder of a key, the local user of open mode, the holder of a signed
//! address, or nobody.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};
use windlass_engine::{access::unauthorized, contract::http::Admits};
use windlass_types::{Principal, PrincipalKind, Scope, code};

use crate::{
    AuthMode,
    challenge::{Lack, METADATA_PATH, is_mcp},
    failure::Failure,
    input::pairs,
    paths::{HEALTH_ALIAS, route_of_path},
    state::Shared,
};

/// Who sends a request.
#[derive(Debug)]
pub(crate) enum Caller {
    /// An anonymous caller, known by address, who may see what everyone may see.
    Anonymous,
    /// The local user of open mode.
    Local(Principal),
    /// The holder of a key, and the key's tier.
    Key(Principal, String),
    /// A caller with an address that we signed, who may read what it leads to.
    Signed(Principal),
}

/// What everybody may see.
pub(crate) fn is_public(path: &str) -> bool {
    is_probe(path)
        || path
            .strip_prefix(METADATA_PATH)
            .is_some_and(|rest| rest.is_empty() || is_mcp(rest))
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
    if !parts.headers.contains_key(AUTHORIZATION) {
        if let Some(scope) = signed_scope(shared, parts) {
            return Ok(Caller::Signed(bearer_of_address(scope)));
        }
        if let AuthMode::LoopbackOpen(principal) = &shared.state.auth
            && peer(parts).is_some_and(|address| address.is_loopback())
        {
            return Ok(Caller::Local(principal.clone()));
        }
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

/// The one refusal of a caller without a key that works.
pub(crate) fn refuse(lack: Lack) -> (Failure, Option<Lack>) {
    (unauthorized().into(), Some(lack))
}

fn bearer(headers: &HeaderMap) -> Result<&str, (Failure, Option<Lack>)> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = sent.next() else {
        return Err(refuse(Lack::Credentials));
    };
    if sent.next().is_some() {
        return Err(refuse(Lack::ValidToken));
    }
    value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty())
        .ok_or_else(|| refuse(Lack::ValidToken))
}

/// The scope that an address opens which we signed and which has not expired.
fn signed_scope<'a>(shared: &'a Shared, parts: &Parts) -> Option<&'a str> {
    let catalogue = &shared.state.catalogue;
    let path = parts.uri.path();
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    let route = route_of_path(catalogue, path)
        .filter(|route| reads && route.admits == Admits::SignedAddresses)?;
    let check = shared.state.signed_addresses.as_ref()?;
    let pairs = pairs(parts.uri.query()?).ok()?;
    let value = |name: &str| {
        let mut found = pairs.iter().filter(|(key, _)| key == name);
        // Said twice is said ambiguously.
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value.as_str()),
            _ => None,
        }
    };
    let (exp, sig) = (value("exp")?.parse().ok()?, value("sig")?);
    if !check.admits(path, exp, sig, catalogue.engine().now()) {
        return None;
    }
    catalogue
        .find(route.operation)
        .map(|info| info.scope.as_str())
}

/// The holder of a signed address: may call what serves it, and sees any run.
fn bearer_of_address(scope: &str) -> Principal {
    Principal {
        kind: PrincipalKind::System,
        name: "signed-address".to_owned(),
        scopes: vec![Scope::new(scope)],
    }
}
