//! Whether something may be posted to an address for a caller, before a run relies on it.

use windlass_ports::OutboundError;
use windlass_types::{Principal, Problem};

use crate::Engine;

impl Engine {
    /// Whether a webhook of this caller may go to the address in this field of an input: it can
    /// be understood, is not forbidden now, and there is a secret to sign with.
    pub async fn check_webhook(
        &self,
        principal: &Principal,
        field: &str,
        url: &str,
    ) -> Result<(), Problem> {
        self.outbound.check_resolved(url).await.map_err(|error| {
            let constraint = match error {
                OutboundError::Forbidden(_) => "forbidden_address",
                _ => "format",
            };
            let message = format!("The '{field}' field cannot be used: {error}");
            Problem::invalid(field, constraint, message)
        })?;
        if self.has_webhook_secret(principal).await? {
            return Ok(());
        }
        let message =
            format!("The '{field}' field needs a webhook secret to sign with, and there is none");
        let refused = Problem::invalid(field, "no_webhook_secret", message);
        Err(refused.next("windlass webhooks secret create"))
    }
}
