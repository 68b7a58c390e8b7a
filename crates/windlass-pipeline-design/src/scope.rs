//! Tenants: entities whose members share what belongs to them, and what is shared.

use crate::model::analysis::{Access, Analysis};
use crate::model::{Trace, naming};
use crate::traces;

/// An entity that has members: a team, a workspace, an organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    /// The entity.
    pub(crate) name: String,
    /// The entity that says who is a member.
    pub(crate) member: String,
    /// What its members share; everything when empty.
    pub(crate) shared: Vec<String>,
    /// Where that is stated.
    pub(crate) trace: Vec<Trace>,
}

impl Tenant {
    /// `team_id`.
    pub(crate) fn column(&self) -> String {
        format!("{}_id", naming::snake(&self.name))
    }

    /// `is_team_member`.
    pub(crate) fn function(&self) -> String {
        format!("is_{}_member", naming::snake(&self.name))
    }
}

/// The entity that keeps the members of a tenant: a stated one or `<Tenant>Member`.
fn member_entity(analysis: &Analysis, tenant: &str) -> String {
    let candidates = [
        format!("{tenant}Member"),
        format!("{tenant}Membership"),
        "Member".to_owned(),
        "Membership".to_owned(),
    ];
    let is_tenant = |name: &str| {
        analysis.access.iter().any(
            |rule| matches!(&rule.rule, Access::Members(tenant) if naming::pascal(tenant) == name),
        )
    };
    let stated = candidates.iter().find(|name| {
        analysis.entities.iter().any(|entity| entity.name == **name) && !is_tenant(name)
    });
    stated.cloned().unwrap_or_else(|| format!("{tenant}Member"))
}

/// All tenants, in the order they are stated.
pub(crate) fn tenants(analysis: &Analysis) -> Vec<Tenant> {
    let mut tenants: Vec<Tenant> = Vec::new();
    let mut everything: Vec<String> = Vec::new();
    for rule in &analysis.access {
        let Access::Members(name) = &rule.rule else {
            continue;
        };
        let name = naming::pascal(name);
        if name.is_empty() {
            continue;
        }
        if rule.entity.is_none() {
            everything.push(name.clone());
        }
        let at = tenants
            .iter()
            .position(|tenant| tenant.name == name)
            .unwrap_or_else(|| {
                tenants.push(Tenant {
                    member: member_entity(analysis, &name),
                    name,
                    shared: Vec::new(),
                    trace: Vec::new(),
                });
                tenants.len() - 1
            });
        let tenant = &mut tenants[at];
        traces::extend(&mut tenant.trace, traces::of_spans(&rule.spans));
        if let Some(entity) = &rule.entity
            && *entity != tenant.name
            && !tenant.shared.contains(entity)
        {
            tenant.shared.push(entity.clone());
        }
    }
    for tenant in &mut tenants {
        if everything.contains(&tenant.name) {
            tenant.shared.clear();
        } else if tenant.shared.is_empty() {
            // Only the tenant itself is said to be shared.
            tenant.shared.push(tenant.name.clone());
        }
    }
    tenants
}

/// The tenant whose members share an entity.
pub(crate) fn tenant_of<'a>(tenants: &'a [Tenant], entity: &str) -> Option<&'a Tenant> {
    let special = tenants
        .iter()
        .any(|tenant| tenant.name == entity || tenant.member == entity);
    if special {
        return None;
    }
    tenants
        .iter()
        .find(|tenant| tenant.shared.iter().any(|shared| shared == entity))
        .or_else(|| tenants.iter().find(|tenant| tenant.shared.is_empty()))
}

/// Whether an entity says who is a member of a tenant.
pub(crate) fn is_member_table(tenants: &[Tenant], entity: &str) -> bool {
    tenants.iter().any(|tenant| tenant.member == entity)
}
