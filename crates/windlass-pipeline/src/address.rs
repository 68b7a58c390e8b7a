//! Addresses of artifacts that need no key: signed, and good until they expire.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use windlass_pipeline_design::model::Phase;
use windlass_types::{RunId, Timestamp};

/// Until when a signed address works, and the proof that we said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedUntil {
    /// Seconds since 1970.
    pub exp: i64,
    /// Hex.
    pub sig: String,
}

/// Where an artifact can be fetched.
pub struct ArtifactAddress<'a> {
    /// The job.
    pub job_id: &'a RunId,
    /// Of which phase.
    pub phase: Phase,
}

impl ArtifactAddress<'_> {
    /// The path below the server's address.
    pub fn path(&self) -> String {
        format!("/artifacts/{}/{}", self.job_id, self.phase.as_str())
    }

    /// The whole address, which works without a key until it expires.
    pub fn signed(&self, base: &str, key: &[u8], until: Timestamp) -> String {
        let exp = until.as_millis() / 1000;
        let path = self.path();
        format!("{base}{path}?exp={exp}&sig={}", sign(key, &path, exp))
    }

    /// Whether an address was signed by us and still works.
    pub fn admits(&self, key: &[u8], until: &SignedUntil, now: Timestamp) -> bool {
        admits_path(key, &self.path(), until, now)
    }
}

/// Whether a path of an address was signed by us and still works.
pub fn admits_path(key: &[u8], path: &str, until: &SignedUntil, now: Timestamp) -> bool {
    let expected = sign(key, path, until.exp);
    let same: bool = expected.as_bytes().ct_eq(until.sig.as_bytes()).into();
    same && now.as_millis() / 1000 < until.exp
}

fn sign(key: &[u8], path: &str, exp: i64) -> String {
    // A key of any length is a key.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return String::new();
    };
    mac.update(path.as_bytes());
    mac.update(b"?exp=");
    mac.update(exp.to_string().as_bytes());
    mac.finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_works_as_long_and_as_far_as_it_was_signed() {
        let job: RunId = "job_a".parse().unwrap();
        let other: RunId = "job_b".parse().unwrap();
        let address = ArtifactAddress {
            job_id: &job,
            phase: Phase::Code,
        };
        let until = Timestamp::from_millis(2_000_000);
        let url = address.signed("https://w.example", b"key", until);
        let (path, query) = url.split_once('?').unwrap();
        assert_eq!(path, "https://w.example/artifacts/job_a/code");
        let sig = query.split_once("sig=").unwrap().1.to_owned();
        let signed = SignedUntil { exp: 2000, sig };
        let early = Timestamp::from_millis(1_999_000);
        assert!(address.admits(b"key", &signed, early));
        assert!(!address.admits(b"key", &signed, until), "expired");
        assert!(!address.admits(b"other", &signed, early), "another key");
        let later = SignedUntil {
            exp: 3000,
            ..signed.clone()
        };
        assert!(!address.admits(b"key", &later, early), "another time");
        for (job_id, phase) in [(&other, Phase::Code), (&job, Phase::Ux)] {
            let elsewhere = ArtifactAddress { job_id, phase };
            assert!(!elsewhere.admits(b"key", &signed, early), "another place");
        }
    }
}
