//! Templates: given back, summed up, checked.

use super::{Context, target};
use crate::error::ApiError;
use crate::template::Template;
use crate::xml::Element;

pub fn get(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let stack = &context.stacks[index];
    let target = match context.params.get("ChangeSetName") {
        Some(name) => stack
            .change_sets
            .iter()
            .find(|change_set| change_set.name == name || change_set.id == name)
            .map(|change_set| &change_set.target)
            .ok_or_else(|| {
                ApiError::new(
                    "ChangeSetNotFound",
                    404,
                    format!("ChangeSet [{name}] does not exist"),
                )
            })?,
        None => stack.current.as_ref().ok_or_else(|| {
            ApiError::validation(format!("Stack [{}] has no template yet", stack.name))
        })?,
    };
    Ok(Element::new()
        .with("TemplateBody", &target.template.body)
        .list("StagesAvailable", ["Original", "Processed"]))
}

/// The template of the call, or of a stack that exists.
pub fn summary(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let has_template = context.params.has("TemplateBody") || context.params.has("TemplateURL");
    let template = if has_template {
        target::template(context.params, None, context.env)?
    } else {
        let index = context.stack()?;
        let current = context.stacks[index].current.as_ref();
        current
            .map(|target| target.template.clone())
            .ok_or_else(|| ApiError::validation("The stack has no template yet"))?
    };
    let mut kinds: Vec<&str> = template
        .resources
        .values()
        .map(|definition| definition.kind.as_str())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    Ok(described(&template)
        .list("ResourceTypes", kinds)
        .with("Version", "2010-09-09")
        .maybe(
            "Metadata",
            template.metadata.as_ref().map(ToString::to_string),
        ))
}

pub fn validate(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let template = target::template(context.params, None, context.env)?;
    Ok(described(&template))
}

fn described(template: &Template) -> Element {
    let (capabilities, kinds) = template.capabilities();
    let reason = (!kinds.is_empty()).then(|| {
        format!(
            "The following resource(s) require capabilities: [{}]",
            kinds.join(", ")
        )
    });
    let parameters = template.parameters.iter().map(|(name, rule)| {
        Element::new()
            .with("ParameterKey", name)
            .maybe("DefaultValue", rule.default.as_ref())
            .with("ParameterType", &rule.kind)
            .with("NoEcho", rule.no_echo)
            .maybe("Description", rule.description.as_ref())
    });
    Element::new()
        .list("Parameters", parameters)
        .maybe("Description", template.description.as_ref())
        .list("Capabilities", capabilities)
        .maybe("CapabilitiesReason", reason)
        .list("DeclaredTransforms", template.transforms.iter())
}
