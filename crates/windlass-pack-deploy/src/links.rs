//! Links in a project: which ones are on the way to what is written, where they lead, and whether
//! that is agreed.
//!
//! A project may be a clone, and its links the work of others. One that stays in the project is
//! named in the plan, and confirming the plan agrees to it. One that leaves the project is refused
//! unless the user allowed where it leads. Links outside of projects are the user's own.

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use windlass_pack_model::fault;
use windlass_types::Problem;

use crate::state::end_of_link;

/// The environment variable that allows destinations.
const ALLOWED_BY: &str = "AGENTPACK_LINK_DESTINATIONS";

/// A link of the project on the way to something that is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProjectLink {
    /// The link.
    pub path: PathBuf,
    /// Where it leads.
    pub leads_to: PathBuf,
    /// Whether a deploy may write through it.
    pub allowed: bool,
}

/// Where the links of a project may lead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRule {
    /// The project.
    pub project: Option<PathBuf>,
    /// Directories outside of it that the user allowed.
    #[serde(default)]
    pub destinations: Vec<PathBuf>,
}

impl LinkRule {
    /// The links of the project on the way to these paths, the paths themselves included.
    pub fn links<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Vec<ProjectLink> {
        let Some(project) = &self.project else {
            return Vec::new();
        };
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut links = Vec::new();
        for path in paths {
            let Ok(below) = path.strip_prefix(project) else {
                continue;
            };
            let mut on_the_way = project.clone();
            for part in below.components() {
                on_the_way.push(part);
                if seen.insert(on_the_way.clone()) && on_the_way.is_symlink() {
                    links.push(self.look(&on_the_way));
                }
            }
        }
        links.sort();
        links
    }

    /// Refuses a path that would be written through a link that is not agreed.
    pub fn check(&self, path: &Path) -> Result<(), Problem> {
        self.links([path]).iter().try_for_each(ProjectLink::agreed)
    }

    /// Whether a path lies in the project.
    pub fn is_in_project(&self, path: &Path) -> bool {
        self.project
            .as_ref()
            .is_some_and(|project| path.starts_with(project))
    }

    fn look(&self, link: &Path) -> ProjectLink {
        let found = end_of_link(link);
        let allowed = found.as_ref().is_ok_and(|to| self.allows(to));
        let text = || std::fs::read_link(link).unwrap_or_default();
        ProjectLink {
            path: link.to_owned(),
            leads_to: found.unwrap_or_else(|_| link.with_file_name(text())),
            allowed,
        }
    }

    fn allows(&self, to: &Path) -> bool {
        let canonical = |path: &PathBuf| path.canonicalize().ok();
        let project = self.project.as_ref().and_then(canonical);
        let in_project = project.is_some_and(|project| {
            to.strip_prefix(project).is_ok_and(|below| {
                // What git keeps there runs as code.
                let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
                !below.components().any(is_git)
            })
        });
        let mut destinations = self.destinations.iter().filter_map(canonical);
        in_project || destinations.any(|allowed| to.starts_with(allowed))
    }
}

impl ProjectLink {
    /// The line of a plan.
    pub fn warning(&self) -> String {
        let (path, to) = (self.path.display(), self.leads_to.display());
        match self.allowed {
            true => format!("{path} is a symbolic link: files are written to {to}"),
            false => format!(
                "{path} is a symbolic link that leaves the project, to {to}: a deploy is refused until the link is removed, or {ALLOWED_BY} names that directory"
            ),
        }
    }

    /// Refuses to write through it unless that is agreed.
    pub fn agreed(&self) -> Result<(), Problem> {
        if self.allowed {
            return Ok(());
        }
        let (path, to) = (self.path.display().to_string(), self.leads_to.display());
        Err(fault::invalid_path(format!(
            "{path} is a symbolic link that leaves the project, to {to}, so nothing is written through it. Remove the link, or name that directory in {ALLOWED_BY} if it is meant"
        ))
        .with("path", path)
        .with("link_target", to.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_may_leave_the_project_only_to_where_the_user_allowed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        for folder in [
            "project/inside",
            "project/.git/hooks",
            "shared/agents",
            "other",
        ] {
            fs_err::create_dir_all(path(folder)).unwrap();
        }
        let rule = LinkRule {
            project: Some(path("project")),
            destinations: vec![path("shared")],
        };
        for (to, allowed) in [
            ("inside", true),
            ("inside/new", true),
            (".git/hooks", false),
            ("../shared/agents", true),
            ("../shared/new", true),
            ("../sharedother", false),
            ("../other", false),
            ("link", false),
            ("..", false),
        ] {
            let link = path("project/link");
            symlink(to, &link).unwrap();
            let below = link.join("x/y.md");
            let links = rule.links([below.as_path()]);
            assert_eq!(links.len(), 1, "{to}");
            assert_eq!((&links[0].path, links[0].allowed), (&link, allowed), "{to}");
            assert_eq!(rule.check(&below).is_ok(), allowed, "{to}");
            assert!(links[0].warning().contains("symbolic link"), "{to}");
            // Outside of the project links are the user's own.
            assert_eq!(rule.links([path("other/x").as_path()]), []);
            fs_err::remove_file(link).unwrap();
        }
    }
}
