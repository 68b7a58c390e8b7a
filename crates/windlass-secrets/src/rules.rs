//! What a rule is, and the rules that are not rows of a table: shapes of their own and names.
//!
//! A rule has an anchor; the scanner looks closer only where the anchor occurs. Formats with a
//! prefix or a service's name are rows of `kinds.txt`, which [`crate::kinds`] reads.

use crate::kinds;

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
    /// `0-9`
    Digit,
    /// `0-9 a-f A-F`
    Hex,
    /// `a-z 0-9`
    Lower,
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
    /// Base64 and `. : ~ ! | @ %`: what a token without a format of its own may contain
    Loose,
    /// What `crypt` writes: Base64 and `. $ , @ : *`
    Crypt,
}

impl Charset {
    pub(crate) fn contains(self, byte: u8) -> bool {
        let alphanumeric = byte.is_ascii_alphanumeric();
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => alphanumeric,
            Self::Word => alphanumeric || byte == b'_',
            Self::Url => alphanumeric || matches!(byte, b'_' | b'-'),
            Self::Dotted => alphanumeric || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => alphanumeric || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
            Self::Path => alphanumeric || matches!(byte, b'_' | b'-' | b'/'),
            Self::Loose => {
                Self::Base64.contains(byte)
                    || matches!(byte, b'.' | b':' | b'~' | b'!' | b'|' | b'@' | b'%')
            }
            Self::Crypt => {
                Self::Base64.contains(byte)
                    || matches!(byte, b'.' | b'$' | b',' | b'@' | b':' | b'*')
            }
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
    /// At least one capital: keeps hexadecimal digests out.
    Capital,
    /// Letters and digits in no order that words have.
    Random,
    /// Three parts joined by dots, the second of six characters: a bot's id, a time, a signature.
    Parts,
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
            Self::Capital => body.iter().any(u8::is_ascii_uppercase),
            Self::Random => crate::random::is_random(body),
            Self::Parts => {
                let mut parts = body.split(|byte| *byte == b'.').map(<[u8]>::len);
                let lengths = (parts.next(), parts.next(), parts.next(), parts.next());
                matches!(lengths, (Some(15..=25), Some(6..=7), Some(27..), None))
            }
        }
    }
}

/// A format that is recognised by a text in its middle or at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub before: Charset,
    pub before_min: usize,
    pub before_max: usize,
    pub body: Charset,
    pub min: usize,
    pub max: usize,
}

/// What to do where an anchor occurs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A token of one character set, anchor included.
    Token(Token),
    /// A token with the anchor in its middle or at its end.
    Around(Around),
    /// A service's name, and a token of the service's format a few words further on.
    Context(Token),
    /// Three base64url parts joined by dots.
    Jwt,
    /// `Bearer` and a credential, outside a header.
    Bearer,
    /// `Authorization` and what follows it.
    Authorization,
    /// `scheme://user:password@`
    Userinfo,
    /// `-u user:password` of an HTTP client.
    Login,
    /// `-p password` of a client that takes one.
    PasswordFlag,
    /// The last of the texts that a call takes, as in `NetworkCredential("user", "password")`.
    Credentials,
    /// `host:port:database:user:password`, a line of a password file.
    PasswordLine,
    /// `name = value`, where the name ends with the anchor.
    Assignment,
    /// A word such as `key` in a name, and a random value.
    Keyword,
    /// Text this pass wrote itself; never touched again.
    Placeholder,
}

/// One rule: the label in `[redacted:label]`, the anchor and the shape behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub label: &'static str,
    pub anchor: &'static str,
    pub shape: Shape,
}

const fn rule(label: &'static str, anchor: &'static str, shape: Shape) -> Rule {
    Rule {
        label,
        anchor,
        shape,
    }
}

const fn around(
    label: &'static str,
    anchor: &'static str,
    before: (Charset, usize, usize),
    after: (Charset, usize, usize),
) -> Rule {
    rule(
        label,
        anchor,
        Shape::Around(Around {
            before: before.0,
            before_min: before.1,
            before_max: before.2,
            body: after.0,
            min: after.1,
            max: after.2,
        }),
    )
}

/// The label of values registered at run time.
pub(crate) const KNOWN: &str = "secret-value";
/// The label of private key blocks.
pub(crate) const PRIVATE_KEY: &str = "private-key";
/// How every replacement begins.
pub(crate) const PLACEHOLDER: &str = "[redacted:";

/// How many rules there are.
pub(crate) const COUNT: usize = OF_TABLE + kinds::COUNT;

