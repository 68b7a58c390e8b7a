//! Which resource of a stack a name means.
//!
//! A user says the name from the config, a logical id or a physical one. Logical ids of Windlass
//! begin with the config's name in Pascal case and end with the last part of the AWS type; what a
//! resource is called in the account is only ever read from the stack.

use windlass_ports::aws::StackResource;
use windlass_types::{Problem, code};

use crate::failure::not_found;

/// A resource that exists, with its name in the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) logical_id: String,
    pub(crate) physical_id: String,
    pub(crate) kind: String,
}

/// The one resource of these types that a name means.
pub(crate) fn find(
    resources: &[StackResource],
    stack: &str,
    name: &str,
    types: &[&str],
) -> Result<Found, Problem> {
    let typed: Vec<&StackResource> = resources
        .iter()
        .filter(|resource| types.contains(&resource.resource_type.as_str()))
        .collect();
    // Where several resources are called so, the type named first is meant.
    let exact = types.iter().find_map(|kind| {
        typed.iter().copied().find(|resource| {
            resource.resource_type == *kind
                && (resource.logical_resource_id == name
                    || resource.physical_resource_id.as_deref() == Some(name)
                    || is_named(resource, name))
        })
    });
    let chosen = match exact {
        Some(resource) => resource,
        None => match typed
            .iter()
            .filter(|resource| middle(resource, name).is_some())
            .copied()
            .collect::<Vec<_>>()
            .as_slice()
        {
            [one] => *one,
            [] => {
                let named: Vec<&StackResource> = resources
                    .iter()
                    .filter(|resource| {
                        resource.logical_resource_id == name || is_named(resource, name)
                    })
                    .collect();
                if let Some(other) = named.first() {
                    return Err(wrong_type(other, name, types));
                }
                return Err(not_found(
                    "resource",
                    name,
                    format!(
                        "the stack {stack} has no resource {name} of {}",
                        shown(types)
                    ),
                    typed
                        .iter()
                        .map(|resource| resource.logical_resource_id.as_str()),
                ));
            }
            several => return Err(ambiguous(name, several)),
        },
    };
    let physical_id = chosen.physical_resource_id.clone().ok_or_else(|| {
        Problem::new(
            &code::NOT_FOUND,
            format!(
                "{} is in the stack {stack} but does not exist yet (status {})",
                chosen.logical_resource_id, chosen.resource_status
            ),
        )
        .with("reason", "not_created")
        .with("kind", "resource")
        .with("name", name)
    })?;
    Ok(Found {
        logical_id: chosen.logical_resource_id.clone(),
        physical_id,
        kind: chosen.resource_type.clone(),
    })
}

/// What stands between the config's name and the type in a logical id; `None` for a resource
/// whose id does not begin so. `ApiWebLogGroup` of `api` gives `Web`.
pub(crate) fn middle<'a>(resource: &'a StackResource, name: &str) -> Option<&'a str> {
    let rest = resource
        .logical_resource_id
        .strip_prefix(pascal(name).as_str())
        // The name ends where a word ends: `Job` is not the beginning of `JobsQueue`.
        .filter(|rest| !rest.starts_with(|letter: char| letter.is_ascii_lowercase()))?;
    let rest = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
    rest.strip_suffix(pascal(last_part(&resource.resource_type)).as_str())
}

/// The name in Pascal case, acronyms folded: `DBInstance` → `DbInstance`.
pub(crate) fn pascal(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::with_capacity(name.len());
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let after = letters.get(index + 1);
        let begins = match before {
            None => true,
            Some(before) if !before.is_ascii_alphanumeric() => true,
            Some(before) => {
                letter.is_ascii_uppercase()
                    && (!before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase))
            }
        };
        text.push(if begins {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        });
    }
    text
}

fn is_named(resource: &StackResource, name: &str) -> bool {
    middle(resource, name).is_some_and(str::is_empty)
}

fn last_part(kind: &str) -> &str {
    kind.rsplit("::").next().unwrap_or(kind)
}

fn shown(types: &[&str]) -> String {
    let names: Vec<&str> = types.iter().map(|kind| last_part(kind)).collect();
    format!("type {}", names.join(" or "))
}

fn wrong_type(other: &StackResource, name: &str, types: &[&str]) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!(
            "{name} is {} ({}); this operation takes a resource of {}",
            other.resource_type,
            other.logical_resource_id,
            shown(types)
        ),
    )
    .with("reason", "wrong_resource_type")
    .with("field", "resourceName")
    .with("resourceType", other.resource_type.as_str())
}

pub(crate) fn ambiguous(name: &str, several: &[&StackResource]) -> Problem {
    let ids: Vec<&str> = several
        .iter()
        .map(|resource| resource.logical_resource_id.as_str())
        .collect();
    Problem::new(
        &code::INVALID_INPUT,
        format!(
            "{name} may mean {}; give one of these as resourceName",
            ids.join(", ")
        ),
    )
    .with("reason", "ambiguous_resource")
    .with("field", "resourceName")
    .with("candidates", ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(logical: &str, kind: &str) -> StackResource {
        StackResource {
            logical_resource_id: logical.to_owned(),
            physical_resource_id: Some(format!("physical-{logical}")),
            resource_type: kind.to_owned(),
            ..StackResource::default()
        }
    }

    #[test]
    fn names_in_pascal_case() {
        for (name, expected) in [
            ("api", "Api"),
            ("mainDatabase", "MainDatabase"),
            ("my-api.v2", "MyApiV2"),
            ("DBInstance", "DbInstance"),
            ("VPC", "Vpc"),
        ] {
            assert_eq!(pascal(name), expected);
        }
    }

    #[test]
    fn a_name_means_one_resource() {
        const FUNCTION: &str = "AWS::Lambda::Function";
        let resources = [
            resource("ApiFunction", FUNCTION),
            resource("ApiGatewayHelperFunction", FUNCTION),
            resource("JobsAFunction", FUNCTION),
            resource("JobsBFunction", FUNCTION),
            resource("DbDbInstance", "AWS::RDS::DBInstance"),
        ];
        for (name, expected) in [
            ("api", Ok("ApiFunction")),
            ("ApiFunction", Ok("ApiFunction")),
            ("physical-ApiFunction", Ok("ApiFunction")),
            ("apiGateway", Ok("ApiGatewayHelperFunction")),
            ("jobs", Err("ambiguous_resource")),
            ("db", Err("wrong_resource_type")),
            ("apu", Err("not_found")),
        ] {
            let found = find(&resources, "shop-dev", name, &[FUNCTION]);
            match expected {
                Ok(logical) => assert_eq!(found.unwrap().logical_id, logical, "{name}"),
                Err(reason) => {
                    assert_eq!(found.unwrap_err().details()["reason"], reason, "{name}");
                }
            }
        }
        let closest = find(&resources, "shop-dev", "apu", &[FUNCTION]).unwrap_err();
        assert!(closest.details()["closest"].as_array().unwrap().len() > 1);
    }
}
