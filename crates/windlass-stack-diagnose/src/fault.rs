//! Why something did not happen, in the kinds of contract 000, with what to do next.
//!
//! Serialises, so that a step's failure can be journaled. Not here: the registered code of a
//! kind and its envelope (windlass-stack, windlass-engine).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_ports::aws::{AwsFailure, AwsFailureKind};
use windlass_types::{Code, Problem, code};

/// What kind of failure; each is one code of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Input or state does not allow it; nothing was changed.
    Validation,
    /// A deployment failed after it had been accepted.
    DeployFailed,
    /// A deletion, or the clean-up before it, failed.
    DeleteFailed,
    /// A rollback failed.
    RollbackFailed,
    /// The time limit passed; what AWS is doing continues.
    Timeout,
    /// No credentials, expired ones, or a permission that is missing.
    Auth,
    /// There is no such stack, version or resource.
    NotFound,
    /// A yes is missing.
    ConfirmationRequired,
    /// Anything else.
    Internal,
}

impl FaultKind {
    /// The registered code.
    fn code(self) -> &'static Code {
        match self {
            Self::Validation => &code::INVALID_INPUT,
            Self::DeployFailed => &code::DEPLOY_FAILED,
            Self::DeleteFailed => &code::DELETE_FAILED,
            Self::RollbackFailed => &code::ROLLBACK_FAILED,
            Self::Timeout => &code::TIMEOUT,
            Self::Auth => &code::UNAUTHORIZED,
            Self::NotFound => &code::NOT_FOUND,
            Self::ConfirmationRequired => &code::CONFIRM_REQUIRED,
            Self::Internal => &code::UPSTREAM_ERROR,
        }
    }

    /// The name in contract 000.
    pub const fn contract_code(self) -> &'static str {
        match self {
            Self::Validation => "VALIDATION_ERROR",
            Self::DeployFailed => "DEPLOY_FAILED",
            Self::DeleteFailed => "DELETE_FAILED",
            Self::RollbackFailed => "ROLLBACK_FAILED",
            Self::Timeout => "TIMEOUT",
            Self::Auth => "AUTH_ERROR",
            Self::NotFound => "NOT_FOUND",
            Self::ConfirmationRequired => "CONFIRMATION_REQUIRED",
            Self::Internal => "INTERNAL_ERROR",
        }
    }
}

/// A failure that names the object, the cause and the next step.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// The finer cause: `stack_busy`, `foreign_stack`, …
    pub reason: String,
    /// For people.
    pub message: String,
    /// For programs.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// What to do next.
    #[serde(default)]
    pub next_actions: Vec<String>,
    /// The AWS call behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<Box<AwsFailure>>,
}

impl Fault {
    /// A fault without data.
    pub fn new(kind: FaultKind, reason: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.to_owned(),
            message: message.into(),
            data: Map::new(),
            next_actions: Vec::new(),
            aws: None,
        }
    }

    /// The same fault with one more fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// The same fault with one more thing to do next.
    #[must_use]
    pub fn next(mut self, action: impl Into<String>) -> Self {
        self.next_actions.push(action.into());
        self
    }

    /// Whether the same call may succeed later without a change.
    pub fn is_transient(&self) -> bool {
        self.aws.as_ref().is_some_and(|aws| aws.is_transient())
    }

    /// Whether credentials expired: a run waits for new ones and continues.
    pub fn is_expired(&self) -> bool {
        self.aws.as_ref().is_some_and(|aws| aws.is_expired())
    }

    /// The public error.
    pub fn into_problem(self) -> Problem {
        let mut problem = Problem::new(self.kind.code(), self.message);
        for (key, value) in self.data {
            problem = problem.with(&key, value);
        }
        if !self.reason.is_empty() {
            problem = problem.with("reason", self.reason);
        }
        self.next_actions.into_iter().fold(problem, Problem::next)
    }

    /// What AWS did not do, as the public error.
    pub fn problem(failure: AwsFailure) -> Problem {
        Self::from(failure).into_problem()
    }

    /// A wait that ended before what was waited for.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Timeout, "deadline_passed", message)
    }
}

