//! SSM parameters: put and get.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::clock;
use crate::env::Env;
use crate::error::ApiError;

/// Parameters of AWS's own, in every region: the newest machine images.
const IMAGES: &str = "/aws/service/ami-";
const IMAGE: &str = "ami-0d0b1e00000000000";

/// (region, name) → parameter.
#[derive(Clone, Debug, Default)]
pub struct Parameters(BTreeMap<(String, String), Parameter>);

#[derive(Clone, Debug)]
struct Parameter {
    kind: String,
    value: String,
    version: u64,
    changed: u64,
}

impl Parameters {
    pub fn exists(&self, region: &str, name: &str) -> bool {
        self.value(region, name).is_some()
    }

    pub fn value(&self, region: &str, name: &str) -> Option<&str> {
        self.0
            .get(&(region.to_owned(), name.to_owned()))
            .map(|parameter| parameter.value.as_str())
            .or_else(|| name.starts_with(IMAGES).then_some(IMAGE))
    }
}

pub fn answer(action: &str, input: &Value, region: &str, env: &mut Env) -> Result<Value, ApiError> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let key = |name: &str| (region.to_owned(), name.to_owned());
    match action {
        "PutParameter" => {
            let name = text("Name");
            let before = env.parameters.0.get(&key(name));
            if before.is_some() && input.get("Overwrite") != Some(&Value::Bool(true)) {
                return Err(ApiError::new(
                    "ParameterAlreadyExists",
                    400,
                    "The parameter already exists. To overwrite this value, set the overwrite \
                     option in the request to true.",
                ));
            }
            let kind = match (text("Type"), before) {
                ("", Some(before)) => before.kind.clone(),
                ("", None) => "String".to_owned(),
                (kind, _) => kind.to_owned(),
            };
            let version = before.map_or(0, |before| before.version) + 1;
            let parameter = Parameter {
                kind,
                value: text("Value").to_owned(),
                version,
                changed: env.now,
            };
            env.parameters.0.insert(key(name), parameter);
            Ok(json!({ "Version": version, "Tier": "Standard" }))
        }
        "GetParameter" => {
            let name = text("Name");
            let found = env.parameters.0.get(&key(name));
            let found = found.ok_or_else(|| ApiError::new("ParameterNotFound", 400, ""))?;
            Ok(json!({ "Parameter": shown(name, found, region, env) }))
        }
        "GetParameters" => {
            let names = input.get("Names").and_then(Value::as_array);
            let names = names.into_iter().flatten().filter_map(Value::as_str);
            let (mut found, mut missing) = (Vec::new(), Vec::new());
            for name in names {
                match env.parameters.0.get(&key(name)) {
                    Some(parameter) => found.push(shown(name, parameter, region, env)),
                    None => missing.push(name),
                }
            }
            Ok(json!({ "Parameters": found, "InvalidParameters": missing }))
        }
        other => Err(super::json::unknown(other)),
    }
}

fn shown(name: &str, parameter: &Parameter, region: &str, env: &Env) -> Value {
    json!({
        "Name": name,
        "Type": parameter.kind,
        "Value": parameter.value,
        "Version": parameter.version,
        "LastModifiedDate": clock::seconds(parameter.changed),
        "ARN": format!("arn:aws:ssm:{region}:{}:parameter/{}", env.account, name.trim_start_matches('/')),
        "DataType": "text",
    })
}
