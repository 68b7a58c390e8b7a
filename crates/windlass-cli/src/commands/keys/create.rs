//! `windlass keys create`.

use clap::Args;
use serde_json::{Map, Value, json};
use windlass_engine::access::KeyView;
use windlass_types::Problem;

use crate::{
    commands::field,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// What people call the key.
    #[arg(value_name = "NAME")]
    name: String,
    /// What it may touch: a toolset, `approve`, `admin`, or `*`; may be given several times.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Which limits apply: a tier of the settings file.
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// How many days it works; for ever when absent.
    #[arg(long, value_name = "COUNT")]
    days: Option<u64>,
}

impl CreateArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let mut input = Map::from_iter([("name".to_owned(), json!(self.name))]);
        if !self.scopes.is_empty() {
            input.insert("scopes".to_owned(), json!(self.scopes));
        }
        input.extend(self.tier.map(|tier| ("tier".to_owned(), Value::from(tier))));
        input.extend(self.days.map(|days| ("days".to_owned(), Value::from(days))));
        let answer = session
            .call("admin.keys_create", Value::Object(input))
            .await?;
        let key: String = field(&answer.output, "api_key")?;
        let record: KeyView = field(&answer.output, "record")?;
        let scopes: Vec<&str> = record.scopes.iter().map(|scope| scope.as_str()).collect();
        let printer = &session.printer;
        // The key alone on standard output: `KEY=$(windlass keys create ci)` works.
        printer.data(&key);
        printer.notice(&format!(
            "Key {} ({}) may use {}, tier {}. It is stored as a digest only and cannot be shown again.",
            record.key_id,
            record.name,
            scopes.join(", "),
            record.tier
        ));
        let webhook_secret: String = field(&answer.output, "webhook_secret")?;
        printer.notice(&format!(
            "Webhooks of its jobs are signed with {webhook_secret}, which cannot be shown again either."
        ));
        printer.hint("send it as `Authorization: Bearer KEY`");
        Ok(Report::new(
            format!("key {} was made", record.key_id),
            answer.output,
        ))
    }
}
