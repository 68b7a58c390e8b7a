//! Patterns over absolute paths: `?` and `*` inside a component, `**` for any number of them.
//! A pattern that names a directory also covers everything in it.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// Longer than a pattern for the longest path needs to be. Compiling one without end would panic.
const LONGEST: usize = 16 * 1024;

/// A pattern.
#[derive(Clone, Debug)]
pub struct PathPattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Nothing,
    /// `**` alone.
    Everything,
    /// Meets paths without their first `/`.
    Glob(GlobMatcher),
}

impl PathPattern {
    /// Reads an absolute pattern; `.` components and doubled slashes do not count.
    pub fn new(pattern: &str) -> Self {
        let pattern = pattern.replace('\\', "/");
        let mut components: Vec<String> = pattern
            .split('/')
            .filter(|component| !component.is_empty() && *component != ".")
            .map(glob_component)
            .collect();
        // An empty pattern would mean everything, which is surely a mistake.
        if components.is_empty() {
            return Self(Kind::Nothing);
        }
        // What is below a match is covered anyway.
        while components.last().is_some_and(|last| last == "**") {
            components.pop();
        }
        if components.is_empty() {
            return Self(Kind::Everything);
        }
        components.dedup_by(|next, before| next == "**" && before == "**");
        Self(compile(&components.join("/")).map_or(Kind::Nothing, Kind::Glob))
    }

    /// Whether a path is meant.
    pub fn matches(&self, path: &Path) -> bool {
        let glob = match &self.0 {
            Kind::Nothing => return false,
            Kind::Everything => return true,
            Kind::Glob(glob) => glob,
        };
        let text = path.to_string_lossy().replace('\\', "/");
        let mut reached = String::with_capacity(text.len());
        text.split('/').filter(|name| !name.is_empty()).any(|name| {
            if !reached.is_empty() {
                reached.push('/');
            }
            reached.push_str(name);
            glob.is_match(&reached)
        })
    }
}

fn compile(pattern: &str) -> Option<GlobMatcher> {
    if pattern.len() > LONGEST {
        return None;
    }
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    // Everything that could be malformed is escaped.
    glob.ok().map(|glob| glob.compile_matcher())
}

/// A component as a glob says it: brackets and braces mean themselves, and only a component that
/// is `**` as a whole stands for several.
fn glob_component(component: &str) -> String {
    let mut glob = String::with_capacity(component.len());
    for letter in component.chars() {
        match letter {
            '*' if glob.ends_with('*') && component != "**" => {}
            '[' | ']' | '{' | '}' => glob.extend(['\\', letter]),
            other => glob.push(other),
        }
    }
    glob
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
            ("/h/**", "/h", true),
            ("/**", "/h", true),
            ("/*", "/", false),
            ("/h/a**c", "/h/abc", true),
            ("/h/a**c", "/h/a/c", false),
            ("/h/[ab].md", "/h/[ab].md", true),
            ("/h/[ab].md", "/h/a.md", false),
            ("/h/{a,b}", "/h/a", false),
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
