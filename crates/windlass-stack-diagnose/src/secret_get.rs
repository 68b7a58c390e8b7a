//! Shows a secret: enough of it to recognise it.

use serde_json::{Value, json};
use windlass_types::{Problem, Secret};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::guard::mask;
use crate::secrets::{ask as call_secrets, name, problem};
use crate::shapes::{moment, text};

pub(crate) struct Ask {
    name: String,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        Ok(Self {
            name: name(arguments)?,
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let region = call.place().await?;
    let found = call_secrets(call, "GetSecretValue", json!({ "SecretId": ask.name }))
        .await
        .map_err(|failure| problem(call, &ask.name, &failure))?;
    let (value, binary) = match (text(&found, "SecretString"), text(&found, "SecretBinary")) {
        (None, Some(bytes)) => (bytes, true),
        (value, _) => (value.unwrap_or_default(), false),
    };
    let value = Secret::new(value.to_owned());
    call.outside.redactor.register(&value);
    Ok(Answer::new(
        format!("the secret {} in {region}, masked", ask.name),
        json!({
            "name": text(&found, "Name").unwrap_or(&ask.name),
            "value": mask::secret(value.expose_secret()),
            "binary": binary,
            "arn": text(&found, "ARN"),
            "created": found.get("CreatedDate").and_then(moment).map_or(Value::Null, |date| json!(date)),
            "versionId": text(&found, "VersionId"),
        }),
    ))
}
