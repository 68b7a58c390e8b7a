//! JavaScript and TypeScript bundled by esbuild into one file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;
use serde_json::Value;
use windlass_files::{Access, Directory};
use windlass_ports::Runs;
use windlass_stack_config::model::packaging::ModuleFormat;
use windlass_types::Problem;

use super::modules;
use super::node::handler_function;
use crate::package::failure::{failed, with_hint};
use crate::package::program::Call;
use crate::package::stage::{Body, Entry, Staged};
use crate::package::workshop::{Source, Workshop};

/// ES modules have no `require`, which bundled CommonJS packages call.
const REQUIRE: &str = "import{createRequire as __windlassRequire}from'node:module';\
                       const require=__windlassRequire(import.meta.url);";

/// The project's own esbuild where the project is trusted, else the installed one.
pub(super) fn find(shop: &Workshop<'_>) -> Option<PathBuf> {
    own(shop)
        .filter(|_| (shop.trust)(Runs::Installed, "the project's esbuild").is_ok())
        .or_else(|| shop.tools.esbuild.clone())
}

/// The project's own esbuild.
pub(super) fn own(shop: &Workshop<'_>) -> Option<PathBuf> {
    shop.base
        .ancestors()
        .take_while(|folder| folder.starts_with(shop.project))
        .map(|folder| folder.join("node_modules/.bin/esbuild"))
        .find(|it| it.is_file())
}

/// Files of a bundle.
pub(super) fn stage(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    program: &Path,
    entry: &Path,
) -> Result<Staged, Problem> {
    let workload = source.workload;
    let broken = |error: std::io::Error| failed(workload, error);
    let base = fs::canonicalize(shop.base).map_err(broken)?;
    let made = tempfile::tempdir().map_err(broken)?;
    let folder = fs::canonicalize(made.path()).map_err(broken)?;
    let format = format(source, &base);
    let name = match format {
        ModuleFormat::Cjs => "index.js",
        ModuleFormat::Esm => "index.mjs",
    };
    let unbundled = source
        .language
        .dependencies_to_exclude_from_bundle
        .as_deref();
    let unbundled = unbundled.unwrap_or_default();
    let left_out = source.left_out();
    let mut arguments: Vec<OsString> = vec![
        entry.into(),
        "--bundle".into(),
        "--platform=node".into(),
        format!("--target=node{}", node_version(source)).into(),
        format!(
            "--format={}",
            if name == "index.js" { "cjs" } else { "esm" }
        )
        .into(),
        joined("--outfile=", &folder.join(name)),
        joined("--metafile=", &folder.join("meta.json")),
        "--keep-names".into(),
        "--log-level=warning".into(),
        "--color=false".into(),
    ];
    if format == ModuleFormat::Esm {
        arguments.push(format!("--banner:js={REQUIRE}").into());
    }
    let has_maps = source.language.disable_source_maps != Some(true);
    if has_maps {
        arguments.push("--sourcemap=linked".into());
    }
    if let Some(written) = &source.language.ts_config_path {
        arguments.push(joined("--tsconfig=", &shop.inside(workload, written)?));
    }
    if unbundled.iter().any(|it| it == "*") {
        arguments.push("--packages=external".into());
    }
    // Without a copy in the project it is the one of the runtime.
    let runtime_sdk =
        (!base.join("node_modules/@aws-sdk").exists()).then(|| "@aws-sdk/*".to_owned());
    for it in unbundled
        .iter()
        .chain(&left_out)
        .chain(&runtime_sdk)
        .filter(|it| *it != "*")
    {
        arguments.push(format!("--external:{it}").into());
    }
    (shop.progress)(workload, &format!("bundling {} with esbuild", source.entry));
    shop.runner(workload)
        .run(Call {
            tool: "esbuild",
            program,
            arguments,
            directory: &base,
            environment: Vec::new(),
            input: None,
        })
        .map_err(|problem| {
            let hint = "packages with native parts go into languageSpecificConfig.dependenciesToExcludeFromBundle; \
                        missing ones need npm install";
            with_hint(problem, hint)
        })?;

    let mut staged = Staged::default();
    let meta: Value = fs::read(folder.join("meta.json"))
        .map_err(broken)
        .and_then(|it| serde_json::from_slice(&it).map_err(|it| failed(workload, it)))?;
    let mut packages = BTreeSet::new();
    for (path, input) in meta
        .get("inputs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        // Stubs that esbuild makes itself have a name with a colon and no file.
        let path = base.join(path);
        if path.is_file() {
            staged.inputs.push(path);
        }
        for import in input
            .get("imports")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if import.get("external") == Some(&Value::Bool(true))
                && let Some(path) = import.get("path").and_then(Value::as_str)
            {
                packages.extend(modules::package_of(path));
            }
        }
    }
    staged.add(Entry {
        path: name.to_owned(),
        body: Body::File(folder.join(name)),
        executable: false,
    });
    if has_maps {
        let map_name = format!("{name}.map");
        let map = fs::read(folder.join(&map_name)).map_err(broken)?;
        let map = portable(&map, &folder, &base).map_err(|it| failed(workload, it))?;
        match &source.language.output_source_maps_to {
            None => staged.add(Entry {
                path: map_name,
                body: Body::Bytes(map),
                executable: false,
            }),
            Some(written) => keep_map(shop, workload, written, &map_name, &map)?,
        }
    }
    if !left_out.iter().any(|it| it == "*") {
        modules::copy(shop, workload, packages, &left_out, &mut staged)?;
    }
    let text = fs::read_to_string(entry).map_err(broken)?;
    staged.handler = Some(format!("index.{}", handler_function(source, &text)));
    staged.start = name.to_owned();
    staged.made.push(made);
    Ok(staged)
}

