//! What a text of the config, or an expression of CloudFormation, is put together from.
//!
//! Pure. Not here: what the parts stand for in a deployed stack (`values`).

use serde_json::Value;
use windlass_stack_config::{Runtime, Text};

/// A part that one look-up answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// Itself.
    Literal(String),
    /// `Ref` of a resource.
    Resource(String),
    /// `Fn::GetAtt`.
    Attribute { id: String, attribute: String },
    /// `AWS::Region` and its like.
    Pseudo(String),
    /// A secret, or one key of its JSON.
    Secret { name: String, key: Option<String> },
    /// A parameter of the Parameter Store, with its version behind a colon.
    Parameter(String),
    /// A value another stack exports.
    Export(String),
}

/// A part of a text of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Atom(Atom),
    /// A parameter of a resource of the config.
    Param {
        resource: String,
        param: String,
    },
}

/// The parts of a text.
pub(crate) fn of_text(text: &Text) -> Vec<Piece> {
    match text {
        Text::Literal(text) => vec![Piece::Atom(Atom::Literal(text.clone()))],
        Text::Runtime(runtime) => of_runtime(runtime),
    }
}

fn of_runtime(runtime: &Runtime) -> Vec<Piece> {
    let atom = match runtime {
        Runtime::ResourceParam { resource, param } => {
            return vec![Piece::Param {
                resource: resource.clone(),
                param: param.clone(),
            }];
        }
        Runtime::CfFormat { parts } => return parts.iter().flat_map(of_text).collect(),
        Runtime::CfResourceParam {
            logical_id,
            attribute,
        } => Atom::Attribute {
            id: logical_id.clone(),
            attribute: attribute.clone(),
        },
        Runtime::Secret { name, key } => Atom::Secret {
            name: name.clone(),
            key: key.clone(),
        },
        Runtime::SsmParam { name, version } => Atom::Parameter(match version {
            Some(version) => format!("{name}:{version}"),
            None => name.clone(),
        }),
        Runtime::CfStackOutput { stack, output } => Atom::Export(format!("{stack}-{output}")),
    };
    vec![Piece::Atom(atom)]
}

/// The parts of an expression; the failure names what cannot be worked out here.
pub(crate) fn of_expression(value: &Value) -> Result<Vec<Atom>, String> {
    let mut atoms = Vec::new();
    flatten(value, &mut atoms)?;
    Ok(atoms)
}

fn flatten(value: &Value, atoms: &mut Vec<Atom>) -> Result<(), String> {
    match value {
        Value::String(text) => dynamic(text, atoms),
        Value::Number(_) | Value::Bool(_) => atoms.push(Atom::Literal(value.to_string())),
        Value::Object(function) if function.len() == 1 => {
            let (name, argument) = function.iter().next().ok_or("an empty expression")?;
            match (name.as_str(), argument) {
                ("Ref", Value::String(id)) => atoms.push(reference(id)),
                ("Fn::GetAtt", argument) => atoms.push(attribute(argument)?),
                ("Fn::Sub", Value::String(text)) => substitute(text, None, atoms)?,
                ("Fn::Sub", Value::Array(both)) => {
                    let text = both.first().and_then(Value::as_str);
                    substitute(text.ok_or("Fn::Sub without a text")?, both.get(1), atoms)?;
                }
                ("Fn::Join", Value::Array(both)) => join(both, atoms)?,
                ("Fn::ImportValue", Value::String(name)) => atoms.push(Atom::Export(name.clone())),
                (other, _) => return Err(format!("{other} is only known to CloudFormation")),
            }
        }
        other => return Err(format!("{other} is not text")),
    }
    Ok(())
}

fn reference(id: &str) -> Atom {
    match id.starts_with("AWS::") {
        true => Atom::Pseudo(id.to_owned()),
        false => Atom::Resource(id.to_owned()),
    }
}

fn attribute(argument: &Value) -> Result<Atom, String> {
    let (id, attribute) = match argument {
        Value::String(text) => text.split_once('.'),
        Value::Array(both) => match both.as_slice() {
            [Value::String(id), Value::String(attribute)] => {
                Some((id.as_str(), attribute.as_str()))
            }
            _ => None,
        },
        _ => None,
    }
    .ok_or("Fn::GetAtt without id and attribute")?;
    Ok(Atom::Attribute {
        id: id.to_owned(),
        attribute: attribute.to_owned(),
    })
}

fn join(both: &[Value], atoms: &mut Vec<Atom>) -> Result<(), String> {
    let (Some(Value::String(between)), Some(Value::Array(parts))) = (both.first(), both.get(1))
    else {
        return Err("Fn::Join without a list".to_owned());
    };
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && !between.is_empty() {
            atoms.push(Atom::Literal(between.clone()));
        }
        flatten(part, atoms)?;
    }
    Ok(())
}

fn substitute(text: &str, names: Option<&Value>, atoms: &mut Vec<Atom>) -> Result<(), String> {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        if !before.is_empty() {
            dynamic(before, atoms);
        }
        if let Some(literal) = name.strip_prefix('!') {
            atoms.push(Atom::Literal(format!("${{{literal}}}")));
        } else if let Some(value) = names.and_then(|names| names.get(name)) {
            flatten(value, atoms)?;
        } else if name.contains('.') {
            atoms.push(attribute(&Value::from(name))?);
        } else {
            atoms.push(reference(name));
        }
        rest = behind;
    }
    if !rest.is_empty() || text.is_empty() {
        dynamic(rest, atoms);
    }
    Ok(())
}

