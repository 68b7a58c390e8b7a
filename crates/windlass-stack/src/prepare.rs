//! From a project to what is deployed: packaged, compiled, checked against the account.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_stack_compile::{Compiled, Facts, Output, compile};
use windlass_stack_config::Text;
use windlass_stack_lifecycle::Proposal;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_types::{Problem, code};

use crate::desk::{Desk, blocking};
use crate::fault;
use crate::known;
use crate::lookup::{self, Missing};
use crate::package::{self, Packages};
use crate::place::Place;
use crate::project::Project;
use crate::scripts;

/// The account in names when nobody may be asked for the real one.
const UNKNOWN_ACCOUNT: &str = "000000000000";

/// A function that is called after a deploy or before a delete.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CalledFunction {
    pub resource: String,
    pub function: String,
    pub before_delete: bool,
}

/// A bucket whose files are sent after a deploy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilledBucket {
    pub resource: String,
    pub logical_id: String,
    pub bucket: String,
    pub invalidates: Option<String>,
}

/// Everything a deployment works from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prepared {
    pub project: String,
    pub stage: String,
    pub region: String,
    pub account: Option<String>,
    /// The config that was used, as users would name it.
    pub config_file: String,
    pub proposal: Proposal,
    pub packages: Packages,
    /// Output of the template → the name users gave it.
    pub output_names: BTreeMap<String, String>,
    /// Secrets and parameters that are not there.
    pub missing_secrets: Vec<String>,
    pub missing_parameters: Vec<String>,
    pub warnings: Vec<String>,
    /// As the config wants it; without, it stays as it is.
    pub termination_protection: Option<bool>,
    pub disable_auto_rollback: bool,
    pub versions_to_keep: usize,
    /// The file about the stack that is written after a deploy.
    pub stack_info: Option<PathBuf>,
    /// The directory of the config, which that file is below.
    #[serde(default)]
    pub config_directory: PathBuf,
    pub buckets: Vec<FilledBucket>,
    pub functions: Vec<CalledFunction>,
    /// What the config used that is no part of a version.
    pub not_restored: Vec<String>,
}

/// Whether AWS is asked about what the template needs. A change packages workloads; an answer does
/// so where the call asks for it (`withPackage`), and has placeholders otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// It is, for a change; without credentials that fails.
    Aws,
    /// It is, for an answer; without credentials that fails.
    ToAnswer,
    /// It is where credentials are at hand.
    IfPossible,
}

/// Prepares.
pub(crate) async fn prepare(
    desk: &Desk,
    place: &Place,
    arguments: &serde_json::Map<String, Value>,
    command: &str,
    ask: Ask,
) -> Result<Prepared, Problem> {
    let access = desk.access(place.target());
    let project = Arc::new(Project::load(desk, place, arguments, command).await?);
    let account = match access.cloud.caller(&access.target).await {
        Ok(caller) => Some(caller.account),
        Err(_) if ask == Ask::IfPossible => None,
        Err(failure) => return Err(fault::problem(failure.into())),
    };
    let shown = account
        .clone()
        .unwrap_or_else(|| UNKNOWN_ACCOUNT.to_owned());
    if command == "deploy" {
        scripts::require_trust(desk, &project)?;
    }
    let is_packaged = ask == Ask::Aws || arguments.get("withPackage") == Some(&Value::Bool(true));
    let packages = {
        let (desk, project, account) = (desk.clone(), Arc::clone(&project), shown.clone());
        blocking(move || match is_packaged {
            true => package::package(&desk, &project, &account),
            false => package::placeholders(&desk, &project, &account),
        })
        .await?
    };
    let mut facts = Facts {
        account_id: account.clone(),
        artifacts: packages.artifacts(&shown, &project.region),
        ..Facts::new(&project.name, &project.stage, &project.region)
    };
    let vpc = project.config.stack_config.vpc.as_ref();
    let reused = vpc.and_then(|vpc| vpc.reuse_vpc.as_ref());
    if let Some(reused) = reused.filter(|_| account.is_some()) {
        facts.network = Some(lookup::network(&access, reused).await?);
    }
    let mut compiled = compiled(&project, &facts)?;
    let mut missing = Missing::default();
    if account.is_some() {
        let (lacking, is_news) = lookup::needs(&access, &compiled, &mut facts).await?;
        missing = lacking;
        if is_news {
            compiled = self::compiled(&project, &facts)?;
        }
    }
    let template = {
        let (desk, project, target) = (desk.clone(), Arc::clone(&project), place.target());
        let template = compiled.template.clone();
        blocking(move || project.transformed(&desk, template, &target)).await?
    };
    compiled.template = template;
    let mut prepared = finish(place, &project, &compiled, packages, account, missing)?;
    require_untold(&prepared.proposal)?;
    if let Some(account) = &prepared.account {
        let store = AssetStore::new(account, &prepared.region);
        let known = known::names(&access, &store, &prepared.proposal.stack_name).await;
        for (id, name) in known {
            prepared.proposal.names.entry(id).or_insert(name);
        }
    }
    Ok(prepared)
}

