//! Which paths of a site a run may write: `allowed_paths`, matched on whole components.
//!
//! Only the pure half. The writer opens relative to a directory handle, follows no symbolic
//! link, and asks here again at that moment.

use crate::site_path::{self, PathFault};

#[cfg(test)]
#[path = "allowed_tests.rs"]
mod tests;

/// Names at the top of a repository from which builds are steered. A run may write them only
/// where an entry names them outright, never because of a glob or a folder around them.
const CI_CONFIG: &[&str] = &[
    ".appveyor.yml",
    ".buildkite",
    ".circleci",
    ".drone.yml",
    ".forgejo",
    ".gitea",
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
];

/// Why an entry of `allowed_paths` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// It is no path inside the site.
    #[error(transparent)]
    Path(#[from] PathFault),
    /// `**` with something next to it.
    #[error("'**' must stand alone between slashes")]
    DoubleStar,
    /// It names git's own folder.
    #[error("'.git' is never writable")]
    Git,
}

/// Why a path may not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no path inside the site.
    #[error("{path:?} is not a path inside the site: {fault}")]
    NotInside {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        fault: PathFault,
    },
    /// It lies in git's own folder.
    #[error("{path:?} lies in '.git', which is never writable")]
    Git {
        /// What the path resolves to.
        path: String,
    },
    /// It steers builds and no entry names it.
    #[error("{path:?} is CI configuration; no entry of allowed_paths names it outright")]
    CiConfig {
        /// What the path resolves to.
        path: String,
    },
    /// No entry admits it.
    #[error("{path:?} is outside allowed_paths")]
    Outside {
        /// What the path resolves to.
        path: String,
    },
}

impl Refusal {
    /// What the path resolves to, relative to the site; as given where it resolves to nothing.
    pub fn path(&self) -> &str {
        match self {
            Self::NotInside { path, .. }
            | Self::Git { path }
            | Self::CiConfig { path }
            | Self::Outside { path } => path,
        }
    }
}

/// The entries, ready to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPaths {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    parts: Vec<Part>,
    /// Whether what lies below a full match is admitted, and whether the match itself is.
    below: Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Below {
    /// `a/b`: the file, or the folder and all in it.
    Too,
    /// `a/b/`, `a/b/**`: all in the folder.
    Only,
    /// A glob: exactly what it matches.
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Name(String),
    /// With `*` or `?`.
    Pattern(String),
    /// `**`: any number of components.
    Any,
}

impl Part {
    fn admits(&self, component: &str) -> bool {
        match self {
            Self::Name(name) => name == component,
            Self::Pattern(pattern) => component_matches(pattern, component),
            Self::Any => true,
        }
    }
}

impl AllowedPaths {
    /// Reads the entries; every bad one is reported with its place in the list.
    pub fn new<S: AsRef<str>>(entries: &[S]) -> Result<Self, Vec<(usize, EntryFault)>> {
        let mut read = Vec::with_capacity(entries.len());
        let mut faults = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match Entry::read(entry.as_ref()) {
                Ok(entry) => read.push(entry),
                Err(fault) => faults.push((index, fault)),
            }
        }
        if faults.is_empty() {
            Ok(Self { entries: read })
        } else {
            Err(faults)
        }
    }

    /// What a path resolves to, if it may be written.
    pub fn admit(&self, path: &str) -> Result<String, Refusal> {
        let components = site_path::normalise(path).map_err(|fault| Refusal::NotInside {
            path: path.to_owned(),
            fault,
        })?;
        let resolved = components.join("/");
        if components.iter().any(|component| is_git_folder(component)) {
            return Err(Refusal::Git { path: resolved });
        }
        let steers_builds = components.first().is_some_and(|first| is_ci_config(first));
        let mut entries = self.entries.iter();
        if steers_builds {
            if entries.any(|entry| entry.names_first(&components) && entry.admits(&components)) {
                return Ok(resolved);
            }
            return Err(Refusal::CiConfig { path: resolved });
        }
        if entries.any(|entry| entry.admits(&components)) {
            Ok(resolved)
        } else {
            Err(Refusal::Outside { path: resolved })
        }
    }

    /// Whether some path below this folder could be written.
    pub fn reaches_below(&self, folder: &str) -> bool {
        let components = match site_path::normalise(folder) {
            Ok(components) => components,
            // The site itself.
            Err(PathFault::Empty) => return !self.entries.is_empty(),
            Err(_) => return false,
        };
        if components.iter().any(|component| is_git_folder(component)) {
            return false;
        }
        let steers_builds = components.first().is_some_and(|first| is_ci_config(first));
        self.entries.iter().any(|entry| {
            (!steers_builds || entry.names_first(&components)) && entry.reaches_below(&components)
        })
    }
}

