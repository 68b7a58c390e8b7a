//! The table of secret shapes that begin with a recognisable text.
//!
//! A row names an anchor; the scanner looks closer only where the anchor occurs. A new
//! provider is one row here and one row in the table test.

/// What must be true of the characters after an anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Which characters the body is made of.
    pub body: Charset,
    /// The fewest body characters that make a token.
    pub min: usize,
    /// The most, when the length is fixed; longer runs are something else.
    pub max: usize,
    /// How random the body must look, for anchors that ordinary text contains too.
    pub looks: Looks,
}

/// Character sets of token bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    /// `A-Z 0-9`
    Upper,
    /// `A-Z a-z 0-9`
    Alphanumeric,
    /// Alphanumeric and `_`
    Word,
    /// Word and `-`
    Url,
    /// Url and `.`
    Dotted,
    /// Base64 with `+ / =`, and the URL alphabet
    Base64,
    /// Url and `/`
    Path,
}

impl Charset {
    pub(crate) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
            }
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
        }
    }
}

/// How random a body must look before it counts as a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// The anchor is proof enough.
    Any,
    /// At least one digit: keeps names such as `npm_config_cache` out.
    Digit,
    /// A digit, and either a capital or 24 characters without a dash: keeps slugs out.
    Mixed,
}

impl Looks {
    pub(crate) fn accepts(self, body: &[u8]) -> bool {
        let digit = || body.iter().any(u8::is_ascii_digit);
        match self {
            Self::Any => true,
            Self::Digit => digit(),
            Self::Mixed => {
                digit()
                    && (body.iter().any(u8::is_ascii_uppercase)
                        || body
                            .split(|byte| *byte == b'-')
                            .any(|part| part.len() >= 24))
            }
        }
    }
}

/// What to do where an anchor occurs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A token of one character set, anchor included.
    Token(Token),
    /// Three base64url parts joined by dots.
    Jwt,
    /// `Bearer` and a credential, outside a header.
    Bearer,
    /// `Authorization` and what follows it.
    Authorization,
    /// `scheme://user:password@`
    Userinfo,
    /// `name = value`, where the name ends with the anchor.
    Assignment,
    /// Text this pass wrote itself; never touched again.
    Placeholder,
}

/// One row: the label in `[redacted:label]`, the anchor and the shape behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub label: &'static str,
    pub anchor: &'static str,
    pub shape: Shape,
}

const fn token(label: &'static str, anchor: &'static str, body: Charset, min: usize) -> Rule {
    shaped(label, anchor, body, min, usize::MAX, Looks::Any)
}

const fn shaped(
    label: &'static str,
    anchor: &'static str,
    body: Charset,
    min: usize,
    max: usize,
    looks: Looks,
) -> Rule {
    Rule {
        label,
        anchor,
        shape: Shape::Token(Token {
            body,
            min,
            max,
            looks,
        }),
    }
}

const fn special(label: &'static str, anchor: &'static str, shape: Shape) -> Rule {
    Rule {
        label,
        anchor,
        shape,
    }
}

const fn assignment(label: &'static str, anchor: &'static str) -> Rule {
    Rule {
        label,
        anchor,
        shape: Shape::Assignment,
    }
}

/// The label of values registered at run time.
pub(crate) const KNOWN: &str = "secret-value";
/// The label of private key blocks.
pub(crate) const PRIVATE_KEY: &str = "private-key";
/// How every replacement begins.
pub(crate) const PLACEHOLDER: &str = "[redacted:";

use Charset::{Alphanumeric, Base64, Dotted, Path, Upper, Url, Word};
use Looks::{Any, Digit, Mixed};

