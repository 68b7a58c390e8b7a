//! Functions of a stack that an operation calls: deployment scripts.

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, Body, Place, SignedCall, services};
use windlass_stack_compile::compile;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::{Data, Runtime, Text};
use windlass_stack_lifecycle::script::{Audience, Values};
use windlass_types::{Problem, code};

use crate::desk::Desk;
use crate::fault;
use crate::project::Project;
use crate::run::Job;
use crate::scripts::facts;

const INVOKE: ActionShape = ActionShape::rest(
    &services::LAMBDA,
    "Invoke",
    "POST",
    "/2015-03-31/functions/{FunctionName}/invocations",
    &[("Payload", Place::Payload)],
)
.with_result_headers(&[("X-Amz-Function-Error", "FunctionError")], Body::Text);

/// Calls a deployment script's function and waits for its answer.
pub(crate) async fn call(
    desk: &Desk,
    job: &Job,
    project: &Project,
    resource: &str,
    function: &str,
) -> Result<Value, Problem> {
    let access = desk.access(job.place.target());
    let payload = parameters(desk, job, project, resource).await?;
    let input = json!({ "FunctionName": function, "Payload": payload });
    let answer = access
        .cloud
        .call(&access.target, SignedCall::new(INVOKE, input))
        .await
        .map_err(|failure| fault::problem(failure.into()))?;
    if let Some(error) = answer.get("FunctionError").and_then(Value::as_str) {
        let said = answer["Body"].as_str().unwrap_or_default();
        let said: String = said.chars().take(2_000).collect();
        return Err(Problem::new(
            &code::DEPLOY_FAILED,
            format!("the deployment script {resource} failed ({error})"),
        )
        .with("phase", "post-deploy")
        .with("reason", "script_failed")
        .with("resourceName", resource)
        .with("answer", desk.engine.redactor.redact(&said).into_owned())
        .next(format!("windlass stack logs {resource}")));
    }
    Ok(json!({ "resourceName": resource, "function": function }))
}

/// Calls the deployment scripts that run before a delete.
pub(crate) async fn before_delete(
    desk: &Desk,
    job: &Job,
    project: &Project,
) -> Result<Vec<Value>, Problem> {
    let has_any = project
        .config
        .resources
        .values()
        .any(|resource| matches!(resource.kind, ResourceKind::DeploymentScript(_)));
    if !has_any {
        return Ok(Vec::new());
    }
    let compiled = compile(&project.config, &facts(project)).map_err(|it| it.to_problem())?;
    let mut called = Vec::new();
    for script in compiled
        .scripts
        .iter()
        .filter(|script| script.before_delete)
    {
        called.push(call(desk, job, project, &script.resource, &script.function).await?);
    }
    Ok(called)
}

/// What a script receives, with values of the deployed stack filled in.
async fn parameters(
    desk: &Desk,
    job: &Job,
    project: &Project,
    resource: &str,
) -> Result<Value, Problem> {
    let kind = project.config.resources.get(resource).map(|it| &it.kind);
    let Some(ResourceKind::DeploymentScript(script)) = kind else {
        return Ok(json!({}));
    };
    let Some(parameters) = &script.parameters else {
        return Ok(json!({}));
    };
    let data = Data::Map(parameters.clone());
    let mut open: Vec<Runtime> = Vec::new();
    data.to_json(&mut |runtime| {
        open.push(runtime.clone());
        Ok::<_, Problem>(Value::Null)
    })?;
    let access = desk.access(job.place.target());
    let redactor = &desk.engine.redactor;
    let facts = facts(project);
    let mut values = Values::new(
        &access,
        redactor,
        &project.config,
        &facts,
        Audience::Program,
    );
    let mut resolved = Vec::new();
    for runtime in open {
        let what = format!("parameters of {resource}");
        let text = Text::Runtime(Box::new(runtime));
        resolved.push(values.text(&what, &text).await?);
    }
    let mut resolved = resolved.into_iter();
    data.to_json(&mut |_| {
        let next = resolved.next();
        let text = next.map(|value| value.text.expose_secret().clone());
        Ok::<_, Problem>(Value::from(text.unwrap_or_default()))
    })
}
