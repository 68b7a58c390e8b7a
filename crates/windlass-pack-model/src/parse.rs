//! Reads `agentpack.yaml`. Strict about what it understands, lenient about keys it does not
//! know: those are warnings, so that manifests written for agentpack keep loading.

use std::collections::{BTreeMap, HashMap, HashSet};

use windlass_text::yaml::{Mark, Node};
use windlass_types::Problem;

use crate::{
    ConfigScope, GitSource, GitignoreMode, Manifest, Module, ModuleType, Profile, Source, Target,
    TargetConfig, TargetMode, fault,
    manifest::{DEFAULT_PROFILE, MANIFEST_FILE, MANIFEST_VERSION},
    reader::{Fields, FileWarning, Reader, WarningKind},
    source, suggest,
};

const TOP_KEYS: &[&str] = &[
    "version",
    "profiles",
    "targets",
    "modules",
    "gitignore_outputs",
    "gitignore_mode",
    "allow_external_symlinks",
];
const PROFILE_KEYS: &[&str] = &["include_tags", "include_modules", "exclude_modules"];
const TARGET_KEYS: &[&str] = &["mode", "scope", "options"];
const MODULE_KEYS: &[&str] = &[
    "id", "type", "enabled", "tags", "targets", "name", "source", "metadata",
];

/// A manifest that was read, and what is odd about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedManifest {
    /// The manifest.
    pub manifest: Manifest,
    /// What is odd, in the order of the file.
    pub warnings: Vec<FileWarning>,
}

/// Reads a manifest. Failures say `agentpack.yaml:LINE:COLUMN: …`; the caller, who knows the
/// path, adds it with [`fault::at`].
pub fn parse_manifest(text: &str) -> Result<ParsedManifest, Problem> {
    let mut reader = Reader::new(MANIFEST_FILE, fault::config_invalid);
    let tree = reader.tree(text)?;
    let manifest = read(&mut reader, &tree)?;
    let mut warnings = reader.warnings;
    warnings.sort_by_key(|warning| (warning.line, warning.column));
    Ok(ParsedManifest { manifest, warnings })
}

fn read(reader: &mut Reader, tree: &Node) -> Result<Manifest, Problem> {
    let top = reader.fields(tree, "the manifest", TOP_KEYS)?;
    let version = reader.version(&top, MANIFEST_VERSION, fault::config_unsupported_version)?;
    let mut profile_mentions = Vec::new();
    let profiles = match top.get("profiles") {
        Some(node) => profiles(reader, node, &mut profile_mentions)?,
        None => BTreeMap::new(),
    };
    let targets = match top.get("targets") {
        Some(node) => targets(reader, node)?,
        None => BTreeMap::new(),
    };
    if !profiles.contains_key(DEFAULT_PROFILE) {
        let at = top.get("profiles").map_or(top.at(), |node| node.start);
        return Err(reader
            .invalid(at, "profiles has no \"default\"; every manifest needs it")
            .with("profile", DEFAULT_PROFILE));
    }
    let modules = match top.get("modules") {
        Some(node) => modules(reader, node)?,
        None => Vec::new(),
    };
    let ids: HashSet<&str> = modules.iter().map(|module| module.id.as_str()).collect();
    for (id, profile, at) in profile_mentions {
        if !ids.contains(id.as_str()) {
            let hint = suggest::hint(&id, modules.iter().map(|module| module.id.as_str()));
            reader.warn(
                WarningKind::UnknownName,
                at,
                format!("profile {profile:?} names the module {id:?}, which is not there{hint}"),
            );
        }
    }
    Ok(Manifest {
        version,
        profiles,
        targets,
        modules,
        gitignore_outputs: reader.boolean(&top, "gitignore_outputs", false)?,
        gitignore_mode: reader
            .word(
                &top,
                "gitignore_mode",
                &[
                    ("gitignore", GitignoreMode::Gitignore),
                    ("exclude", GitignoreMode::Exclude),
                ],
            )?
            .unwrap_or_default(),
        allow_external_symlinks: reader.boolean(&top, "allow_external_symlinks", false)?,
    })
}

/// A module id in a profile, with the profile and the place.
type Mention = (String, String, Mark);

