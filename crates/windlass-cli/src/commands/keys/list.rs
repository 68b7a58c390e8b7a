//! `windlass keys list`.

use clap::Args;
use serde_json::json;
use windlass_engine::access::KeyView;
use windlass_types::{Problem, Timestamp};

use crate::{
    commands::field,
    output::{Table, Tone, age, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {}

impl ListArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let answer = session.call("admin.keys_list", json!({})).await?;
        let keys: Vec<KeyView> = field(&answer.output, "keys")?;
        if keys.is_empty() {
            session.printer.notice("No keys.");
            session.printer.hint("windlass keys create NAME");
        } else {
            session.printer.table(&table(&keys, session.engine().now()));
        }
        Ok(Report::new(counted(keys.len(), "key"), answer.output))
    }
}

fn table(keys: &[KeyView], now: Timestamp) -> Table {
    let mut table = Table::new(&["KEY", "NAME", "STATE", "TIER", "CREATED", "USED", "SCOPES"]);
    for key in keys {
        let (tone, state) = state(key, now);
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        table.toned_row([
            (Tone::Plain, key.key_id.to_string()),
            (Tone::Plain, key.name.clone()),
            (tone, state.to_owned()),
            (Tone::Plain, key.tier.clone()),
            (Tone::Dim, age(key.created_at, now)),
            (
                Tone::Dim,
                key.last_used_at
                    .map_or_else(String::new, |last| age(last, now)),
            ),
            (Tone::Plain, scopes.join(" ")),
        ]);
    }
    table
}

fn state(key: &KeyView, now: Timestamp) -> (Tone, &'static str) {
    if key.revoked_at.is_some() {
        (Tone::Dim, "revoked")
    } else if key.expires_at.is_some_and(|end| end <= now) {
        (Tone::Warn, "expired")
    } else {
        (Tone::Good, "works")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoked_and_expired_keys_are_distinguished() {
        let key = |revoked: Option<i64>, expires: Option<i64>| KeyView {
            key_id: "key_1".parse().unwrap(),
            name: "ci".into(),
            tier: "pro".into(),
            scopes: Vec::new(),
            created_at: Timestamp::EPOCH,
            expires_at: expires.map(Timestamp::from_millis),
            revoked_at: revoked.map(Timestamp::from_millis),
            last_used_at: None,
        };
        let now = Timestamp::from_millis(100);
        for (revoked, expires, expected) in [
            (None, None, "works"),
            (None, Some(101), "works"),
            (None, Some(100), "expired"),
            (Some(5), Some(1), "revoked"),
        ] {
            assert_eq!(state(&key(revoked, expires), now).1, expected);
        }
    }
}
