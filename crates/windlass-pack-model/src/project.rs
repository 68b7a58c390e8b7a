//! Which project a command works in, and the id that names its overlays.

use std::path::{Path, PathBuf};

use windlass_types::Digest;

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its root directory.
    pub root: PathBuf,
    /// Its id: 16 hex characters.
    pub id: String,
    /// The address of its `origin`.
    pub origin_url: Option<String>,
}

impl Project {
    /// The project at a root. `canonical_root` is the root without symbolic links; it names
    /// projects that have no origin.
    pub fn new(root: PathBuf, canonical_root: &Path, origin_url: Option<String>) -> Self {
        let origin_url = origin_url
            .map(|url| url.trim().to_owned())
            .filter(|url| !url.is_empty());
        let id = project_id(origin_url.as_deref(), canonical_root);
        Self {
            root,
            id,
            origin_url,
        }
    }
}

/// The id of a project: 16 hex characters of the digest of its origin, or of its root.
pub fn project_id(origin_url: Option<&str>, canonical_root: &Path) -> String {
    let basis = match origin_url {
        Some(url) => normalise_origin(url),
        None => canonical_root.to_string_lossy().into_owned(),
    };
    let mut id = Digest::of(basis.as_bytes()).to_string();
    id.truncate(16);
    id
}

/// The origin as ids are made from it. Never to be changed: it names `projects/<id>/` in
/// existing repositories. Anything but `git@`, `https://` and `http://` stays as it is.
pub fn normalise_origin(url: &str) -> String {
    let url = url.trim().trim_end_matches(".git");
    let rest = match url.strip_prefix("git@") {
        Some(rest) => rest.replace(':', "/"),
        None => url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))
            .unwrap_or(url)
            .to_owned(),
    };
    rest.to_lowercase()
}

/// Whether a text can be a project's id; ids become directory names.
pub fn is_project_id(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_normalised_as_before() {
        for (url, expected) in [
            ("https://github.com/Org/Repo.git", "github.com/org/repo"),
            ("http://github.com/org/repo", "github.com/org/repo"),
            ("git@github.com:Org/Repo.git\n", "github.com/org/repo"),
            ("git@host:22:x", "host/22/x"),
            (
                "ssh://git@github.com/org/repo.git",
                "ssh://git@github.com/org/repo",
            ),
            ("https://user@host/x", "user@host/x"),
            ("https://host/x.git.git", "host/x"),
            ("https://host/x.git/", "host/x.git/"),
            ("/srv/Repo", "/srv/repo"),
        ] {
            assert_eq!(normalise_origin(url), expected, "{url}");
        }
    }

    #[test]
    fn ids_depend_on_the_origin_else_on_the_root() {
        let root = Path::new("/home/u/p");
        // sha256 of "github.com/org/repo" and of "/home/u/p".
        assert_eq!(
            project_id(Some("git@github.com:org/repo.git"), root),
            Digest::of(b"github.com/org/repo").to_string()[..16]
        );
        assert_eq!(
            project_id(None, root),
            Digest::of(b"/home/u/p").to_string()[..16]
        );
        let project = Project::new(root.into(), root, Some("  ".into()));
        assert_eq!(project.origin_url, None);
        assert!(is_project_id(&project.id));
        assert!(!is_project_id("../../etc/passwd"));
    }
}
