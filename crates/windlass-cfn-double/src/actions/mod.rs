//! The actions of CloudFormation: parameters in, a result or a refusal out.
//!
//! Not here: HTTP, authentication and faults (`world`), and how stacks change (`stack`).

mod change_sets;
mod describe;
mod drift;
mod operate;
mod page;
mod target;
mod templates;

use crate::env::Env;
use crate::error::ApiError;
use crate::params::Params;
use crate::stack::Stack;
use crate::xml::Element;

pub const NAMESPACE: &str = "http://cloudformation.amazonaws.com/doc/2010-05-15/";
pub const VERSION: &str = "2010-05-15";

/// What an action works on.
pub struct Context<'a> {
    pub params: &'a Params,
    pub region: &'a str,
    pub stacks: &'a mut Vec<Stack>,
    pub env: &'a mut Env,
    pub page_size: usize,
}

/// Whether an action only reads, so that it may be answered from an older state.
pub fn is_read(action: &str) -> bool {
    ["Describe", "List", "Get", "Validate"]
        .iter()
        .any(|start| action.starts_with(start))
}

/// `None` for actions whose answer has no result element.
pub fn answer(action: &str, context: &mut Context<'_>) -> Result<Option<Element>, ApiError> {
    match action {
        "CreateChangeSet" => change_sets::create(context).map(Some),
        "DescribeChangeSet" => change_sets::describe(context).map(Some),
        "DeleteChangeSet" => change_sets::delete(context).map(Some),
        "ListChangeSets" => change_sets::list(context).map(Some),
        "ExecuteChangeSet" => change_sets::execute(context).map(Some),
        "CreateStack" => operate::create(context).map(Some),
        "UpdateStack" => operate::update(context).map(Some),
        "DeleteStack" => operate::delete(context).map(|()| None),
        "CancelUpdateStack" => operate::cancel(context).map(|()| None),
        "RollbackStack" => operate::rollback(context).map(Some),
        "ContinueUpdateRollback" => operate::continue_rollback(context).map(Some),
        "SetStackPolicy" => operate::set_policy(context).map(|()| None),
        "GetStackPolicy" => operate::get_policy(context).map(Some),
        "UpdateTerminationProtection" => operate::protect(context).map(Some),
        "DescribeStacks" => describe::stacks(context).map(Some),
        "ListStacks" => describe::list_stacks(context).map(Some),
        "DescribeStackEvents" => describe::events(context).map(Some),
        "DescribeStackResource" => describe::resource(context).map(Some),
        "DescribeStackResources" => describe::resources(context).map(Some),
        "ListStackResources" => describe::list_resources(context).map(Some),
        "ListExports" => describe::exports(context).map(Some),
        "ListImports" => describe::imports(context).map(Some),
        "GetTemplate" => templates::get(context).map(Some),
        "GetTemplateSummary" => templates::summary(context).map(Some),
        "ValidateTemplate" => templates::validate(context).map(Some),
        "DetectStackDrift" => drift::detect(context).map(Some),
        "DescribeStackDriftDetectionStatus" => drift::status(context).map(Some),
        "DescribeStackResourceDrifts" => drift::resources(context).map(Some),
        other => Err(ApiError::new(
            "InvalidAction",
            400,
            format!("Could not find operation {other} for version {VERSION}"),
        )),
    }
}

impl Context<'_> {
    /// A stack by name, or by ARN also when it is deleted.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.stacks.iter().position(|stack| {
            stack.region == self.region
                && (stack.id == name
                    || (stack.name == name
                        && stack.status != crate::stack::StackStatus::DeleteComplete))
        })
    }

    /// The stack that `StackName` names.
    pub fn stack(&self) -> Result<usize, ApiError> {
        let name = self.params.required("StackName")?;
        self.find(name)
            .ok_or_else(|| ApiError::validation(format!("Stack [{name}] does not exist")))
    }

    pub fn token(&self) -> Option<&str> {
        self.params.get("ClientRequestToken")
    }

    /// Whether this very call was made before; a token belongs to one action.
    pub fn is_repeated(&mut self, index: usize, action: &str) -> Result<bool, ApiError> {
        let Some(token) = self.token().map(str::to_owned) else {
            return Ok(false);
        };
        let tokens = &mut self.stacks[index].tokens;
        match tokens.get(&token) {
            Some(used) if used == action => Ok(true),
            Some(_) => Err(ApiError::new(
                "TokenAlreadyExistsException",
                400,
                format!("A client request token [{token}] was already used for another operation"),
            )),
            None => {
                tokens.insert(token, action.to_owned());
                Ok(false)
            }
        }
    }
}