fn profiles(
    reader: &mut Reader,
    node: &Node,
    mentions: &mut Vec<Mention>,
) -> Result<BTreeMap<String, Profile>, Problem> {
    let mut profiles = BTreeMap::new();
    for entry in reader.entries(node, "profiles")? {
        let mut profile = Profile::default();
        // `default:` with nothing behind it selects nothing.
        if !entry.value.is_null() {
            let what = format!("profile {:?}", entry.key);
            let fields = reader.fields(&entry.value, what, PROFILE_KEYS)?;
            profile.include_tags = texts(reader, &fields, "include_tags")?;
            for (key, list) in [
                ("include_modules", &mut profile.include_modules),
                ("exclude_modules", &mut profile.exclude_modules),
            ] {
                for (id, at) in reader.texts(&fields, key)? {
                    mentions.push((id.clone(), entry.key.clone(), at));
                    list.push(id);
                }
            }
        }
        profiles.insert(entry.key.clone(), profile);
    }
    Ok(profiles)
}

fn texts(reader: &Reader, fields: &Fields<'_>, key: &str) -> Result<Vec<String>, Problem> {
    let texts = reader.texts(fields, key)?;
    Ok(texts.into_iter().map(|(text, _)| text).collect())
}

fn targets(reader: &mut Reader, node: &Node) -> Result<BTreeMap<Target, TargetConfig>, Problem> {
    let mut targets = BTreeMap::new();
    for entry in reader.entries(node, "targets")? {
        let target = target_named(reader, &entry.key, entry.key_start, "targets names")?;
        let what = format!("target {target}");
        let fields = reader.fields(&entry.value, what, TARGET_KEYS)?;
        let mode = reader.word(&fields, "mode", &[("files", TargetMode::Files)])?;
        let scope = reader.word(
            &fields,
            "scope",
            &[
                ("user", ConfigScope::User),
                ("project", ConfigScope::Project),
                ("both", ConfigScope::Both),
            ],
        )?;
        let (Some(mode), Some(scope)) = (mode, scope) else {
            let missing = if mode.is_none() { "mode" } else { "scope" };
            return Err(reader
                .invalid(entry.key_start, format!("target {target} has no {missing}"))
                .with("target", target.as_str())
                .with("missing", vec![missing]));
        };
        if scope == ConfigScope::User && target.is_project_only() {
            let at = fields
                .get("scope")
                .map_or(entry.key_start, |node| node.start);
            return Err(reader
                .invalid(
                    at,
                    format!(
                        "target {target} has no user scope; write scope: project or scope: both"
                    ),
                )
                .with("target", target.as_str())
                .with("allowed_scopes", vec!["project", "both"]));
        }
        let options = match fields.get("options") {
            Some(node) => options(reader, node, target)?,
            None => BTreeMap::new(),
        };
        targets.insert(
            target,
            TargetConfig {
                mode,
                scope,
                options,
            },
        );
    }
    Ok(targets)
}

fn target_named(reader: &Reader, name: &str, at: Mark, subject: &str) -> Result<Target, Problem> {
    Target::by_name(name).ok_or_else(|| {
        let names = Target::ALL.map(Target::as_str);
        reader
            .located(
                fault::target_not_compiled,
                at,
                format!(
                    "{subject} {name:?}, which is not a target (there are {}){}",
                    names.join(", "),
                    suggest::hint(name, names)
                ),
            )
            .with("target", name)
            .with("allowed", names.to_vec())
    })
}

fn options(
    reader: &mut Reader,
    node: &Node,
    target: Target,
) -> Result<BTreeMap<String, serde_json::Value>, Problem> {
    let mut options = BTreeMap::new();
    for entry in reader.entries(node, &format!("options of target {target}"))? {
        let name = entry.key.as_str();
        if !target.options().contains(&name) {
            let hint = suggest::hint(name, target.options().iter().copied());
            reader.warn(
                WarningKind::UnknownKey,
                entry.key_start,
                format!("unknown option {name:?} of target {target}{hint}"),
            );
        } else if let Some(expected) = target.option_mismatch(name, &entry.value.to_json()) {
            reader.warn(
                WarningKind::OptionValue,
                entry.value.start,
                format!(
                    "option {name} of target {target} is {}, which is not {expected}; \
                     its default counts",
                    entry.value.describe()
                ),
            );
        }
        options.insert(entry.key.clone(), entry.value.to_json());
    }
    Ok(options)
}

fn modules(reader: &mut Reader, node: &Node) -> Result<Vec<Module>, Problem> {
    let items = node.items().ok_or_else(|| {
        reader.invalid(
            node.start,
            format!("modules must be a list, not {}", node.describe()),
        )
    })?;
    let mut modules: Vec<Module> = Vec::with_capacity(items.len());
    let mut seen: HashMap<String, usize> = HashMap::with_capacity(items.len());
    for item in items {
        let module = module(reader, item)?;
        if let Some(first) = seen.insert(module.id.clone(), module.line) {
            return Err(reader
                .invalid(
                    item.start,
                    format!(
                        "the module id {:?} is used twice, first on line {first}; ids are unique",
                        module.id
                    ),
                )
                .with("module_id", module.id));
        }
        modules.push(module);
    }
    Ok(modules)
}

