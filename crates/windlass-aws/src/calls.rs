//! Signed calls: build, sign, send, try again, read.

use std::time::Duration;

use serde_json::Value;
use windlass_ports::aws::{
    AwsCalls, AwsFailure, AwsFailureKind, AwsFuture, SignedAnswer, SignedCall, SignedHttp, Target,
};
use windlass_types::Timestamp;

use crate::answer::{self, Answer};
use crate::client::Aws;
use crate::endpoint::Endpoint;
use crate::error_body;
use crate::pace::{self, Pace};
use crate::request::{self, Request};
use crate::session::{Session, TRY_TIMEOUT};
use crate::sign::{self, Scope, Signable};

/// No answer of an API is near this size.
const MAX_ANSWER: usize = 64 << 20;

/// Codes with which services refuse a signature for its time. `InvalidSignatureException` and
/// similar codes have other causes too; the answer's own clock distinguishes them.
const SKEW_CODES: &[&str] = &[
    "AuthFailure",
    "InvalidSignatureException",
    "RequestExpired",
    "RequestInTheFuture",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
];

/// Members whose values must not come back in a message that quotes the input.
const SECRET_MEMBERS: &[&str] = &[
    "SecretString",
    "SecretBinary",
    "Value",
    "Password",
    "MasterUserPassword",
];

impl AwsCalls for Aws {
    fn call<'a>(&'a self, target: &'a Target, call: SignedCall) -> AwsFuture<'a, Value> {
        Box::pin(self.call_now(target, call))
    }

    fn send<'a>(&'a self, target: &'a Target, request: SignedHttp) -> AwsFuture<'a, SignedAnswer> {
        Box::pin(self.send_now(target, request))
    }
}

/// One finished try.
enum Tried {
    Good(Answer),
    Failed {
        failure: AwsFailure,
        retry_after: Option<Duration>,
        /// Our clock was wrong; the next signature will not be.
        skewed: bool,
    },
}

