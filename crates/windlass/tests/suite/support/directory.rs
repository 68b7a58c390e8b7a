//! Directories as values: filled, read and compared.

use std::{collections::BTreeMap, path::Path};

/// Every file below a directory by its relative path; directories end in `/`.
pub(crate) fn read_tree(root: &Path) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    walk(root, "", &mut tree);
    tree
}

fn walk(directory: &Path, prefix: &str, tree: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            let name = format!("{name}/");
            walk(&entry.path(), &name, tree);
            tree.insert(name, String::new());
        } else {
            let content = fs_err::read(entry.path()).unwrap();
            tree.insert(name, String::from_utf8_lossy(&content).into_owned());
        }
    }
}

/// Writes files by their relative path.
pub(crate) fn fill(root: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }
}

/// Copies a directory byte for byte; symbolic links stay what they are.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy_tree(&from, &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&from).unwrap(), &to).unwrap();
        } else {
            fs_err::copy(&from, &to).unwrap();
        }
    }
}
