//! The architecture: data model, API and security of one analysis.

use crate::access::Decider;
use crate::agree::agreed;
use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::Analysis;
use crate::model::architecture::{ApiDesign, Architecture, Security};
use crate::model::{Preset, Requirements, Trace};
use crate::{actor, auth, data, endpoints, policies, rights, scope, stack};

/// What a caller may say about the product besides its spec. It is mentioned in the documents and
/// never makes a requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesignOptions {
    /// The industry.
    pub industry: Option<String>,
    /// For whom.
    pub target_audience: Option<String>,
    /// `startup`, `scaleup` or `enterprise`.
    pub budget_tier: Option<String>,
}

/// What seeing roles takes: everyone their own, and nobody writes them.
fn role_grants(trace: &[Trace]) -> Grants {
    Grants(vec![Grant {
        command: Command::Select,
        anonymous: false,
        condition: Condition::Subject,
        who: "Users".to_owned(),
        what: "their own roles".to_owned(),
        rule: "users see which roles they have, and nobody gives a role to themselves",
        trace: trace.to_vec(),
    }])
}

/// Works out the architecture. Requirements that the analysis does not have are left to the UX.
pub fn architecture(
    analysis: &Analysis,
    requirements: &Requirements,
    preset: Preset,
) -> Architecture {
    let analysis = &agreed(analysis, requirements);
    let tenants = scope::tenants(analysis);
    let mut model = data::data_model(analysis, &tenants);
    let grants = Decider::new(analysis, &model, &tenants).decide();

    let mut used: Vec<String> = Vec::new();
    for grant in grants.iter().flat_map(|grants| &grants.0) {
        grant.condition.roles(&mut used);
    }
    let endpoints = endpoints::endpoints(analysis, &model);
    for endpoint in &endpoints {
        let role = &endpoint.auth;
        if !matches!(role.as_str(), "public" | "authenticated") && !used.contains(role) {
            used.push(role.clone());
        }
    }
    let mut roles: Vec<String> = actor::roles(analysis)
        .into_iter()
        .map(str::to_owned)
        .collect();
    for role in &used {
        if !roles.contains(role) {
            roles.push(role.clone());
        }
    }

    let mut security = Security {
        auth_strategy: auth::strategy(analysis),
        ..Security::default()
    };
    for (entity, grants) in model.entities.iter().zip(&grants) {
        security.policies.extend(policies::policies(entity, grants));
        security
            .rights
            .extend(rights::rights(analysis, entity, grants));
        security
            .rls_policies
            .extend(policies::sentences(entity, grants));
    }
    if !used.is_empty() {
        used.sort_by_key(|role| roles.iter().position(|known| known == role));
        let table = data::role_table(analysis, &used);
        let grants = role_grants(&table.trace);
        security
            .policies
            .extend(policies::policies(&table, &grants));
        security
            .rights
            .extend(rights::of_roles(analysis, &table, &grants));
        security
            .rls_policies
            .extend(policies::sentences(&table, &grants));
        security.functions.push(policies::role_function(&table));
        model.entities.push(table);
    }
    security
        .functions
        .extend(tenants.iter().map(policies::member_function));
    security.roles = roles;
    Architecture {
        stack: stack::stack(analysis, preset),
        api_design: ApiDesign { endpoints },
        data_model: model,
        security,
    }
}