fn compiled(project: &Project, facts: &Facts) -> Result<Compiled, Problem> {
    compile(&project.config, facts).map_err(|refusals| refusals.to_problem())
}

fn finish(
    place: &Place,
    project: &Project,
    compiled: &Compiled,
    packages: Packages,
    account: Option<String>,
    missing: Missing,
) -> Result<Prepared, Problem> {
    let settings = &project.config.deployment_config;
    let mut warnings = project.warnings.clone();
    warnings.extend(
        compiled
            .warnings
            .iter()
            .map(|remark| remark.message.clone()),
    );
    if account.is_none() {
        warnings.push(
            "there are no AWS credentials, so the account is unknown: names of buckets and of the \
             asset store will differ, and secrets were not looked up"
                .to_owned(),
        );
    }
    let names = compiled
        .resources
        .iter()
        .filter_map(|(id, resource)| Some((id.clone(), resource.resource.clone()?)))
        .collect();
    let literals = |texts: &[Text]| -> Vec<String> {
        texts
            .iter()
            .filter_map(|text| text.literal().map(str::to_owned))
            .collect()
    };
    let shown = project
        .file
        .strip_prefix(&place.directory)
        .unwrap_or(&project.file);
    Ok(Prepared {
        config_file: shown.display().to_string(),
        proposal: Proposal {
            stack_name: project.stack_name(),
            template: compiled.template.clone(),
            tags: compiled.tags.clone(),
            capabilities: compiled
                .capabilities
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
            artifacts: packages.digests(),
            names,
            role_arn: settings
                .cloudformation_role_arn
                .as_ref()
                .and_then(|text| text.literal().map(str::to_owned)),
            notification_arns: literals(&settings.publish_events_to_arn),
            rollback_alarm_arns: literals(&settings.trigger_rollback_on_alarms),
            monitoring_minutes: settings.monitoring_time_after_deployment_in_minutes,
            ..Proposal::default()
        },
        packages,
        output_names: output_names(compiled),
        missing_secrets: missing.secrets,
        missing_parameters: missing.parameters,
        warnings,
        termination_protection: Some(settings.termination_protection),
        disable_auto_rollback: settings.disable_auto_rollback,
        versions_to_keep: settings.previous_versions_to_keep as usize,
        stack_info: stack_info(project),
        config_directory: project.config_directory.clone(),
        buckets: compiled
            .synced_buckets
            .iter()
            .map(|bucket| FilledBucket {
                resource: bucket.resource.clone(),
                logical_id: bucket.logical_id.clone(),
                bucket: bucket.bucket.clone(),
                invalidates: bucket.invalidates.clone(),
            })
            .collect(),
        functions: compiled
            .scripts
            .iter()
            .map(|script| CalledFunction {
                resource: script.resource.clone(),
                function: script.function.clone(),
                before_delete: script.before_delete,
            })
            .collect(),
        not_restored: not_restored(project),
        account,
        project: project.name.clone(),
        stage: project.stage.clone(),
        region: project.region.clone(),
    })
}