impl From<AwsFailure> for Fault {
    fn from(failure: AwsFailure) -> Self {
        let who = failure.principal.as_deref().unwrap_or("the caller");
        let action = &failure.action;
        let fault = match failure.kind {
            AwsFailureKind::Auth if failure.is_expired() => Self::new(
                FaultKind::Auth,
                "credentials_expired",
                format!("{action} was refused: the AWS credentials have expired"),
            )
            .next(
                "renew the AWS credentials (for example `aws sso login`); the run then continues",
            ),
            AwsFailureKind::Auth => Self::new(
                FaultKind::Auth,
                "credentials_refused",
                format!("{action} was refused: {}", failure.message),
            )
            .next("check with `windlass stack info whoami` which credentials are used"),
            AwsFailureKind::Denied => Self::new(
                FaultKind::Auth,
                "access_denied",
                format!("{who} may not call {action}: {}", failure.message),
            )
            .next(format!("allow {action} for {who}")),
            AwsFailureKind::NotFound => Self::new(
                FaultKind::NotFound,
                "not_found",
                format!("{action}: {}", failure.message),
            ),
            AwsFailureKind::Throttled => Self::new(
                FaultKind::Timeout,
                "throttled",
                format!("{action} is throttled by AWS: {}", failure.message),
            )
            .next("repeat the command in a minute"),
            AwsFailureKind::Timeout => Self::new(
                FaultKind::Timeout,
                "no_answer",
                format!("{action} did not answer in time: {}", failure.message),
            ),
            AwsFailureKind::Unreachable => Self::new(
                FaultKind::Internal,
                "unreachable",
                format!("{action} cannot be reached: {}", failure.message),
            )
            .next("check the network and AWS_ENDPOINT_URL"),
            AwsFailureKind::Service if failure.is_transient() => Self::new(
                FaultKind::Internal,
                "aws_error",
                format!("{action} failed inside AWS: {}", failure.message),
            )
            .next("repeat the command; AWS reported an internal error"),
            AwsFailureKind::Service => Self::new(
                FaultKind::Validation,
                "aws_refused",
                format!(
                    "{action} was refused ({}): {}",
                    failure.code, failure.message
                ),
            ),
        };
        let fault = fault.with("action", action.as_str());
        let mut fault = match &failure.principal {
            Some(principal) => fault.with("principal", principal.as_str()),
            None => fault,
        };
        fault.aws = Some(Box::new(failure));
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_aws_become_kinds_of_the_contract() {
        let cases = [
            ("ExpiredToken", "", 403, "AUTH_ERROR", "credentials_expired"),
            (
                "InvalidClientTokenId",
                "",
                403,
                "AUTH_ERROR",
                "credentials_refused",
            ),
            ("AccessDenied", "", 403, "AUTH_ERROR", "access_denied"),
            (
                "ValidationError",
                "Stack a does not exist",
                400,
                "NOT_FOUND",
                "not_found",
            ),
            ("Throttling", "Rate exceeded", 400, "TIMEOUT", "throttled"),
            ("InternalFailure", "", 500, "INTERNAL_ERROR", "aws_error"),
            (
                "LimitExceededException",
                "",
                400,
                "VALIDATION_ERROR",
                "aws_refused",
            ),
        ];
        for (name, message, status, code, reason) in cases {
            let failure = AwsFailure::answered("cloudformation:X", name, message, status);
            let fault = Fault::from(failure);
            assert_eq!(fault.kind.contract_code(), code, "{name}");
            assert_eq!(fault.reason, reason, "{name}");
            assert_eq!(fault.data["action"], "cloudformation:X");
        }
    }

    #[test]
    fn a_fault_reads_back_and_becomes_a_problem() {
        let fault = Fault::new(FaultKind::Validation, "stack_busy", "busy")
            .with("status", "UPDATE_IN_PROGRESS")
            .next("wait");
        let text = serde_json::to_string(&fault).unwrap();
        assert_eq!(serde_json::from_str::<Fault>(&text).unwrap(), fault);
        let problem = fault.into_problem();
        assert_eq!(problem.details()["reason"], "stack_busy");
        assert_eq!(problem.next_actions(), ["wait"]);
    }
}
