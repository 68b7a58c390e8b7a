//! AWS as traits: stacks, objects, who is calling, and every other service by generic calls.
//!
//! Plain data in and out, no SDK types; replies that a run records are serialised with the
//! names AWS gives them. Not here: how AWS is called (windlass-aws), which actions a caller
//! may use (`guard` of windlass-stack-diagnose) and what is done with the answers (windlass-stack).

mod calls;
mod failure;
mod identity;
mod objects;
pub mod services;
mod shape;
mod stack_requests;
mod stacks;

use futures::future::BoxFuture;

pub use calls::{AwsCalls, SignedAnswer, SignedCall, SignedHttp};
pub use failure::{AwsFailure, AwsFailureKind, UNEXPLAINED};
pub use identity::{AssumeRole, Caller, Identity, SessionCredentials};
pub use objects::{
    BucketState, CreateBucket, DeletedObjects, Encryption, KeptObject, ListObjects, ObjectBody,
    ObjectContent, ObjectEntry, ObjectHead, ObjectId, ObjectStore, ObjectVersion, PutObject,
    Versioning,
};
pub use shape::{ActionShape, Body, Place, Protocol, Reach, ServiceShape, Word};
pub use stack_requests::{
    ChangeSetAddress, ChangeSetKind, CreateChangeSet, DeleteStack, ExecuteChangeSet, FailureMode,
    ParameterInput, PropertyValues, StackCall, StackEventsRequest, TemplateSource, TemplateStage,
    TerminationProtection,
};
pub use stacks::{
    ChangeSet, ChangeSetSummary, ChangeTarget, CloudFormation, CreatedChangeSet, DriftDetection,
    Export, ResourceChange, ResourceChangeDetail, ResourceDrift, ResourceDriftDifference, Stack,
    StackEvent, StackOutput, StackParameter, StackResource, StackSummary, StackTag, TemplateCheck,
};

/// What every call returns.
pub type AwsFuture<'a, T> = BoxFuture<'a, Result<T, AwsFailure>>;

/// Which credentials and which region a call is made with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The region; absent: the one the environment and the profile give.
    pub region: Option<String>,
    /// The profile of the shared configuration files; absent: the standard chain.
    pub profile: Option<String>,
    /// A role to assume with those credentials. If it cannot be assumed the call fails; the
    /// caller's own, wider credentials are never used instead.
    pub role_arn: Option<String>,
}

impl Target {
    /// The standard chain in a region.
    pub fn in_region(region: impl Into<String>) -> Self {
        Self {
            region: Some(region.into()),
            ..Self::default()
        }
    }
}

/// Everything of AWS behind one handle.
pub trait Cloud: CloudFormation + ObjectStore + Identity + AwsCalls {}

impl<T: CloudFormation + ObjectStore + Identity + AwsCalls> Cloud for T {}
