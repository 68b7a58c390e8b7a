//! Confirm tokens: 64 hex characters that say nothing by themselves, known by their digest.
//!
//! A token is bound to a principal, an operation, a plan and what that plan touches. All of it is
//! kept in a journal of its own, named by the digest, so it survives a restart; the token itself
//! is kept nowhere. It is redeemed once, in the commit that creates the run.

use std::time::Duration;

use serde_json::Value;
use windlass_ports::{Expect, entropy::random};
use windlass_types::{
    Body, Digest, Principal, Problem, RunId, Timestamp, TokenId, event::SpanIds,
    journal::TokenIssued,
};

use crate::{Engine, engine::commit_problem};

/// How long a token works.
const LIFETIME: Duration = Duration::from_secs(600);

/// What a token is for.
#[derive(Clone, Debug)]
pub struct TokenPurpose {
    /// The operation.
    pub operation: String,
    /// The plan it confirms.
    pub plan_digest: Digest,
    /// What that plan touches.
    pub targets: Vec<String>,
    /// What the operation wants to find again.
    pub note: Value,
}

/// A token that was handed out.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// 64 hex characters.
    pub token: String,
    /// When it stops working.
    pub expires_at: Timestamp,
}

/// A token that came back in time, to the caller it was made for, unused.
#[derive(Clone, Debug)]
pub struct ReturnedToken {
    /// What the run that redeems it names.
    pub id: TokenId,
    /// What it was made for.
    pub purpose: TokenPurpose,
}

/// Why a token is not taken.
#[derive(Debug, thiserror::Error)]
pub enum TokenRefusal {
    /// Never handed out, or to another caller.
    #[error("the confirm token was not issued to this caller")]
    Unknown,
    /// Too old, the clock runs backwards, or the store has lost events since it was issued.
    #[error("the confirm token has expired")]
    Expired,
    /// It was made for another operation.
    #[error("the confirm token was issued for another operation")]
    OtherOperation,
    /// It has started a run already.
    #[error("the confirm token was already redeemed; it started {0}")]
    Used(RunId),
    /// The store failed.
    #[error("{0}")]
    Failed(Problem),
}

impl Engine {
    /// Hands out a token for a plan.
    pub async fn issue_token(
        &self,
        principal: &Principal,
        purpose: TokenPurpose,
    ) -> Result<IssuedToken, Problem> {
        let token = hex::encode(random::<32>(&*self.entropy));
        let token_hash = Digest::of(token.as_bytes());
        let expires_at = self.steady().after(LIFETIME);
        let issued = TokenIssued {
            token_hash,
            principal: principal.id(),
            operation: purpose.operation,
            plan_digest: purpose.plan_digest,
            targets: purpose.targets,
            expires_at,
            note: purpose.note,
        };
        let journal = journal_of(token_hash)?;
        self.append(
            &journal,
            Expect::New,
            vec![issued.into()],
            SpanIds::default(),
            None,
        )
        .await
        .map_err(commit_problem)?;
        Ok(IssuedToken { token, expires_at })
    }

    /// Takes a token back, before anything is planned. It is redeemed by the run that names
    /// its id.
    pub async fn return_token(
        &self,
        principal: &Principal,
        operation: &str,
        token: &str,
    ) -> Result<ReturnedToken, TokenRefusal> {
        let token_hash = Digest::of(token.as_bytes());
        let journal = journal_of(token_hash).map_err(TokenRefusal::Failed)?;
        let failed = |error: windlass_ports::StoreError| TokenRefusal::Failed(error.into());
        let events = self.store.events(&journal, 0, 1).await.map_err(failed)?;
        let Some(event) = events.first() else {
            return Err(TokenRefusal::Unknown);
        };
        let body = Body::decode(&event.event_type, &event.payload)
            .map_err(|error| TokenRefusal::Failed(Problem::internal("confirm token", error)))?;
        let Some(Body::TokenIssued(issued)) = body else {
            return Err(TokenRefusal::Unknown);
        };
        if issued.token_hash != token_hash || issued.principal != principal.id() {
            return Err(TokenRefusal::Unknown);
        }
        let now = self.steady();
        // One that would last longer than any was issued on a clock that was ahead.
        if now >= issued.expires_at || issued.expires_at.since(now) > LIFETIME {
            return Err(TokenRefusal::Expired);
        }
        let lost = self.last_loss().await.map_err(TokenRefusal::Failed)?;
        if lost.is_some_and(|lost| event.time <= lost) {
            return Err(TokenRefusal::Expired);
        }
        if issued.operation != operation {
            return Err(TokenRefusal::OtherOperation);
        }
        let id = id_of(token_hash);
        if let Some(run_id) = self.store.redeemed_by(&id).await.map_err(failed)? {
            return Err(TokenRefusal::Used(run_id));
        }
        Ok(ReturnedToken {
            id,
            purpose: TokenPurpose {
                operation: issued.operation,
                plan_digest: issued.plan_digest,
                targets: issued.targets,
                note: issued.note,
            },
        })
    }
}

fn journal_of(token_hash: Digest) -> Result<RunId, Problem> {
    format!("sys_token_{}", &token_hash.to_string()[..32])
        .parse()
        .map_err(|error| Problem::internal("confirm token", error))
}

fn id_of(token_hash: Digest) -> TokenId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&token_hash.as_bytes()[16..]);
    TokenId::from_random(bytes)
}
