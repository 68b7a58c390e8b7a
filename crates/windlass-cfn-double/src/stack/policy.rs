//! Stack policies: which updates of which resources are forbidden.

use serde_json::Value;

use crate::error::ApiError;

/// Refuses a body that is not a policy.
pub fn check_policy(body: &str) -> Result<Value, ApiError> {
    let policy: Value = serde_json::from_str(body)
        .map_err(|_| ApiError::validation("Error validating stack policy: Invalid stack policy"))?;
    match policy.get("Statement") {
        Some(Value::Array(_)) => Ok(policy),
        _ => Err(ApiError::validation(
            "Error validating stack policy: Invalid stack policy",
        )),
    }
}

/// Why `action` (`Update:Replace`, …) is refused for a resource; `None` when it is allowed.
///
/// Without a policy everything is allowed; with one, what it does not allow is denied, and a
/// denial wins over any permission.
pub fn denial(
    policy: Option<&Value>,
    action: &str,
    logical_id: &str,
    kind: &str,
) -> Option<String> {
    let policy = policy?;
    let statements = policy
        .get("Statement")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let resource = format!("LogicalResourceId/{logical_id}");
    let mut is_allowed = false;
    for (index, statement) in statements.iter().enumerate() {
        let applies = selects(statement, "Action", "NotAction", action)
            && selects(statement, "Resource", "NotResource", &resource)
            && condition_holds(statement.get("Condition"), kind);
        if !applies {
            continue;
        }
        if statement.get("Effect").and_then(Value::as_str) == Some("Deny") {
            return Some(format!(
                "Action denied by stack policy: Statement [#{}] does not allow [{action}] for \
                 resource [{resource}];",
                index + 1
            ));
        }
        is_allowed = true;
    }
    (!is_allowed).then(|| {
        format!(
            "Action not allowed by stack policy: no statement allows [{action}] for resource \
             [{resource}];"
        )
    })
}

fn selects(statement: &Value, positive: &str, negative: &str, text: &str) -> bool {
    if let Some(patterns) = statement.get(positive) {
        return texts(patterns).iter().any(|pattern| matches(pattern, text));
    }
    match statement.get(negative) {
        Some(patterns) => !texts(patterns).iter().any(|pattern| matches(pattern, text)),
        None => false,
    }
}

fn condition_holds(condition: Option<&Value>, kind: &str) -> bool {
    let Some(Value::Object(operators)) = condition else {
        return true;
    };
    operators.iter().all(|(operator, fields)| {
        let patterns = fields.get("ResourceType").map(texts).unwrap_or_default();
        match operator.as_str() {
            "StringEquals" => patterns.contains(&kind),
            "StringLike" => patterns.iter().any(|pattern| matches(pattern, kind)),
            _ => false,
        }
    })
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            (0..=left.len())
                .filter(|at| left.is_char_boundary(*at))
                .any(|at| matches(rest, &left[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_matrix_of_policies() {
        let allow_all =
            json!({"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"});
        let protect = |resource: &str| {
            json!({"Effect": "Deny", "Action": ["Update:Replace", "Update:Delete"],
                   "Principal": "*", "Resource": resource})
        };
        let by_type = json!({"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "*",
            "Condition": {"StringLike": {"ResourceType": ["AWS::RDS::*"]}}});
        let cases = [
            (json!(null), "Update:Delete", true),
            (json!({"Statement": [allow_all]}), "Update:Delete", true),
            (json!({"Statement": []}), "Update:Modify", false),
            (
                json!({"Statement": [allow_all, protect("LogicalResourceId/Db")]}),
                "Update:Replace",
                false,
            ),
            (
                json!({"Statement": [allow_all, protect("LogicalResourceId/D*")]}),
                "Update:Delete",
                false,
            ),
            (
                json!({"Statement": [allow_all, protect("LogicalResourceId/Db")]}),
                "Update:Modify",
                true,
            ),
            (
                json!({"Statement": [allow_all, protect("LogicalResourceId/Other")]}),
                "Update:Replace",
                true,
            ),
            (
                json!({"Statement": [allow_all, by_type]}),
                "Update:Modify",
                false,
            ),
        ];
        for (policy, action, allowed) in cases {
            let policy = Some(&policy).filter(|policy| !policy.is_null());
            let refusal = denial(policy, action, "Db", "AWS::RDS::DBInstance");
            assert_eq!(
                refusal.is_none(),
                allowed,
                "{policy:?} {action}: {refusal:?}"
            );
        }
        assert!(check_policy("{}").is_err() && check_policy("x").is_err());
    }
}
