//! Types of decorated classes at run time (`emitDecoratorMetadata`), which NestJS and TypeORM read.
//!
//! esbuild reads one file at a time and drops types, so the TypeScript compiler takes the files
//! that have decorators first. Both are Windlass's own and run in the installed Node; sources are
//! their input, and nothing of the project runs.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::bundle::{Bundle, explained};
use super::esbuild::unavailable;
use crate::package::failure::{failed, missing_tool};
use crate::package::program::Call;
use crate::package::tree;
use crate::package::workshop::{Source, Workshop};

const SCRIPT: &str = include_str!("decorators.cjs");
/// How many files a `tsconfig.json` may extend, one the other.
const MOST_PARENTS: usize = 8;

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static DECORATOR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^|[\s(,;{}])@[A-Za-z_$(]").unwrap());

/// Why a bundle needs metadata, if it does: the config or `tsconfig.json` says so, and one of the
/// sources has a decorator.
pub(super) fn wanted(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    entry: &Path,
    sources: &[PathBuf],
) -> Result<Option<&'static str>, Problem> {
    let reason = match source.language.emit_ts_decorator_metadata {
        Some(true) => "emitTsDecoratorMetadata is set",
        Some(false) => return Ok(None),
        None => {
            let root = shop.root(source.workload)?;
            let file = match &source.language.ts_config_path {
                Some(written) => Some(shop.inside(source.workload, written)?),
                None => entry
                    .ancestors()
                    .skip(1)
                    .take_while(|folder| folder.starts_with(&root))
                    .map(|folder| folder.join("tsconfig.json"))
                    .find(|file| file.is_file()),
            };
            if !file.is_some_and(|file| emits(&root, &file, 0).unwrap_or_default()) {
                return Ok(None);
            }
            "tsconfig.json sets emitDecoratorMetadata"
        }
    };
    let has_decorator = sources
        .iter()
        .any(|file| fs::read_to_string(file).is_ok_and(|text| DECORATOR.is_match(&text)));
    Ok(has_decorator.then_some(reason))
}

/// What a `tsconfig.json` says, or one it extends; none when neither says anything. Those of
/// installed packages are not looked at.
fn emits(root: &Path, file: &Path, depth: usize) -> Option<bool> {
    let config = lenient(&fs::read_to_string(file).ok()?)?;
    if let Some(own) = config["compilerOptions"]["emitDecoratorMetadata"].as_bool() {
        return Some(own);
    }
    if depth == MOST_PARENTS {
        return None;
    }
    let parents: Vec<&str> = match &config["extends"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    // The last one that says something counts.
    parents.iter().rev().find_map(|parent| {
        if !parent.starts_with('.') {
            return None;
        }
        let folder = file.parent()?;
        let place = tree::inside(root, folder, parent)
            .or_else(|_| tree::inside(root, folder, &format!("{parent}.json")))
            .ok()?;
        emits(root, &place, depth + 1)
    })
}

/// JSON with comments and commas before closing brackets.
fn lenient(text: &str) -> Option<Value> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_text = false;
    while let Some(next) = rest.next() {
        match (in_text, next, rest.peek().copied()) {
            (true, '\\', _) => {
                plain.push(next);
                plain.extend(rest.next());
                continue;
            }
            (_, '"', _) => in_text = !in_text,
            (false, '/', Some('/')) => {
                while rest.next_if(|it| *it != '\n').is_some() {}
                continue;
            }
            (false, '/', Some('*')) => {
                rest.next();
                let mut before = ' ';
                for it in rest.by_ref() {
                    if before == '*' && it == '/' {
                        break;
                    }
                    before = it;
                }
                continue;
            }
            (false, ']' | '}', _) => {
                let kept = plain.trim_end().len();
                if plain.get(..kept).is_some_and(|it| it.ends_with(',')) {
                    plain.truncate(kept - 1);
                }
            }
            _ => {}
        }
        plain.push(next);
    }
    serde_json::from_str(&plain).ok()
}

/// Writes a bundle once more, with metadata.
pub(super) fn write(
    shop: &Workshop<'_>,
    workload: &str,
    bundle: &Bundle<'_>,
    reason: &str,
) -> Result<(), Problem> {
    let Some(node) = &shop.tools.node else {
        let why = format!("its classes have decorators and {reason}, which takes Node");
        let hint = "install Node 20 or newer and have it in the PATH";
        return Err(missing_tool(workload, "node", &why, hint));
    };
    let progress = |line: &str| (shop.progress)(workload, line);
    let tools = shop
        .tools
        .bundler
        .as_ref()
        .map(|bundler| bundler.decorators(&progress))
        .transpose()
        .map_err(|refused| unavailable(workload, refused))?;
    let Some(tools) = tools else {
        return Err(failed(workload, "there is no bundler"));
    };
    progress("writing the metadata of its decorators with the TypeScript compiler");
    let folder = tempfile::tempdir().map_err(|it| failed(workload, it))?;
    let script = folder.path().join("decorators.cjs");
    fs::write(&script, SCRIPT).map_err(|it| failed(workload, it))?;
    let request = json!({
        "esbuild": tools.esbuild,
        "interface": tools.interface,
        "typescript": tools.typescript,
        "options": bundle.options(),
        "record": bundle.record,
    });
    shop.runner(workload)
        .run(Call {
            tool: "esbuild",
            program: node,
            arguments: vec![script.into()],
            directory: bundle.directory,
            // Settings of the user's for their own programs, which could load code here.
            environment: vec![("NODE_OPTIONS", String::new())],
            input: Some(request.to_string().as_bytes()),
        })
        .map(drop)
        .map_err(explained)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decorators_are_recognised() {
        for (text, expected) in [
            ("@Controller()\nclass A {}", true),
            ("export class A { constructor(@Inject('x') x: X) {} }", true),
            ("class A { @Get() a() {} }", true),
            ("import '@nestjs/core'", false),
            ("mail('a@b.example')", false),
        ] {
            assert_eq!(DECORATOR.is_match(text), expected, "{text}");
        }
    }

    #[test]
    fn a_tsconfig_and_those_it_extends() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (name, text) in [
            (
                "base.json",
                r#"{"compilerOptions": {"emitDecoratorMetadata": true}}"#,
            ),
            (
                "off.json",
                r#"{"compilerOptions": {"emitDecoratorMetadata": false}}"#,
            ),
            ("loop.json", r#"{"extends": "./loop"}"#),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        for (text, expected) in [
            ("{}", None),
            ("not json", None),
            (
                "{ // why\n \"compilerOptions\": { /* \" */ \"emitDecoratorMetadata\": true, }, }",
                Some(true),
            ),
            (
                r#"{"x": "// \" /*", "compilerOptions": {"emitDecoratorMetadata": false}}"#,
                Some(false),
            ),
            (r#"{"extends": "./base"}"#, Some(true)),
            (r#"{"extends": ["./off.json", "./base.json"]}"#, Some(true)),
            (r#"{"extends": ["./base.json", "./off.json"]}"#, Some(false)),
            (r#"{"extends": "./loop.json"}"#, None),
            (r#"{"extends": "@tsconfig/node22"}"#, None),
            (r#"{"extends": "../../etc/passwd"}"#, None),
        ] {
            let file = root.join("tsconfig.json");
            fs::write(&file, text).unwrap();
            assert_eq!(emits(&root, &file, 0), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text: String) {
            lenient(&text);
        }
    }
}
