//! Directives that are answered by the deployed stack, and the texts that hold them.

use super::resolve::Resolved;
use super::syntax::Directive;
use crate::tree::{Kind, Node};
use crate::value::{Runtime, Text};

/// The runtime value of a directive that has one.
pub(super) fn runtime(directive: &Directive, arguments: &[Node]) -> Resolved<Option<Runtime>> {
    let text = |position| text_argument(directive, arguments, position);
    Ok(Some(match directive.name.as_str() {
        "ResourceParam" => Runtime::ResourceParam {
            resource: text(0)?,
            param: text(1)?,
        },
        "CfResourceParam" => Runtime::CfResourceParam {
            logical_id: text(0)?,
            attribute: text(1)?,
        },
        "Secret" => {
            let written = text(0)?;
            match written.split_once('.') {
                Some((name, key)) => Runtime::Secret {
                    name: name.to_owned(),
                    key: Some(key.to_owned()),
                },
                None => Runtime::Secret {
                    name: written,
                    key: None,
                },
            }
        }
        "SsmParam" => Runtime::SsmParam {
            name: text(0)?,
            version: match arguments.get(1).map(|argument| &argument.kind) {
                None => None,
                Some(Kind::Number(number)) => Some(
                    number
                        .as_u64()
                        .and_then(|version| u32::try_from(version).ok())
                        .filter(|version| *version > 0)
                        .ok_or_else(|| {
                            "$SsmParam: a version is a whole number from 1".to_owned()
                        })?,
                ),
                Some(_) => return Err("$SsmParam: a version is a number".to_owned().into()),
            },
        },
        "CfStackOutput" => Runtime::CfStackOutput {
            stack: text(0)?,
            output: text(1)?,
        },
        _ => return Ok(None),
    }))
}

pub(super) fn text_argument(
    directive: &Directive,
    arguments: &[Node],
    position: usize,
) -> Resolved<String> {
    match arguments
        .get(position)
        .map(|argument| (argument, &argument.kind))
    {
        Some((_, Kind::String(text))) if !text.is_empty() => Ok(text.clone()),
        Some((argument, _)) => Err(format!(
            "${}: argument {} is a text, not {}",
            directive.name,
            position + 1,
            match &argument.kind {
                Kind::String(_) => "an empty one".to_owned(),
                _ => argument.describe(),
            }
        )
        .into()),
        None => Err(format!("${}: argument {} is missing", directive.name, position + 1).into()),
    }
}

/// A template's `{}` filled in order.
pub(super) fn fill(name: &str, arguments: &[Node]) -> Resolved<Vec<Text>> {
    let Some((template, values)) = arguments.split_first() else {
        return Err(format!("${name}: the template is missing").into());
    };
    let Some(template) = template.text() else {
        return Err(format!(
            "${name}: the template is a text, not {}",
            template.describe()
        )
        .into());
    };
    let gaps = template.matches("{}").count();
    if gaps != values.len() {
        return Err(format!(
            "${name}: the template has {gaps} \"{{}}\", and {} values are given",
            values.len()
        )
        .into());
    }
    let mut pieces = Vec::new();
    let mut values = values.iter();
    for (position, text) in template.split("{}").enumerate() {
        if position > 0
            && let Some(value) = values.next()
        {
            pieces.push(as_text(value, &format!("${name}"))?);
        }
        pieces.push(Text::Literal(text.to_owned()));
    }
    Ok(pieces)
}

/// A value as a part of a text.
pub(super) fn as_text(value: &Node, place: &str) -> Resolved<Text> {
    match &value.kind {
        Kind::String(text) => Ok(Text::Literal(text.clone())),
        Kind::Number(number) => Ok(Text::Literal(number.to_string())),
        Kind::Bool(flag) => Ok(Text::Literal(flag.to_string())),
        Kind::Runtime(runtime) => Ok(Text::Runtime(runtime.clone())),
        Kind::Broken | Kind::Null | Kind::List(_) | Kind::Map(_) => {
            Err(format!("{place}: {} cannot be a part of a text", value.describe()).into())
        }
    }
}
