//! One call on its way: where it goes, which stack it is about.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use windlass_ports::aws::{ActionShape, AwsFailure, SignedCall, Stack, StackResource, Target};
use windlass_types::{Problem, Timestamp};

use crate::arguments::{Arguments, invalid, missing};
use crate::failure::{aws_problem, not_found};
use crate::outside::Outside;

/// How long a stage's name may be.
const STAGE_LENGTH: usize = 12;

/// A checked call.
pub(crate) struct Call<'a> {
    pub(crate) outside: &'a Outside,
    pub(crate) arguments: &'a Arguments,
    /// As whom, and where once [`Call::place`] has been asked.
    pub(crate) target: Target,
    /// By when it must have ended.
    pub(crate) deadline: Timestamp,
}

impl Call<'_> {
    /// The target with its region, from the argument or the environment.
    pub(crate) async fn place(&mut self) -> Result<String, Problem> {
        if let Some(region) = &self.target.region {
            return Ok(region.clone());
        }
        let region = self.outside.cloud.region(&self.target).await;
        let region = region
            .map_err(|failure| aws_problem(&failure))?
            .ok_or_else(|| missing("region"))?;
        self.target.region = Some(region.clone());
        Ok(region)
    }

    /// Calls an action of AWS.
    pub(crate) async fn aws(&self, shape: ActionShape, input: Value) -> Result<Value, AwsFailure> {
        let mut call = SignedCall::new(shape, input);
        call.timeout = Some(self.left().min(Duration::from_secs(30)));
        self.outside.cloud.call(&self.target, call).await
    }

    /// How much time is left; a little even when none is, so that AWS says why.
    pub(crate) fn left(&self) -> Duration {
        self.deadline
            .since(self.outside.clock.now())
            .max(Duration::from_secs(1))
    }

    /// The directory relative paths begin in.
    pub(crate) fn directory(&self) -> Result<PathBuf, Problem> {
        let base = &self.outside.settings.working_directory;
        Ok(match self.arguments.text("currentWorkingDirectory")? {
            Some(directory) => base.join(directory),
            None => base.clone(),
        })
    }

    /// The name of the stack: given, or of project and stage.
    pub(crate) fn stack_name(&self) -> Result<String, Problem> {
        if let Some(name) = self.arguments.text("stackName")? {
            return Ok(name.to_owned());
        }
        let stage = stage(self.arguments)?.ok_or_else(|| missing("stage"))?;
        let project = match self.arguments.text("projectName")? {
            Some(project) => project.to_owned(),
            None => {
                let config = self.arguments.text("configPath")?;
                let found = self
                    .outside
                    .projects
                    .project_name(config, &self.directory()?)?;
                found.ok_or_else(|| missing("projectName"))?
            }
        };
        Ok(format!("{project}-{stage}"))
    }

    /// The stack, which must exist.
    pub(crate) async fn stack(&mut self) -> Result<Stack, Problem> {
        let name = self.stack_name()?;
        let region = self.place().await?;
        let cloud = &self.outside.cloud;
        let found = cloud.describe_stack(&self.target, &name).await;
        if let Some(stack) = found.map_err(|failure| aws_problem(&failure))? {
            return Ok(stack);
        }
        // Names are a courtesy: without the permission there are none.
        let others = cloud
            .describe_stacks(&self.target)
            .await
            .unwrap_or_default();
        Err(not_found(
            "stack",
            &name,
            format!("there is no stack {name} in {region}"),
            others.iter().map(|stack| stack.stack_name.as_str()),
        ))
    }

    /// The resources of a stack.
    pub(crate) async fn resources(&self, stack: &Stack) -> Result<Vec<StackResource>, Problem> {
        self.outside
            .cloud
            .stack_resources(&self.target, &stack.stack_name)
            .await
            .map_err(|failure| aws_problem(&failure))
    }
}

/// The stage, of a length that names can bear.
pub(crate) fn stage(arguments: &Arguments) -> Result<Option<&str>, Problem> {
    match arguments.text("stage")? {
        Some(stage) if stage.chars().count() > STAGE_LENGTH => Err(invalid(
            "stage",
            format!("stage is {stage:?}; it has at most {STAGE_LENGTH} characters"),
        )),
        stage => Ok(stage),
    }
}

/// What names a stack must be there before anything is asked; the project may be in a config.
pub(crate) fn check_stack(arguments: &Arguments) -> Result<(), Problem> {
    let stage = stage(arguments)?;
    let project = arguments.text("projectName")?;
    match (arguments.text("stackName")?, stage, project) {
        (None, None, _) => Err(missing("stage")),
        (Some(name), Some(stage), Some(project)) if name != format!("{project}-{stage}") => {
            Err(invalid(
                "stackName",
                format!("stackName is {name}, but projectName and stage say {project}-{stage}"),
            ))
        }
        _ => Ok(()),
    }
}
