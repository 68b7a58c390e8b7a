//! The whole double as one value: requests in, answers out, time moved by hand.
//!
//! Nothing here does input or output, so everything can be tested without a server.

use serde::Serialize;

use crate::actions::{self, Context};
use crate::clock;
use crate::env::Env;
use crate::error::ApiError;
use crate::faults::CallEffect;
use crate::params::Params;
use crate::services::{json, s3_calls, sts};
use crate::stack::{self, Stack};
use crate::wire::{Credential, Outcome, Reply, Request};
use crate::xml::{Element, children, document};

#[derive(Clone, Debug)]
pub struct World {
    pub env: Env,
    /// In the order of their creation; deleted ones stay.
    pub stacks: Vec<Stack>,
    pub page_size: usize,
    pub calls: Vec<CallRecord>,
    sessions: sts::Sessions,
    /// An older state and how many reads it still answers.
    stale: Option<(u32, Vec<Stack>)>,
}

/// One call that arrived.
#[derive(Clone, Debug, Serialize)]
pub struct CallRecord {
    pub at: String,
    pub service: String,
    pub action: String,
    pub region: String,
    /// The stack, bucket or secret it was about, where that is plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// `ok`, `cut`, or an error code.
    pub outcome: String,
}

/// What a request turned out to be.
enum Asked<'a> {
    CloudFormation(Params),
    Sts(Params),
    Json(&'static str),
    S3(s3_calls::Call<'a>),
}

impl World {
    pub fn new(account: &str, seed: u64) -> World {
        World {
            env: Env::new(account, seed),
            stacks: Vec::new(),
            page_size: 100,
            calls: Vec::new(),
            sessions: sts::Sessions::new(),
            stale: None,
        }
    }

    /// Lets time pass; everything due on the way happens at its own instant.
    pub fn advance_to(&mut self, target: u64) {
        loop {
            for stack in &mut self.stacks {
                stack::step(stack, &mut self.env);
            }
            let next = self.stacks.iter().filter_map(stack::next_wake).min();
            match next {
                Some(at) if at <= target => self.env.now = self.env.now.max(at),
                _ => break,
            }
        }
        self.env.now = self.env.now.max(target);
    }

    /// The next reads see things as they are now, whatever happens until then.
    pub fn freeze_reads(&mut self, calls: u32) {
        self.stale = (calls > 0).then(|| (calls, self.stacks.clone()));
    }

    /// Answers one request.
    pub fn handle(&mut self, request: &Request) -> Outcome {
        let request_id = self.env.ids.uuid();
        let (asked, action) = classify(request);
        let credential = request.credential();
        let effect = self.env.faults.strike(&action);
        let mut slow = None;
        let result = match effect {
            Some(CallEffect::CutBefore) => {
                self.log(&asked, request, &action, credential.as_ref(), "cut");
                return Outcome::Cut;
            }
            Some(CallEffect::Throttle) => Err(ApiError::new("Throttling", 400, "Rate exceeded")),
            Some(CallEffect::Internal) => Err(ApiError::new(
                "InternalFailure",
                500,
                "The request processing has failed because of an unknown error, exception or failure.",
            )),
            Some(CallEffect::Error {
                code,
                status,
                message,
            }) => Err(ApiError::new(&code, status, message)),
            Some(CallEffect::Slow { ms }) => {
                slow = Some(ms);
                self.serve(&asked, &action, request, credential.as_ref(), &request_id)
            }
            Some(CallEffect::CutAfter) => {
                let _ = self.serve(&asked, &action, request, credential.as_ref(), &request_id);
                self.log(&asked, request, &action, credential.as_ref(), "cut");
                return Outcome::Cut;
            }
            None => self.serve(&asked, &action, request, credential.as_ref(), &request_id),
        };
        let outcome = match &result {
            Ok(_) => "ok",
            Err(error) => error.code.as_str(),
        };
        self.log(&asked, request, &action, credential.as_ref(), outcome);
        let reply = match result {
            Ok(reply) => reply,
            Err(error) => refusal(&asked, request, &error, &request_id),
        };
        let reply = reply.header("x-amzn-requestid", &request_id);
        match slow {
            Some(ms) => Outcome::Slow(ms, reply),
            None => Outcome::Answer(reply),
        }
    }

    fn serve(
        &mut self,
        asked: &Asked<'_>,
        action: &str,
        request: &Request,
        credential: Option<&Credential>,
        request_id: &str,
    ) -> Result<Reply, ApiError> {
        let Some(credential) = credential else {
            return Err(match asked {
                Asked::S3(_) => ApiError::new("AccessDenied", 403, "Access Denied"),
                _ => ApiError::new(
                    "MissingAuthenticationToken",
                    403,
                    "Request is missing Authentication Token",
                ),
            });
        };
        let service = service_name(asked);
        let caller = sts::caller(&credential.access_key, &self.sessions, &self.env.account);
        if let Some(refusal) = self.env.faults.refusal(service, action, &caller) {
            return Err(refusal);
        }
        match asked {
            Asked::CloudFormation(params) => {
                let result = self.cloudformation(action, params, &credential.region)?;
                Ok(query_reply(action, actions::NAMESPACE, result, request_id))
            }
            Asked::Sts(params) => {
                let result = sts::answer(
                    action,
                    params,
                    &credential.access_key,
                    &mut self.sessions,
                    &mut self.env,
                )?;
                Ok(query_reply(
                    action,
                    sts::NAMESPACE,
                    Some(result),
                    request_id,
                ))
            }
            Asked::Json(service) => {
                json::answer(service, action, request, &credential.region, &mut self.env)
            }
            Asked::S3(call) => call.answer(&credential.region, &mut self.env),
        }
    }

    fn cloudformation(
        &mut self,
        action: &str,
        params: &Params,
        region: &str,
    ) -> Result<Option<Element>, ApiError> {
        let is_read = actions::is_read(action);
        let stacks = match &mut self.stale {
            Some((left, old)) if is_read && *left > 0 => {
                *left -= 1;
                old
            }
            _ => &mut self.stacks,
        };
        let mut context = Context {
            params,
            region,
            stacks,
            env: &mut self.env,
            page_size: self.page_size,
        };
        actions::answer(action, &mut context)
    }

    fn log(
        &mut self,
        asked: &Asked<'_>,
        request: &Request,
        action: &str,
        credential: Option<&Credential>,
        outcome: &str,
    ) {
        let (subject, token) = match asked {
            Asked::CloudFormation(params) | Asked::Sts(params) => (
                params
                    .get("StackName")
                    .or_else(|| params.get("ChangeSetName")),
                params.get("ClientRequestToken"),
            ),
            Asked::S3(_) => (Some(request.path.as_str()), None),
            Asked::Json(_) => (None, None),
        };
        self.calls.push(CallRecord {
            at: clock::iso(self.env.now),
            service: service_name(asked).to_owned(),
            action: action.to_owned(),
            region: credential
                .map(|found| found.region.clone())
                .unwrap_or_default(),
            subject: subject.map(str::to_owned),
            token: token.map(str::to_owned),
            outcome: outcome.to_owned(),
        });
    }
}

fn service_name(asked: &Asked<'_>) -> &'static str {
    match asked {
        Asked::CloudFormation(_) => "cloudformation",
        Asked::Sts(_) => "sts",
        Asked::Json(service) => service,
        Asked::S3(_) => "s3",
    }
}

fn classify(request: &Request) -> (Asked<'_>, String) {
    if let Some((service, action)) = json::target(request) {
        return (Asked::Json(service), action);
    }
    let is_form = request
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if is_form || request.query.contains("Action=") {
        let form = String::from_utf8_lossy(&request.body);
        let params = Params::parse(if is_form { &form } else { &request.query });
        let action = params.get("Action").unwrap_or("Unknown").to_owned();
        let asked = match params.get("Version") {
            Some("2011-06-15") => Asked::Sts(params),
            _ => Asked::CloudFormation(params),
        };
        return (asked, action);
    }
    let call = s3_calls::Call::new(request);
    let action = call.action();
    (Asked::S3(call), action)
}

fn query_reply(action: &str, namespace: &str, result: Option<Element>, request_id: &str) -> Reply {
    let body = match result {
        Some(result) => format!("<{action}Result>{}</{action}Result>", children(&result)),
        None => String::new(),
    };
    let text = format!(
        "<{action}Response xmlns=\"{namespace}\">{body}<ResponseMetadata><RequestId>{request_id}\
         </RequestId></ResponseMetadata></{action}Response>"
    );
    Reply::new(200, "text/xml", text)
}

fn refusal(asked: &Asked<'_>, request: &Request, error: &ApiError, request_id: &str) -> Reply {
    let namespace = match asked {
        Asked::CloudFormation(_) => actions::NAMESPACE,
        Asked::Sts(_) => sts::NAMESPACE,
        Asked::Json(_) => return json::refusal(error),
        Asked::S3(_) => return s3_calls::refusal(request, error, request_id),
    };
    let detail = Element::new()
        .with("Type", error.kind())
        .with("Code", &error.code)
        .with("Message", &error.message);
    let body = Element::new()
        .with("Error", detail)
        .with("RequestId", request_id);
    Reply::new(
        error.status,
        "text/xml",
        document("ErrorResponse", namespace, &body),
    )
}
