//! Paths of other machines: told from paths of this one.

use crate::{Code, Failure};

/// Refuses what only a session with remote connections can do.
pub(crate) fn refuse(
    path: &str,
    password: &Option<String>,
    private_key_path: &Option<String>,
) -> Result<(), Failure> {
    if is_remote(path) {
        return Err(Failure::new(
            Code::InvalidRemoteConnection,
            "Paths of other machines are not available in this session.",
        ));
    }
    if password.is_some() || private_key_path.is_some() {
        return Err(Failure::new(
            Code::InvalidArguments,
            "password and private_key_path are for remote paths (user@host:/path) only.",
        ));
    }
    Ok(())
}

/// `ssh://…` or `user@host[#port]:/path`.
pub(crate) fn is_remote(path: &str) -> bool {
    if path.starts_with("ssh://") {
        return true;
    }
    let Some((login, _)) = path.split_once(":/") else {
        return false;
    };
    let is_name = |text: &str| {
        !text.is_empty() && !text.contains(|letter: char| letter == '/' || letter.is_whitespace())
    };
    login
        .split_once('@')
        .is_some_and(|(user, host)| is_name(user) && is_name(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_remote_paths() {
        for path in ["ssh://a@b/c", "ada@host:/etc/hosts", "ada@host#2222:/srv"] {
            assert!(is_remote(path), "{path}");
        }
        for path in ["a@b", "src/a@b:/c", "./x@y", "@:/x", "C:/x", "a b@c:/d"] {
            assert!(!is_remote(path), "{path}");
        }
    }
}
