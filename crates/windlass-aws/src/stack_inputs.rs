//! What CloudFormation's typed client takes, from the port's plain data.

use aws_sdk_cloudformation::types::{Parameter, RollbackConfiguration, RollbackTrigger, Tag};
use windlass_ports::aws::{ParameterInput, TemplateSource};

/// An empty list is left out: CloudFormation reads one as "take everything away".
pub(crate) fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

pub(crate) fn template_parts(template: TemplateSource) -> (Option<String>, Option<String>, bool) {
    match template {
        TemplateSource::Body(body) => (Some(body), None, false),
        TemplateSource::Url(url) => (None, Some(url), false),
        TemplateSource::Previous => (None, None, true),
    }
}

pub(crate) fn parameter((key, input): (String, ParameterInput)) -> Parameter {
    let parameter = Parameter::builder().parameter_key(key);
    match input {
        ParameterInput::Value(value) => parameter.parameter_value(value),
        ParameterInput::Previous => parameter.use_previous_value(true),
    }
    .build()
}

pub(crate) fn tag((key, value): (String, String)) -> Tag {
    Tag::builder().key(key).value(value).build()
}

pub(crate) fn rollback_configuration(alarms: Vec<String>, minutes: u32) -> RollbackConfiguration {
    let triggers = alarms
        .into_iter()
        .map(|arn| {
            RollbackTrigger::builder()
                .arn(arn)
                .r#type("AWS::CloudWatch::Alarm")
                .build()
        })
        .collect();
    RollbackConfiguration::builder()
        .set_rollback_triggers(Some(triggers))
        .monitoring_time_in_minutes(i32::try_from(minutes).unwrap_or(i32::MAX))
        .build()
}
