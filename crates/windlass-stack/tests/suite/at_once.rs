//! AWS whose every call is over before anything else happens, so that virtual time stands still
//! in the meantime: the clock of the proofs does not see a network.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use serde_json::Value;
use tokio::runtime::Handle;
use windlass_aws::Aws;
use windlass_cfn_double::Control;
use windlass_ports::aws::*;

/// The adapter, its connections served by a runtime of their own.
pub struct AtOnce {
    pub aws: Arc<Aws>,
    pub network: Handle,
    /// Calls so far, and the one at which the credentials run out.
    pub calls: AtomicUsize,
    pub fuse: AtomicUsize,
    pub control: Control,
}

impl AtOnce {
    fn wait<'a, T: Send + 'a>(&'a self, call: AwsFuture<'a, T>) -> AwsFuture<'a, T> {
        Box::pin(async move {
            let before = self.calls.fetch_add(1, Ordering::SeqCst);
            if before == self.fuse.load(Ordering::SeqCst) {
                self.control.expire_credentials(true);
            }
            let _network = self.network.enter();
            parked(call)
        })
    }
}

/// Holds this thread until the answer is there; tokio's own way refuses to inside of a runtime.
fn parked<T>(mut call: AwsFuture<'_, T>) -> Result<T, AwsFailure> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match call.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => thread::park(),
        }
    }
}

macro_rules! at_once {
    ($port:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)* }) => {
        impl $port for AtOnce {
            $(fn $name<'a>(
                &'a self,
                target: &'a Target,
                $($argument: $type),*
            ) -> AwsFuture<'a, $answer> {
                self.wait(self.aws.$name(target, $($argument),*))
            })*
        }
    };
}

at_once!(CloudFormation {
    fn create_change_set(request: CreateChangeSet) -> CreatedChangeSet;
    fn describe_change_set(address: &'a ChangeSetAddress, values: PropertyValues) -> ChangeSet;
    fn delete_change_set(address: &'a ChangeSetAddress) -> ();
    fn list_change_sets(stack: &'a str) -> Vec<ChangeSetSummary>;
    fn execute_change_set(request: ExecuteChangeSet) -> ();
    fn delete_stack(request: DeleteStack) -> ();
    fn cancel_update(call: StackCall) -> ();
    fn rollback_stack(call: StackCall) -> ();
    fn continue_update_rollback(call: StackCall, resources_to_skip: Vec<String>) -> ();
    fn describe_stack(stack: &'a str) -> Option<Stack>;
    fn describe_stacks() -> Vec<Stack>;
    fn stack_events(request: StackEventsRequest) -> Vec<StackEvent>;
    fn stack_resources(stack: &'a str) -> Vec<StackResource>;
    fn list_stacks(statuses: &'a [&'a str]) -> Vec<StackSummary>;
    fn get_template(stack: &'a str, stage: TemplateStage) -> String;
    fn validate_template(template: TemplateSource) -> TemplateCheck;
    fn set_stack_policy(stack: &'a str, policy: &'a str) -> ();
    fn get_stack_policy(stack: &'a str) -> Option<String>;
    fn set_termination_protection(stack: &'a str, protection: TerminationProtection) -> ();
    fn detect_drift(stack: &'a str) -> String;
    fn drift_detection(detection_id: &'a str) -> DriftDetection;
    fn resource_drifts(stack: &'a str) -> Vec<ResourceDrift>;
    fn list_exports() -> Vec<Export>;
});

at_once!(ObjectStore {
    fn bucket_state(bucket: &'a str) -> BucketState;
    fn create_bucket(request: CreateBucket) -> ();
    fn delete_bucket(bucket: &'a str) -> ();
    fn head_object(bucket: &'a str, key: &'a str) -> Option<ObjectHead>;
    fn put_object(request: PutObject) -> String;
    fn get_object(bucket: &'a str, key: &'a str, max_bytes: u64) -> ObjectContent;
    fn delete_objects(bucket: &'a str, objects: Vec<ObjectId>) -> DeletedObjects;
    fn list_objects(request: ListObjects) -> Vec<ObjectEntry>;
    fn list_versions(request: ListObjects) -> Vec<ObjectVersion>;
    fn empty_bucket(bucket: &'a str, prefix: &'a str) -> DeletedObjects;
});

at_once!(Identity {
    fn region() -> Option<String>;
    fn caller() -> Caller;
    fn credentials() -> SessionCredentials;
    fn assume_role(request: AssumeRole) -> SessionCredentials;
});

at_once!(AwsCalls {
    fn call(call: SignedCall) -> Value;
    fn send(request: SignedHttp) -> SignedAnswer;
});
