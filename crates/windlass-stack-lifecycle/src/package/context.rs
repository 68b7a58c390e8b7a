//! What an image would be built from, as a digest: the files a build sees, in a fixed order.

use std::path::Path;

use fs_err as fs;
use windlass_types::Digest;

use crate::package::glob::Globs;
use crate::package::tree::{Found, Kind, Links, Node, Walk};

/// The rules of a `.dockerignore`; the last one that fits decides.
#[derive(Debug, Default)]
pub(crate) struct Ignore {
    rules: Vec<(Globs, bool)>,
}

impl Ignore {
    /// The rules that apply to a Dockerfile: those next to it by its own name, else the context's.
    pub fn read(context: &Path, dockerfile: &Path) -> Result<Self, String> {
        let mut own = dockerfile.as_os_str().to_owned();
        own.push(".dockerignore");
        let text = fs::read_to_string(Path::new(&own))
            .or_else(|_| fs::read_to_string(context.join(".dockerignore")));
        Self::parse(&text.unwrap_or_default())
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rules = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (pattern, is_ignored) = match line.strip_prefix('!') {
                Some(pattern) => (pattern.trim(), false),
                None => (line, true),
            };
            rules.push((Globs::one(pattern)?, is_ignored));
        }
        Ok(Self { rules })
    }

    pub fn is_ignored(&self, path: &str) -> bool {
        let last = self
            .rules
            .iter()
            .rev()
            .find(|(rule, _)| rule.is_match(path));
        last.is_some_and(|(_, is_ignored)| *is_ignored)
    }

    /// Whether something below an ignored folder may be wanted again.
    fn has_exceptions(&self) -> bool {
        self.rules.iter().any(|(_, is_ignored)| !is_ignored)
    }
}

/// The digest of the files below a folder that the rules leave.
pub(crate) fn digest(project: &Path, folder: &Path, ignore: &Ignore) -> Result<Digest, String> {
    let walk = Walk {
        project,
        links: Links::Kept,
        wanted: &|path, kind| match kind {
            Kind::Folder => !ignore.is_ignored(path) || ignore.has_exceptions(),
            Kind::File => !ignore.is_ignored(path),
        },
    };
    let mut parts = Vec::new();
    for Found { path, node } in walk.files(folder)? {
        parts.push(path.into_bytes());
        match node {
            Node::Link { target } => parts.push(format!("link {target}").into_bytes()),
            Node::File { source, executable } => {
                let content = fs::read(source).map_err(|error| error.to_string())?;
                let mode = if executable { "program" } else { "file" };
                parts.push(format!("{mode} {}", Digest::of(&content)).into_bytes());
            }
        }
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Digest::of_parts(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_fits_decides() {
        let ignore = Ignore::parse(
            "# nothing of these\nnode_modules\n**/*.log\n\n*.md\n!README.md\n/secret/\n",
        )
        .unwrap();
        for (path, is_ignored) in [
            ("node_modules", true),
            ("node_modules/a/b", true),
            ("sub/node_modules", false),
            ("deep/er/x.log", true),
            ("x.md", true),
            ("README.md", false),
            ("secret/key", true),
            ("src/index.js", false),
        ] {
            assert_eq!(ignore.is_ignored(path), is_ignored, "{path}");
        }
    }
}
