//! Which commands write, under which id, and who must say yes when.
//!
//! With `--json` a writing command without `--yes` is refused before anything is read. Of some
//! commands only the operation knows whether there is anything to write (`late`). At a terminal
//! people are asked where target directories are written (`asks`); what changes the repository
//! alone is done as typed.

use serde_json::{Value, json};
use windlass_engine::contract::Contract;
use windlass_types::Problem;

use super::{
    PackArgs, PackCommand, Program, Wire, evolve::EvolveCommand, overlay::OverlayCommand,
    policy::PolicyCommand, snapshots::SnapshotsCommand, wire,
};
use crate::{
    flow::{Consent, can_ask},
    output::Printer,
};

/// The ids of every writing command: those of 0.9.1 in its order, then newer ones.
pub(super) const MUTATING: [&str; 23] = [
    "init",
    "import --apply",
    "add",
    "remove",
    "lock",
    "fetch",
    "update",
    "deploy --apply",
    "rollback",
    "bootstrap",
    "doctor --fix",
    "overlay edit",
    "overlay rebase",
    "remote set",
    "sync",
    "record",
    "evolve propose",
    "evolve restore",
    "policy lock",
    "snapshots prune",
    "undo",
    "uninstall",
    "watch --apply",
];

/// What a command is to programs, and how it comes by its yes.
struct Facts {
    /// The operation, without the toolset.
    operation: &'static str,
    /// The part of its input that makes it another command.
    input: Value,
    mutation: Option<Mutation>,
}

/// How a writing command comes by its yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mutation {
    id: &'static str,
    asks: bool,
    late: bool,
}

impl Facts {
    const fn read(operation: &'static str) -> Self {
        Self {
            operation,
            input: Value::Null,
            mutation: None,
        }
    }

    /// Changes the repository alone.
    const fn direct(operation: &'static str, id: &'static str) -> Self {
        Self::writing(operation, id, false, false)
    }

    /// Asks people first.
    const fn asked(operation: &'static str, id: &'static str) -> Self {
        Self::writing(operation, id, true, false)
    }

    /// Asks people first, and only the operation knows whether there is anything to write.
    const fn late(operation: &'static str, id: &'static str) -> Self {
        Self::writing(operation, id, true, true)
    }

    const fn writing(operation: &'static str, id: &'static str, asks: bool, late: bool) -> Self {
        Self {
            operation,
            input: Value::Null,
            mutation: Some(Mutation { id, asks, late }),
        }
    }

    fn with(self, input: Value) -> Self {
        Self { input, ..self }
    }
}

impl PackArgs {
    /// Refuses an unconfirmed write when there is nobody to ask.
    pub(super) fn refuse_without_yes(&self, printer: &Printer) -> Result<(), Problem> {
        let Some(mutation) = self.facts().mutation else {
            return Ok(());
        };
        if self.options.yes || self.options.dry_run || mutation.late {
            return Ok(());
        }
        if !printer.is_human() || mutation.asks && !can_ask(printer) {
            return Err(wire::not_confirmed(mutation.id, Consent::CannotAsk));
        }
        Ok(())
    }

    /// How the outcome is written for programs.
    pub(super) fn wire(&self, program: Program, contract: &'static dyn Contract) -> Wire {
        let facts = self.facts();
        Wire {
            operation: format!("pack.{}", facts.operation),
            input: facts.input,
            program: program.group_command().to_owned(),
            contract,
            options: self.options.clone(),
        }
    }

    fn facts(&self) -> Facts {
        use PackCommand as C;
        match &self.command {
            C::Init(_) => Facts::direct("init", "init"),
            C::Import(args) if args.apply => {
                Facts::asked("import", "import --apply").with(json!({ "apply": true }))
            }
            C::Import(_) => Facts::read("import").with(json!({ "apply": false })),
            C::Add(_) => Facts::direct("add", "add"),
            C::Remove(_) => Facts::direct("remove", "remove"),
            C::Lock(_) => Facts::direct("lock", "lock"),
            C::Fetch(_) => Facts::direct("fetch", "fetch"),
            C::Update(_) => Facts::late("update", "update"),
            C::Plan(_) => Facts::read("plan"),
            C::Diff(_) => Facts::read("diff"),
            C::Preview(_) => Facts::read("preview"),
            C::Deploy(args) if args.apply => Facts::asked("apply", "deploy --apply"),
            C::Deploy(_) => Facts::read("deploy"),
            C::Status(_) => Facts::read("status"),
            C::Watch(args) if args.apply => Facts::asked("watch", "watch --apply"),
            C::Watch(_) => Facts::read("watch"),
            C::Rollback(_) => Facts::asked("rollback", "rollback"),
            C::Undo(_) => Facts::asked("undo", "undo"),
            C::Uninstall(_) => Facts::asked("uninstall", "uninstall"),
            C::Snapshots(SnapshotsCommand::List(_)) => Facts::read("snapshots.list"),
            C::Snapshots(SnapshotsCommand::Show(_)) => Facts::read("snapshots.show"),
            C::Snapshots(SnapshotsCommand::Prune(_)) => {
                Facts::asked("snapshots.prune", "snapshots prune")
            }
            C::Doctor(args) if args.fix => Facts::direct("doctor_fix", "doctor --fix"),
            C::Doctor(_) => Facts::read("doctor"),
            C::Explain(command) => Facts::read("explain").with(json!({ "kind": command.kind() })),
            C::Evolve(EvolveCommand::Propose(_)) => Facts::late("evolve.propose", "evolve propose"),
            C::Evolve(EvolveCommand::Restore(_)) => Facts::late("evolve.restore", "evolve restore"),
            C::Overlay(OverlayCommand::Edit(_)) => Facts::direct("overlay.edit", "overlay edit"),
            C::Overlay(OverlayCommand::Rebase(_)) => {
                Facts::direct("overlay.rebase", "overlay rebase")
            }
            C::Overlay(OverlayCommand::Path(_)) => Facts::read("overlay.path"),
            C::Bootstrap(_) => Facts::late("bootstrap", "bootstrap"),
            C::Remote(_) => Facts::direct("remote.set", "remote set"),
            C::Sync(_) => Facts::direct("sync", "sync"),
            C::Record(_) => Facts::direct("record", "record"),
            C::Score(_) => Facts::read("score"),
            C::Policy(PolicyCommand::Lint(_)) => Facts::read("policy.lint"),
            C::Policy(PolicyCommand::Audit(_)) => Facts::read("policy.audit"),
            C::Policy(PolicyCommand::Lock(_)) => Facts::direct("policy.lock", "policy lock"),
            C::Mcp(_) => Facts::read("mcp.serve"),
            C::Tui(_) => Facts::read("tui"),
            C::Help(_) => Facts::read("help"),
            C::Schema(_) => Facts::read("schema"),
            C::Completions(_) => Facts::read("completions"),
        }
    }
}
