//! `windlass keys create`.

use clap::Args;
use serde_json::json;
use windlass_engine::access::KeyView;
use windlass_types::Problem;

use crate::{
    commands::{field, given},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// The name of the key.
    #[arg(value_name = "NAME")]
    name: String,
    /// What it may touch: a toolset, `approve`, `admin`, or `*`; may be given several times.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Which limits apply: a tier of the settings file.
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// How many days it is valid; no expiry when absent.
    #[arg(long, value_name = "COUNT")]
    days: Option<u64>,
}

impl CreateArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let scopes = (!self.scopes.is_empty()).then_some(self.scopes);
        let input = json!({
            "name": self.name,
            "scopes": scopes,
            "tier": self.tier,
            "days": self.days,
        });
        let answer = session.call("admin.keys_create", given(input)).await?;
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
            format!("key {} was created", record.key_id),
            answer.output,
        ))
    }
}
