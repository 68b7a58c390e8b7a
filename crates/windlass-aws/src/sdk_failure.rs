//! Failures of the typed clients as ours.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use windlass_ports::aws::{AwsFailure, AwsFailureKind};

use crate::answer::Answer;
use crate::error_body;

/// A typed client's failure.
pub(crate) fn failure<E>(action: &str, error: &SdkError<E, HttpResponse>) -> AwsFailure
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    match error {
        SdkError::TimeoutError(_) => AwsFailure::local(
            AwsFailureKind::Timeout,
            action,
            "AWS did not answer in time",
        ),
        SdkError::DispatchFailure(dispatch) => {
            let kind = if dispatch.is_timeout() {
                AwsFailureKind::Timeout
            } else {
                AwsFailureKind::Unreachable
            };
            AwsFailure::local(kind, action, format!("no answer: {}", innermost(error)))
        }
        SdkError::ServiceError(service) => {
            let raw = answered(action, service.raw());
            let meta = service.err().meta();
            let Some(code) = meta.code() else {
                return raw;
            };
            let message = meta.message().unwrap_or(&raw.message);
            AwsFailure {
                request_id: raw.request_id.clone(),
                ..AwsFailure::answered(action, code, message, service.raw().status().as_u16())
            }
        }
        SdkError::ResponseError(response) if !response.raw().status().is_success() => {
            answered(action, response.raw())
        }
        other => AwsFailure::local(AwsFailureKind::Service, action, innermost(other)),
    }
}

fn answered(action: &str, response: &HttpResponse) -> AwsFailure {
    let answer = Answer {
        status: response.status().as_u16(),
        headers: response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect(),
        body: response.body().bytes().unwrap_or_default().to_vec(),
    };
    error_body::failure(action, &answer)
}

/// The cause at the bottom: the SDK's own texts only name the layer.
fn innermost<E, R>(error: &SdkError<E, R>) -> String
where
    E: std::error::Error + 'static,
    R: std::fmt::Debug,
{
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
