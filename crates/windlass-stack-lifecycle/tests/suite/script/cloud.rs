//! A cloud with one stack and scripted answers that records its requests.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;
use windlass_ports::aws::*;
use windlass_testkit::agent::SessionAgent;
use windlass_types::Secret;

#[derive(Default)]
pub struct FakeCloud {
    pub stack: Option<Stack>,
    pub resources: Vec<StackResource>,
    pub template: String,
    pub exports: Vec<Export>,
    /// Answers by permission and the name that is asked for.
    pub answers: BTreeMap<(String, String), Value>,
    /// Key id and key of the caller who assumes a role; none: it is denied.
    pub role: Option<(String, String)>,
    pub asked: Mutex<Vec<String>>,
    /// Answers calls that have to do with sessions on a bastion.
    pub agent: Option<SessionAgent>,
}

impl FakeCloud {
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn note(&self, what: impl Into<String>) {
        self.asked.lock().unwrap().push(what.into());
    }
}

macro_rules! never {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, _: &'a Target, $($argument: $kind),*) -> AwsFuture<'a, $answer> {
            $(let _ = $argument;)*
            self.note(stringify!($name));
            Box::pin(async { panic!(concat!(stringify!($name), " is not expected")) })
        })*
    };
}

impl CloudFormation for FakeCloud {
    fn describe_stack<'a>(&'a self, _: &'a Target, name: &'a str) -> AwsFuture<'a, Option<Stack>> {
        self.note("DescribeStacks");
        Box::pin(async move { Ok(self.stack.clone().filter(|stack| stack.stack_name == name)) })
    }

    fn stack_resources<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
    ) -> AwsFuture<'a, Vec<StackResource>> {
        self.note("ListStackResources");
        Box::pin(async move { Ok(self.resources.clone()) })
    }

    fn get_template<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        _: TemplateStage,
    ) -> AwsFuture<'a, String> {
        self.note("GetTemplate");
        Box::pin(async move { Ok(self.template.clone()) })
    }

    fn list_exports<'a>(&'a self, _: &'a Target) -> AwsFuture<'a, Vec<Export>> {
        self.note("ListExports");
        Box::pin(async move { Ok(self.exports.clone()) })
    }

    never! {
        create_change_set(request: CreateChangeSet) -> CreatedChangeSet;
        describe_change_set(address: &'a ChangeSetAddress, values: PropertyValues) -> ChangeSet;
        delete_change_set(address: &'a ChangeSetAddress) -> ();
        list_change_sets(stack: &'a str) -> Vec<ChangeSetSummary>;
        execute_change_set(request: ExecuteChangeSet) -> ();
        delete_stack(request: DeleteStack) -> ();
        cancel_update(call: StackCall) -> ();
        rollback_stack(call: StackCall) -> ();
        continue_update_rollback(call: StackCall, skip: Vec<String>) -> ();
        describe_stacks() -> Vec<Stack>;
        stack_events(request: StackEventsRequest) -> Vec<StackEvent>;
        list_stacks(statuses: &'a [&'a str]) -> Vec<StackSummary>;
        validate_template(template: TemplateSource) -> TemplateCheck;
        set_stack_policy(stack: &'a str, policy: &'a str) -> ();
        get_stack_policy(stack: &'a str) -> Option<String>;
        set_termination_protection(stack: &'a str, protection: TerminationProtection) -> ();
        detect_drift(stack: &'a str) -> String;
        drift_detection(detection_id: &'a str) -> DriftDetection;
        resource_drifts(stack: &'a str) -> Vec<ResourceDrift>;
    }
}

impl ObjectStore for FakeCloud {
    never! {
        bucket_state(bucket: &'a str) -> BucketState;
        create_bucket(request: CreateBucket) -> ();
        delete_bucket(bucket: &'a str) -> ();
        head_object(bucket: &'a str, key: &'a str) -> Option<ObjectHead>;
        put_object(request: PutObject) -> String;
        get_object(bucket: &'a str, key: &'a str, max_bytes: u64) -> ObjectContent;
        delete_objects(bucket: &'a str, objects: Vec<ObjectId>) -> DeletedObjects;
        list_objects(request: ListObjects) -> Vec<ObjectEntry>;
        list_versions(request: ListObjects) -> Vec<ObjectVersion>;
        empty_bucket(bucket: &'a str, prefix: &'a str) -> DeletedObjects;
    }
}

impl Identity for FakeCloud {
    fn credentials<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, SessionCredentials> {
        self.note(format!("credentials of {:?}", target.role_arn));
        Box::pin(async { Ok(session("ASIAHELDROLE", "held-role-secret-key")) })
    }

    fn assume_role<'a>(
        &'a self,
        _: &'a Target,
        request: AssumeRole,
    ) -> AwsFuture<'a, SessionCredentials> {
        self.note(format!("AssumeRole {}", request.role_arn));
        Box::pin(async move {
            match &self.role {
                Some((id, key)) => Ok(session(id, key)),
                None => Err(AwsFailure::answered(
                    "sts:AssumeRole",
                    "AccessDenied",
                    "User: arn:aws:iam::123456789012:user/ada is not authorized",
                    403,
                )),
            }
        })
    }

    never! {
        region() -> Option<String>;
        caller() -> Caller;
    }
}

fn session(id: &str, key: &str) -> SessionCredentials {
    SessionCredentials {
        access_key_id: Secret::new(id.to_owned()),
        secret_access_key: Secret::new(key.to_owned()),
        session_token: Some(Secret::new(format!("token-of-{id}"))),
        expires_at: None,
    }
}

impl AwsCalls for FakeCloud {
    fn call<'a>(&'a self, _: &'a Target, call: SignedCall) -> AwsFuture<'a, Value> {
        let permission = call.shape.permission();
        let name = ["SecretId", "Name"]
            .iter()
            .find_map(|key| call.input.get(key)?.as_str())
            .unwrap_or_default()
            .to_owned();
        self.note(format!("{permission} {name}"));
        let of_agent = self.agent.as_ref();
        let of_agent = of_agent.and_then(|agent| agent.answer(&permission, &call.input));
        let answer = self.answers.get(&(permission.clone(), name)).cloned();
        Box::pin(async move {
            if let Some(answer) = of_agent {
                return answer;
            }
            answer.ok_or_else(|| {
                AwsFailure::answered(&permission, "ResourceNotFoundException", "not there", 400)
            })
        })
    }

    never! { send(request: SignedHttp) -> SignedAnswer; }
}
