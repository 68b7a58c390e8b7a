//! What follows a change that went well: protection, files, functions, hooks, the version.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_ports::aws::TerminationProtection;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::plan::Plan;
use windlass_stack_lifecycle::script::Moment;
use windlass_stack_lifecycle::versions::{self, Version, VersionRecord};
use windlass_stack_lifecycle::{Access, policy, prune};
use windlass_types::ArtifactRef;

use super::{Job, deploy, report};
use crate::desk::Desk;
use crate::fault;
use crate::invoke;
use crate::package;
use crate::prepare::Prepared;
use crate::project::Project;
use crate::sync::{self, Filled};

/// A change that went well, and what it takes to finish.
pub(super) struct Aftermath<'a> {
    pub desk: &'a Desk,
    pub job: &'a Job,
    pub prepared: &'a Prepared,
    pub artifact: &'a ArtifactRef,
    pub store: &'a AssetStore,
    pub stack_id: &'a str,
    pub plan: &'a Plan,
    /// Whether CloudFormation changed anything.
    pub changed: bool,
    /// The version that was brought back, where that is what happened.
    pub restored: Option<&'a VersionRecord>,
}

/// What the answer tells of it.
pub(super) struct Finished {
    pub outputs: BTreeMap<String, Value>,
    pub version: Option<String>,
    pub hook_failures: Vec<Value>,
    pub buckets: Vec<Filled>,
}

