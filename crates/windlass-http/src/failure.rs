//! A failure on its way out: the problem, its status, and the contract it is shown in.

use axum::{body::Body, response::Response};
use http::{
    HeaderValue, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::Value;
use windlass_engine::{
    contract::{Contract, EnvelopeContext, Plain},
    operation::OperationInfo,
};
use windlass_types::{Problem, code};

/// The scopes a refused request would have needed; the guard makes a challenge of it.
#[derive(Clone, Debug)]
pub(crate) struct RequiredScopes(pub(crate) String);

/// A failure that becomes a response.
#[derive(Debug)]
pub(crate) struct Failure {
    problem: Problem,
    /// A status that says more about the request than the problem's own.
    status: Option<StatusCode>,
    contract: &'static dyn Contract,
    operation: String,
    input: Value,
}

impl Failure {
    /// A request that cannot be understood, with the HTTP status that says how.
    pub(crate) fn request(
        status: StatusCode,
        field: &str,
        constraint: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status: Some(status),
            ..Self::from(Problem::invalid(field, constraint, message))
        }
    }

    /// Nothing is served under this path.
    pub(crate) fn no_such_path(path: &str) -> Self {
        Problem::new(&code::NOT_FOUND, format!("nothing is served at {path}"))
            .with("path", path)
            .next("GET /v1/openapi.json")
            .into()
    }

    /// The same failure in the contract of an operation.
    pub(crate) fn within(mut self, info: &OperationInfo, input: Value) -> Self {
        self.contract = info.contract;
        self.input = input;
        self.operation.clone_from(&info.name);
        self
    }

    /// The same failure in a contract, where there is no operation.
    pub(crate) const fn in_contract(mut self, contract: &'static dyn Contract) -> Self {
        self.contract = contract;
        self
    }

    pub(crate) const fn problem(&self) -> &Problem {
        &self.problem
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status.unwrap_or_else(|| {
            StatusCode::from_u16(self.contract.http_status(&self.problem))
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
        })
    }

    /// What the response says.
    pub(crate) fn body(&self, request_id: &str) -> Value {
        let context = EnvelopeContext {
            operation: &self.operation,
            request_id,
            input: &self.input,
        };
        self.contract.failure(context, &self.problem)
    }

    pub(crate) fn respond(self, request_id: &str) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(request_id, problem = %self.problem, "a request failed");
        }
        let mut response = json(status, &self.body(request_id));
        let details = self.problem.details();
        if let Some(scopes) = details.get("required_scopes").and_then(Value::as_array) {
            let names: Vec<&str> = scopes.iter().filter_map(Value::as_str).collect();
            response
                .extensions_mut()
                .insert(RequiredScopes(names.join(" ")));
        }
        if status == StatusCode::TOO_MANY_REQUESTS
            && let Some(seconds) = details.get("retry_after_seconds").and_then(Value::as_u64)
        {
            let value = HeaderValue::from(seconds.max(1));
            response.headers_mut().insert(RETRY_AFTER, value);
        }
        response
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            status: None,
            contract: &Plain,
            operation: String::new(),
            input: Value::Null,
        }
    }
}

/// A JSON response.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
