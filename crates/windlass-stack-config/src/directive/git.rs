//! What `$GitInfo` answers.

use serde_json::Value;

/// What git says about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitInfo {
    /// Whether something is not committed.
    pub has_uncommitted_changes: bool,
    /// The configured user's name.
    pub username: String,
    /// The current branch; empty when detached.
    pub branch: String,
    /// The current commit.
    pub commit: String,
    /// The remote's address. Credentials in it are never shown.
    pub git_url: String,
}

/// The properties, as they are written in configs.
pub(super) const PROPERTIES: [&str; 5] = [
    "hasUncommitedChanges",
    "username",
    "branch",
    "commit",
    "gitUrl",
];

impl GitInfo {
    pub(super) fn get(&self, property: &str) -> Option<Value> {
        Some(match property {
            "hasUncommitedChanges" => Value::Bool(self.has_uncommitted_changes),
            "username" => Value::String(self.username.clone()),
            "branch" => Value::String(self.branch.clone()),
            "commit" => Value::String(self.commit.clone()),
            "gitUrl" => Value::String(without_credentials(&self.git_url)),
            _ => return None,
        })
    }
}

/// An address without user and password.
fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (authority, path) = match rest.find('/') {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_credentials() {
        for (address, expected) in [
            (
                "https://ada:token@example.com/a.git",
                "https://example.com/a.git",
            ),
            (
                "https://token@example.com/a@b.git",
                "https://example.com/a@b.git",
            ),
            (
                "https://a:p@ss@example.com/a.git",
                "https://example.com/a.git",
            ),
            ("https://token@example.com", "https://example.com"),
            ("git@example.com:a/b.git", "git@example.com:a/b.git"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(address), expected);
        }
    }
}
