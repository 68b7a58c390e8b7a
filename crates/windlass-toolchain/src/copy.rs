//! Copies a site: its files and the links that stay inside, and nothing else.

use std::{
    collections::BTreeSet,
    io,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
};

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There was no time left.
    #[error("the time is up")]
    TimedOut,
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Copies `site` into the empty directory `to`; returns the links that were left out because they
/// lead out of the site or nowhere.
///
/// Git's own files are not copied, nor is anything that is neither file, directory nor link.
pub fn copy_site(
    site: &Path,
    to: &Path,
    time_is_up: &dyn Fn() -> bool,
) -> Result<BTreeSet<String>, CopyError> {
    let site = fs_err::canonicalize(site)?;
    let mut left_out = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(site.join(&folder))? {
            if time_is_up() {
                return Err(CopyError::TimedOut);
            }
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if is_gits(&path) {
                continue;
            } else if kind.is_dir() {
                fs_err::create_dir(to.join(&path))?;
                folders.push(path);
            } else if kind.is_file() {
                fs_err::copy(entry.path(), to.join(&path))?;
            } else if kind.is_symlink() {
                match target_within(&site, &entry.path()) {
                    Some(target) => symlink(to.join(target), to.join(&path))?,
                    None => {
                        left_out.insert(path.to_string_lossy().into_owned());
                    }
                }
            }
        }
    }
    Ok(left_out)
}

/// Where a link leads in the end, relative to the site; none when that is not in the site.
fn target_within(site: &Path, link: &Path) -> Option<PathBuf> {
    let target = fs_err::canonicalize(link).ok()?;
    let target = target.strip_prefix(site).ok()?;
    (!is_gits(target)).then(|| target.to_owned())
}

fn is_gits(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part, Component::Normal(name) if name == ".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every path below a folder, with what it holds or where it leads.
    fn picture(folder: &Path) -> String {
        let mut lines = BTreeSet::new();
        let mut left = vec![folder.to_owned()];
        while let Some(next) = left.pop() {
            for entry in fs_err::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let shown = path.strip_prefix(folder).unwrap().display().to_string();
                if path.is_symlink() {
                    let target = fs_err::read_link(&path).unwrap();
                    let target = target.strip_prefix(folder).unwrap().display().to_string();
                    lines.insert(format!("{shown} -> {target}"));
                } else if path.is_dir() {
                    lines.insert(format!("{shown}/"));
                    left.push(path);
                } else {
                    let text = fs_err::read_to_string(&path).unwrap();
                    lines.insert(format!("{shown} = {text}"));
                }
            }
        }
        lines.into_iter().collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn files_and_links_that_stay_inside() {
        let world = tempfile::tempdir().unwrap();
        let site = world.path().join("site");
        let to = world.path().join("copy");
        for folder in ["site/content/a", "site/.git/objects", "outside", "copy"] {
            fs_err::create_dir_all(world.path().join(folder)).unwrap();
        }
        for (file, text) in [
            ("site/hugo.toml", "t"),
            ("site/content/a/b.md", "b"),
            ("site/content/.gitignore", "g"),
            ("site/.git/config", "secret"),
            ("site/content/a/.git", "gitdir: elsewhere"),
            ("outside/secret", "secret"),
        ] {
            fs_err::write(world.path().join(file), text).unwrap();
        }
        let outside = world.path().join("outside");
        for (target, link) in [
            (Path::new("a/b.md"), "content/relative.md"),
            (&site.join("content/a"), "absolute"),
            (Path::new("relative.md"), "content/chain.md"),
            (&outside.join("secret"), "content/leak.md"),
            (&outside, "content/leaks"),
            (Path::new("../../outside/secret"), "content/up.md"),
            (Path::new("leak.md"), "content/chain-out.md"),
            (Path::new("../.git/config"), "content/git.md"),
            (Path::new("nowhere"), "content/nowhere.md"),
            (Path::new("loop"), "loop"),
        ] {
            symlink(target, site.join(link)).unwrap();
        }
        let pipe = std::process::Command::new("mkfifo")
            .arg(site.join("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        let left_out = copy_site(&site, &to, &|| false).unwrap();
        insta::assert_snapshot!(picture(&to), @"
        absolute -> content/a
        content/
        content/.gitignore = g
        content/a/
        content/a/b.md = b
        content/chain.md -> content/a/b.md
        content/relative.md -> content/a/b.md
        hugo.toml = t
        ");
        assert_eq!(
            left_out.iter().map(String::as_str).collect::<Vec<_>>(),
            [
                "content/chain-out.md",
                "content/git.md",
                "content/leak.md",
                "content/leaks",
                "content/nowhere.md",
                "content/up.md",
                "loop",
            ]
        );
        assert!(matches!(
            copy_site(&site, &outside, &|| true),
            Err(CopyError::TimedOut)
        ));
    }
}