/// Where the parts of the list begin.
const OF_NAMES: usize = SHAPES.len();
const OF_KEYWORDS: usize = OF_NAMES + NAMES.len();
const OF_TABLE: usize = OF_KEYWORDS + KEYWORDS.len();

/// The anchored rule of a number. Matching ignores the case of anchors; token rows compare it.
pub(crate) fn get(index: usize) -> Rule {
    match index {
        OF_TABLE.. => kinds::rule(index - OF_TABLE),
        OF_KEYWORDS.. => rule("api-key", KEYWORDS[index - OF_KEYWORDS], Shape::Keyword),
        OF_NAMES.. => {
            let (label, name) = NAMES[index - OF_NAMES];
            rule(label, name, Shape::Assignment)
        }
        _ => SHAPES[index],
    }
}

/// The anchor of a rule.
pub(crate) const fn anchor(index: usize) -> &'static str {
    match index {
        OF_TABLE.. => kinds::anchor(index - OF_TABLE),
        OF_KEYWORDS.. => KEYWORDS[index - OF_KEYWORDS],
        OF_NAMES.. => NAMES[index - OF_NAMES].1,
        _ => SHAPES[index].anchor,
    }
}

/// Every rule.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = Rule> {
    (0..COUNT).map(get)
}

/// The label of every rule.
pub(crate) fn labels() -> impl Iterator<Item = &'static str> {
    let shapes = SHAPES.iter().map(|rule| rule.label);
    let names = NAMES.iter().map(|(label, _)| *label);
    let table = (0..kinds::COUNT).map(kinds::label);
    shapes.chain(names).chain(["api-key"]).chain(table)
}

use Charset::{Alphanumeric, Base64, Digit, Dotted, Hex, Loose, Lower, Url, Word};

const SHAPES: &[Rule] = &[
    rule("", PLACEHOLDER, Shape::Placeholder),
    rule("jwt", "eyJ", Shape::Jwt),
    rule("jwt", "eyA", Shape::Jwt),
    rule("jwt", "ewo", Shape::Jwt),
    rule("bearer", "bearer ", Shape::Bearer),
    rule("bearer", "bearer: ", Shape::Bearer),
    rule("authorization", "authorization", Shape::Authorization),
    rule("url-password", "://", Shape::Userinfo),
    rule("login-password", "-u ", Shape::Login),
    rule("login-password", "--user ", Shape::Login),
    rule("login-password", "--user=", Shape::Login),
    rule("login-password", "--proxy-user ", Shape::Login),
    rule("login-password", " -p ", Shape::PasswordFlag),
    rule("login-password", "credential(", Shape::Credentials),
    rule("login-password", "credentials(", Shape::Credentials),
    rule("login-password", "directoryentry(", Shape::Credentials),
    rule("login-password", "basicauth(", Shape::Credentials),
    rule("login-password", "basic_auth(", Shape::Credentials),
    rule(
        "login-password",
        "passwordauthentication(",
        Shape::Credentials,
    ),
    rule("login-password", ".login(", Shape::Credentials),
    rule("login-password", "auth=(", Shape::Credentials),
    rule("password", ":5432:", Shape::PasswordLine),
    rule("password", ":*:", Shape::PasswordLine),
    around("mailchimp-key", "-us", (Hex, 32, 32), (Digit, 1, 2)),
    around("telegram-token", ":AA", (Digit, 8, 10), (Url, 32, 36)),
    around("azure-secret", "7Q~", (Dotted, 3, 3), (Loose, 31, 34)),
    around("azure-secret", "8Q~", (Dotted, 3, 3), (Loose, 31, 34)),
    around("azure-secret", "9Q~", (Dotted, 3, 3), (Loose, 31, 34)),
    around(
        "thingsboard-token",
        "/telemetry",
        (Lower, 20, 20),
        (Word, 0, 0),
    ),
    around(
        "thingsboard-token",
        "/attributes",
        (Lower, 20, 20),
        (Word, 0, 0),
    ),
    around("newrelic-key", "NRAL", (Alphanumeric, 36, 36), (Word, 0, 0)),
    around("maxmind-key", "_mmk", (Word, 36, 36), (Word, 0, 0)),
    around(
        "azure-key",
        "JQQJ99",
        (Alphanumeric, 52, 52),
        (Alphanumeric, 26, 26),
    ),
    around(
        "azure-key",
        "AZDO",
        (Alphanumeric, 76, 76),
        (Alphanumeric, 4, 4),
    ),
    around("azure-key", "+AMC", (Base64, 12, 80), (Base64, 6, 40)),
    around("azure-key", "+ASt", (Base64, 76, 80), (Base64, 6, 8)),
    around("azure-key", "AzFu", (Base64, 44, 44), (Base64, 8, 8)),
    around("azure-key", "AzCa", (Base64, 33, 33), (Base64, 8, 8)),
    around(
        "azure-key",
        "AzSe",
        (Alphanumeric, 42, 42),
        (Alphanumeric, 6, 6),
    ),
    around("azure-key", "+ACR", (Base64, 36, 44), (Base64, 6, 8)),
    around(
        "tableau-token",
        "==:",
        (Base64, 20, 24),
        (Alphanumeric, 32, 32),
    ),
    around(
        "terraform-token",
        ".atlasv1.",
        (Alphanumeric, 14, 14),
        (Url, 40, 90),
    ),
    around(
        "salesforce-token",
        "!AQ",
        (Alphanumeric, 15, 18),
        (Dotted, 60, 160),
    ),
];