/// A template is shown and kept, so what nobody may see must not be in it.
fn require_untold(proposal: &Proposal) -> Result<(), Problem> {
    let told = proposal.told_parameters();
    let Some(first) = told.first() else {
        return Ok(());
    };
    let message = format!(
        "the template has the value of the NoEcho parameter {} in plain sight, as its Default",
        told.join(", ")
    );
    Err(Problem::new(&code::INVALID_INPUT, message)
        .with("reason", "config_invalid")
        .with("path", json!(["Parameters", first, "Default"]))
        .next("windlass stack secret create NAME --value-file FILE")
        .next(format!(
            "let the Default of {first} be '{{{{resolve:secretsmanager:NAME}}}}'"
        )))
}

/// The names users know outputs by.
fn output_names(compiled: &Compiled) -> BTreeMap<String, String> {
    let named = compiled.outputs.iter().map(|(key, output)| {
        let name = match output {
            Output::Own { name } => name.clone(),
            Output::Param { .. } | Output::Attribute { .. } | Output::SecretVersion { .. } => {
                key.clone()
            }
        };
        (key.clone(), name)
    });
    named.collect()
}

/// Where the file about the stack goes, unless the config wants none or a place outside.
fn stack_info(project: &Project) -> Option<PathBuf> {
    let settings = &project.config.stack_config;
    let folder = Path::new(&settings.stack_info_directory);
    let is_inside = folder
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let file = format!("{}.json", project.stack_name());
    (!settings.disable_stack_info_saving && is_inside)
        .then(|| project.config_directory.join(folder).join(file))
}

/// Parts of the config that a version does not hold.
fn not_restored(project: &Project) -> Vec<String> {
    let mut parts = Vec::new();
    if project.has_transforms {
        parts.push("transforms of the config".to_owned());
    }
    if !project.config.directives.is_empty() {
        parts.push("custom directives".to_owned());
    }
    if !project.config.hooks.after_deploy.is_empty() {
        parts.push("after-deploy hooks".to_owned());
    }
    parts
}

impl Prepared {
    /// The stack.
    pub fn stack_name(&self) -> &str {
        &self.proposal.stack_name
    }

    /// Refuses to deploy what would fail for want of a secret.
    pub fn require_secrets(&self) -> Result<(), Problem> {
        let lacking: Vec<&String> = self
            .missing_secrets
            .iter()
            .chain(&self.missing_parameters)
            .collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let mut problem = Problem::new(
            &code::INVALID_INPUT,
            format!(
                "{} needs {}, which {} not exist in {}",
                self.stack_name(),
                lacking
                    .iter()
                    .map(|it| it.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
                if lacking.len() == 1 { "does" } else { "do" },
                self.region
            ),
        )
        .with("reason", "missing_secret")
        .with("missingSecrets", json!(self.missing_secrets))
        .with("missingParameters", json!(self.missing_parameters));
        for name in &self.missing_secrets {
            problem = problem.next(format!(
                "windlass stack secret create {name} --region {} --value-file FILE",
                self.region
            ));
        }
        for name in &self.missing_parameters {
            problem = problem.next(format!("create the SSM parameter {name}"));
        }
        Err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_tells_a_hidden_value_is_refused_without_it() {
        let proposal = Proposal {
            template: json!({ "Parameters": {
                "Key": { "Type": "String", "NoEcho": true, "Default": "canary-value" },
            } }),
            ..Proposal::default()
        };
        let refused = require_untold(&proposal).unwrap_err();
        let said = serde_json::to_string(&refused).unwrap();
        assert!(
            said.contains("Key") && !said.contains("canary-value"),
            "{said}"
        );
        assert!(require_untold(&Proposal::default()).is_ok());
    }
}
