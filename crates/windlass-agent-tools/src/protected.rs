//! Paths that no tool of a model writes, whether they exist or not: what other programs execute or
//! obey, and credentials.

use std::path::{Component, Path};

use windlass_ports::sandbox::CREDENTIALS;

/// Anywhere: git's own directory (its hooks and settings start programs, the rest is written by git),
/// Windlass's, and directories of credentials.
const ANYWHERE: [(&str, &str); 7] = [
    (".git", "git writes its own directory; use git commands"),
    (".windlass", "it holds Windlass's own files"),
    (".ssh", "it holds credentials"),
    (".gnupg", "it holds credentials"),
    (".aws", "it holds credentials"),
    (".azure", "it holds credentials"),
    (".kube", "it holds credentials"),
];

/// In a home directory: what a shell, git or the desktop runs or obeys at its next start.
const IN_HOME: [&str; 17] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish",
    ".gitconfig",
    ".config/git",
    ".config/autostart",
    ".config/systemd",
    ".pam_environment",
];

/// Why a path must stay as it is; none when it need not. `root` is the directory that the session
/// opened, `below` the path in it without `..`.
pub(crate) fn why(root: &Path, below: &Path, home: &Path, own_home: &Path) -> Option<String> {
    // Some file systems take `.GIT` for `.git`, drop trailing dots and blanks, or ignore characters
    // that are not seen.
    let inner = folded(below);
    for (name, reason) in ANYWHERE {
        if inner.iter().any(|part| part == name) {
            return Some(format!("{name} is protected: {reason}."));
        }
    }
    if inner.iter().any(|part| part == "git~1") {
        return Some("git~1 is another name of .git on some file systems.".to_owned());
    }
    let whole = folded(&root.join(below));
    let rest = |directory: &Path| -> Option<String> {
        let directory = folded(directory);
        // Everything is below the root directory, so it protects nothing.
        let is_below = !directory.is_empty() && whole.starts_with(&directory);
        is_below.then(|| whole.get(directory.len()..).unwrap_or_default().join("/"))
    };
    if rest(own_home).is_some() && !root.starts_with(own_home) {
        return Some("Windlass's own directory is protected.".to_owned());
    }
    let below_home = rest(home)?;
    let is_at = |name: &&&str| {
        below_home
            .strip_prefix(**name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let start = IN_HOME.iter().find(is_at);
    if let Some(name) = start {
        return Some(format!(
            "~/{name} is protected: programs run or obey it at their next start."
        ));
    }
    let credential = CREDENTIALS.iter().find(is_at);
    credential.map(|name| format!("~/{name} is protected: it holds credentials."))
}

fn folded(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(fold(&name.to_string_lossy())),
            _ => None,
        })
        .collect()
}

fn fold(name: &str) -> String {
    let seen: String = name
        .chars()
        .filter(|letter| !windlass_text::is_hidden(*letter))
        .flat_map(char::to_lowercase)
        .collect();
    let plain = seen.trim_end_matches(['.', ' ']);
    match plain.is_empty() {
        true => seen,
        false => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_execute_or_trust_stays() {
        let is_protected = |path: &str| {
            why(
                Path::new("/"),
                Path::new(path.trim_start_matches('/')),
                Path::new("/home/ada"),
                Path::new("/srv/windlass"),
            )
            .is_some()
        };
        for path in [
            "/p/.git",
            "/p/.git/hooks/pre-commit",
            "/p/.git/config",
            "/p/sub/.git/config.worktree",
            "/p/.GIT/hooks/x",
            "/p/.git./config",
            "/p/.g\u{200c}it/config",
            "/p/GIT~1/config",
            "/p/.windlass/rules.toml",
            "/p/.ssh/authorized_keys",
            "/srv/windlass/policy.toml",
            "/home/ada/.bashrc",
            "/home/ada/.config/fish/config.fish",
            "/home/ada/.config/gcloud/x",
            "/home/ada/.netrc",
            "/home/ada/.cargo/credentials.toml",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "/p/.gitignore",
            "/p/.github/workflows/ci.yml",
            "/p/.gitattributes",
            "/p/dotfiles/.bashrc",
            "/home/ada/project/.bashrc",
            "/home/ada/.config/nvim/init.lua",
            "/p/git/config",
            "/p/...",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }
}
