//! The outside world, as traits: what the engine needs and adapters provide.
//!
//! Request and reply types are plain data. Nothing here does IO; nothing here knows
//! SQLite, HTTP libraries or AWS. Traits that must be `dyn` return boxed futures.

pub mod anchor;
pub mod aws;
pub mod blob;
pub mod bundler;
pub mod clock;
pub mod commit_service;
pub mod database;
pub mod entropy;
pub mod git;
pub mod language_model;
pub mod lease;
pub mod notices;
pub mod outbound;
pub mod sandbox;
pub mod sockets;
pub mod store;
pub mod tool_servers;
pub mod toolchain;
pub mod trust;

pub use anchor::{AnchorSink, AnchorState};
pub use blob::{BlobError, BlobStore};
pub use bundler::{Bundler, BundlerUnavailable, DecoratorTools};
pub use clock::Clock;
pub use commit_service::{CommitService, CommitServices, ServiceFault};
pub use entropy::Entropy;
pub use futures::{future::BoxFuture, stream::BoxStream};
pub use git::{Git, GitError};
pub use language_model::{
    Effort, FinishReason, LanguageModel, Listener, Media, Message, ModelAddress, ModelError,
    ModelReply, ModelRequest, OutputSchema, Part, Piece, Role, Thinking, ToolCall, ToolResult,
    ToolSpec, Usage, WireFormat,
};
pub use lease::{
    DriverRecord, DriverScope, Fence, Lease, LeaseName, LeaseRecord, LeaseUse, RegisteredDriver,
};
pub use notices::{NoticeReceiver, NoticeSource, ServedNotices};
pub use outbound::{Outbound, OutboundError, OutboundRequest, OutboundResponse, OutboundStream};
pub use sandbox::{
    Confinement, Sandbox, SandboxFeatures, SandboxRefusal, SandboxRequest, SandboxedCommand,
};
pub use sockets::{MessageSocket, MessageSockets, SocketFailure, SocketMessage};
pub use store::{
    ApiKeyRecord, AttemptRecord, Commit, CommitError, Committed, Counted, DeliveryFilter,
    DeliveryRecord, DeliveryState, Expect, FeedEntry, FeedPage, JournalWrite, Quota, RunFilter,
    RunPage, RunStanding, RunStore, StoreError, StoreMaintenance,
};
pub use tool_servers::{
    CallLimits, Consent, ProgressListener, QuestionAnswer, Questions, ServerCall, ServerError,
    ServerProgress, ServerPrompt, ServerQuestion, ServerReply, ServerResource, ServerState,
    ServerTokens, ServerTool, ServerView, ToolHints, ToolPins, ToolServers, ToolStanding,
};
pub use toolchain::{HugoBuild, HugoJob, LinkAnswer, LinkProbe, ToolError, Toolchain};
pub use trust::{Executables, Runs, Standing, Trust, TrustDecision, TrustNothing};
