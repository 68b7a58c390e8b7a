//! The operations: names, effects, what they are for.

use serde_json::json;
use windlass_engine::operation::{Flow, OperationBuilder, operation};
use windlass_stack_diagnose::{Effect, Operation as Question};
use windlass_types::{EffectClass, Problem, code};

use super::arguments;
use crate::contract::StackContract;
use crate::desk::Desk;
use crate::dev::DevOperation;
use crate::run::Kind;
use crate::values::SecretArgument;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// One that is a run.
    Change(Kind),
    /// The template, without deploying it.
    Compile,
    /// Whether a config would be accepted.
    Validate,
    /// A first config.
    Init,
    /// A question to a deployed stack, or an operation on secrets.
    Ask(Question),
    /// Local development.
    Dev(DevOperation),
}

impl Verb {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let mut verbs: Vec<Self> = Kind::CHANGES.into_iter().map(Self::Change).collect();
        verbs.extend([Self::Compile, Self::Validate, Self::Init]);
        verbs.extend(Question::ALL.iter().copied().map(Self::Ask));
        verbs.extend(DevOperation::ALL.iter().copied().map(Self::Dev));
        verbs
    }

    /// The name behind `stack.`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Change(kind) => kind.operation(),
            Self::Compile => "compile_template",
            Self::Validate => "validate",
            Self::Init => "init",
            Self::Ask(question) => question.name(),
            Self::Dev(operation) => operation.name(),
        }
    }

    /// What it may do.
    pub const fn effect(self) -> EffectClass {
        match self {
            Self::Change(Kind::Preview) | Self::Compile | Self::Validate => EffectClass::Read,
            Self::Change(Kind::Delete) => EffectClass::Destructive,
            Self::Change(_) | Self::Init => EffectClass::Write,
            Self::Ask(question) => match question.effect() {
                Effect::Read => EffectClass::Read,
                Effect::Write => EffectClass::Write,
                Effect::Destructive => EffectClass::Destructive,
            },
            Self::Dev(DevOperation::Status | DevOperation::Logs) => EffectClass::Read,
            Self::Dev(_) => EffectClass::Write,
        }
    }

    const fn flow(self) -> Flow {
        match self {
            // A preview leaves nothing behind; its run is how it cleans up after a crash.
            Self::Change(Kind::Preview) => Flow::Query,
            Self::Change(_) => Flow::Apply,
            _ => match self.effect() {
                EffectClass::Read => Flow::Query,
                _ => Flow::Command,
            },
        }
    }

    /// Title and description.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Change(Kind::Preview) => (
                "What a deploy would change",
                "Packages and compiles the config, asks CloudFormation for the changes and forgets \
                 the change set again. Calls out losses of data, returns a confirmToken for deploy.",
            ),
            Self::Change(Kind::Deploy) => (
                "Deploy a stack",
                "Deploys the config as a durable run. With the confirmToken of a preview, exactly \
                 that plan or none; a plan that loses data needs confirm=true with its token.",
            ),
            Self::Change(Kind::Rollback) => (
                "Go back to an earlier version",
                "Rolls back a failed operation, continues a stopped rollback, or deploys an earlier version, depending on the state of the stack. listVersions shows them.",
            ),
            Self::Change(Kind::Delete) => (
                "Delete a stack",
                "Deletes a stack and what is in it. Needs confirm=true.",
            ),
            Self::Change(Kind::Script) => (
                "Run a script of the config",
                "Runs a script of the config on this machine, with the variables it asks for: those \
                 of the running development session of the stage, or of the deployed stack where \
                 none is running or deployed is true.",
            ),
            Self::Change(Kind::SecretCreate) => Self::Ask(Question::SecretCreate).words(),
            Self::Change(Kind::SecretDelete) => Self::Ask(Question::SecretDelete).words(),
            Self::Compile => (
                "The CloudFormation template",
                "Compiles the config to the template a deploy would use. Needs no credentials.",
            ),
            Self::Validate => (
                "Check a config",
                "Checks config, resources and template, and on request packaging and what \
                 CloudFormation says.",
            ),
            Self::Init => (
                "A first config",
                "Writes a stacktape.yml from what is found in the directory.",
            ),
            Self::Ask(question) => (question.purpose(), question.purpose()),
            Self::Dev(operation) => (operation.title(), operation.description()),
        }
    }

    /// The beginning of its definition.
    pub fn define(self) -> OperationBuilder {
        let (title, description) = self.words();
        let mut builder = operation("stack", self.name())
            .describe(title, description)
            .contract(&StackContract)
            .flow(self.flow(), self.effect())
            .not_a_tool()
            .confirmed_by_call()
            .judged_by_plan()
            .validates_itself()
            .input_schema(arguments::schema(self))
            .output::<serde_json::Map<String, serde_json::Value>>()
            .example(title, arguments::example(self));
        // `template` and `text` are content, delivered as it was made.
        for field in ["confirmToken", "template", "text", "changes"] {
            builder = builder.discloses(field);
        }
        if matches!(
            self,
            Self::Ask(Question::SecretCreate) | Self::Change(Kind::SecretCreate)
        ) {
            for field in SecretArgument::FIELDS {
                builder = builder.takes_secret(field);
            }
        }
        builder
    }

    /// Whether it changes anything.
    pub const fn changes(self) -> bool {
        !matches!(self.effect(), EffectClass::Read)
    }

    /// Refuses changes in a server that only reads.
    pub fn require_writable(self, desk: &Desk) -> Result<(), Problem> {
        if !desk.outside.read_only || !self.changes() {
            return Ok(());
        }
        Err(read_only(self.name()))
    }
}

/// The refusal of a server that only reads.
pub(super) fn read_only(what: &str) -> Problem {
    Problem::new(
        &code::READ_ONLY_VIOLATION,
        format!("{what} changes things, and this server only reads"),
    )
    .with("reason", "read_only_violation")
    .with("rule", json!("server.read_only"))
}
