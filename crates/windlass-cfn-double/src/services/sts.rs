//! STS: who am I, and becoming a role.

use std::collections::BTreeMap;

use crate::env::Env;
use crate::error::ApiError;
use crate::params::Params;
use crate::xml::Element;

pub const NAMESPACE: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

/// Access keys handed out for roles → the identity behind each.
pub type Sessions = BTreeMap<String, String>;

pub fn caller(access_key: &str, sessions: &Sessions, account: &str) -> String {
    sessions
        .get(access_key)
        .cloned()
        .unwrap_or_else(|| format!("arn:aws:iam::{account}:user/double"))
}

pub fn answer(
    action: &str,
    params: &Params,
    access_key: &str,
    sessions: &mut Sessions,
    env: &mut Env,
) -> Result<Element, ApiError> {
    match action {
        "GetCallerIdentity" => Ok(Element::new()
            .with("Arn", caller(access_key, sessions, &env.account))
            .with("UserId", access_key)
            .with("Account", &env.account)),
        "AssumeRole" => {
            let role = params.required("RoleArn")?;
            let session = params.required("RoleSessionName")?;
            let name = role.rsplit('/').next().unwrap_or(role);
            let account = role.split(':').nth(4).unwrap_or(&env.account).to_owned();
            let arn = format!("arn:aws:sts::{account}:assumed-role/{name}/{session}");
            let key = format!("ASIA{}", env.ids.code(16));
            sessions.insert(key.clone(), arn.clone());
            let credentials = Element::new()
                .with("AccessKeyId", &key)
                .with("SecretAccessKey", env.ids.hex(40))
                .with("SessionToken", env.ids.hex(64))
                // Compared with the caller's clock, not with the virtual one.
                .with("Expiration", "2099-01-01T00:00:00Z");
            let user = Element::new()
                .with(
                    "AssumedRoleId",
                    format!("AROA{}:{session}", env.ids.code(16)),
                )
                .with("Arn", arn);
            Ok(Element::new()
                .with("Credentials", credentials)
                .with("AssumedRoleUser", user))
        }
        other => Err(ApiError::new(
            "InvalidAction",
            400,
            format!("Could not find operation {other} for version 2011-06-15"),
        )),
    }
}
