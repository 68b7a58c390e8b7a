//! Which commands write, under which id, and who must say yes when.
//!
//! With `--json` a writing command without `--yes` is refused before anything is read. Of some
//! commands only the operation knows whether there is anything to write (`late`). At a terminal
//! people are asked where target directories are written (`asks`); what changes the repository
//! alone is done as typed.

use serde_json::{Value, json};
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

/// How a writing command comes by its yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mutation {
    id: &'static str,
    asks: bool,
    late: bool,
}

impl Mutation {
    const fn direct(id: &'static str) -> Option<Self> {
        Some(Self {
            id,
            asks: false,
            late: false,
        })
    }

    const fn asked(id: &'static str) -> Option<Self> {
        Some(Self {
            id,
            asks: true,
            late: false,
        })
    }

    const fn late(id: &'static str) -> Option<Self> {
        Some(Self {
            id,
            asks: true,
            late: true,
        })
    }
}

impl PackArgs {
    /// Refuses a write that nobody said yes to and of which nobody can be asked.
    pub(super) fn refuse_without_yes(&self, printer: &Printer) -> Result<(), Problem> {
        let Some(mutation) = self.mutation() else {
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

    fn mutation(&self) -> Option<Mutation> {
        use PackCommand as C;
        match &self.command {
            C::Init(_) => Mutation::direct("init"),
            C::Import(args) if args.apply => Mutation::asked("import --apply"),
            C::Add(_) => Mutation::direct("add"),
            C::Remove(_) => Mutation::direct("remove"),
            C::Lock(_) => Mutation::direct("lock"),
            C::Fetch(_) => Mutation::direct("fetch"),
            C::Update(_) => Mutation::late("update"),
            C::Deploy(args) if args.apply => Mutation::asked("deploy --apply"),
            C::Watch(args) if args.apply => Mutation::asked("watch --apply"),
            C::Rollback(_) => Mutation::asked("rollback"),
            C::Undo(_) => Mutation::asked("undo"),
            C::Uninstall(_) => Mutation::asked("uninstall"),
            C::Snapshots(SnapshotsCommand::Prune(_)) => Mutation::asked("snapshots prune"),
            C::Doctor(args) if args.fix => Mutation::direct("doctor --fix"),
            C::Evolve(EvolveCommand::Propose(_)) => Mutation::late("evolve propose"),
            C::Evolve(EvolveCommand::Restore(_)) => Mutation::late("evolve restore"),
            C::Overlay(OverlayCommand::Edit(_)) => Mutation::direct("overlay edit"),
            C::Overlay(OverlayCommand::Rebase(_)) => Mutation::direct("overlay rebase"),
            C::Bootstrap(_) => Mutation::late("bootstrap"),
            C::Remote(_) => Mutation::direct("remote set"),
            C::Sync(_) => Mutation::direct("sync"),
            C::Record(_) => Mutation::direct("record"),
            C::Policy(PolicyCommand::Lock(_)) => Mutation::direct("policy lock"),
            C::Import(_)
            | C::Plan(_)
            | C::Diff(_)
            | C::Preview(_)
            | C::Deploy(_)
            | C::Status(_)
            | C::Watch(_)
            | C::Snapshots(_)
            | C::Doctor(_)
            | C::Explain(_)
            | C::Overlay(_)
            | C::Score(_)
            | C::Policy(_)
            | C::Mcp(_)
            | C::Tui(_)
            | C::Help(_)
            | C::Schema(_)
            | C::Completions(_) => None,
        }
    }

    /// How the outcome is written for programs.
    pub(crate) fn wire(&self, program: Program) -> Wire {
        let (operation, input) = self.identity();
        Wire {
            operation: format!("pack.{operation}"),
            input,
            program: program.pack_command().to_owned(),
            options: self.options.clone(),
        }
    }

    fn identity(&self) -> (&'static str, Value) {
        use PackCommand as C;
        let name = match &self.command {
            C::Init(_) => "init",
            C::Import(args) => return ("import", json!({ "apply": args.apply })),
            C::Add(_) => "add",
            C::Remove(_) => "remove",
            C::Lock(_) => "lock",
            C::Fetch(_) => "fetch",
            C::Update(_) => "update",
            C::Plan(_) => "plan",
            C::Diff(_) => "diff",
            C::Preview(_) => "preview",
            C::Deploy(args) if args.apply => "apply",
            C::Deploy(_) => "deploy",
            C::Status(_) => "status",
            C::Watch(_) => "watch",
            C::Rollback(_) => "rollback",
            C::Undo(_) => "undo",
            C::Uninstall(_) => "uninstall",
            C::Snapshots(command) => command.operation(),
            C::Doctor(args) if args.fix => "doctor_fix",
            C::Doctor(_) => "doctor",
            C::Explain(command) => return ("explain", json!({ "kind": command.kind() })),
            C::Evolve(EvolveCommand::Propose(_)) => "evolve.propose",
            C::Evolve(EvolveCommand::Restore(_)) => "evolve.restore",
            C::Overlay(OverlayCommand::Edit(_)) => "overlay.edit",
            C::Overlay(OverlayCommand::Rebase(_)) => "overlay.rebase",
            C::Overlay(OverlayCommand::Path(_)) => "overlay.path",
            C::Bootstrap(_) => "bootstrap",
            C::Remote(_) => "remote.set",
            C::Sync(_) => "sync",
            C::Record(_) => "record",
            C::Score(_) => "score",
            C::Policy(PolicyCommand::Lint(_)) => "policy.lint",
            C::Policy(PolicyCommand::Audit(_)) => "policy.audit",
            C::Policy(PolicyCommand::Lock(_)) => "policy.lock",
            C::Mcp(_) => "mcp.serve",
            C::Tui(_) => "tui",
            C::Help(_) => "help",
            C::Schema(_) => "schema",
            C::Completions(_) => "completions",
        };
        (name, Value::Null)
    }
}