/// A text with dynamic references, `{{resolve:…}}`, in it.
fn dynamic(text: &str, atoms: &mut Vec<Atom>) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{resolve:") {
        let Some((written, behind)) = after.split_once("}}") else {
            break;
        };
        let Some(atom) = dynamic_reference(written) else {
            break;
        };
        if !before.is_empty() {
            atoms.push(Atom::Literal(before.to_owned()));
        }
        atoms.push(atom);
        rest = behind;
    }
    if !rest.is_empty() || text.is_empty() {
        atoms.push(Atom::Literal(rest.to_owned()));
    }
}

/// `secretsmanager:NAME:SecretString:KEY:…`, `ssm:NAME:VERSION`, `ssm-secure:…`.
fn dynamic_reference(written: &str) -> Option<Atom> {
    let (service, rest) = written.split_once(':')?;
    match service {
        "secretsmanager" => {
            let parts: Vec<&str> = rest.split(':').collect();
            // An ARN has colons of its own.
            let in_name = if rest.starts_with("arn:") { 7 } else { 1 };
            let key = parts.get(in_name + 1).filter(|key| !key.is_empty());
            Some(Atom::Secret {
                name: parts.get(..in_name)?.join(":"),
                key: key.map(|key| (*key).to_owned()),
            })
        }
        "ssm" | "ssm-secure" => Some(Atom::Parameter(rest.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(value: &Value) -> String {
        match of_expression(value) {
            Err(cause) => format!("! {cause}"),
            Ok(atoms) => {
                let atoms: Vec<String> = atoms
                    .iter()
                    .map(|atom| match atom {
                        Atom::Literal(text) => format!("'{text}'"),
                        Atom::Resource(id) => format!("ref {id}"),
                        Atom::Attribute { id, attribute } => format!("att {id} {attribute}"),
                        Atom::Pseudo(name) => name.clone(),
                        Atom::Secret { name, key } => format!("secret {name} {key:?}"),
                        Atom::Parameter(name) => format!("ssm {name}"),
                        Atom::Export(name) => format!("export {name}"),
                    })
                    .collect();
                atoms.join(" ")
            }
        }
    }

    #[test]
    fn expressions_are_parsed() {
        for (value, expected) in [
            (json!("plain"), "'plain'"),
            (json!(""), "''"),
            (json!(5432), "'5432'"),
            (json!({"Ref": "Bucket"}), "ref Bucket"),
            (json!({"Ref": "AWS::Region"}), "AWS::Region"),
            (
                json!({"Fn::GetAtt": ["Db", "Endpoint.Address"]}),
                "att Db Endpoint.Address",
            ),
            (
                json!({"Fn::GetAtt": "Db.Endpoint.Port"}),
                "att Db Endpoint.Port",
            ),
            (
                json!({"Fn::Sub": "arn:${AWS::Partition}:x:${Db}/${Db.Arn}${!kept}"}),
                "'arn:' AWS::Partition ':x:' ref Db '/' att Db Arn '${kept}'",
            ),
            (
                json!({"Fn::Sub": ["${a}-b", {"a": {"Ref": "X"}}]}),
                "ref X '-b'",
            ),
            (
                json!({"Fn::Join": [",", ["a", {"Ref": "X"}, {"Fn::Join": ["", ["b", "c"]]}]]}),
                "'a' ',' ref X ',' 'b' 'c'",
            ),
            (
                json!("pg://u:{{resolve:secretsmanager:db:SecretString:pw::}}@h"),
                "'pg://u:' secret db Some(\"pw\") '@h'",
            ),
            (
                json!("{{resolve:secretsmanager:db:SecretString:::v1}}"),
                "secret db None",
            ),
            (json!("{{resolve:ssm-secure:/a/b:3}}"), "ssm /a/b:3"),
            (json!("{{resolve:other:x}}"), "'{{resolve:other:x}}'"),
            (json!({"Fn::ImportValue": "net-vpc"}), "export net-vpc"),
            (
                json!({"Fn::Select": [0, []]}),
                "! Fn::Select is only known to CloudFormation",
            ),
            (
                json!({"Fn::GetAtt": ["one"]}),
                "! Fn::GetAtt without id and attribute",
            ),
            (json!(["x"]), "! [\"x\"] is not text"),
        ] {
            assert_eq!(shown(&value), expected, "{value}");
        }
    }

    #[test]
    fn texts_are_split() {
        let text: Text =
            serde_json::from_value(json!({ "$runtime": { "directive": "cfFormat", "parts": [
            "a-",
            { "$runtime": { "directive": "resourceParam", "resource": "db", "param": "host" } },
            { "$runtime": { "directive": "ssmParam", "name": "/x", "version": 2 } },
            { "$runtime": { "directive": "cfStackOutput", "stack": "net", "output": "vpc" } },
        ] } }))
            .unwrap();
        assert_eq!(
            of_text(&text),
            [
                Piece::Atom(Atom::Literal("a-".to_owned())),
                Piece::Param {
                    resource: "db".to_owned(),
                    param: "host".to_owned()
                },
                Piece::Atom(Atom::Parameter("/x:2".to_owned())),
                Piece::Atom(Atom::Export("net-vpc".to_owned())),
            ]
        );
    }

    proptest! {
        #[test]
        fn a_text_without_marks_is_itself(text in "[a-zA-Z0-9:/@ .{}-]{1,40}") {
            prop_assume!(!text.contains("{{resolve:"));
            prop_assert_eq!(of_expression(&json!(text)).unwrap(), [Atom::Literal(text)]);
        }

        #[test]
        fn nothing_panics(text in "[${}!.:a-z]{0,40}") {
            let _ = of_expression(&json!({ "Fn::Sub": text }));
            let _ = of_expression(&json!(format!("{{{{resolve:{text}")));
        }
    }
}
