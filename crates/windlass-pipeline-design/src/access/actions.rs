//! What the requirements need a user to be allowed.

use super::kind::{self, Dealings, Kind};
use super::rules::public;
use super::{Decider, commands, plural_of, says_everything, things};
use crate::actor::{self, Actor};
use crate::condition::Condition;
use crate::endpoints::is_manage;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::{Access, Statement, VerbKind};
use crate::model::architecture::EntityModel;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::words::with_article;

/// Which rows a role changes by an action.
enum Reach {
    /// Those it created itself: the owner's right, no other one.
    Own,
    /// Those that belong to a row it created.
    Of(String),
    /// All of them.
    All,
}

/// `published quizzes`: the rows whose listed value the object names.
fn named_rows(entity: &EntityModel, statement: &Statement) -> Condition {
    let words = statement
        .object
        .as_ref()
        .map(|object| naming::words(&object.text))
        .unwrap_or_default();
    let fields = entity
        .fields
        .iter()
        .filter(|field| !field.values.is_empty());
    let named = fields
        .flat_map(|field| field.values.iter().map(move |value| (field, value)))
        .find(|(_, value)| {
            let value = naming::words(value);
            !value.is_empty() && words.windows(value.len()).any(|part| part == value)
        });
    named.map_or(Condition::Everybody, |(field, value)| Condition::Value {
        column: field.name.clone(),
        value: value.clone(),
    })
}

