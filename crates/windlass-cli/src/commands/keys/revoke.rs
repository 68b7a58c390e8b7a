//! `windlass keys revoke`.

use clap::Args;
use serde_json::json;
use windlass_engine::access::KeyView;
use windlass_types::{Problem, code};

use crate::{
    commands::field,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct RevokeArgs {
    /// The key: its id, the beginning of its id, or its name.
    #[arg(value_name = "KEY")]
    key: String,
}

impl RevokeArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let listed = session.call("admin.keys_list", json!({})).await?;
        let keys: Vec<KeyView> = field(&listed.output, "keys")?;
        let key = find(&keys, &self.key)?;
        let answer = session
            .call("admin.keys_revoke", json!({ "key_id": key.key_id }))
            .await?;
        let message = format!("key {} ({}) no longer works", key.key_id, key.name);
        session.printer.data(&message);
        Ok(Report::new(message, answer.output))
    }
}

/// The one key a text means; a revoked key is meant only by its whole id.
pub(crate) fn find<'a>(keys: &'a [KeyView], text: &str) -> Result<&'a KeyView, Problem> {
    if let Some(exact) = keys.iter().find(|key| key.key_id.as_str() == text) {
        return Ok(exact);
    }
    let fits = |key: &&KeyView| {
        let id = key.key_id.as_str();
        let begins = id.starts_with(text)
            || id
                .strip_prefix("key_")
                .is_some_and(|rest| rest.starts_with(text));
        key.revoked_at.is_none() && (key.name == text || begins)
    };
    let found: Vec<&KeyView> = keys.iter().filter(fits).collect();
    match found.as_slice() {
        [key] => Ok(key),
        [] => Err(Problem::new(
            &code::NOT_FOUND,
            format!("no working key is called {text:?} or starts with it"),
        )
        .next("windlass keys list")),
        several => Err(Problem::invalid(
            "key",
            "unique",
            format!("{text:?} fits {} keys", several.len()),
        )
        .next("use the full id: windlass keys list")),
    }
}

#[cfg(test)]
mod tests {
    use windlass_types::Timestamp;

    use super::*;

    #[test]
    fn a_key_is_found_by_id_beginning_or_name() {
        let key = |id: &str, name: &str, revoked: bool| KeyView {
            key_id: id.parse().unwrap(),
            name: name.into(),
            tier: "pro".into(),
            scopes: Vec::new(),
            created_at: Timestamp::EPOCH,
            expires_at: None,
            revoked_at: revoked.then_some(Timestamp::EPOCH),
            last_used_at: None,
        };
        let keys = [
            key("key_aa1", "ci", false),
            key("key_aa2", "laptop", false),
            key("key_bb", "old", true),
        ];
        let cases = [
            ("key_aa1", Ok("key_aa1")),
            ("aa2", Ok("key_aa2")),
            ("ci", Ok("key_aa1")),
            ("key_aa", Err("INVALID_INPUT")),
            ("old", Err("NOT_FOUND")),
            ("key_bb", Ok("key_bb")),
            ("zz", Err("NOT_FOUND")),
        ];
        for (text, expected) in cases {
            let found = find(&keys, text)
                .map(|key| key.key_id.as_str())
                .map_err(|problem| problem.code().name);
            assert_eq!(found, expected, "{text}");
        }
    }
}
