//! Who exported a run: an Ed25519 signature over where its journal ends, which says all of it.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use windlass_types::{Problem, RunId, Secret, event::ChainHead};

const PREFIX: &str = "ed25519:";
const SEED: usize = 32;

/// A signature, and the public key it verifies with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportSignature {
    /// `ed25519:` and the public key in base64: the name of a home.
    pub key: String,
    /// The signature in base64.
    pub value: String,
}

/// Signs what a home exports.
pub(crate) struct ExportSigner(Ed25519KeyPair);

impl ExportSigner {
    pub(crate) fn new(key: &Secret<Vec<u8>>) -> Result<Self, Problem> {
        let seed = key.expose_secret().get(..SEED).unwrap_or_default();
        let pair = Ed25519KeyPair::from_seed_unchecked(seed)
            .map_err(|error| Problem::internal("key that signs exports", error))?;
        Ok(Self(pair))
    }

    /// What others know the home by.
    pub(crate) fn name(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0.public_key()))
    }

    pub(crate) fn sign(&self, run_id: &RunId, head: ChainHead) -> ExportSignature {
        ExportSignature {
            key: self.name(),
            value: STANDARD.encode(self.0.sign(&message(run_id, head))),
        }
    }
}

impl ExportSignature {
    /// Whether the named key signed a journal that ends so.
    pub(crate) fn verifies(&self, run_id: &RunId, head: ChainHead) -> bool {
        let decode = |text: &str| STANDARD.decode(text).ok();
        let key = self.key.strip_prefix(PREFIX).and_then(decode);
        let (Some(key), Some(value)) = (key, decode(&self.value)) else {
            return false;
        };
        UnparsedPublicKey::new(&ED25519, key)
            .verify(&message(run_id, head), &value)
            .is_ok()
    }
}

fn message(run_id: &RunId, head: ChainHead) -> Vec<u8> {
    let mut message = b"windlass.export.v1\0".to_vec();
    message.extend_from_slice(run_id.as_str().as_bytes());
    message.push(0);
    message.extend_from_slice(&head.seq.to_be_bytes());
    message.extend_from_slice(head.hash.as_bytes());
    message
}
