//! What each language makes of an entry file.

pub(crate) mod artifact;
pub(crate) use esbuild::node_version;
pub(crate) use java::java_version;
pub(crate) use python::{IMAGE_REQUIREMENTS, python_version};

mod bundle;
mod decorators;
mod esbuild;
mod go;
mod java;
mod modules;
mod node;
mod python;
mod requirements;

use serde_json::{Value, json};
use windlass_types::{Digest, Problem};

use crate::package::failure::{failed, missing_tool, with_hint};
use crate::package::glob::Globs;
use crate::package::stage::Staged;
use crate::package::workshop::{Source, Workshop};

/// A language, by the extension of an entry file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    JavaScript,
    TypeScript,
    Python,
    Go,
    Java,
    Ruby,
    Php,
    Dotnet,
}

impl Language {
    pub fn of(entry: &str) -> Option<Self> {
        Some(match entry.rsplit_once('.')?.1 {
            "js" | "mjs" | "cjs" => Self::JavaScript,
            "ts" | "tsx" | "mts" | "cts" | "jsx" => Self::TypeScript,
            "py" => Self::Python,
            "go" => Self::Go,
            "java" => Self::Java,
            "rb" => Self::Ruby,
            "php" => Self::Php,
            "cs" => Self::Dotnet,
            _ => return None,
        })
    }
}

/// The files of a package, by the language of its entry file.
pub(crate) fn stage(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    excluded: &Globs,
) -> Result<Staged, Problem> {
    let workload = source.workload;
    let own = "build it yourself and use custom-artifact, or a container with custom-dockerfile";
    let not_built = |language: &str, tool: &str| {
        let why =
            format!("{language} needs {tool} for its dependencies, which Windlass does not run");
        let problem = failed(workload, why).with("tool", tool);
        Err(with_hint(problem, own))
    };
    match Language::of(source.entry) {
        Some(Language::JavaScript | Language::TypeScript) => node::stage(shop, source),
        Some(Language::Python) => python::stage(shop, source, excluded),
        Some(Language::Go) => match &shop.tools.go {
            Some(go) => go::stage(shop, source, go),
            None => Err(missing_tool(
                workload,
                "go",
                "the entry file is Go",
                "install Go from https://go.dev/dl and have it in the PATH",
            )),
        },
        Some(Language::Java) => java::stage(shop, source),
        Some(Language::Ruby) => not_built("Ruby", "bundle"),
        Some(Language::Php) => not_built("PHP", "composer"),
        Some(Language::Dotnet) => not_built(".NET", "dotnet"),
        None => {
            let cause = format!("the language of {} is not known", source.entry);
            let hint = "entry files end in .ts, .js, .py or .go; use custom-artifact for the rest";
            Err(with_hint(failed(workload, cause), hint))
        }
    }
}

/// What identifies an installed tool; part of the key of the cache.
pub(crate) fn tool_identity(shop: &Workshop<'_>, entry: &str) -> Value {
    let identity = |program: &std::path::Path| {
        let length = fs_err::metadata(program).map(|it| it.len()).unwrap_or(0);
        json!([program, length])
    };
    match Language::of(entry) {
        Some(Language::JavaScript | Language::TypeScript) => {
            // npm's own record of what it installed.
            let installed = shop.base.join("node_modules/.package-lock.json");
            let installed = fs_err::read(installed).ok().map(|it| Digest::of(&it));
            let bundler = shop.tools.bundler.as_ref().map(|it| it.identity());
            json!([bundler, installed])
        }
        Some(Language::Python) => json!(shop.tools.python.as_deref().map(identity)),
        Some(Language::Go) => json!(shop.tools.go.as_deref().map(identity)),
        Some(Language::Java) => json!(shop.tools.gradle.as_deref().map(identity)),
        _ => Value::Null,
    }
}
