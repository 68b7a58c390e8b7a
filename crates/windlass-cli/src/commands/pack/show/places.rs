//! Paths as people write them: relative to the project, or below `~`.

use std::path::{Path, PathBuf};

/// The directories paths are shown relative to.
#[derive(Clone, Debug)]
pub(in crate::commands::pack) struct Places {
    home: Option<PathBuf>,
    project: Option<PathBuf>,
}

impl Places {
    /// The user's home, and the repository the current directory lies in.
    pub(in crate::commands::pack) fn find(home: Option<PathBuf>, current: Option<PathBuf>) -> Self {
        let project = current.map(|current| {
            let repository = current
                .ancestors()
                .find(|directory| directory.join(".git").exists())
                .map(Path::to_path_buf);
            repository.unwrap_or(current)
        });
        // In the home directory a path begins with `~`.
        let project = project.filter(|project| Some(project) != home.as_ref());
        Self { home, project }
    }

    #[cfg(test)]
    pub(in crate::commands::pack) fn at(home: Option<&str>, project: Option<&str>) -> Self {
        Self {
            home: home.map(PathBuf::from),
            project: project.map(PathBuf::from),
        }
    }

    /// A path, short.
    pub(in crate::commands::pack) fn short(&self, path: &str) -> String {
        if let Some(below) = below(self.project.as_deref(), path) {
            return if below.is_empty() {
                ".".to_owned()
            } else {
                below
            };
        }
        match below(self.home.as_deref(), path) {
            Some(below) if below.is_empty() => "~".to_owned(),
            Some(below) => format!("~/{below}"),
            None => path.to_owned(),
        }
    }

    /// A path as the root it lies in and the rest. The root is given or guessed: the project, or
    /// the first directory in the home, or where the file lies.
    pub(in crate::commands::pack) fn split(
        &self,
        path: &str,
        root: Option<&str>,
    ) -> (String, String) {
        let rest = root.and_then(|root| below(Some(Path::new(root)), path));
        if let (Some(root), Some(rest)) = (root, rest) {
            return (self.label(root), rest);
        }
        if let Some(below) = below(self.project.as_deref(), path) {
            return ("project".to_owned(), below);
        }
        if let Some(below) = below(self.home.as_deref(), path) {
            return match below.split_once('/') {
                Some((first, rest)) => (format!("~/{first}"), rest.to_owned()),
                None => ("~".to_owned(), below),
            };
        }
        match path.rsplit_once('/') {
            Some((directory, name)) if !directory.is_empty() => {
                (directory.to_owned(), name.to_owned())
            }
            _ => (String::new(), path.to_owned()),
        }
    }

    fn label(&self, root: &str) -> String {
        match self.short(root).as_str() {
            "." => "project".to_owned(),
            other => other.to_owned(),
        }
    }
}

fn below(directory: Option<&Path>, path: &str) -> Option<String> {
    let rest = Path::new(path).strip_prefix(directory?).ok()?;
    rest.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        let places = Places::at(Some("/home/ada"), Some("/home/ada/src/shop"));
        for (path, short) in [
            ("/home/ada/src/shop/AGENTS.md", "AGENTS.md"),
            ("/home/ada/src/shop", "."),
            ("/home/ada/src/shopping/a", "~/src/shopping/a"),
            ("/home/ada/.codex/AGENTS.md", "~/.codex/AGENTS.md"),
            ("/home/ada", "~"),
            ("/srv/x", "/srv/x"),
        ] {
            assert_eq!(places.short(path), short);
        }
        assert_eq!(Places::at(None, None).short("/srv/x"), "/srv/x");
    }

    #[test]
    fn a_root_is_given_or_guessed() {
        let places = Places::at(Some("/home/ada"), Some("/home/ada/src/shop"));
        for (path, root, expected) in [
            (
                "/home/ada/.codex/prompts/a.md",
                Some("/home/ada/.codex/prompts"),
                ("~/.codex/prompts", "a.md"),
            ),
            (
                "/home/ada/.codex/prompts/a.md",
                None,
                ("~/.codex", "prompts/a.md"),
            ),
            (
                "/home/ada/src/shop/.claude/commands/x.md",
                None,
                ("project", ".claude/commands/x.md"),
            ),
            (
                "/home/ada/src/shop/AGENTS.md",
                Some("/home/ada/src/shop"),
                ("project", "AGENTS.md"),
            ),
            ("/home/ada/x", None, ("~", "x")),
            ("/srv/out/a", None, ("/srv/out", "a")),
            ("/a", None, ("", "/a")),
        ] {
            let (label, rest) = places.split(path, root);
            assert_eq!((label.as_str(), rest.as_str()), expected, "{path}");
        }
    }

    #[test]
    fn the_project_is_the_repository_around_the_current_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("shop");
        fs_err::create_dir_all(root.join("src")).unwrap();
        fs_err::create_dir_all(root.join(".git")).unwrap();
        let places = Places::find(None, Some(root.join("src")));
        assert_eq!(places.project.as_deref(), Some(root.as_path()));
        let places = Places::find(Some(root.clone()), Some(root));
        assert_eq!(places.project, None);
    }
}
