//! `windlass webhooks secret`: what deliveries are signed with.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use windlass_engine::{access::KeyView, outbox::SecretView};
use windlass_types::{Problem, Timestamp};

use crate::{
    commands::{field, keys},
    output::{Table, Tone, age},
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SecretCommand {
    /// Create the first secret of the local user or of a key; it is shown only once.
    Create(OwnerArgs),
    /// Create a new secret; the current one also signs for a while.
    Rotate(RotateArgs),
    /// End a rotation: stop signing with the old secret.
    Finish(OwnerArgs),
    /// List who has a secret.
    #[command(visible_alias = "ls")]
    List,
}

#[derive(Args, Debug)]
pub(crate) struct OwnerArgs {
    /// The key it belongs to: its id, the beginning of its id, or its name. Default: the local
    /// user.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    #[command(flatten)]
    owner: OwnerArgs,
    /// How long the current secret also signs. Default: the settings file's, or 24 hours.
    #[arg(long, value_name = "HOURS", conflicts_with = "now")]
    overlap_hours: Option<u64>,
    /// Stop signing with the current secret immediately; for a leaked one.
    #[arg(long)]
    now: bool,
}

impl SecretCommand {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        match self {
            Self::Create(owner) => {
                let input = owner.input(session).await?;
                made(session, "admin.webhook_secret_create", input).await
            }
            Self::Rotate(args) => {
                let mut input = args.owner.input(session).await?;
                let hours = args.overlap_hours.map(|hours| hours.saturating_mul(3600));
                if let Some(seconds) = hours.or(args.now.then_some(0)) {
                    input.insert("overlap_seconds".to_owned(), json!(seconds));
                }
                made(session, "admin.webhook_secret_rotate", input).await
            }
            Self::Finish(owner) => {
                let input = owner.input(session).await?;
                let answer = session
                    .call("admin.webhook_secret_finish", Value::Object(input))
                    .await?;
                let record: SecretView = field(&answer.output, "record")?;
                let message = format!("the old secret of {} no longer signs", record.owner);
                session.printer.data(&message);
                Ok(Report::new(message, answer.output))
            }
            Self::List => list(session).await,
        }
    }
}

impl OwnerArgs {
    async fn input(&self, session: &Session) -> Result<Map<String, Value>, Problem> {
        let Some(text) = &self.key else {
            return Ok(Map::new());
        };
        let listed = session.call("admin.keys_list", json!({})).await?;
        let known: Vec<KeyView> = field(&listed.output, "keys")?;
        let key = keys::find(&known, text)?;
        Ok(Map::from_iter([("key_id".to_owned(), json!(key.key_id))]))
    }
}

/// Shows a secret that was made, alone on standard output.
async fn made(
    session: &Session,
    operation: &str,
    input: Map<String, Value>,
) -> Result<Report, Problem> {
    let answer = session.call(operation, Value::Object(input)).await?;
    let secret: String = field(&answer.output, "webhook_secret")?;
    let record: SecretView = field(&answer.output, "record")?;
    let printer = &session.printer;
    printer.data(&secret);
    printer.notice(&format!(
        "Webhooks of {} are signed with it. It is stored encrypted and cannot be shown again.",
        record.owner
    ));
    if let Some(until) = record.previous_until {
        printer.notice(&format!(
            "The previous one also signs until {until}; X-AIOS-Signature stays with it until then."
        ));
        printer.hint("windlass webhooks secret finish");
    }
    Ok(Report::new(
        format!("{} has a new webhook secret", record.owner),
        answer.output,
    ))
}

async fn list(session: &Session) -> Result<Report, Problem> {
    let answer = session.call("admin.webhook_secret_list", json!({})).await?;
    let secrets: Vec<SecretView> = field(&answer.output, "secrets")?;
    if secrets.is_empty() {
        session.printer.notice("No webhook secrets.");
        session.printer.hint("windlass webhooks secret create");
    } else {
        session
            .printer
            .table(&table(&secrets, session.engine().now()));
    }
    Ok(Report::new(
        format!("{} webhook secrets", secrets.len()),
        answer.output,
    ))
}

fn table(secrets: &[SecretView], now: Timestamp) -> Table {
    let mut table = Table::new(&["OWNER", "CREATED", "OLD ONE SIGNS UNTIL"]);
    for secret in secrets {
        let until = secret
            .previous_until
            .map_or_else(String::new, |until| until.to_string());
        table.toned_row([
            (Tone::Plain, secret.owner.clone()),
            (Tone::Dim, age(secret.created_at, now)),
            (Tone::Warn, until),
        ]);
    }
    table
}