impl Entry {
    fn read(text: &str) -> Result<Self, EntryFault> {
        site_path::check_folder(text)?;
        let ends_in_slash = text.ends_with('/');
        let mut parts = Vec::new();
        for component in text.trim_end_matches('/').split('/') {
            if is_git_folder(component) {
                return Err(EntryFault::Git);
            }
            match component {
                "." => {}
                "**" => parts.push(Part::Any),
                part if part.contains("**") => return Err(EntryFault::DoubleStar),
                part if part.contains(['*', '?']) => parts.push(Part::Pattern(part.to_owned())),
                part => parts.push(Part::Name(part.to_owned())),
            }
        }
        let below = if parts.last() == Some(&Part::Any) {
            parts.pop();
            Below::Only
        } else if ends_in_slash || parts.is_empty() {
            Below::Only
        } else if parts.iter().any(|part| !matches!(part, Part::Name(_))) {
            Below::Never
        } else {
            Below::Too
        };
        Ok(Self { parts, below })
    }

    /// Whether the entry's first component is this path's, letter for letter.
    fn names_first(&self, components: &[&str]) -> bool {
        matches!(
            (self.parts.first(), components.first()),
            (Some(Part::Name(name)), Some(first)) if name == first
        )
    }

    fn admits(&self, components: &[&str]) -> bool {
        match self.below {
            Below::Never => matches_all(&self.parts, components),
            Below::Too => {
                matches_all(&self.parts, components) || self.matches_a_folder_of(components)
            }
            Below::Only => self.matches_a_folder_of(components),
        }
    }

    fn matches_a_folder_of(&self, components: &[&str]) -> bool {
        (0..components.len()).any(|length| matches_all(&self.parts, &components[..length]))
    }

    /// Whether the entry admits the folder's content, or something deeper in it.
    fn reaches_below(&self, folder: &[&str]) -> bool {
        let takes_what_is_below = self.below != Below::Never;
        (takes_what_is_below
            && (self.matches_a_folder_of(folder) || matches_all(&self.parts, folder)))
            || self.leads_through(folder)
    }

    /// Whether the entry's first components are the folder's, and more follow.
    fn leads_through(&self, folder: &[&str]) -> bool {
        for (index, part) in self.parts.iter().enumerate() {
            if *part == Part::Any {
                return true;
            }
            match folder.get(index) {
                None => return true,
                Some(component) if part.admits(component) => {}
                Some(_) => return false,
            }
        }
        false
    }
}

/// Whether the parts match the components from first to last. Only the last `**` is ever gone
/// back to, so the time is at most parts × components.
fn matches_all(parts: &[Part], components: &[&str]) -> bool {
    let (mut part, mut component) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
    while component < components.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                last_any = Some((part, component));
                part += 1;
            }
            Some(wanted) if wanted.admits(components[component]) => {
                part += 1;
                component += 1;
            }
            _ => match last_any {
                Some((any, taken)) => {
                    last_any = Some((any, taken + 1));
                    part = any + 1;
                    component = taken + 1;
                }
                None => return false,
            },
        }
    }
    parts[part..].iter().all(|rest| *rest == Part::Any)
}

/// `*` matches any characters, `?` one; everything else is itself. `*` does not match a leading
/// dot, so that a glob never admits hidden files.
fn component_matches(pattern: &str, component: &str) -> bool {
    if component.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = component.chars().collect();
    let (mut at, mut read) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                last_star = Some((at, read));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match last_star {
                Some((star, taken)) => {
                    last_star = Some((star, taken + 1));
                    at = star + 1;
                    read = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Whether a component is git's own folder on any file system: without regard to case, to
/// characters one system ignores, and to endings and short names another takes for the same.
fn is_git_folder(component: &str) -> bool {
    let visible: String = component
        .chars()
        .filter(|character| !is_ignored_in_names(*character))
        .collect();
    let lower = visible.to_lowercase();
    let name = lower
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches([' ', '.']);
    name == ".git" || name == "git~1"
}

fn is_ignored_in_names(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn is_ci_config(component: &str) -> bool {
    let visible: String = component
        .chars()
        .filter(|character| !is_ignored_in_names(*character))
        .collect();
    let folded = site_path::fold(&visible);
    let name = folded
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches([' ', '.']);
    CI_CONFIG.contains(&name)
}