impl Decider<'_> {
    /// Goes through the statements on an entity.
    pub(super) fn stated_actions(
        &mut self,
        entity: &EntityModel,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        let statements: Vec<&Statement> = self
            .statements(&entity.name)
            .filter(|statement| !statement.negated)
            .collect();
        for statement in statements {
            match actor::of_statement(self.analysis, statement) {
                Actor::Product => {}
                Actor::SignedIn => self.signed_in(entity, statement, tenant, grants),
                Actor::Anybody => self.anybody(&entity.name, statement, grants),
                Actor::Role(role) if actor::is_owner_word(role) => {
                    self.tenant_owner(&entity.name, role, statement, tenant, grants);
                }
                Actor::Role(role) if actor::is_member_word(role) && tenant.is_some() => {
                    let trace = vec![Trace::requirement(&statement.requirement)];
                    for command in with_reading(&commands(statement)) {
                        let grant = self.role(&entity.name, role, command, tenant, trace.clone());
                        grant.into_iter().for_each(|grant| grants.add(grant));
                    }
                }
                Actor::Role(role) => {
                    self.with_role(entity, role, statement, tenant, dealings, grants);
                }
            }
        }
        if let Some(statement) = dealings.visitors_statement() {
            grants.add(Grant {
                command: Command::Insert,
                anonymous: true,
                condition: Condition::Unowned,
                who: "Visitors who are not signed in".to_owned(),
                what: format!("{} without an owner", things(&entity.name)),
                rule: "",
                trace: vec![Trace::requirement(&statement.requirement)],
            });
        }
    }

    /// A plain user reaches rows of others only where the sentence says `any` or `all`.
    fn signed_in(
        &self,
        entity: &EntityModel,
        statement: &Statement,
        tenant: Option<&Tenant>,
        grants: &mut Grants,
    ) {
        let own = statement.object.as_ref().is_some_and(|object| object.own);
        if own || !says_everything(statement) {
            return;
        }
        for command in with_reading(&commands(statement)) {
            let rows = named_rows(entity, statement);
            grants.add(Grant {
                command,
                anonymous: false,
                condition: Self::within(tenant, rows),
                who: "Everyone who is signed in".to_owned(),
                what: format!("all {}", things(&entity.name)),
                rule: "",
                trace: vec![Trace::requirement(&statement.requirement)],
            });
        }
    }

    /// Who is not signed in reads what a sentence says they read, and changes nothing.
    fn anybody(&self, entity: &str, statement: &Statement, grants: &mut Grants) {
        let own = statement.object.as_ref().is_some_and(|object| object.own);
        let ruled = self.analysis.access.iter().any(|one| {
            one.rule == Access::PublicRead
                && one.entity.as_deref().is_none_or(|name| name == entity)
        });
        let reads = matches!(statement.kind, VerbKind::Read | VerbKind::List);
        if reads && !own && !ruled && !is_by_key(statement) {
            let trace = vec![Trace::requirement(&statement.requirement)];
            grants.add(public(entity, trace));
        }
    }

    /// `workspace owners`: the creator of the tenant.
    fn tenant_owner(
        &mut self,
        entity: &str,
        role: &str,
        statement: &Statement,
        tenant: Option<&Tenant>,
        grants: &mut Grants,
    ) {
        let Some(tenant) = tenant.filter(|_| !matches!(role, "author" | "creator")) else {
            return;
        };
        if !self.may_read(entity, &tenant.name) {
            return;
        }
        for command in with_reading(&commands(statement)) {
            grants.add(Grant {
                command,
                anonymous: false,
                condition: Condition::OwnerOf {
                    table: naming::table_name(&tenant.name),
                    column: tenant.column(),
                },
                who: format!(
                    "The owner of {}",
                    with_article(&naming::human(&tenant.name))
                ),
                what: format!("all {} of it", things(entity)),
                rule: "",
                trace: vec![Trace::requirement(&statement.requirement)],
            });
        }
    }

    /// Whether a role that looks at rows, or uses them, sees those of others.
    pub(super) fn reads_all(
        &self,
        dealings: &Dealings<'_>,
        role: &str,
        statement: &Statement,
    ) -> bool {
        if says_everything(statement) || is_manage(statement) {
            return true;
        }
        let alone = dealings.creates(role) && !kind::is_managing(role) && !dealings.is_team_work();
        let plural = statement
            .object
            .as_ref()
            .is_some_and(|object| object.plural);
        match statement.kind {
            VerbKind::Read | VerbKind::List => {
                let one_of_many =
                    kind::is_end_user(role) && !dealings.is_open_by_default() && !plural;
                !alone && !one_of_many && !is_by_key(statement)
            }
            VerbKind::Other if kind::is_use(&statement.verb) => {
                !dealings.creates(role) && dealings.kind() != Kind::Personal
            }
            _ => false,
        }
    }

    fn reach(
        &self,
        entity: &EntityModel,
        role: &str,
        statement: &Statement,
        dealings: &Dealings<'_>,
    ) -> Reach {
        let says_own = self.statements(&entity.name).any(|other| {
            other.actor.as_deref() == Some(role)
                && matches!(
                    other.kind,
                    VerbKind::Update | VerbKind::Delete | VerbKind::Other
                )
                && other.object.as_ref().is_some_and(|object| object.own)
        });
        if says_everything(statement) || is_manage(statement) {
            return Reach::All;
        }
        if says_own {
            return Reach::Own;
        }
        if kind::is_managing(role) {
            return Reach::All;
        }
        if dealings.creates(role) {
            return Reach::Own;
        }
        let parent = Self::keys(entity)
            .map(|(_, target)| target)
            .find(|target| Dealings::of(self.analysis, target).creates(role));
        match parent {
            Some(parent) => Reach::Of(parent.to_owned()),
            None if statement.kind == VerbKind::Delete || kind::is_end_user(role) => Reach::Own,
            None => Reach::All,
        }
    }

    fn with_role(
        &mut self,
        entity: &EntityModel,
        role: &str,
        statement: &Statement,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        let own = statement.object.as_ref().is_some_and(|object| object.own);
        if self.through_parent(entity, statement, role, tenant, grants) || own {
            return;
        }
        let name = entity.name.as_str();
        let needed = commands(statement);
        let writes = needed
            .iter()
            .any(|command| matches!(command, Command::Update | Command::Delete));
        let trace = || vec![Trace::requirement(&statement.requirement)];
        if writes {
            match self.reach(entity, role, statement, dealings) {
                Reach::Own => return,
                Reach::Of(parent) => {
                    for command in with_reading(&needed) {
                        let who = plural_of(role);
                        let grant =
                            self.parent_owner(entity, &parent, &who, command, tenant, trace());
                        grant.into_iter().for_each(|grant| grants.add(grant));
                    }
                    return;
                }
                Reach::All => {}
            }
        } else if !self.reads_all(dealings, role, statement) {
            return;
        }
        let rules = || {
            self.analysis
                .access
                .iter()
                .filter(|one| one.entity.as_deref() == Some(name))
        };
        let own_only = rules().any(|one| one.rule == Access::Owner && one.only_when.is_none());
        if own_only && !writes && !says_everything(statement) && dealings.creates(role) {
            return;
        }
        // What a stated rule says about the role's reading is not widened by an action.
        let ruled = rules().any(
            |one| matches!(&one.rule, Access::RoleRead(of) | Access::RoleAll(of) if of == role),
        );
        let rows = named_rows(entity, statement);
        let needed = if needed.is_empty() {
            vec![Command::Select]
        } else {
            with_reading(&needed)
        };
        for command in needed {
            if ruled && command == Command::Select {
                continue;
            }
            if let Some(mut grant) = self.role(name, role, command, tenant, trace()) {
                if command == Command::Select
                    && let Condition::Value { column, value } = &rows
                {
                    grant.what.push_str(&format!(
                        ", as far as their {} is {value}",
                        naming::human(column)
                    ));
                    grant.condition = Condition::all(vec![grant.condition, rows.clone()]);
                }
                grants.add(grant);
            }
        }
    }

    /// `teachers view the attempts on their quizzes`, `doctors see their own appointments`: rows are
    /// seen by the owner of the row they belong to.
    fn through_parent(
        &mut self,
        entity: &EntityModel,
        statement: &Statement,
        role: &str,
        tenant: Option<&Tenant>,
        grants: &mut Grants,
    ) -> bool {
        if !matches!(statement.kind, VerbKind::Read | VerbKind::List) {
            return false;
        }
        let possessive = naming::words(&statement.text)
            .iter()
            .any(|word| matches!(word.as_str(), "their" | "own" | "his" | "her" | "my"));
        if !possessive {
            return false;
        }
        let person = naming::pascal(role);
        let mut parents: Vec<String> = Self::keys(entity)
            .map(|(_, target)| target)
            .filter(|target| statement.indirect.as_deref() == Some(*target) || *target == person)
            .map(str::to_owned)
            .collect();
        parents.dedup();
        let mut found = self.analysis.access.iter().any(|one| {
            one.entity.as_deref() == Some(&entity.name)
                && matches!(one.rule, Access::ParentOwner(_))
        });
        for parent in parents {
            let trace = vec![Trace::requirement(&statement.requirement)];
            let who = plural_of(role);
            let grant = self.parent_owner(entity, &parent, &who, Command::Select, tenant, trace);
            if let Some(grant) = grant {
                found = true;
                grants.add(grant);
            }
        }
        found
    }
}

/// `track a delivery with its tracking code`: one row, by what only its reader has.
fn is_by_key(statement: &Statement) -> bool {
    let plural = statement
        .object
        .as_ref()
        .is_some_and(|object| object.plural);
    !plural
        && naming::words(&statement.text)
            .iter()
            .any(|word| matches!(word.as_str(), "code" | "link" | "pin" | "token"))
}

/// What cannot be done to a row that is not seen comes with seeing it. Making rows is decided for
/// all who make them at once.
fn with_reading(needed: &[Command]) -> Vec<Command> {
    let mut commands: Vec<Command> = needed
        .iter()
        .copied()
        .filter(|command| *command != Command::Insert)
        .collect();
    let writes = commands
        .iter()
        .any(|command| matches!(command, Command::Update | Command::Delete));
    if writes && !commands.contains(&Command::Select) {
        commands.insert(0, Command::Select);
    }
    commands
}
