//! The site's worktree in memory: text that gates read, sizes of everything else.

use std::{collections::BTreeMap, io, path::Path};

use windlass_types::Digest;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Its size in bytes.
    pub size: u64,
    /// Its content; only for files the gates read.
    pub content: Option<Vec<u8>>,
}

/// The files of a site by their path, relative and with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTree {
    files: BTreeMap<String, SiteFile>,
}

/// What gates read; anything else only counts by its size.
const READ: [&str; 10] = [
    "md", "markdown", "html", "htm", "toml", "yaml", "yml", "json", "txt", "svg",
];

/// Beyond this a file is not read: no page is that long.
const MOST: u64 = 8 * 1024 * 1024;

impl SiteTree {
    /// Reads a worktree. Links are not followed, `.git` is left out.
    pub fn load(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        let mut open = vec![(root.to_path_buf(), String::new())];
        while let Some((folder, prefix)) = open.pop() {
            for entry in fs_err::read_dir(&folder)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let kind = entry.file_type()?;
                let path = format!("{prefix}{name}");
                if kind.is_dir() {
                    if name != ".git" {
                        open.push((entry.path(), format!("{path}/")));
                    }
                } else if kind.is_file() {
                    let size = entry.metadata()?.len();
                    let wanted =
                        size <= MOST && extension(&path).is_some_and(|e| READ.contains(&e));
                    let content = wanted.then(|| fs_err::read(entry.path())).transpose()?;
                    tree.files.insert(path, SiteFile { size, content });
                }
            }
        }
        Ok(tree)
    }

    /// Puts a file there.
    pub fn insert(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        let content = content.into();
        let file = SiteFile {
            size: content.len() as u64,
            content: Some(content),
        };
        self.files.insert(path.to_owned(), file);
    }

    /// Notes a file whose content is not read.
    pub fn insert_size(&mut self, path: &str, size: u64) {
        self.files.insert(
            path.to_owned(),
            SiteFile {
                size,
                content: None,
            },
        );
    }

    /// A file.
    pub fn get(&self, path: &str) -> Option<&SiteFile> {
        self.files.get(path)
    }

    /// A file's content.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path)?.content.as_deref()
    }

    /// A file's text; none when it is not UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        str::from_utf8(self.bytes(path)?).ok()
    }

    /// The digest of a file's content.
    pub fn digest(&self, path: &str) -> Option<Digest> {
        self.bytes(path).map(Digest::of)
    }

    /// Whether there is such a file.
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there is anything below a folder.
    pub fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        self.files
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(found, _)| found.starts_with(&prefix))
    }

    /// Every path, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// The part behind the last dot of the file name.
pub fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, extension)| extension)
}

/// Whether a path names a Markdown page.
pub fn is_page(path: &str) -> bool {
    matches!(extension(path), Some("md" | "markdown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_text_and_sizes() {
        let root = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(root.path().join("content/.git")).unwrap();
        fs_err::write(root.path().join("content/a.md"), "A\n").unwrap();
        fs_err::write(root.path().join("content/b.png"), [0_u8; 7]).unwrap();
        fs_err::write(root.path().join("content/.git/x.md"), "x").unwrap();
        let tree = SiteTree::load(root.path()).unwrap();
        assert_eq!(
            tree.paths().collect::<Vec<_>>(),
            ["content/a.md", "content/b.png"]
        );
        assert_eq!(tree.text("content/a.md"), Some("A\n"));
        assert_eq!(
            tree.get("content/b.png")
                .map(|f| (f.size, f.content.is_none())),
            Some((7, true))
        );
        assert!(tree.has_folder("content") && !tree.has_folder("cont"));
    }
}