impl Aftermath<'_> {
    /// Finishes.
    pub async fn finish(&self, context: &dyn RunContext) -> Result<Finished, RunError> {
        if self.changed {
            self.protect(context).await?;
        }
        report::progress(context, "post-deploy", "Finishing", None).await?;
        let outputs = self.outputs(context).await?;
        let mut hook_failures = Vec::new();
        let buckets = self.fill_buckets(context, &mut hook_failures).await?;
        if self.changed && self.restored.is_none() {
            self.call_functions(context).await?;
        }
        if self.restored.is_none() {
            let ran = deploy::hooks(context, self.desk, self.job, Moment::AfterDeploy, "deploy");
            hook_failures.extend(ran.await?.failures);
        }
        for failure in &hook_failures {
            let message = failure["message"].as_str().unwrap_or("a hook failed");
            report::warn(
                context,
                failure["scriptName"].as_str().unwrap_or("hook"),
                message,
            )
            .await?;
        }
        let is_news = self.changed || buckets.iter().any(Filled::is_news);
        let version = match is_news {
            true => Some(self.write_version(context, &buckets).await?),
            false => None,
        };
        if let Some(file) = self.prepared.stack_info.clone().filter(|_| is_news) {
            self.write_info(context, file, &outputs, version).await?;
        }
        Ok(Finished {
            outputs,
            version: version.map(|version| version.to_string()),
            hook_failures,
            buckets,
        })
    }

    fn access(&self) -> Access {
        self.desk.access(self.job.place.target())
    }

    async fn protect(&self, context: &dyn RunContext) -> Result<(), RunError> {
        let access = self.access();
        let databases = policy::databases(&self.prepared.proposal.template);
        let protection = self
            .prepared
            .termination_protection
            .map(|wanted| match wanted {
                true => TerminationProtection::On,
                false => TerminationProtection::Off,
            });
        let _: bool = Step::effect("protect", self.prepared.stack_name())
            .undo(|_: bool| async { Ok(()) })
            .run(context, async |_| {
                policy::protect(&access, self.stack_id, &databases)
                    .await
                    .map_err(fault::problem)?;
                if let Some(protection) = protection {
                    // Asked first: not every emulator has the call, and few stacks need it.
                    let stack = access
                        .cloud
                        .describe_stack(&access.target, self.stack_id)
                        .await
                        .map_err(|failure| fault::problem(failure.into()))?;
                    let present = stack.is_some_and(|stack| stack.enable_termination_protection);
                    if present == (protection == TerminationProtection::On) {
                        return Ok(true);
                    }
                    access
                        .cloud
                        .set_termination_protection(&access.target, self.stack_id, protection)
                        .await
                        .map_err(|failure| fault::problem(failure.into()))?;
                }
                Ok(true)
            })
            .await?;
        Ok(())
    }

    /// The stack's outputs, under the template's names and the users' own.
    async fn outputs(&self, context: &dyn RunContext) -> Result<BTreeMap<String, Value>, RunError> {
        let (access, names) = (self.access(), &self.prepared.output_names);
        Step::pure("outputs")
            .run(context, async |_| {
                let described = access.cloud.describe_stack(&access.target, self.stack_id);
                let stack = described.await;
                let stack = stack.map_err(|failure| fault::problem(failure.into()))?;
                let mut outputs = BTreeMap::new();
                for output in stack.into_iter().flat_map(|stack| stack.outputs) {
                    let value = Value::from(output.output_value);
                    if let Some(name) = names.get(&output.output_key) {
                        outputs.insert(name.clone(), value.clone());
                    }
                    outputs.insert(output.output_key, value);
                }
                Ok(outputs)
            })
            .await
    }

    async fn fill_buckets(
        &self,
        context: &dyn RunContext,
        hook_failures: &mut Vec<Value>,
    ) -> Result<Vec<Filled>, RunError> {
        if self.prepared.buckets.is_empty() {
            return Ok(Vec::new());
        }
        let with_hooks = self.restored.is_none();
        if with_hooks {
            let moment = Moment::BeforeBucketSync;
            deploy::hooks(context, self.desk, self.job, moment, "deploy").await?;
        }
        report::progress(context, "post-deploy", "Sending files to buckets", None).await?;
        let (desk, job, store) = (self.desk, self.job, self.store);
        let run_id = context.run_id().as_str();
        let filled: Vec<Filled> = Step::effect("fill-buckets", self.prepared.stack_name())
            .undo(|filled: Vec<Filled>| async move { sync::take_back(&filled) })
            .run(context, async |_| {
                let prepared: Prepared = desk.load(self.artifact).await?;
                match self.restored {
                    Some(record) => {
                        sync::restore(desk, job, &prepared, store, record, run_id).await
                    }
                    None => sync::fill(desk, job, &prepared, store, run_id).await,
                }
            })
            .await?;
        if with_hooks {
            let moment = Moment::AfterBucketSync;
            let ran = deploy::hooks(context, self.desk, self.job, moment, "deploy").await?;
            hook_failures.extend(ran.failures);
        }
        Ok(filled)
    }

    /// Deployment scripts that run after a deploy.
    async fn call_functions(&self, context: &dyn RunContext) -> Result<(), RunError> {
        for called in self
            .prepared
            .functions
            .iter()
            .filter(|it| !it.before_delete)
        {
            let message = format!("Running {}", called.resource);
            report::progress(context, "post-deploy", &message, None).await?;
            let (desk, job) = (self.desk, self.job);
            let _: Value = Step::effect(format!("call-{}", called.resource), &called.function)
                .run(context, async |_| {
                    let project = Project::load(desk, &job.place, &job.arguments, "deploy").await?;
                    invoke::call(desk, job, &project, &called.resource, &called.function).await
                })
                .await?;
        }
        Ok(())
    }

    /// The file about the stack. One that cannot be written is told and fails nothing.
    async fn write_info(
        &self,
        context: &dyn RunContext,
        file: PathBuf,
        outputs: &BTreeMap<String, Value>,
        version: Option<Version>,
    ) -> Result<(), RunError> {
        let info = json!({
            "stackName": self.prepared.stack_name(),
            "stackId": self.stack_id,
            "region": self.prepared.region,
            "version": version.map(|version| version.to_string()),
            "outputs": outputs,
            "runId": context.run_id(),
        });
        let text = format!("{info:#}\n");
        let failed: Option<String> = Step::effect("stack-info", file.display().to_string())
            .undo(|_: Option<String>| async { Ok(()) })
            .run(context, async |_| {
                let base = &self.prepared.config_directory;
                let written = windlass_files::write_from(
                    base,
                    &file,
                    text.as_bytes(),
                    windlass_files::Access::Usual,
                );
                Ok(written.err().map(|error| error.to_string()))
            })
            .await?;
        match failed {
            Some(error) => report::warn(context, "stack-info", &error).await,
            None => Ok(()),
        }
    }

    async fn write_version(
        &self,
        context: &dyn RunContext,
        buckets: &[Filled],
    ) -> Result<Version, RunError> {
        let record = VersionRecord {
            // Writing it gives it its number.
            version: Version(1),
            template: self.prepared.proposal.template.clone(),
            parameters: self.prepared.proposal.shown_parameters(),
            tags: self.prepared.proposal.tags.clone(),
            capabilities: self.prepared.proposal.capabilities.clone(),
            artifacts: {
                let mut artifacts = match self.restored {
                    Some(record) => record.artifacts.clone(),
                    None => package::version_artifacts(&self.prepared.packages),
                };
                artifacts.extend(sync::artifacts(buckets));
                artifacts
            },
            names: self.prepared.proposal.names.clone(),
            output_names: self.prepared.output_names.clone(),
            bucket_sync: sync::manifests(buckets),
            plan_digest: self.plan.digest(),
            run_id: context.run_id().to_string(),
            created_at: context.created_at(),
            not_restored: self.prepared.not_restored.clone(),
        };
        let kept = self.desk.keep("version.json", &record).await?;
        let (access, store) = (self.access(), self.store);
        let stack = self.prepared.stack_name();
        let keep = self.prepared.versions_to_keep.saturating_add(1);
        let written: Written = Step::effect("version", self.prepared.stack_name())
            .undo(|_: Written| async { Ok(()) })
            .run(context, async |_| {
                let record: VersionRecord = self.desk.load(&kept).await?;
                let version = versions::write(&access, store, stack, record)
                    .await
                    .map_err(fault::problem)?;
                // Pruning is housekeeping: its failure is told, not the deployment's.
                let pruned = prune::prune(&access, store, stack, keep, &[version]).await;
                Ok(Written {
                    version,
                    not_pruned: pruned.err().map(|fault| fault.message),
                })
            })
            .await?;
        if let Some(message) = &written.not_pruned {
            let message = format!("old versions were not removed: {message}");
            report::warn(context, "assets", &message).await?;
        }
        Ok(written.version)
    }
}

/// A version that was written.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    version: Version,
    not_pruned: Option<String>,
}
