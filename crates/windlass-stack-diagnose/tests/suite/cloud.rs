//! A cloud with scripted answers that records its requests.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;
use windlass_ports::aws::*;
use windlass_testkit::agent::SessionAgent;

#[derive(Default)]
pub struct ScriptedCloud {
    pub stacks: Vec<Stack>,
    pub resources: Vec<StackResource>,
    pub events: Vec<StackEvent>,
    pub drifts: Vec<ResourceDrift>,
    pub template: String,
    pub region: Option<String>,
    /// Every call fails so.
    pub failure: Mutex<Option<AwsFailure>>,
    /// Answers by permission, one after the other; the last one stays.
    pub answers: Mutex<HashMap<String, Vec<Result<Value, AwsFailure>>>>,
    pub http: Mutex<Option<(u16, Value)>>,
    /// Answers calls that have to do with sessions on a bastion.
    pub agent: Option<SessionAgent>,
    /// What was asked: permission and input.
    pub asked: Mutex<Vec<(String, Value)>>,
}

impl ScriptedCloud {
    pub fn answer(&self, permission: &str, answer: Value) -> &Self {
        self.then(permission, Ok(answer))
    }

    pub fn fail(&self, permission: &str, code: &str, message: &str) -> &Self {
        let failure = AwsFailure::answered(permission, code, message, 400);
        self.then(permission, Err(failure))
    }

    fn then(&self, permission: &str, answer: Result<Value, AwsFailure>) -> &Self {
        let mut answers = self.answers.lock().unwrap();
        answers
            .entry(permission.to_owned())
            .or_default()
            .push(answer);
        self
    }

    pub fn inputs(&self, permission: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        let of = asked.iter().filter(|(name, _)| name == permission);
        of.map(|(_, input)| input.clone()).collect()
    }

    fn note(&self, action: &str) -> Result<(), AwsFailure> {
        self.asked
            .lock()
            .unwrap()
            .push((action.to_owned(), Value::Null));
        match &*self.failure.lock().unwrap() {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }
}

fn unscripted<T>(action: &str) -> Result<T, AwsFailure> {
    Err(AwsFailure::answered(
        action,
        "NotScripted",
        "not scripted",
        400,
    ))
}

macro_rules! never {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, _: &'a Target, $($argument: $kind),*) -> AwsFuture<'a, $answer> {
            $(let _ = $argument;)*
            Box::pin(async { unscripted(stringify!($name)) })
        })*
    };
}