/// As configured, else as the project's modules are.
fn format(source: &Source<'_>, base: &Path) -> ModuleFormat {
    if let Some(format) = source.language.output_module_format {
        return format;
    }
    let manifest = fs::read(base.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    let is_module = manifest.get("type").and_then(Value::as_str) == Some("module");
    match source.entry.rsplit_once('.').map(|it| it.1) {
        Some("mts" | "mjs") => ModuleFormat::Esm,
        Some("cts" | "cjs") => ModuleFormat::Cjs,
        _ if is_module => ModuleFormat::Esm,
        _ => ModuleFormat::Cjs,
    }
}

/// The major version of Node the code is made for.
pub(crate) fn node_version(source: &Source<'_>) -> u32 {
    source.language.node_version.unwrap_or_else(|| {
        let runtime = source.runtime.map(|it| it.as_str()).unwrap_or_default();
        let digits = runtime
            .strip_prefix("nodejs")
            .and_then(|it| it.strip_suffix(".x"));
        digits.and_then(|it| it.parse().ok()).unwrap_or(24)
    })
}

/// A source map that names sources from the project, not from where the bundle was made: that
/// folder is another one each time.
fn portable(map: &[u8], made_in: &Path, base: &Path) -> serde_json::Result<Vec<u8>> {
    let mut map: Value = serde_json::from_slice(map)?;
    for source in map
        .get_mut("sources")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(text) = source.as_str() {
            let place = normal(&made_in.join(text));
            let shown = place.strip_prefix(base).unwrap_or(&place);
            *source = Value::String(shown.to_string_lossy().into_owned());
        }
    }
    serde_json::to_vec(&map)
}

/// A path without `..`, by its words alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn keep_map(
    shop: &Workshop<'_>,
    workload: &str,
    written: &str,
    name: &str,
    map: &[u8],
) -> Result<(), Problem> {
    if written.split('/').any(|it| it == "..") || written.starts_with('/') {
        let cause = format!("outputSourceMapsTo {written} leads out of the project");
        return Err(failed(workload, cause));
    }
    let below = Path::new(written).join(workload).join(name);
    Directory::open(shop.base)
        .and_then(|base| base.write(&below, map, Access::Usual))
        .map_err(|it| failed(workload, it))
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut out = OsString::from(option);
    out.push(path);
    out
}
