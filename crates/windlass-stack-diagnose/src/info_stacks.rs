//! The stacks of a region, no matter who created them.

use serde_json::{Value, json};
use windlass_ports::aws::Stack;
use windlass_types::Problem;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::aws_problem;

/// Who made a stack, and for what.
pub(crate) struct Origin {
    pub(crate) managed_by: &'static str,
    pub(crate) project: Option<String>,
    pub(crate) stage: Option<String>,
}

/// Reads a stack's tags and description.
pub(crate) fn origin(stack: &Stack) -> Origin {
    let description = stack.description.as_deref().unwrap_or_default();
    if let Some(project) = tag(stack, "windlass:project") {
        return Origin {
            managed_by: "windlass",
            project: Some(project.to_owned()),
            stage: tag(stack, "windlass:stage").map(str::to_owned),
        };
    }
    if let Some(rest) = description.strip_prefix("windlass-stack ") {
        let (project, stage) = rest.rsplit_once(' ').unwrap_or((rest, ""));
        return Origin {
            managed_by: "windlass",
            project: Some(project.to_owned()),
            stage: Some(stage.to_owned()).filter(|stage| !stage.is_empty()),
        };
    }
    if description.starts_with("STP-stack_")
        || stack.tags.iter().any(|tag| tag.key.starts_with("stp:"))
    {
        return Origin {
            managed_by: "stacktape",
            project: tag(stack, "stp:project-name").map(str::to_owned),
            stage: tag(stack, "stp:stage").map(str::to_owned),
        };
    }
    Origin {
        managed_by: "other",
        project: None,
        stage: None,
    }
}

/// A tag's value.
pub(crate) fn tag<'a>(stack: &'a Stack, key: &str) -> Option<&'a str> {
    stack
        .tags
        .iter()
        .find(|tag| tag.key == key)
        .map(|tag| tag.value.as_str())
}

/// How many stacks one answer shows.
const MOST: usize = 500;

pub(crate) async fn answer(call: &mut Call<'_>) -> Result<Answer, Problem> {
    let region = call.place().await?;
    let project = call.arguments.text("projectName")?;
    let stage = call.arguments.text("stage")?;
    let name = call.arguments.text("stackName")?;
    let stacks = call.outside.cloud.describe_stacks(&call.target).await;
    let mut stacks = stacks.map_err(|failure| aws_problem(&failure))?;
    stacks.sort_by(|one, other| one.stack_name.cmp(&other.stack_name));
    let wanted: Vec<Value> = stacks
        .iter()
        .filter(|stack| name.is_none_or(|name| stack.stack_name == name))
        .map(|stack| (stack, origin(stack)))
        .filter(|(stack, origin)| matches(stack, origin, project, stage))
        .map(|(stack, origin)| shown(stack, &origin))
        .collect();
    let total = wanted.len();
    let shown: Vec<Value> = wanted.into_iter().take(MOST).collect();
    Ok(Answer::new(
        format!("{} in {region}", counted(total, "stack")),
        json!({ "region": region, "stacks": shown, "count": total, "truncated": total > MOST }),
    ))
}

/// A foreign stack says nothing of its project and stage but what its name says.
fn matches(stack: &Stack, origin: &Origin, project: Option<&str>, stage: Option<&str>) -> bool {
    let fits = |wanted: Option<&str>, known: &Option<String>, by_name: &dyn Fn(&str) -> bool| {
        wanted.is_none_or(|wanted| match known {
            Some(known) => known == wanted,
            None => by_name(wanted),
        })
    };
    let name = &stack.stack_name;
    fits(project, &origin.project, &|wanted| {
        name.starts_with(&format!("{wanted}-"))
    }) && fits(stage, &origin.stage, &|wanted| {
        name.ends_with(&format!("-{wanted}"))
    })
}

fn shown(stack: &Stack, origin: &Origin) -> Value {
    json!({
        "stackName": stack.stack_name,
        "stackId": stack.stack_id,
        "projectName": origin.project,
        "stage": origin.stage,
        "stackStatus": stack.stack_status,
        "stackStatusReason": stack.stack_status_reason,
        "creationTime": stack.creation_time,
        "lastUpdateTime": stack.last_updated_time,
        "managedBy": origin.managed_by,
    })
}

/// `1 stack`, `2 stacks`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}
