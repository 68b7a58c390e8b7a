//! Lists every Markdown page under `docs/`, and the README of the repository, for `src/corpus.rs`.
//!
//! Pages are included as they are: they are text of a few hundred kilobytes, and so an answer borrows
//! from the binary and costs no memory.

use std::{env, fmt::Write as _, io, path::Path};

/// The README has no front matter: it is the first page of the repository, too.
const README: &str =
    "---\ndocType: getting-started\ntitle: Windlass\ntags: [readme, overview]\npriority: 3\n---\n";

fn main() -> io::Result<()> {
    let crate_folder = variable("CARGO_MANIFEST_DIR")?;
    let docs = Path::new(&crate_folder).join("../../docs");
    let mut pages = Vec::new();
    collect(&docs, "", &mut pages)?;
    pages.sort();
    let mut source = String::from("&[\n");
    writeln!(
        source,
        "    (\"../README.md\", concat!({README:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../README.md\")))),"
    )
    .map_err(io::Error::other)?;
    for page in pages {
        writeln!(
            source,
            "    ({page:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../docs/{page}\"))),"
        )
        .map_err(io::Error::other)?;
    }
    source.push_str("]\n");
    fs_err::write(Path::new(&variable("OUT_DIR")?).join("pages.rs"), source)
}

fn variable(name: &str) -> io::Result<String> {
    env::var_os(name)
        .and_then(|value| value.into_string().ok())
        .ok_or_else(|| io::Error::other(format!("cargo did not set {name}")))
}

fn collect(folder: &Path, prefix: &str, pages: &mut Vec<String>) -> io::Result<()> {
    // A folder's own time changes when a page comes or goes; contents are watched by include_str.
    if let Some(path) = folder.to_str() {
        println!("cargo::rerun-if-changed={path}");
    }
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), pages)?;
        } else if path.ends_with(".md") {
            pages.push(path);
        }
    }
    Ok(())
}
