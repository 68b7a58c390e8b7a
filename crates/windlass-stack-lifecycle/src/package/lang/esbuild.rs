//! JavaScript and TypeScript bundled by esbuild into one file.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;
use serde_json::Value;
use windlass_files::{Access, Directory};
use windlass_ports::BundlerUnavailable;
use windlass_stack_config::model::packaging::ModuleFormat;
use windlass_types::Problem;

use super::bundle::Bundle;
use super::node::handler_function;
use super::{decorators, modules};
use crate::package::failure::failed;
use crate::package::stage::{Body, Entry, Staged};
use crate::package::workshop::{Source, Workshop};

/// ES modules have no `require`, which bundled CommonJS packages call.
const REQUIRE: &str = "import{createRequire as __windlassRequire}from'node:module';\
                       const require=__windlassRequire(import.meta.url);";

/// esbuild, fetched where it is not there yet.
pub(super) fn find(shop: &Workshop<'_>, workload: &str) -> Result<PathBuf, BundlerUnavailable> {
    match &shop.tools.bundler {
        Some(bundler) => bundler.esbuild(&|line| (shop.progress)(workload, line)),
        None => Err(BundlerUnavailable {
            cause: "there is no bundler".to_owned(),
            next: Vec::new(),
            is_forbidden: true,
        }),
    }
}

/// A workload that cannot be bundled.
pub(super) fn unavailable(workload: &str, refused: BundlerUnavailable) -> Problem {
    let mut problem = failed(workload, &refused).with("tool", "esbuild");
    if let Some(first) = refused.next.first() {
        problem = problem.with("hint", first.as_str());
    }
    for step in refused.next {
        problem = problem.next(step);
    }
    problem
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
    let has_maps = source.language.disable_source_maps != Some(true);
    // Without a copy in the project it is the one of the runtime.
    let runtime_sdk =
        (!base.join("node_modules/@aws-sdk").exists()).then(|| "@aws-sdk/*".to_owned());
    let external = unbundled.iter().chain(&left_out).chain(&runtime_sdk);
    let tsconfig = match &source.language.ts_config_path {
        Some(written) => Some(shop.inside(workload, written)?),
        None => None,
    };
    let mut bundle = Bundle {
        directory: &base,
        entry,
        format: if name == "index.js" { "cjs" } else { "esm" },
        target: format!("node{}", node_version(source)),
        banner: (format == ModuleFormat::Esm).then_some(REQUIRE),
        output: folder.join(name),
        record: folder.join("meta.json"),
        has_maps,
        tsconfig,
        leaves_all_packages: unbundled.iter().any(|it| it == "*"),
        external: external.filter(|it| *it != "*").cloned().collect(),
        absent: BTreeSet::new(),
    };
    (shop.progress)(workload, &format!("bundling {} with esbuild", source.entry));
    bundle.write(shop, workload, program)?;
    let mut meta = read_record(workload, &bundle.record)?;
    let own = own_sources(&meta, &base);
    if let Some(reason) = decorators::wanted(shop, source, entry, &own)? {
        decorators::write(shop, workload, &bundle, reason)?;
        meta = read_record(workload, &bundle.record)?;
    }
    for absent in &bundle.absent {
        let line = format!("{absent} is not installed and was left out; its caller handles that");
        (shop.progress)(workload, &line);
    }

    let mut staged = Staged::default();
    staged.inputs = settings(entry, &shop.root(workload)?);
    let mut packages = BTreeSet::new();
    let external: Vec<String> = bundle
        .external
        .difference(&bundle.absent)
        .cloned()
        .collect();
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
                && let Some(package) = modules::package_of(path)
                // esbuild leaves an import by itself where its caller catches its absence.
                && (bundle.leaves_all_packages
                    || external.iter().any(|it| it == path)
                    || modules::is_listed(&external, &package))
            {
                packages.insert(package);
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

fn read_record(workload: &str, file: &Path) -> Result<Value, Problem> {
    let bytes = fs::read(file).map_err(|it| failed(workload, it))?;
    serde_json::from_slice(&bytes).map_err(|it| failed(workload, it))
}

/// Files above an entry file that change what esbuild makes of it; its record does not name them.
fn settings(entry: &Path, root: &Path) -> Vec<PathBuf> {
    let is_setting = |name: &str| {
        name == "package.json" || (name.starts_with("tsconfig") && name.ends_with(".json"))
    };
    let above = entry.ancestors().skip(1);
    above
        .take_while(|folder| folder.starts_with(root))
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().map(|it| it.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|it| it.to_str());
            name.is_some_and(is_setting) && path.is_file()
        })
        .collect()
}

/// The TypeScript of a bundle that is the project's own.
fn own_sources(meta: &Value, base: &Path) -> Vec<PathBuf> {
    let inputs = meta.get("inputs").and_then(Value::as_object);
    let names = inputs.into_iter().flatten().map(|(name, _)| name);
    names
        .filter(|name| !name.contains("node_modules/"))
        .map(|name| base.join(name))
        .filter(|path| {
            let ending = path.extension().and_then(|it| it.to_str());
            matches!(ending, Some("ts" | "tsx" | "mts" | "cts")) && path.is_file()
        })
        .collect()
}