impl Aws {
    async fn call_now(&self, target: &Target, call: SignedCall) -> Result<Value, AwsFailure> {
        let action = call.shape.permission();
        let invalid = |message: String| AwsFailure {
            code: "InvalidInput".to_owned(),
            ..AwsFailure::local(AwsFailureKind::Service, &action, message)
        };
        let request = request::build(&call.shape, &call.input).map_err(invalid)?;
        let session = self.ready(target, &action).await?;
        let endpoint = session.endpoint(call.shape.service, session.require_region(&action)?);
        let timeout = call.timeout.unwrap_or(TRY_TIMEOUT);
        let pace_key = format!("{} {}", call.shape.service.name, endpoint.url);
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.pause(self.pace(&pace_key).pause()).await;
            let tried = self
                .try_once(target, &session, &endpoint, &call, &request, timeout)
                .await?;
            let (failure, retry_after, skewed) = match tried {
                Tried::Good(answer) => {
                    self.change_pace(&pace_key, Pace::after_success);
                    return answer::read(&call.shape, &answer).map_err(|problem| AwsFailure {
                        status: Some(answer.status),
                        ..AwsFailure::local(
                            AwsFailureKind::Service,
                            &action,
                            format!("the answer cannot be read: {problem}"),
                        )
                    });
                }
                Tried::Failed {
                    failure,
                    retry_after,
                    skewed,
                } => (failure, retry_after, skewed),
            };
            if failure.is_throttled() {
                self.change_pace(&pace_key, Pace::after_throttle);
            }
            if attempt >= self.max_attempts || !(failure.is_transient() || skewed) {
                return Err(self.noted(target, without_secrets(failure, &call.input)));
            }
            let wait = pace::wait(attempt, failure.is_throttled(), retry_after, self.random());
            self.pause(wait).await;
        }
    }

    async fn try_once(
        &self,
        target: &Target,
        session: &Session,
        endpoint: &Endpoint,
        call: &SignedCall,
        request: &Request,
        timeout: Duration,
    ) -> Result<Tried, AwsFailure> {
        let action = call.shape.permission();
        let url = format!("{}{}", endpoint.url, request.target);
        let now = self.clock.now();
        let signature = self
            .signature(
                target,
                session,
                &action,
                &Signable {
                    method: request.method,
                    url: &url,
                    headers: &request.headers,
                    body: &request.body,
                },
                call.shape.service.signing_name,
                &endpoint.region,
                session.signing_time(now),
            )
            .await?;
        let outgoing = Outgoing {
            method: request.method,
            url: &url,
            headers: request.headers.iter().chain(&signature),
            body: request.body.clone(),
            timeout,
            max_body: MAX_ANSWER,
        };
        let answer = match self.exchange(&action, outgoing).await {
            Ok(answer) => answer,
            Err(failure) => {
                return Ok(Tried::Failed {
                    failure,
                    retry_after: None,
                    skewed: false,
                });
            }
        };
        if (200..300).contains(&answer.status) {
            return Ok(Tried::Good(answer));
        }
        let failure = error_body::failure(&action, &answer);
        let skewed = SKEW_CODES.contains(&failure.code.as_str())
            && date(&answer).is_some_and(|theirs| session.learn_time(now, theirs));
        let retry_after = answer
            .header("retry-after")
            .and_then(|text| text.trim().parse().ok())
            .map(Duration::from_secs);
        Ok(Tried::Failed {
            failure,
            retry_after,
            skewed,
        })
    }

    async fn send_now(
        &self,
        target: &Target,
        request: SignedHttp,
    ) -> Result<SignedAnswer, AwsFailure> {
        let action = &request.action;
        let session = self.ready(target, action).await?;
        let region = session.require_region(action)?;
        let signature = self
            .signature(
                target,
                &session,
                action,
                &Signable {
                    method: &request.method,
                    url: &request.url,
                    headers: &request.headers,
                    body: &request.body,
                },
                &request.signing_name,
                region,
                session.signing_time(self.clock.now()),
            )
            .await?;
        let outgoing = Outgoing {
            method: &request.method,
            url: &request.url,
            headers: request.headers.iter().chain(&signature),
            body: request.body.clone(),
            timeout: request.timeout,
            max_body: request.max_body,
        };
        let answer = self
            .exchange(action, outgoing)
            .await
            .map_err(|failure| self.noted(target, failure))?;
        Ok(SignedAnswer {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "everything a signature covers, and whose it is"
    )]
    async fn signature(
        &self,
        target: &Target,
        session: &Session,
        action: &str,
        signable: &Signable<'_>,
        signing_name: &str,
        region: &str,
        time: Timestamp,
    ) -> Result<Vec<(String, String)>, AwsFailure> {
        let credentials = self.credentials(session, target, action).await?;
        let scope = Scope {
            signing_name,
            region,
            time,
        };
        sign::headers(signable, &scope, &credentials).map_err(|problem| {
            AwsFailure::local(
                AwsFailureKind::Service,
                action,
                format!("the request cannot be signed: {problem}"),
            )
        })
    }

    /// Sends a request and reads the whole answer.
    async fn exchange<'h>(
        &self,
        action: &str,
        outgoing: Outgoing<'h, impl Iterator<Item = &'h (String, String)>>,
    ) -> Result<Answer, AwsFailure> {
        let failed = |error: &reqwest::Error| no_answer(action, error);
        let method = reqwest::Method::from_bytes(outgoing.method.as_bytes()).map_err(|_| {
            let message = format!("`{}` is not a method", outgoing.method);
            AwsFailure::local(AwsFailureKind::Service, action, message)
        })?;
        let mut request = self
            .http(action)?
            .request(method, outgoing.url)
            .timeout(outgoing.timeout)
            .body(outgoing.body);
        for (name, value) in outgoing.headers {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| failed(&error))? {
            if body.len() + piece.len() > outgoing.max_body {
                return Err(AwsFailure::local(
                    AwsFailureKind::Service,
                    action,
                    format!("the answer is longer than {} bytes", outgoing.max_body),
                ));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    pub(crate) async fn pause(&self, duration: Duration) {
        if !duration.is_zero() {
            let until = self.clock.now().after(duration);
            self.clock.sleep_until(until).await;
        }
    }
}

struct Outgoing<'h, H: Iterator<Item = &'h (String, String)>> {
    method: &'h str,
    url: &'h str,
    headers: H,
    body: Vec<u8>,
    timeout: Duration,
    max_body: usize,
}

fn no_answer(action: &str, error: &reqwest::Error) -> AwsFailure {
    if error.is_timeout() {
        let message = "AWS did not answer in time";
        return AwsFailure::local(AwsFailureKind::Timeout, action, message);
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // reqwest's own text would repeat the address with its query string.
    let place = error
        .url()
        .and_then(|url| url.host_str())
        .unwrap_or("the endpoint");
    let message = format!("no answer from {place}: {innermost}");
    AwsFailure::local(AwsFailureKind::Unreachable, action, message)
}

/// The clock of the server that answered.
fn date(answer: &Answer) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(answer.header("date")?).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis())
        .ok()
        .map(Timestamp::from_millis)
}

/// Services quote what they refuse; a secret's value is blanked out of the message.
fn without_secrets(mut failure: AwsFailure, input: &Value) -> AwsFailure {
    for member in SECRET_MEMBERS {
        if let Some(secret) = input.get(*member).and_then(Value::as_str)
            && !secret.is_empty()
        {
            failure.message = failure.message.replace(secret, "***");
        }
    }
    failure
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_that_quotes_the_input_does_not_quote_a_secret() {
        let failure = AwsFailure::answered(
            "secretsmanager:CreateSecret",
            "ValidationException",
            "Value 'hunter2-hunter2' at 'secretString' is too short",
            400,
        );
        let input = json!({ "Name": "n", "SecretString": "hunter2-hunter2" });
        assert_eq!(
            without_secrets(failure, &input).message,
            "Value '***' at 'secretString' is too short"
        );
    }
}
