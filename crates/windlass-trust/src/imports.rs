//! Files of the project that a file of code runs: what it imports by a path, and what a config names.
//! By the text alone; a name that code puts together is not found.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

const SCRIPT: [&str; 8] = ["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"];
const OTHERS: [&str; 3] = ["bash", "py", "sh"];

/// Whether a file is code, by its name.
pub fn is_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    (SCRIPT.contains(&extension) || OTHERS.contains(&extension)) && path.is_file()
}

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static SCRIPT_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:\brequire\s*\(\s*|\bimport\s*\(\s*|\bfrom\s*|\bimport\s+|\bexecuteScripts?\s*:\s*\[?\s*)["'`](\.{1,2}/[^"'`\n]+)["'`]"#,
    )
    .unwrap()
});

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static PYTHON_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import\b|import[ \t]+([\w.]+))").unwrap()
});

/// The files that a file of code imports; files that do not exist are not among them.
pub fn of(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    if SCRIPT.contains(&extension) {
        let found = SCRIPT_IMPORT.captures_iter(text);
        let named = found.filter_map(|it| it.get(1)).map(|it| it.as_str());
        return named
            .flat_map(|name| script_files(&folder.join(name)))
            .collect();
    }
    if extension == "py" {
        let found = PYTHON_IMPORT.captures_iter(text);
        let named = found.filter_map(|it| it.get(1).or(it.get(2)));
        return named
            .flat_map(|name| python_files(folder, name.as_str()))
            .collect();
    }
    Vec::new()
}

/// What Node or a bundler could take a path for.
fn script_files(place: &Path) -> Vec<PathBuf> {
    let mut places = vec![place.to_owned()];
    let is_script = |it: &str| SCRIPT.contains(&it);
    if place
        .extension()
        .and_then(|it| it.to_str())
        .is_some_and(is_script)
    {
        // `./a.js` is the compiled name of `./a.ts`.
        places.extend(SCRIPT.iter().map(|it| place.with_extension(it)));
    }
    for extension in SCRIPT.iter().chain(&["json"]) {
        let mut name = place.as_os_str().to_owned();
        name.push(format!(".{extension}"));
        places.push(name.into());
        places.push(place.join(format!("index.{extension}")));
    }
    places.retain(|it| it.is_file());
    places
}

fn python_files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let bare = name.trim_start_matches('.');
    let up = (name.len() - bare.len()).saturating_sub(1);
    let mut place = folder.to_owned();
    for _ in 0..up {
        place.pop();
    }
    let mut places = vec![place.join("__init__.py")];
    for part in bare.split('.').filter(|it| !it.is_empty()) {
        places.push(place.join(format!("{part}.py")));
        place.push(part);
        places.push(place.join("__init__.py"));
    }
    places.retain(|it| it.is_file());
    places
}

/// Paths in a YAML config that are not entry files of workloads.
pub fn named_by_config(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`,:[]{}()|>".contains(letter);
    text.lines()
        .filter(|line| !line.to_ascii_lowercase().contains("entryfile"))
        .flat_map(move |line| line.split(is_end))
        .filter(|word| {
            let extension = word.rsplit_once('.').map_or("", |it| it.1);
            SCRIPT.contains(&extension) || OTHERS.contains(&extension)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_code_imports() {
        let text = r#"
            import a from './a'; import "../b.js"; import pkg from 'pkg'
            const c = require("./c"), d = await import(`./d.mjs`)
            export * from './e'
            executeScript: './f.ts', entryfilePath: './no.ts'
        "#;
        let found: Vec<&str> = SCRIPT_IMPORT
            .captures_iter(text)
            .filter_map(|it| it.get(1).map(|it| it.as_str()))
            .collect();
        assert_eq!(found, ["./a", "../b.js", "./c", "./d.mjs", "./e", "./f.ts"]);
        let text =
            "import os\nfrom .near import x\n  from a.b import c\nimport d.e\nx = 'import f'\n";
        let found: Vec<&str> = PYTHON_IMPORT
            .captures_iter(text)
            .filter_map(|it| it.get(1).or(it.get(2)).map(|it| it.as_str()))
            .collect();
        assert_eq!(found, ["os", ".near", "a.b", "d.e"]);
    }

    #[test]
    fn files_that_a_config_names() {
        let text = "executeScripts: [ops/a.ts, \"ops/b.py\"]\nfilePath: ./c.js:run\n\
                    entryfilePath: src/no.ts\npackaging: { entryFilePath: no.ts }\nimage: x.png\n";
        let found: Vec<&str> = named_by_config(text).collect();
        assert_eq!(found, ["ops/a.ts", "ops/b.py", "./c.js"]);
    }
}
