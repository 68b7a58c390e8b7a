//! What a session takes from the deployed stack: parameters of remote resources, secrets, exports.
//!
//! Opened only for sessions that use deployed resources. Everything here reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_config::{Config, Runtime, Text, referenceable_params};
use windlass_stack_dev::{DevPlan, LocalParams};
use windlass_stack_diagnose::aws_problem;
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::script::{Audience, Resolved, Values};
use windlass_types::{Problem, Secret, code};

/// The deployed stack of a session.
pub(super) struct Deployed {
    access: Access,
    redactor: Redactor,
    config: Config,
    facts: Facts,
    /// Answers of this session: a rebuild asks for the same again.
    known: Mutex<BTreeMap<Runtime, Secret<String>>>,
}

/// Parameters of resources that are used as they are deployed.
#[derive(Clone, Debug, Default)]
pub(super) struct DeployedParams {
    pub params: LocalParams,
    /// Those of the values that no log may show.
    pub secrets: BTreeSet<String>,
}

impl Deployed {
    /// Finds the stack of a plan.
    pub async fn open(access: Access, redactor: Redactor, plan: &DevPlan) -> Result<Self, Problem> {
        let name = format!("{}-{}", plan.project_name, plan.stage);
        let found = access.cloud.describe_stack(&access.target, &name).await;
        if found.map_err(|failure| aws_problem(&failure))?.is_none() {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!(
                    "there is no stack {name} in {}, and the session uses resources of it",
                    plan.region
                ),
            )
            .with("kind", "stack")
            .next(format!("windlass stack deploy --stage {}", plan.stage))
            .next("or leave `remote` out and run everything here"));
        }
        Ok(Self {
            facts: Facts::new(&plan.project_name, &plan.stage, &plan.region),
            config: plan.config.clone(),
            access,
            redactor,
            known: Mutex::default(),
        })
    }

    /// Parameters of the resources that are used as they are deployed; those that the stack does
    /// not have are left out, as they are where it is deployed.
    pub async fn params(&self, plan: &DevPlan) -> Result<DeployedParams, Problem> {
        let mut values = self.values();
        let mut found = DeployedParams::default();
        for (name, resource) in &self.config.resources {
            if !plan.is_remote(name) {
                continue;
            }
            for param in referenceable_params(&resource.kind).into_iter().flatten() {
                let text = Text::from(Runtime::ResourceParam {
                    resource: name.clone(),
                    param: param.to_owned(),
                });
                let what = format!("{param} of {name}");
                let Resolved { text, is_secret } = match values.text(&what, &text).await {
                    Ok(resolved) => resolved,
                    Err(problem) if is_absent(&problem) => continue,
                    Err(problem) => return Err(problem),
                };
                if is_secret {
                    found.secrets.insert(text.expose_secret().clone());
                }
                let params = found.params.entry(name.clone()).or_default();
                params.insert(param.to_owned(), text.expose_secret().clone());
            }
        }
        Ok(found)
    }

    /// The value that a directive has where the stack is deployed.
    pub async fn value(&self, runtime: &Runtime) -> Result<String, Problem> {
        if let Some(value) = self.known().get(runtime) {
            return Ok(value.expose_secret().clone());
        }
        let text = Text::from(runtime.clone());
        let resolved = self.values().text(&shown(runtime), &text).await?;
        let value = resolved.text.expose_secret().clone();
        self.known().insert(runtime.clone(), resolved.text);
        Ok(value)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Runtime, Secret<String>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn values(&self) -> Values<'_> {
        Values::new(
            &self.access,
            &self.redactor,
            &self.config,
            &self.facts,
            Audience::Program,
        )
    }
}

/// Whether there is no such value, and not only nobody who may say it.
fn is_absent(problem: &Problem) -> bool {
    [&code::NOT_FOUND, &code::INVALID_INPUT].contains(&problem.code())
}

/// A directive as it is written.
pub(super) fn shown(runtime: &Runtime) -> String {
    let arguments = match runtime {
        Runtime::ResourceParam { resource, param } => format!("'{resource}', '{param}'"),
        Runtime::CfResourceParam {
            logical_id,
            attribute,
        } => format!("'{logical_id}', '{attribute}'"),
        Runtime::Secret { name, key: None } | Runtime::SsmParam { name, .. } => format!("'{name}'"),
        Runtime::Secret {
            name,
            key: Some(key),
        } => format!("'{name}.{key}'"),
        Runtime::CfStackOutput { stack, output } => format!("'{stack}', '{output}'"),
        Runtime::CfFormat { .. } => "…".to_owned(),
    };
    format!("${}({arguments})", runtime.directive())
}
