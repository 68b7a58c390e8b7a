//! Which project of which host a repository's address names.

/// A project of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The host, without user and port, in lower case.
    pub host: String,
    /// `owner/name`, with groups in between where the host has them; without `.git`.
    pub path: String,
}

impl Project {
    /// Understands `https://host/owner/name.git`, `ssh://git@host:22/owner/name` and
    /// `git@host:owner/name.git`.
    pub fn of(repo_url: &str) -> Option<Self> {
        let (authority, path) = match repo_url.split_once("://") {
            Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => repo_url.split_once(':')?,
        };
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let host = host.split(':').next()?.to_ascii_lowercase();
        let path = path.split(['?', '#']).next()?.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let parts: Vec<&str> = path.split('/').collect();
        let plain = parts
            .iter()
            .all(|part| !matches!(*part, "" | "." | "..") && !part.contains(char::is_whitespace));
        (!host.is_empty() && parts.len() > 1 && plain).then(|| Self {
            host,
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_projects() {
        for (url, expected) in [
            (
                "https://github.com/acme/site",
                Some(("github.com", "acme/site")),
            ),
            (
                "https://user@GitHub.com/acme/site.git/",
                Some(("github.com", "acme/site")),
            ),
            (
                "ssh://git@gitlab.example.org:2222/a/b/c.git",
                Some(("gitlab.example.org", "a/b/c")),
            ),
            (
                "git@github.com:acme/site.git",
                Some(("github.com", "acme/site")),
            ),
            ("https://github.com/acme", None),
            ("https://github.com/acme/../x", None),
            ("https://github.com//x", None),
            ("file:///srv/site", None),
            ("/srv/site", None),
            ("", None),
        ] {
            let found = Project::of(url);
            let found = found.as_ref().map(|p| (p.host.as_str(), p.path.as_str()));
            assert_eq!(found, expected, "{url}");
        }
    }
}
