//! Settings of the tools, the manifest, and what stays out of the repository.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_pipeline_design::model::code::Dependencies;
use windlass_pipeline_design::model::{Preset, versions};

use super::Draft;
use crate::blueprint::Blueprint;
use crate::imports;
use crate::templates::{TemplateError, verbatim};

/// Packages that no file imports, and what uses them.
const USED_BY_TOOLS: &[(&str, &str)] = &[
    ("@tailwindcss/postcss", "postcss.config.mjs"),
    ("@testing-library/dom", "@testing-library/react"),
    ("@types/node", "typescript"),
    ("@types/react", "typescript"),
    ("@types/react-dom", "typescript"),
    ("eslint", "the script lint"),
    ("jsdom", "vitest"),
    ("react-dom", "the framework"),
    ("typescript", "the script typecheck"),
    ("vite", "vitest and the script build"),
];

/// The packages that the files of a project use, with exact versions.
pub(crate) fn dependencies(preset: Preset, files: &[Draft]) -> Dependencies {
    let mut used: BTreeSet<String> = USED_BY_TOOLS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    for file in files {
        used.extend(
            imports::specifiers(&file.path, &file.content)
                .iter()
                .filter_map(|specifier| imports::package(specifier)),
        );
    }
    let mut dependencies = Dependencies::default();
    for package in versions::packages(preset).filter(|package| used.contains(package.name)) {
        let list = if package.development {
            &mut dependencies.development
        } else {
            &mut dependencies.production
        };
        list.insert(package.name.to_owned(), package.version.to_owned());
    }
    dependencies
}

/// Whether a package is used without being imported.
pub(crate) fn is_used_by_tool(name: &str) -> bool {
    USED_BY_TOOLS.iter().any(|(known, _)| *known == name)
}

/// `package.json`, its members in the usual order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    name: &'a str,
    version: &'static str,
    private: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    engines: Engines,
    scripts: BTreeMap<&'static str, &'static str>,
    dependencies: &'a BTreeMap<String, String>,
    dev_dependencies: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Engines {
    node: &'static str,
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn tsconfig(preset: Preset) -> Value {
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| options.insert(name.to_owned(), value);
    set("target", json!("ES2022"));
    set("lib", json!(["dom", "dom.iterable", "es2023"]));
    set("module", json!("esnext"));
    set("moduleResolution", json!("bundler"));
    set("strict", json!(true));
    set("noUncheckedIndexedAccess", json!(true));
    set("noImplicitOverride", json!(true));
    set("isolatedModules", json!(true));
    set("esModuleInterop", json!(true));
    set("resolveJsonModule", json!(true));
    set("skipLibCheck", json!(true));
    set("noEmit", json!(true));
    set("jsx", json!("react-jsx"));
    set("types", json!(["node"]));
    set("paths", json!({ "@/*": ["./src/*"] }));
    match preset {
        Preset::NextjsReact => {
            set("allowJs", json!(true));
            set("incremental", json!(true));
            set("plugins", json!([{ "name": "next" }]));
            json!({
                "compilerOptions": options,
                "include": ["src", "tests", "*.ts", ".next/types/**/*.ts", ".next/dev/types/**/*.ts"],
                "exclude": ["node_modules"],
            })
        }
        Preset::ViteReact => json!({
            "compilerOptions": options,
            "include": ["src", "tests", "vite.config.ts"],
        }),
    }
}

const GITIGNORE: &str = "node_modules/\ndist/\n.next/\nout/\ncoverage/\nnext-env.d.ts\n*.tsbuildinfo\n.env\n.env.*\n!.env.example\nsupabase/.temp/\nsupabase/.branches/\n";

/// The variables a project reads.
pub(super) fn variables(preset: Preset) -> [&'static str; 2] {
    match preset {
        Preset::NextjsReact => [
            "NEXT_PUBLIC_SUPABASE_URL",
            "NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY",
        ],
        Preset::ViteReact => ["VITE_SUPABASE_URL", "VITE_SUPABASE_PUBLISHABLE_KEY"],
    }
}

fn environment(preset: Preset) -> String {
    let [url, key] = variables(preset);
    format!(
        "# Copy to .env.local and fill in from your Supabase project: Settings, then API keys.\n\
         # Both are public by design; the service role key belongs nowhere in this project.\n\
         {url}=\n{key}=\n"
    )
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let mut copy = |path: &str, template: &str| {
        files.push(Draft::scaffolding(
            path,
            verbatim(template).unwrap_or_default(),
        ));
    };
    match blueprint.preset {
        Preset::NextjsReact => {
            copy("eslint.config.mjs", "next/eslint.config.mjs");
            copy("next.config.ts", "next/next.config.ts");
            copy("postcss.config.mjs", "next/postcss.config.mjs");
            copy("vitest.config.ts", "next/vitest.config.ts");
            if blueprint.has_sign_in() {
                copy("src/proxy.ts", "next/proxy.ts");
            }
            files.push(Draft::scaffolding(
                "src/types/assets.d.ts",
                "/** Style sheets and fonts are imported for their effect. */\ndeclare module \"*.css\";\n",
            ));
        }
        Preset::ViteReact => {
            copy("eslint.config.js", "vite/eslint.config.js");
            copy("vite.config.ts", "vite/vite.config.ts");
            copy("src/main.tsx", "vite/main.tsx");
            copy("src/vite-env.d.ts", "vite/vite-env.d.ts");
            // Every address is the one page; the router in it knows the rest.
            let rewrites =
                json!({ "rewrites": [{ "source": "/(.*)", "destination": "/index.html" }] });
            files.push(Draft::scaffolding("vercel.json", pretty(&rewrites)));
        }
    }
    files.push(Draft::scaffolding(
        "tsconfig.json",
        pretty(&tsconfig(blueprint.preset)),
    ));
    files.push(Draft::scaffolding(".gitignore", GITIGNORE));
    if blueprint.has_supabase() {
        files.push(Draft::scaffolding(
            ".env.example",
            environment(blueprint.preset),
        ));
    }
    Ok(())
}

/// `package.json`, when everything that imports is there.
pub(super) fn add_manifest(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) {
    let dependencies = dependencies(blueprint.preset, files);
    let own: [(&'static str, &'static str); 3] = match blueprint.preset {
        Preset::NextjsReact => [
            ("dev", "next dev"),
            ("build", "next build"),
            ("start", "next start"),
        ],
        Preset::ViteReact => [
            ("dev", "vite"),
            ("build", "vite build"),
            ("preview", "vite preview"),
        ],
    };
    let checks = [
        ("typecheck", "tsc --noEmit"),
        ("lint", "eslint ."),
        ("test", "vitest run"),
    ];
    let manifest = Manifest {
        name: &blueprint.slug,
        version: "0.1.0",
        private: true,
        kind: "module",
        engines: Engines { node: ">=20.19" },
        scripts: own.into_iter().chain(checks).collect(),
        dependencies: &dependencies.production,
        dev_dependencies: &dependencies.development,
    };
    files.push(Draft::scaffolding("package.json", pretty(&manifest)));
}
