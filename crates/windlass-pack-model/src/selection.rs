//! Which modules and targets a command is about.

use std::collections::HashSet;

use windlass_types::Problem;

use crate::{
    Manifest, Module, Profile, Target, fault,
    manifest::{DEFAULT_PROFILE, MANIFEST_FILE},
    suggest,
};

/// The target filter that means every configured target.
pub const ALL_TARGETS: &str = "all";

/// The modules of a profile, by id: enabled, not excluded, and either tagged or listed.
pub fn select_modules<'a>(
    manifest: &'a Manifest,
    profile: &str,
) -> Result<Vec<&'a Module>, Problem> {
    let profile = find_profile(manifest, profile)?;
    let [tags, included, excluded] = [
        &profile.include_tags,
        &profile.include_modules,
        &profile.exclude_modules,
    ]
    .map(|list| list.iter().map(String::as_str).collect::<HashSet<_>>());
    let selected = |module: &&Module| {
        let id = module.id.as_str();
        module.enabled
            && !excluded.contains(id)
            && (included.contains(id) || module.tags.iter().any(|tag| tags.contains(tag.as_str())))
    };
    let mut modules: Vec<&Module> = manifest.modules.iter().filter(selected).collect();
    modules.sort_by(|left, right| left.id.cmp(&right.id));
    Ok(modules)
}

/// The profile of a name.
pub fn find_profile<'a>(manifest: &'a Manifest, name: &str) -> Result<&'a Profile, Problem> {
    manifest.profiles.get(name).ok_or_else(|| {
        let names: Vec<&str> = manifest.profiles.keys().map(String::as_str).collect();
        fault::unexpected(
            "profile_unknown",
            &["retry_with_known_profile", "fix_config", "retry_command"],
            format!(
                "{MANIFEST_FILE} has no profile {name:?}{}; it has {}",
                suggest::hint(name, names.iter().copied()),
                names.join(", ")
            ),
        )
        .with("profile", name)
        .with("allowed", names)
    })
}

/// The module of an id.
pub fn find_module<'a>(manifest: &'a Manifest, id: &str) -> Result<&'a Module, Problem> {
    manifest.module(id).ok_or_else(|| {
        let ids = manifest.modules.iter().map(|module| module.id.as_str());
        fault::unexpected(
            "invalid_arguments",
            &["fix_config", "retry_command"],
            format!(
                "{MANIFEST_FILE} has no module {id:?}{}",
                suggest::hint(id, ids)
            ),
        )
        .with("module_id", id)
    })
}

/// The targets of a `--target` filter, by name: `all` means the configured ones.
pub fn select_targets(manifest: &Manifest, filter: &str) -> Result<Vec<Target>, Problem> {
    match parse_target_filter(filter)? {
        None => Ok(manifest.targets.keys().copied().collect()),
        Some(target) if manifest.targets.contains_key(&target) => Ok(vec![target]),
        Some(target) => Err(fault::config_invalid(format!(
            "the target {target} is not configured; add it under targets: in {MANIFEST_FILE}"
        ))
        .with("target", target.as_str())
        .with(
            "hint",
            format!("add {target} under targets: in {MANIFEST_FILE}"),
        )),
    }
}

/// The target of a `--target` filter; none for `all`.
pub fn parse_target_filter(filter: &str) -> Result<Option<Target>, Problem> {
    if filter == ALL_TARGETS {
        return Ok(None);
    }
    Target::by_name(filter).map(Some).ok_or_else(|| {
        let mut names = vec![ALL_TARGETS];
        names.extend(Target::ALL.map(Target::as_str));
        fault::target_filter_unsupported(format!(
            "there is no target {filter:?}{}; there are {}",
            suggest::hint(filter, names.iter().copied()),
            names.join(", ")
        ))
        .with("target", filter)
        .with("allowed", names)
    })
}

/// An argument, or none when it says what the default is anyway.
pub fn unless_default<'a>(argument: Option<&'a str>, default: &str) -> Option<&'a str> {
    argument.filter(|argument| *argument != default)
}

/// A profile argument without its default.
pub fn profile_argument(argument: Option<&str>) -> Option<&str> {
    unless_default(argument, DEFAULT_PROFILE)
}

/// A target argument without its default.
pub fn target_argument(argument: Option<&str>) -> Option<&str> {
    unless_default(argument, ALL_TARGETS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_manifest;

    fn manifest() -> Manifest {
        parse_manifest(
            "version: 1
profiles:
  default: {include_tags: [base], include_modules: [skill:extra], exclude_modules: [skill:b]}
  work: {include_tags: [work]}
targets:
  codex: {mode: files, scope: both}
modules:
  - {id: skill:z, type: skill, tags: [base], source: {local_path: {path: z}}}
  - {id: skill:b, type: skill, tags: [base], source: {local_path: {path: b}}}
  - {id: skill:extra, type: skill, source: {local_path: {path: e}}}
  - {id: skill:off, type: skill, enabled: false, tags: [base], source: {local_path: {path: o}}}
  - {id: skill:a, type: skill, tags: [work, base], source: {local_path: {path: a}}}
",
        )
        .unwrap()
        .manifest
    }

    #[test]
    fn profiles_select_by_tag_and_id() {
        let manifest = manifest();
        let ids = |profile: &str| -> Vec<String> {
            let modules = select_modules(&manifest, profile).unwrap();
            modules.iter().map(|module| module.id.clone()).collect()
        };
        assert_eq!(ids("default"), ["skill:a", "skill:extra", "skill:z"]);
        assert_eq!(ids("work"), ["skill:a"]);
    }

    #[test]
    fn unknown_names_are_explained() {
        let manifest = manifest();
        let profile = select_modules(&manifest, "wrok").unwrap_err();
        assert_eq!(profile.code().name, "E_UNEXPECTED");
        assert_eq!(profile.details()["reason_code"], "profile_unknown");
        insta::assert_snapshot!(profile.message(), @r#"agentpack.yaml has no profile "wrok"; did you mean "work"?; it has default, work"#);
        let module = find_module(&manifest, "skill:extr").unwrap_err();
        insta::assert_snapshot!(module.message(), @r#"agentpack.yaml has no module "skill:extr"; did you mean "skill:extra"?"#);
        let target = select_targets(&manifest, "codx").unwrap_err();
        assert_eq!(target.details()["reason_code"], "target_filter_unsupported");
        assert!(target.message().contains("did you mean \"codex\"?"));
        let target = select_targets(&manifest, "zed").unwrap_err();
        assert_eq!(target.code().name, "E_CONFIG_INVALID");
    }

    #[test]
    fn filters_choose_targets() {
        let manifest = manifest();
        assert_eq!(select_targets(&manifest, "all").unwrap(), [Target::Codex]);
        assert_eq!(select_targets(&manifest, "codex").unwrap(), [Target::Codex]);
    }

    #[test]
    fn must_37_spelled_out_defaults_count_as_absent() {
        assert_eq!(profile_argument(Some("default")), None);
        assert_eq!(profile_argument(Some("work")), Some("work"));
        assert_eq!(target_argument(Some("all")), None);
        assert_eq!(unless_default(Some("/r"), "/r"), None);
        assert_eq!(unless_default(None, "/r"), None);
    }
}
