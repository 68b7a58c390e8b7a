//! Patterns over absolute paths: `?` and `*` inside a component, `**` for any number of them.
//! A pattern that names a directory also covers everything in it.

use std::path::Path;

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    components: Vec<String>,
}

impl PathPattern {
    /// Reads an absolute pattern; `.` components and doubled slashes do not count.
    pub fn new(pattern: &str) -> Self {
        Self {
            components: pattern
                .replace('\\', "/")
                .split('/')
                .filter(|component| !component.is_empty() && *component != ".")
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Whether a path is meant.
    pub fn matches(&self, path: &Path) -> bool {
        let text = path.to_string_lossy().replace('\\', "/");
        let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        // An empty pattern would mean everything; nobody types that on purpose.
        !self.components.is_empty() && covers(&self.components, &names)
    }
}

/// Walks pattern and path with one place to come back to, so no pattern takes long.
fn covers(pattern: &[String], names: &[&str]) -> bool {
    let (mut at, mut name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if at == pattern.len() {
            // All of the pattern is used up: the path itself, or something below it.
            return true;
        }
        if pattern[at] == "**" {
            retry = Some((at + 1, name));
            at += 1;
        } else if name < names.len() && fits(pattern[at].as_bytes(), names[name].as_bytes()) {
            at += 1;
            name += 1;
        } else {
            match retry {
                Some((after, from)) if from < names.len() => {
                    retry = Some((after, from + 1));
                    at = after;
                    name = from + 1;
                }
                _ => return false,
            }
        }
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut byte) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while byte < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, byte));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                byte += 1;
            }
            Some(literal) if *literal == name[byte] => {
                at += 1;
                byte += 1;
            }
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    at = after;
                    byte = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_patterns_mean() {
        for (pattern, path, expected) in [
            ("/h/a.md", "/h/a.md", true),
            ("/h/a.md", "/h/b.md", false),
            ("/h/*.md", "/h/a.md", true),
            ("/h/*.md", "/h/x/a.md", false),
            ("/h/**/*.md", "/h/x/y/a.md", true),
            ("/h/**/*.md", "/h/a.md", true),
            ("/h/**", "/h/x/y", true),
            ("/h/skills", "/h/skills/demo/SKILL.md", true),
            ("/h/skill", "/h/skills/demo/SKILL.md", false),
            ("/h/sk?lls/*/S*.md", "/h/skills/demo/SKILL.md", true),
            ("/h/*a*b*", "/h/xxaxxbxx", true),
            ("/h/*a*b*", "/h/xxbxxaxx", false),
            ("", "/h/a.md", false),
            ("/", "/h/a.md", false),
            ("/h/./a.md", "/h/a.md", true),
            ("/**/a/b", "/a/a/b", true),
        ] {
            assert_eq!(
                PathPattern::new(pattern).matches(Path::new(path)),
                expected,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = PathPattern::new(&format!("/{}b", "*a".repeat(40)));
        let path = format!("/{}", "a".repeat(4000));
        assert!(!pattern.matches(Path::new(&path)));
    }
}
