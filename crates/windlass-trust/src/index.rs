//! What a repository tracks, read from its index without starting git.

/// The paths in an index, in the order of their bytes.
#[derive(Debug, Default)]
pub struct Index {
    paths: Vec<Vec<u8>>,
}

impl Index {
    /// Reads an index. None where it is of a kind that does not have every path as a whole: version
    /// 4, SHA-256, split; or where it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| -> Option<u32> {
            let bytes = bytes.get(at..at.checked_add(4)?)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        if !bytes.starts_with(b"DIRC") || !matches!(number(4)?, 2 | 3) {
            return None;
        }
        let mut paths: Vec<Vec<u8>> = Vec::new();
        let mut at = 12;
        for _ in 0..number(8)? {
            let flags = number(at + 58)? & 0xffff;
            let start = at + if flags & 0x4000 == 0 { 62 } else { 64 };
            let length = bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
            if length != (flags & 0xfff) as usize && (flags & 0xfff) != 0xfff {
                return None;
            }
            paths.push(bytes.get(start..start + length)?.to_vec());
            at += (start - at + length + 8) & !7;
        }
        // Extensions, then a checksum.
        while at + 20 < bytes.len() {
            if bytes.get(at..at + 4)? == b"link" {
                return None;
            }
            at = at.checked_add(8 + number(at + 4)? as usize)?;
        }
        paths.sort();
        Some(Self { paths })
    }

    /// Whether a file below a folder is tracked; the folder relative to the top.
    pub fn has_below(&self, folder: &str) -> bool {
        let folder = format!("{folder}/").into_bytes();
        let first = self.paths.partition_point(|path| *path < folder);
        self.paths
            .get(first)
            .is_some_and(|path| path.starts_with(&folder))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &std::path::Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(folder).env("HOME", folder).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }

    #[test]
    fn tracked_folders_are_known_by_their_whole_path() {
        let folder = tempfile::tempdir().unwrap();
        let long = "l".repeat(200);
        for path in [
            "a/dist/x.js",
            "my-dist/y.js",
            "dist.ts",
            &format!("{long}/out/z"),
        ] {
            let file = folder.path().join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, path).unwrap();
        }
        let read = || Index::read(&fs_err::read(folder.path().join(".git/index")).unwrap());
        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["add", "-N", "."]);
        let index = read().unwrap();
        assert!(index.has_below("a/dist") && index.has_below("a") && index.has_below("my-dist"));
        assert!(index.has_below(&format!("{long}/out")));
        assert!(!index.has_below("dist") && !index.has_below("a/dis") && !index.has_below("z"));
        // Kinds that cannot be read say so.
        git(folder.path(), &["update-index", "--index-version", "4"]);
        assert!(read().is_none());
        git(folder.path(), &["update-index", "--index-version", "2"]);
        assert!(read().is_some());
        git(folder.path(), &["update-index", "--split-index"]);
        assert!(read().is_none());
        for damaged in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x09"] {
            assert!(Index::read(damaged).is_none());
        }
    }
}
