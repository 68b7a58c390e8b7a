//! Buckets in memory that remember what was done to them, in order.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;
use windlass_ports::aws::*;
use windlass_types::Digest;

#[derive(Default)]
pub struct Memory {
    pub buckets: Mutex<BTreeMap<String, BTreeMap<String, Stored>>>,
    /// `put bucket key`, `delete bucket key`, `head bucket key`.
    pub log: Mutex<Vec<String>>,
    /// How many more puts succeed.
    pub puts_left: Mutex<Option<usize>>,
    pub stack: Option<Stack>,
    pub resources: Vec<StackResource>,
    pub answers: BTreeMap<String, Value>,
}

#[derive(Clone, Debug)]
pub struct Stored {
    pub bytes: Vec<u8>,
    pub request: PutObject,
}

impl Stored {
    fn e_tag(&self) -> Option<String> {
        Some(format!("\"{}\"", Digest::of(&self.bytes).short()))
    }

    fn head(&self) -> ObjectHead {
        ObjectHead {
            content_length: self.bytes.len() as u64,
            e_tag: self.e_tag(),
            content_type: self.request.content_type.clone(),
            cache_control: self.request.cache_control.clone(),
            metadata: self.request.metadata.clone(),
            ..ObjectHead::default()
        }
    }
}

impl Memory {
    pub fn done(&self, verb: &str) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let of = log.iter().filter_map(|line| line.strip_prefix(verb));
        of.map(|line| line.trim().to_owned()).collect()
    }

    pub fn keys(&self, bucket: &str) -> Vec<String> {
        let buckets = self.buckets.lock().unwrap();
        buckets
            .get(bucket)
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    }

    pub fn object(&self, bucket: &str, key: &str) -> Stored {
        self.buckets.lock().unwrap()[bucket][key].clone()
    }

    pub fn text(&self, bucket: &str, key: &str) -> String {
        String::from_utf8(self.object(bucket, key).bytes).unwrap()
    }

    pub fn forget(&self, bucket: &str, key: &str) {
        let mut buckets = self.buckets.lock().unwrap();
        buckets.get_mut(bucket).unwrap().remove(key);
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    fn find(&self, bucket: &str, key: &str) -> Option<Stored> {
        self.buckets.lock().unwrap().get(bucket)?.get(key).cloned()
    }
}

macro_rules! never {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, _: &'a Target, $($argument: $kind),*) -> AwsFuture<'a, $answer> {
            $(let _ = $argument;)*
            Box::pin(async { panic!(concat!(stringify!($name), " is not expected")) })
        })*
    };
}

impl ObjectStore for Memory {
    fn head_object<'a>(
        &'a self,
        _: &'a Target,
        bucket: &'a str,
        key: &'a str,
    ) -> AwsFuture<'a, Option<ObjectHead>> {
        self.note(format!("head {bucket} {key}"));
        let head = self.find(bucket, key).map(|stored| stored.head());
        Box::pin(async move { Ok(head) })
    }

    fn put_object<'a>(&'a self, _: &'a Target, request: PutObject) -> AwsFuture<'a, String> {
        Box::pin(async move {
            if let Some(left) = &mut *self.puts_left.lock().unwrap() {
                if *left == 0 {
                    return Err(AwsFailure::local(
                        AwsFailureKind::Unreachable,
                        "s3:PutObject",
                        "the line is cut",
                    ));
                }
                *left -= 1;
            }
            let bytes = match &request.body {
                ObjectBody::Bytes(bytes) => bytes.clone(),
                ObjectBody::File(path) => fs_err::read(path).unwrap(),
            };
            self.note(format!("put {} {}", request.bucket, request.key));
            let (bucket, key) = (request.bucket.clone(), request.key.clone());
            let stored = Stored { bytes, request };
            let e_tag = stored.e_tag().unwrap();
            let mut buckets = self.buckets.lock().unwrap();
            buckets.entry(bucket).or_default().insert(key, stored);
            Ok(e_tag)
        })
    }

    fn get_object<'a>(
        &'a self,
        _: &'a Target,
        bucket: &'a str,
        key: &'a str,
        max_bytes: u64,
    ) -> AwsFuture<'a, ObjectContent> {
        Box::pin(async move {
            let stored = self.find(bucket, key).unwrap();
            assert!(stored.bytes.len() as u64 <= max_bytes);
            Ok(ObjectContent {
                head: stored.head(),
                bytes: stored.bytes,
            })
        })
    }

    fn delete_objects<'a>(
        &'a self,
        _: &'a Target,
        bucket: &'a str,
        objects: Vec<ObjectId>,
    ) -> AwsFuture<'a, DeletedObjects> {
        Box::pin(async move {
            for object in &objects {
                self.note(format!("delete {bucket} {}", object.key));
                self.forget(bucket, &object.key);
            }
            Ok(DeletedObjects {
                deleted: objects.len() as u64,
                kept: Vec::new(),
            })
        })
    }

    fn list_objects<'a>(
        &'a self,
        _: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectEntry>> {
        let buckets = self.buckets.lock().unwrap();
        let objects = buckets.get(&request.bucket).into_iter().flatten();
        let entries = objects
            .filter(|(key, _)| key.starts_with(&request.prefix))
            .map(|(key, stored)| ObjectEntry {
                key: key.clone(),
                size: stored.bytes.len() as u64,
                e_tag: stored.e_tag(),
                last_modified: None,
            })
            .collect();
        Box::pin(async move { Ok(entries) })
    }

    never! {
        bucket_state(bucket: &'a str) -> BucketState;
        create_bucket(request: CreateBucket) -> ();
        delete_bucket(bucket: &'a str) -> ();
        list_versions(request: ListObjects) -> Vec<ObjectVersion>;
        empty_bucket(bucket: &'a str, prefix: &'a str) -> DeletedObjects;
    }
}

impl CloudFormation for Memory {
    fn describe_stack<'a>(&'a self, _: &'a Target, name: &'a str) -> AwsFuture<'a, Option<Stack>> {
        Box::pin(async move { Ok(self.stack.clone().filter(|stack| stack.stack_name == name)) })
    }

    fn stack_resources<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
    ) -> AwsFuture<'a, Vec<StackResource>> {
        Box::pin(async move { Ok(self.resources.clone()) })
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
        get_template(stack: &'a str, stage: TemplateStage) -> String;
        validate_template(template: TemplateSource) -> TemplateCheck;
        set_stack_policy(stack: &'a str, policy: &'a str) -> ();
        get_stack_policy(stack: &'a str) -> Option<String>;
        set_termination_protection(stack: &'a str, protection: TerminationProtection) -> ();
        detect_drift(stack: &'a str) -> String;
        drift_detection(detection_id: &'a str) -> DriftDetection;
        resource_drifts(stack: &'a str) -> Vec<ResourceDrift>;
        list_exports() -> Vec<Export>;
    }
}

impl Identity for Memory {
    never! {
        region() -> Option<String>;
        caller() -> Caller;
        credentials() -> SessionCredentials;
        assume_role(request: AssumeRole) -> SessionCredentials;
    }
}

impl AwsCalls for Memory {
    fn call<'a>(&'a self, _: &'a Target, call: SignedCall) -> AwsFuture<'a, Value> {
        let permission = call.shape.permission();
        self.note(format!("call {permission}"));
        let answer = self.answers.get(&permission).cloned();
        Box::pin(async move {
            answer.ok_or_else(|| AwsFailure::answered(&permission, "NotFound", "not there", 404))
        })
    }

    never! { send(request: SignedHttp) -> SignedAnswer; }
}