/// Every anchored rule. Matching ignores the case of anchors; token rows compare it.
pub(crate) const RULES: &[Rule] = &[
    special("", PLACEHOLDER, Shape::Placeholder),
    // Windlass itself.
    shaped("windlass-key", "wlk_", Url, 16, usize::MAX, Digit),
    shaped("windlass-key", "wk_", Word, 16, usize::MAX, Digit),
    token("confirm-token", "wct1.", Dotted, 16),
    // Clouds.
    shaped("aws-key", "AKIA", Upper, 16, 16, Any),
    shaped("aws-key", "ASIA", Upper, 16, 16, Any),
    shaped("aws-key", "ABIA", Upper, 16, 16, Any),
    shaped("google-key", "AIza", Url, 35, 35, Any),
    token("google-token", "ya29.", Dotted, 20),
    token("google-secret", "GOCSPX-", Url, 24),
    token("digitalocean-token", "dop_v1_", Alphanumeric, 64),
    token("azure-key", "AccountKey=", Base64, 40),
    token("aws-signature", "X-Amz-Signature=", Alphanumeric, 32),
    // Forges and registries.
    token("github-token", "ghp_", Alphanumeric, 30),
    token("github-token", "gho_", Alphanumeric, 30),
    token("github-token", "ghu_", Alphanumeric, 30),
    token("github-token", "ghs_", Alphanumeric, 30),
    token("github-token", "ghr_", Alphanumeric, 30),
    token("github-token", "github_pat_", Word, 40),
    token("gitlab-token", "glpat-", Dotted, 20),
    token("gitlab-token", "gldt-", Dotted, 20),
    token("gitlab-token", "glrt-", Dotted, 20),
    shaped("npm-token", "npm_", Alphanumeric, 36, 36, Digit),
    token("pypi-token", "pypi-AgE", Url, 32),
    token("rubygems-token", "rubygems_", Alphanumeric, 48),
    token("docker-token", "dckr_pat_", Url, 20),
    token("terraform-token", ".atlasv1.", Url, 40),
    // Chat and mail.
    shaped("slack-token", "xoxa-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxb-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxe-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxe.", Dotted, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxp-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxr-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xoxs-", Url, 10, usize::MAX, Digit),
    shaped("slack-token", "xapp-", Url, 10, usize::MAX, Digit),
    token("slack-webhook", "hooks.slack.com/services/", Path, 20),
    token("discord-webhook", "discord.com/api/webhooks/", Path, 40),
    token("sendgrid-key", "SG.", Dotted, 50),
    // Payment.
    token("stripe-key", "sk_live_", Alphanumeric, 16),
    token("stripe-key", "rk_live_", Alphanumeric, 16),
    token("stripe-key", "sk_test_", Alphanumeric, 16),
    token("stripe-key", "rk_test_", Alphanumeric, 16),
    shaped("webhook-secret", "whsec_", Base64, 24, usize::MAX, Digit),
    token("shopify-token", "shpat_", Alphanumeric, 32),
    token("shopify-token", "shpss_", Alphanumeric, 32),
    token("square-token", "sq0csp-", Url, 40),
    // Models.
    token("anthropic-key", "sk-ant-", Url, 20),
    token("openai-key", "sk-proj-", Url, 20),
    token("openai-key", "sk-svcacct-", Url, 20),
    shaped("openai-key", "sk-", Url, 20, usize::MAX, Mixed),
    shaped(
        "huggingface-token",
        "hf_",
        Alphanumeric,
        30,
        usize::MAX,
        Any,
    ),
    shaped("groq-key", "gsk_", Alphanumeric, 40, usize::MAX, Any),
    shaped("xai-key", "xai-", Alphanumeric, 60, usize::MAX, Any),
    // Operations.
    token("vault-token", "hvs.", Url, 24),
    token("vault-token", "hvb.", Url, 24),
    token("grafana-token", "glsa_", Word, 32),
    token("grafana-token", "glc_", Base64, 32),
    token("newrelic-key", "NRAK-", Upper, 27),
    token("sentry-token", "sntrys_", Base64, 40),
    token("linear-key", "lin_api_", Alphanumeric, 32),
    token("notion-token", "ntn_", Alphanumeric, 40),
    token("postman-key", "PMAK-", Url, 40),
    shaped("databricks-token", "dapi", Alphanumeric, 32, 34, Digit),
    token("doppler-token", "dp.pt.", Alphanumeric, 40),
    token("pulumi-token", "pul-", Alphanumeric, 40),
    token("age-key", "AGE-SECRET-KEY-1", Upper, 50),
    // Shapes of their own.
    special("jwt", "eyJ", Shape::Jwt),
    special("bearer", "bearer ", Shape::Bearer),
    special("authorization", "authorization", Shape::Authorization),
    special("url-password", "://", Shape::Userinfo),
    // Names whose value is a secret, whatever it looks like.
    assignment("password", "password"),
    assignment("password", "passwd"),
    assignment("password", "passphrase"),
    assignment("password", "pwd"),
    assignment("secret", "secret"),
    assignment("token", "token"),
    assignment("api-key", "api_key"),
    assignment("api-key", "api-key"),
    assignment("api-key", "apikey"),
    assignment("secret", "secret_key"),
    assignment("secret", "secret-key"),
    assignment("secret", "secretkey"),
    assignment("secret", "access_key"),
    assignment("secret", "accesskey"),
    assignment("secret", "private_key"),
    assignment("secret", "private-key"),
    assignment("secret", "privatekey"),
    assignment("secret", "signing_key"),
    assignment("secret", "encryption_key"),
];

/// Of the names below.
const LONGEST_SUFFIX: usize = "continuationtoken".len();

/// Whether a name, in any case and with any separators, names a secret.
pub(crate) fn names_a_secret(name: &str) -> bool {
    // The letters and digits at its end, lower-case, as many as the longest suffix has. Every
    // name of every answer comes by here, so nothing is allocated.
    let mut end = [0_u8; LONGEST_SUFFIX];
    let mut start = end.len();
    for byte in name.bytes().rev().filter(u8::is_ascii_alphanumeric) {
        if start == 0 {
            break;
        }
        start -= 1;
        end[start] = byte.to_ascii_lowercase();
    }
    let plain = &end[start..];
    // Cursors and idempotency keys end like secrets and are none.
    let harmless = [
        "pagetoken",
        "nexttoken",
        "continuationtoken",
        "synctoken",
        "progresstoken",
        "clienttoken",
        "requesttoken",
    ];
    let suffixes = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "signingkey",
        "encryptionkey",
        "authorization",
        "cookie",
        "credentials",
        "credential",
    ];
    let ends_like = |suffix: &&str| plain.ends_with(suffix.as_bytes());
    suffixes.iter().any(ends_like) && !harmless.iter().any(ends_like)
}