impl CloudFormation for ScriptedCloud {
    fn describe_stack<'a>(&'a self, _: &'a Target, stack: &'a str) -> AwsFuture<'a, Option<Stack>> {
        Box::pin(async move {
            self.note("cloudformation:DescribeStacks")?;
            let named = |known: &&Stack| known.stack_name == stack || known.stack_id == stack;
            Ok(self.stacks.iter().find(named).cloned())
        })
    }

    fn describe_stacks<'a>(&'a self, _: &'a Target) -> AwsFuture<'a, Vec<Stack>> {
        Box::pin(async move {
            self.note("cloudformation:DescribeStacks")?;
            Ok(self.stacks.clone())
        })
    }

    fn stack_events<'a>(
        &'a self,
        _: &'a Target,
        request: StackEventsRequest,
    ) -> AwsFuture<'a, Vec<StackEvent>> {
        Box::pin(async move {
            self.note("cloudformation:DescribeStackEvents")?;
            let of = self
                .events
                .iter()
                .filter(|event| event.stack_id == request.stack);
            Ok(of.cloned().collect())
        })
    }

    fn stack_resources<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
    ) -> AwsFuture<'a, Vec<StackResource>> {
        Box::pin(async move {
            self.note("cloudformation:ListStackResources")?;
            Ok(self.resources.clone())
        })
    }

    fn list_stacks<'a>(
        &'a self,
        _: &'a Target,
        _: &'a [&'a str],
    ) -> AwsFuture<'a, Vec<StackSummary>> {
        Box::pin(async move {
            self.note("cloudformation:ListStacks")?;
            Ok(Vec::new())
        })
    }

    fn get_template<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        _: TemplateStage,
    ) -> AwsFuture<'a, String> {
        Box::pin(async move {
            self.note("cloudformation:GetTemplate")?;
            Ok(self.template.clone())
        })
    }

    fn resource_drifts<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
    ) -> AwsFuture<'a, Vec<ResourceDrift>> {
        Box::pin(async move { Ok(self.drifts.clone()) })
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
        validate_template(template: TemplateSource) -> TemplateCheck;
        set_stack_policy(stack: &'a str, policy: &'a str) -> ();
        get_stack_policy(stack: &'a str) -> Option<String>;
        set_termination_protection(stack: &'a str, protection: TerminationProtection) -> ();
        detect_drift(stack: &'a str) -> String;
        drift_detection(detection_id: &'a str) -> DriftDetection;
        list_exports() -> Vec<Export>;
    }
}

impl ObjectStore for ScriptedCloud {
    /// Two versions of every stack were kept.
    fn list_objects<'a>(
        &'a self,
        _: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectEntry>> {
        Box::pin(async move {
            let entry = |version: &str| ObjectEntry {
                key: format!("{}{version}.json", request.prefix),
                size: 1,
                e_tag: None,
                last_modified: None,
            };
            match request.bucket.as_str() {
                "windlass-assets-123456789012-eu-west-1" => {
                    Ok(vec![entry("v000001"), entry("v000002")])
                }
                _ => Ok(Vec::new()),
            }
        })
    }

    never! {
        bucket_state(bucket: &'a str) -> BucketState;
        create_bucket(request: CreateBucket) -> ();
        delete_bucket(bucket: &'a str) -> ();
        head_object(bucket: &'a str, key: &'a str) -> Option<ObjectHead>;
        put_object(request: PutObject) -> String;
        get_object(bucket: &'a str, key: &'a str, max_bytes: u64) -> ObjectContent;
        delete_objects(bucket: &'a str, objects: Vec<ObjectId>) -> DeletedObjects;
        list_versions(request: ListObjects) -> Vec<ObjectVersion>;
        empty_bucket(bucket: &'a str, prefix: &'a str) -> DeletedObjects;
    }
}

impl Identity for ScriptedCloud {
    fn region<'a>(&'a self, _: &'a Target) -> AwsFuture<'a, Option<String>> {
        Box::pin(async move { Ok(self.region.clone()) })
    }

    fn caller<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Caller> {
        Box::pin(async move {
            self.note("sts:GetCallerIdentity")?;
            Ok(Caller {
                account: "123456789012".to_owned(),
                arn: "arn:aws:iam::123456789012:user/ada".to_owned(),
                user_id: "AIDA".to_owned(),
                region: target.region.clone().unwrap_or_default(),
                credential_source: "environment".to_owned(),
                expires_at: None,
            })
        })
    }

    never! {
        credentials() -> SessionCredentials;
        assume_role(request: AssumeRole) -> SessionCredentials;
    }
}

impl AwsCalls for ScriptedCloud {
    fn call<'a>(&'a self, _: &'a Target, call: SignedCall) -> AwsFuture<'a, Value> {
        Box::pin(async move {
            let permission = call.shape.permission();
            self.asked
                .lock()
                .unwrap()
                .push((permission.clone(), call.input));
            if let Some(failure) = &*self.failure.lock().unwrap() {
                return Err(failure.clone());
            }
            let input = self.asked.lock().unwrap().last().unwrap().1.clone();
            let of_agent = self.agent.as_ref();
            if let Some(answer) = of_agent.and_then(|agent| agent.answer(&permission, &input)) {
                return answer;
            }
            let mut answers = self.answers.lock().unwrap();
            match answers.get_mut(&permission) {
                Some(answers) if answers.len() > 1 => answers.remove(0),
                Some(answers) => answers[0].clone(),
                None => unscripted(&permission),
            }
        })
    }

    fn send<'a>(&'a self, _: &'a Target, request: SignedHttp) -> AwsFuture<'a, SignedAnswer> {
        Box::pin(async move {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let asked = format!("{} {}", request.method, request.url);
            self.asked.lock().unwrap().push((asked, body));
            let (status, body) = self
                .http
                .lock()
                .unwrap()
                .clone()
                .unwrap_or((404, Value::Null));
            Ok(SignedAnswer {
                status,
                headers: Vec::new(),
                body: body.to_string().into_bytes(),
            })
        })
    }
}
