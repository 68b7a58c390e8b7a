//! Schedules a secret's deletion; with `force` and a yes, deletes it at once.

use serde_json::json;
use windlass_types::{Problem, Timestamp, code};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::secrets::{ask as call_secrets, described, name, problem};
use crate::shapes::{moment, text};

pub(crate) struct Ask {
    name: String,
    force: bool,
    confirm: bool,
    recovery_days: u64,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let force = arguments.flag("force");
        if force && arguments.value("recoveryDays").is_some() {
            return Err(invalid(
                "recoveryDays",
                "with force there is no recovery; leave recoveryDays out",
            ));
        }
        Ok(Self {
            name: name(arguments)?,
            force,
            confirm: arguments.flag("confirm"),
            recovery_days: arguments.number("recoveryDays", 30, 7..=30)?,
        })
    }

    pub(crate) fn require_yes(&self) -> Result<(), Problem> {
        if !self.force || self.confirm {
            return Ok(());
        }
        Err(Problem::new(
            &code::CONFIRM_REQUIRED,
            format!("deleting the secret {} at once cannot be undone", self.name),
        )
        .with("reason", "force_delete")
        .with("name", self.name.as_str())
        .next("repeat with confirm=true")
        .next("leave force out: the secret can then be restored for 30 days"))
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    ask.require_yes()?;
    let region = call.place().await?;
    // AWS accepts a forced deletion of nothing; a wrong name should be reported.
    described(call, &ask.name).await?;
    let input = if ask.force {
        json!({ "SecretId": ask.name, "ForceDeleteWithoutRecovery": true })
    } else {
        json!({ "SecretId": ask.name, "RecoveryWindowInDays": ask.recovery_days })
    };
    let deleted = call_secrets(call, "DeleteSecret", input)
        .await
        .map_err(|failure| problem(call, &ask.name, &failure))?;
    let date = deleted.get("DeletionDate").and_then(moment);
    Ok(done(ask, &region, text(&deleted, "ARN"), date))
}

/// What a deletion has come to.
pub(crate) fn done(ask: &Ask, region: &str, arn: Option<&str>, date: Option<Timestamp>) -> Answer {
    let message = match (&date, ask.force) {
        (Some(date), false) => format!(
            "the secret {} in {region} will be deleted on {date}",
            ask.name
        ),
        _ => format!("the secret {} in {region} is deleted", ask.name),
    };
    let answer = Answer::new(
        message,
        json!({
            "name": ask.name,
            "arn": arn,
            "deletionDate": date,
            "recoverable": !ask.force,
        }),
    );
    if ask.force {
        answer
    } else {
        answer.next("restore it until then with secret_create and forceUpdate=true")
    }
}
