//! Passwords, in the ways servers ask for them.

use aws_lc_rs::digest::{self, Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;

/// The ways that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// MySQL's and MariaDB's old default.
    Native,
    /// MySQL 8's default.
    CachingSha2,
    /// The password as it is, for servers that check it elsewhere (AWS IAM); over TLS only.
    Clear,
}

impl Plugin {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "mysql_native_password" | "" => Some(Self::Native),
            "caching_sha2_password" => Some(Self::CachingSha2),
            "mysql_clear_password" => Some(Self::Clear),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Clear => "mysql_clear_password",
        }
    }

    /// The answer to the server's nonce.
    pub fn answer(self, password: &str, nonce: &[u8]) -> Vec<u8> {
        if password.is_empty() && self != Self::Clear {
            return Vec::new();
        }
        let secret = password.as_bytes();
        match self {
            Self::Native => {
                let once = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[secret]);
                let twice = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&once]);
                xor(&once, &hash(&SHA1_FOR_LEGACY_USE_ONLY, &[nonce, &twice]))
            }
            Self::CachingSha2 => {
                let once = hash(&SHA256, &[secret]);
                let twice = hash(&SHA256, &[&once]);
                xor(&once, &hash(&SHA256, &[&twice, nonce]))
            }
            Self::Clear => terminated(password),
        }
    }
}

/// The password with the NUL that ends it on the wire.
pub fn terminated(password: &str) -> Vec<u8> {
    let mut bytes = password.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// The password for a server without TLS that does not know its hash yet: under its public key.
pub fn encrypted(password: &str, nonce: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let repeated: Vec<u8> = nonce
        .iter()
        .copied()
        .cycle()
        .take(password.len() + 1)
        .collect();
    let mixed = xor(&terminated(password), &repeated);
    let key = SubjectPublicKeyInfoDer::from_pem_slice(key).ok()?;
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(&key).ok()?).ok()?;
    let mut out = vec![0; key.ciphertext_size()];
    let written = key
        .encrypt(&OAEP_SHA1_MGF1SHA1, &mixed, &mut out, None)
        .ok()?
        .len();
    out.truncate(written);
    Some(out)
}

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    digest::digest(algorithm, &parts.concat()).as_ref().to_vec()
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left ^ right)
        .collect()
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeySize, OaepPrivateDecryptingKey, PrivateDecryptingKey};
    use base64::Engine as _;

    use super::*;

    /// How a server checks an answer: it keeps only the hash of the hash.
    fn verifies(
        algorithm: &'static Algorithm,
        password: &str,
        nonce: &[u8],
        answer: &[u8],
        nonce_first: bool,
    ) -> bool {
        let stored = hash(algorithm, &[&hash(algorithm, &[password.as_bytes()])]);
        let mask = if nonce_first {
            hash(algorithm, &[nonce, &stored])
        } else {
            hash(algorithm, &[&stored, nonce])
        };
        hash(algorithm, &[&xor(answer, &mask)]) == stored
    }

    #[test]
    fn a_server_that_knows_the_hash_accepts_the_answer() {
        let nonce = [9_u8; 20];
        let native = Plugin::Native.answer("hunter2", &nonce);
        assert!(verifies(
            &SHA1_FOR_LEGACY_USE_ONLY,
            "hunter2",
            &nonce,
            &native,
            true
        ));
        let caching = Plugin::CachingSha2.answer("hunter2", &nonce);
        assert!(verifies(&SHA256, "hunter2", &nonce, &caching, false));
        assert!(!verifies(&SHA256, "hunter3", &nonce, &caching, false));
        assert!(Plugin::Native.answer("", &nonce).is_empty());
        assert_eq!(Plugin::Clear.answer("a", &nonce), b"a\0");
        assert_eq!(Plugin::named("client_ed25519"), None);
    }

    #[test]
    fn a_server_decrypts_what_was_encrypted_for_it() {
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let der = private.public_key().as_der().unwrap();
        let pem = format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            base64::engine::general_purpose::STANDARD.encode(der.as_ref())
        );
        let nonce = [3_u8; 20];
        let sealed = encrypted("a password longer than its nonce", &nonce, pem.as_bytes()).unwrap();
        let private = OaepPrivateDecryptingKey::new(private).unwrap();
        let mut out = vec![0; private.min_output_size()];
        let opened = private
            .decrypt(&OAEP_SHA1_MGF1SHA1, &sealed, &mut out, None)
            .unwrap();
        let repeated: Vec<u8> = nonce.iter().copied().cycle().take(opened.len()).collect();
        assert_eq!(
            xor(opened, &repeated),
            b"a password longer than its nonce\0"
        );
        assert_eq!(encrypted("a", &nonce, b"no key"), None);
    }
}
