//! Files with credentials, by name.

use windlass_shell::{Kind, RedirectKind, Word};

use super::{Found, Guard, changes::is_own};
use crate::{
    glob::Glob,
    tools::{Place, Site, paths::plain},
};

/// Directories that hold nothing else.
const DIRECTORIES: [&str; 8] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".password-store",
    ".vault",
    "keyrings",
];

/// Files of these names.
const FILES: [&str; 22] = [
    ".env",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".htpasswd",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "shadow",
    "gshadow",
    "sudoers",
    "master.key",
    "credentials.toml",
    "credentials.tfrc.json",
    "kubeconfig",
    "environ",
    "auth.toml",
];

/// A directory and a file in it.
const PAIRS: [(&str, &str); 5] = [
    (".docker", "config.json"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".cargo", "credentials"),
    ("~", ".npmrc"),
];

const ENDINGS: [&str; 8] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
];

/// What `.env` may end with and still be an example.
const EXAMPLES: [&str; 6] = [
    "example", "sample", "template", "dist", "defaults", "schema",
];

/// Programs that take a name and read nothing from the file.
const HARMLESS: [&str; 17] = [
    "echo", "printf", "test", "[", "touch", "mkdir", "rmdir", "chmod", "chown", "stat", "ls", "rm",
    "unlink", "basename", "dirname", "ssh-add", "which",
];

pub(crate) fn find(site: &Site<'_>, place: Place<'_>, found: &mut Found) {
    let name = site.name();
    let mut report = |word: &Word| {
        found.add(
            Guard::Credentials,
            format!("{} holds credentials", word.text),
        );
    };
    for redirect in &site.command.redirects {
        if redirect.kind == RedirectKind::Read && names_credential(&redirect.target, place) {
            report(&redirect.target);
        }
    }
    if HARMLESS.contains(&name.as_str()) {
        return;
    }
    let arguments = site.command.arguments();
    let is_copy = matches!(name.as_str(), "cp" | "mv" | "install" | "scp" | "rsync");
    let last = arguments.len().saturating_sub(1);
    let mut is_key = false;
    for (index, word) in arguments.iter().enumerate() {
        // The key that a connection is made with stays here.
        let skipped = std::mem::replace(
            &mut is_key,
            word.text == "-i" && matches!(name.as_str(), "ssh" | "scp" | "sftp"),
        );
        if skipped || (is_copy && index == last) {
            continue;
        }
        if names_credential(word, place) {
            report(word);
        }
    }
}

/// Whether a word, or a part of it behind `=`, `@` or `:`, names such a file.
fn names_credential(word: &Word, place: Place<'_>) -> bool {
    let text = word.text.as_str();
    let parts = text.split(['=', '@', ':', ',']);
    std::iter::once(text)
        .chain(parts)
        .any(|part| match word.kind {
            Kind::Glob => may_be_credential(part, place),
            _ => is_credential(part, place),
        })
}

/// Whether a path is that of a file with credentials.
pub(crate) fn is_credential(path: &str, place: Place<'_>) -> bool {
    let path = match path
        .strip_prefix("~")
        .or_else(|| path.strip_prefix("$HOME"))
    {
        Some(rest) => format!("{}{rest}", place.home),
        None => path.to_owned(),
    };
    let path = plain(&path);
    let segments: Vec<String> = path.split('/').map(str::to_ascii_lowercase).collect();
    let Some(name) = segments.last().filter(|name| !name.is_empty()) else {
        return false;
    };
    let is_home =
        |directory: &str| directory == "~" && path == plain(&format!("{}/.npmrc", place.home));
    let is_pair = |pair: &[String]| match pair {
        [directory, name] => PAIRS.iter().any(|(outer, inner)| {
            (directory == outer || is_home(outer))
                && (name == inner || name.starts_with(&format!("{inner}.")))
        }),
        _ => false,
    };
    // Public halves of keys, and the keys of hosts.
    let is_public = name.ends_with(".pub") || name == "known_hosts";
    if is_public {
        return is_own(&path, place);
    }
    is_own(&path, place)
        || segments
            .iter()
            .any(|segment| DIRECTORIES.contains(&segment.as_str()))
        || segments.windows(2).any(is_pair)
        || is_file(name, &segments)
}

fn is_file(name: &str, segments: &[String]) -> bool {
    // Names that mean something only in one directory.
    let is_in = |directory: &str| segments.iter().any(|segment| segment == directory);
    match name {
        "shadow" | "gshadow" | "sudoers" => return is_in("etc"),
        "environ" => return is_in("proc"),
        "auth.toml" => return is_in(".windlass"),
        _ => {}
    }
    let is_environment = name
        .strip_prefix(".env.")
        .is_some_and(|kind| !EXAMPLES.contains(&kind));
    FILES.contains(&name)
        || is_environment
        || ENDINGS
            .iter()
            .any(|end| name.ends_with(end) && name.len() > end.len())
}

/// Whether a pattern may become such a path.
fn may_be_credential(pattern: &str, place: Place<'_>) -> bool {
    // Braces hold alternatives, so anything may be in their place.
    let mut text = String::new();
    let mut depth = 0_usize;
    for letter in pattern.chars() {
        match letter {
            '{' => {
                depth += 1;
                text.push('*');
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(if matches!(letter, '[' | ']') {
                '*'
            } else {
                letter
            }),
            _ => {}
        }
    }
    if is_credential(&text, place) {
        return true;
    }
    text.split('/').any(|segment| {
        // A bare star takes no hidden file, and everything else is too much to refuse.
        let says_something = segment
            .chars()
            .any(|letter| letter.is_alphanumeric() || letter == '.');
        let Ok(glob) = Glob::path(segment) else {
            return false;
        };
        let is_pattern = segment.contains(['*', '?']);
        let names = DIRECTORIES.iter().chain(&FILES);
        let mut hidden = names.filter(|name| name.starts_with('.') || name.starts_with("id_"));
        is_pattern && says_something && hidden.any(|name| glob.matches(name))
    })
}