/// Names whose value is a secret, whatever it looks like.
const NAMES: &[(&str, &str)] = &[
    ("password", "password"),
    ("password", "passwd"),
    ("password", "passwort"),
    ("password", "passphrase"),
    ("password", "passcode"),
    ("password", "pwd"),
    ("password", "_pass"),
    ("password", "pass"),
    ("password", "_pw"),
    ("password", "dbpass"),
    ("password", "userpass"),
    ("secret", "secret"),
    ("token", "token"),
    ("api-key", "api_key"),
    ("api-key", "api-key"),
    ("api-key", "api key"),
    ("api-key", "apikey"),
    ("secret", "secret_key"),
    ("secret", "secret-key"),
    ("secret", "secret key"),
    ("secret", "secretkey"),
    ("secret", "access_key"),
    ("secret", "access-key"),
    ("secret", "accesskey"),
    ("secret", "function_key"),
    ("secret", "functionkey"),
    ("secret", "storage_key"),
    ("secret", "storagekey"),
    ("secret", "contribsys__com"),
    ("secret", "account_key"),
    ("secret", "accountkey"),
    ("secret", "auth_key"),
    ("secret", "auth-key"),
    ("secret", "authkey"),
    ("secret", "private_key"),
    ("secret", "private-key"),
    ("secret", "privatekey"),
    ("secret", "preshared_key"),
    ("secret", "presharedkey"),
    ("secret", "signing_key"),
    ("secret", "signing-key"),
    ("secret", "signingkey"),
    ("secret", "encryption_key"),
    ("secret", "encryption-key"),
    ("secret", "encryptionkey"),
    ("secret", "master_key"),
    ("secret", "masterkey"),
    ("secret", "secret_key_base"),
    ("secret", "credential"),
    ("secret", "credentials"),
];

/// Words that make a random value beside them a secret.
const KEYWORDS: &[&str] = &[
    "key", "token", "secret", "access", "private", "auth", "cred", "pass", "pwd", "_pat", "-pat",
    "api", "licen", "crumb", "cookie", "unseal", "jwt",
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
    let suffixes = [
        "password",
        "passwd",
        "passwort",
        "passphrase",
        "passcode",
        "pwd",
        "dbpass",
        "userpass",
        "secret",
        "token",
        "apikey",
        "secretkey",
        "secretkeybase",
        "accesskey",
        "accountkey",
        "storagekey",
        "functionkey",
        "contribsyscom",
        "authkey",
        "privatekey",
        "presharedkey",
        "signingkey",
        "encryptionkey",
        "masterkey",
        "authorization",
        "cookie",
        "credentials",
        "credential",
    ];
    let ends_like = |suffix: &&str| plain.ends_with(suffix.as_bytes());
    suffixes.iter().any(ends_like) && !is_harmless(plain)
}

/// Whether a name, in small letters without separators, is that of a cursor, of a key that only
/// tells calls apart, or of a key that everybody may know: they end like secrets and are none.
pub(crate) fn is_harmless(plain: &[u8]) -> bool {
    let harmless = [
        "pagetoken",
        "nexttoken",
        "continuationtoken",
        "synctoken",
        "progresstoken",
        "clienttoken",
        "requesttoken",
        "changetoken",
        "actiontoken",
        "publickey",
        "pubkey",
    ];
    let ends_like = |suffix: &&str| plain.ends_with(suffix.as_bytes());
    harmless.iter().any(ends_like)
}
