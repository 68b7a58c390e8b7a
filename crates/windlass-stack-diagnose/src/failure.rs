//! Failures of AWS, databases and rules as problems of the contract's codes.

use windlass_ports::aws::{AwsFailure, AwsFailureKind};
use windlass_ports::database::DatabaseFailure;
use windlass_text::suggest::closest;
use windlass_types::{Problem, code};

use crate::guard::Refusal;

/// What AWS did not do, as a problem; names the permission and the principal where those matter.
pub fn aws_problem(failure: &AwsFailure) -> Problem {
    let who = failure.principal.as_deref().unwrap_or("the caller");
    let problem = match failure.kind {
        AwsFailureKind::Auth if failure.is_expired() => Problem::new(
            &code::UNAUTHORIZED,
            format!("the AWS credentials have expired ({failure})"),
        )
        .with("reason", "credentials_expired")
        .next("sign in again, then repeat"),
        AwsFailureKind::Auth => Problem::new(
            &code::UNAUTHORIZED,
            format!("AWS does not accept the credentials, or there are none ({failure})"),
        )
        .with("reason", "no_credentials")
        .next("set a profile or credentials, then repeat"),
        AwsFailureKind::Denied => Problem::new(
            &code::FORBIDDEN,
            format!("{who} may not call {} ({failure})", failure.action),
        )
        .with("reason", "access_denied")
        .next(format!("allow {} for {who}", failure.action)),
        AwsFailureKind::NotFound => {
            Problem::new(&code::NOT_FOUND, failure.to_string()).with("reason", "not_found")
        }
        AwsFailureKind::Throttled => Problem::new(
            &code::TIMEOUT,
            format!("AWS accepts no more calls ({failure})"),
        )
        .with("reason", "throttled")
        .next("wait a little, then repeat"),
        AwsFailureKind::Timeout => {
            Problem::new(&code::TIMEOUT, failure.to_string()).with("reason", "timeout")
        }
        AwsFailureKind::Unreachable => Problem::new(
            &code::UPSTREAM_ERROR,
            format!("AWS cannot be reached ({failure})"),
        )
        .with("reason", "unreachable"),
        AwsFailureKind::Service if failure.is_transient() => {
            Problem::new(&code::UPSTREAM_ERROR, failure.to_string()).with("reason", "service_fault")
        }
        AwsFailureKind::Service => Problem::new(
            &code::INVALID_INPUT,
            format!("AWS refused the call ({failure})"),
        )
        .with("reason", "refused_by_aws"),
    };
    let mut problem = problem.with("action", failure.action.as_str());
    if !failure.code.is_empty() {
        problem = problem.with("awsCode", failure.code.as_str());
    }
    match &failure.principal {
        Some(principal) => problem.with("principal", principal.as_str()),
        None => problem,
    }
}

/// What a database did not do, as a problem.
pub fn database_problem(resource: &str, failure: &DatabaseFailure) -> Problem {
    let message = format!("{resource}: {failure}");
    let problem = match failure {
        DatabaseFailure::ReadOnly { code: engine, .. } => {
            Problem::new(&code::READ_ONLY_VIOLATION, message)
                .with("reason", "read_only_violation")
                .with("rule", "database.read_only")
                .with("engineCode", engine.as_str())
        }
        DatabaseFailure::Timeout { .. } => Problem::new(&code::TIMEOUT, message)
            .with("reason", "statement_timeout")
            .next("narrow the question, or repeat with a longer timeout"),
        DatabaseFailure::Auth { code: engine, .. } => Problem::new(&code::UNAUTHORIZED, message)
            .with("reason", "database_login")
            .with("engineCode", engine.as_str()),
        DatabaseFailure::Unreachable { .. } => Problem::new(&code::UPSTREAM_ERROR, message)
            .with("reason", "unreachable")
            .next("check that this machine reaches the database's network"),
        DatabaseFailure::Unprotected { .. } => {
            Problem::new(&code::INVALID_INPUT, message).with("reason", "unprotected_connection")
        }
        DatabaseFailure::Statement {
            code: engine,
            position,
            ..
        } => {
            let problem = Problem::new(&code::INVALID_INPUT, message)
                .with("reason", "sql_error")
                .with("engineCode", engine.as_str());
            match position {
                Some(position) => problem.with("position", *position),
                None => problem,
            }
        }
        DatabaseFailure::Answer { .. } => {
            Problem::new(&code::UPSTREAM_ERROR, message).with("reason", "bad_answer")
        }
    };
    problem.with("resource", resource)
}

/// What a rule did not let through, as a problem.
pub fn refused(refusal: &Refusal) -> Problem {
    Problem::new(&code::READ_ONLY_VIOLATION, refusal.to_string())
        .with("reason", "read_only_violation")
        .with("rule", refusal.rule.as_str())
}

/// Something that is not there, with the names nearest to it.
pub(crate) fn not_found<'a>(
    kind: &str,
    name: &str,
    message: impl Into<String>,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    let closest = closest(name, known);
    let problem = Problem::new(&code::NOT_FOUND, message)
        .with("reason", "not_found")
        .with("kind", kind)
        .with("name", name);
    match closest.first() {
        Some(first) => {
            let action = format!("repeat with {first}");
            problem.with("closest", closest).next(action)
        }
        None => problem.with("closest", closest),
    }
}