fn module(reader: &mut Reader, item: &Node) -> Result<Module, Problem> {
    let what = match item.entry("id").and_then(|entry| entry.value.text()) {
        Some(id) => format!("module {id:?}"),
        None => "a module".to_owned(),
    };
    let fields = reader.fields(item, what.clone(), MODULE_KEYS)?;
    let id = reader.text(&fields, "id")?;
    let id_at = fields.get("id").map_or(item.start, |node| node.start);
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(reader
            .invalid(
                id_at,
                format!("the module id {id:?} is empty or has control characters"),
            )
            .with("module_id", id));
    }
    let types = ModuleType::ALL.map(|kind| (kind.as_str(), kind));
    let module_type = reader
        .word(&fields, "type", &types)
        .map_err(|problem| problem.with("module_id", id.as_str()))?
        .ok_or_else(|| {
            reader
                .invalid(item.start, format!("{what} has no type"))
                .with("module_id", id.as_str())
                .with("missing", vec!["type"])
        })?;
    let targets = reader
        .texts(&fields, "targets")?
        .into_iter()
        .map(|(name, at)| target_named(reader, &name, at, &format!("{what} names the target")))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|problem| problem.with("module_id", id.as_str()))?;
    let source = match fields.get("source") {
        Some(node) => module_source(reader, node, &what),
        None => Err(reader
            .invalid(item.start, format!("{what} has no source"))
            .with("missing", vec!["source"])),
    }
    .map_err(|problem| problem.with("module_id", id.as_str()))?;
    Ok(Module {
        module_type,
        enabled: reader.boolean(&fields, "enabled", true)?,
        tags: texts(reader, &fields, "tags")?,
        targets,
        name: match fields.get("name") {
            Some(_) => Some(reader.text(&fields, "name")?),
            None => None,
        },
        source,
        line: item.start.line,
        id,
    })
}

fn module_source(reader: &mut Reader, node: &Node, what: &str) -> Result<Source, Problem> {
    let subject = format!("source of {what}");
    let fields = reader.fields(node, subject, &["local_path", "git"])?;
    match (fields.get("local_path"), fields.get("git")) {
        (Some(local), None) => {
            let fields = reader.fields(local, format!("local_path of {what}"), &["path"])?;
            let path = reader.text(&fields, "path")?;
            let at = fields.get("path").map_or(local.start, |node| node.start);
            if path.contains('\0') {
                return Err(reader.invalid(at, format!("the path of {what} contains NUL")));
            }
            if let Some(reason) = source::leaves_repository(&path) {
                reader.warn(
                    WarningKind::OutsidePath,
                    at,
                    format!("the path {path:?} of {what} {reason}; move it into the repository"),
                );
            }
            Ok(Source::LocalPath { path })
        }
        (None, Some(git)) => git_source(reader, git, what).map(Source::Git),
        _ => Err(reader.invalid(
            node.start,
            format!("{what} needs exactly one source: local_path or git"),
        )),
    }
}

fn git_source(reader: &mut Reader, node: &Node, what: &str) -> Result<GitSource, Problem> {
    let fields = reader.fields(
        node,
        format!("git source of {what}"),
        &["url", "ref", "subdir", "shallow"],
    )?;
    let git = GitSource {
        url: reader.text(&fields, "url")?,
        reference: reader
            .optional_text(&fields, "ref")?
            .unwrap_or_else(|| GitSource::DEFAULT_REFERENCE.to_owned()),
        subdir: reader.optional_text(&fields, "subdir")?.unwrap_or_default(),
        shallow: reader.boolean(&fields, "shallow", true)?,
    };
    let place = |key: &str| fields.get(key).map_or(node.start, |node| node.start);
    if let Err(error) = source::check_git_url(&git.url) {
        let at = place("url");
        // A leading dash is an attack or a slip and never worked; other addresses did.
        if git.url.starts_with('-') {
            return Err(reader.invalid(at, format!("{what}: {error}")));
        }
        reader.warn(WarningKind::GitAddress, at, format!("{what}: {error}"));
    }
    source::check_git_reference(&git.reference)
        .map_err(|error| reader.invalid(place("ref"), format!("{what}: {error}")))?;
    git.subdir_path()
        .map_err(|error| reader.invalid(place("subdir"), format!("{what}: {error}")))?;
    Ok(git)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
