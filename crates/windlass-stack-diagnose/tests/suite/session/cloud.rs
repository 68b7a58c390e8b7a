//! A cloud that has nothing but a bastion.

use serde_json::Value;
use windlass_ports::aws::*;
use windlass_testkit::agent::SessionAgent;

pub struct BastionCloud(pub SessionAgent);

macro_rules! never {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, _: &'a Target, $($argument: $kind),*) -> AwsFuture<'a, $answer> {
            $(let _ = $argument;)*
            Box::pin(async { panic!(concat!(stringify!($name), " is not expected")) })
        })*
    };
}

impl CloudFormation for BastionCloud {
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
        describe_stack(stack: &'a str) -> Option<Stack>;
        describe_stacks() -> Vec<Stack>;
        stack_resources(stack: &'a str) -> Vec<StackResource>;
        stack_events(request: StackEventsRequest) -> Vec<StackEvent>;
        get_template(stack: &'a str, stage: TemplateStage) -> String;
        list_exports() -> Vec<Export>;
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

impl ObjectStore for BastionCloud {
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

impl Identity for BastionCloud {
    never! {
        region() -> Option<String>;
        caller() -> Caller;
        credentials() -> SessionCredentials;
        assume_role(request: AssumeRole) -> SessionCredentials;
    }
}

impl AwsCalls for BastionCloud {
    fn call<'a>(&'a self, _: &'a Target, call: SignedCall) -> AwsFuture<'a, Value> {
        let answer = self.0.answer(&call.shape.permission(), &call.input);
        Box::pin(async move { answer.expect("a call of sessions") })
    }

    never! { send(request: SignedHttp) -> SignedAnswer; }
}
