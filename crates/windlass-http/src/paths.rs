//! What a path leads to: an operation by its name, or one of the routes that domains declare.

use http::Method;
use serde_json::Value;
use windlass_engine::{
    contract::http::{Failures, Output, Route},
    operation::Catalogue,
};

use crate::{failure::Failure, state::Shared};

pub(crate) const OPERATIONS: &str = "/v1/operations/";
/// Where the telemetry interface has what is also below `/v1`.
pub(crate) const HEALTH_ALIAS: &str = "/health";
pub(crate) const METRICS_ALIAS: &str = "/metrics";

/// The operation a path names, when it is the generic door.
pub(crate) fn called_by_name(path: &str) -> Option<&str> {
    path.strip_prefix(OPERATIONS)
        .filter(|name| !name.is_empty() && !name.contains('/'))
}

/// The route a path belongs to; where several verbs share a path, that of any.
pub(crate) fn route_of_path<'a>(catalogue: &'a Catalogue, path: &str) -> Option<&'a Route> {
    catalogue
        .declared()
        .routes()
        .iter()
        .find(|route| route.fits(path))
}

/// The operation a path leads to, by name or by one of the routes.
fn operation_of_path<'a>(catalogue: &Catalogue, path: &'a str) -> Option<&'a str> {
    let by_route = || route_of_path(catalogue, path).map(|route| route.operation);
    called_by_name(path).or_else(by_route)
}

/// The failure in the contract of what the path leads to.
pub(crate) fn dress(shared: &Shared, failure: Failure, path: &str) -> Failure {
    let catalogue = &shared.state.catalogue;
    let known = operation_of_path(catalogue, path).and_then(|name| catalogue.find(name));
    match known {
        Some(info) => failure.within(info, Value::Null),
        None => match catalogue.declared().contract_of_path(path, Failures::All) {
            Some(contract) => failure.in_contract(contract),
            None => failure,
        },
    }
}

/// Whether the answer may take as long as it takes to make.
pub(crate) fn is_patient(catalogue: &Catalogue, method: &Method, path: &str) -> bool {
    let is_slow = |name: &str| {
        catalogue
            .declared()
            .routes()
            .iter()
            .any(|route| route.output == Output::JsonWithoutTimeout && route.operation == name)
    };
    *method == Method::POST && operation_of_path(catalogue, path).is_some_and(is_slow)
}

/// The scopes a request to this path is likely to need; all there are where that is open.
pub(crate) fn scopes_of_path(shared: &Shared, path: &str) -> String {
    let catalogue = &shared.state.catalogue;
    let noun = path.split('/').nth(2).unwrap_or_default();
    let operation = operation_of_path(catalogue, path).or_else(|| {
        let of_noun =
            |route: &&Route| !noun.is_empty() && route.path.split('/').nth(2) == Some(noun);
        let mut routes = catalogue.declared().routes().iter();
        routes.find(of_noun).map(|route| route.operation)
    });
    let scope = operation
        .and_then(|name| catalogue.find(name))
        .map(|info| info.scope.clone());
    scope.unwrap_or_else(|| shared.scopes.clone())
}
