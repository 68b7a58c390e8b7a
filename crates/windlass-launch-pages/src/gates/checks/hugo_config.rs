//! HugoConfig: the site has a configuration under which every planned page would be built.
//!
//! Reads the configuration as data; whether Hugo agrees is the HugoBuild gate's question.

use serde_json::{Map, Value};
use windlass_launch_model::{Page, SiteKind};
use windlass_launch_scout::{Files, hugo_settings};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

/// There is no configuration.
pub const MISSING: &str = "GATE_HUGO_CONFIG_MISSING";
/// A page is planned where Hugo does not look.
pub const PATH: &str = "GATE_HUGO_CONFIG_PATH_MISMATCH";
/// A page's kind, section or language is switched off.
pub const SECTION: &str = "GATE_HUGO_CONFIG_SECTION_NOT_ENABLED";

/// The gate.
pub struct HugoConfig;

impl Gate for HugoConfig {
    fn name(&self) -> &'static str {
        "HugoConfig"
    }

    fn limit(&self) -> Limit {
        Limit::Total(10, 20)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        if input.context.site_kind == SiteKind::Markdown {
            return Ok(Checked::skipped("not_applicable"));
        }
        if input.settings.skip_hugo_config {
            return Ok(Checked::skipped("disabled"));
        }
        let Some(config) = read(input) else {
            let message = "The site has no Hugo configuration that can be read. Add hugo.toml.";
            return Ok(Checked::Ran(vec![Finding::run(
                MISSING,
                "hugo.toml",
                message.to_owned(),
            )]));
        };
        let pages = input.plan.pages.iter();
        Ok(Checked::Ran(
            pages.flat_map(|page| faults(page, &config)).collect(),
        ))
    }
}

/// The configuration as the scout reads it; none when there is no file that parses.
fn read(input: &GateInput) -> Option<Map<String, Value>> {
    let paths: Vec<&str> = input.site.paths().collect();
    let files = Files {
        paths: &paths,
        text: &|path| input.site.text(path),
    };
    let found = hugo_settings(&files, input.settings.hugo_config_dir.as_deref())?;
    (found.broken.len() < found.files.len()).then_some(found.settings)
}

fn get<'v>(map: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    map.iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

fn faults(page: &Page, config: &Map<String, Value>) -> Vec<Finding> {
    let mut found = Vec::new();
    let path = page.output_path.as_str();
    let roots = content_roots(config);
    let inside = |root: &String| {
        let root = root.trim_matches('/');
        path.strip_prefix(root)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    if !roots.iter().any(inside) {
        let message = format!(
            "The page is planned outside Hugo's content: {}.",
            roots.join(", ")
        );
        found.push(Finding::file(PATH, path, path, message));
    }
    if let Some(why) = switched_off(page, config) {
        found.push(Finding::file(
            SECTION,
            path,
            path,
            format!("Hugo would not build the page: {why}."),
        ));
    }
    found
}

/// Every folder content may be in: the general one, those of languages, and mounts.
fn content_roots(config: &Map<String, Value>) -> Vec<String> {
    let mut roots: Vec<String> = Vec::new();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    roots.push(text(get(config, "contentDir")).unwrap_or_else(|| "content".to_owned()));
    for language in get(config, "languages")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let map = language.1.as_object();
        roots.extend(map.and_then(|map| text(get(map, "contentDir"))));
    }
    let module = get(config, "module").and_then(Value::as_object);
    let mounts = module
        .and_then(|module| get(module, "mounts"))
        .and_then(Value::as_array);
    for mount in mounts.into_iter().flatten().filter_map(Value::as_object) {
        let target = text(get(mount, "target")).unwrap_or_default();
        if target == "content" || target.starts_with("content/") {
            roots.extend(text(get(mount, "source")));
        }
    }
    roots.sort();
    roots.dedup();
    roots
}

fn switched_off(page: &Page, config: &Map<String, Value>) -> Option<String> {
    let name = page.output_path.rsplit('/').next().unwrap_or_default();
    let kind = if name.starts_with("_index.") {
        "section"
    } else {
        "page"
    };
    let strings = |key: &str| {
        let list = get(config, key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    };
    if strings("disableKinds").any(|off| off.eq_ignore_ascii_case(kind)) {
        return Some(format!("disableKinds names {kind}"));
    }
    let languages = get(config, "languages").and_then(Value::as_object);
    let own = languages.and_then(|all| get(all, &page.locale));
    let disabled = own
        .and_then(Value::as_object)
        .and_then(|language| get(language, "disabled"))
        .and_then(Value::as_bool)
        == Some(true);
    if disabled || strings("disableLanguages").any(|off| off.eq_ignore_ascii_case(&page.locale)) {
        return Some(format!("the language {} is disabled", page.locale));
    }
    if languages.is_some_and(|all| !all.is_empty()) && own.is_none() {
        return Some(format!(
            "the language {} is not among its languages",
            page.locale
        ));
    }
    strings("ignoreFiles")
        .find(|pattern| matches(pattern, &page.output_path))
        .map(|pattern| format!("ignoreFiles has {pattern}"))
}

/// Hugo's patterns are regular expressions. One that does not compile ignores nothing.
fn matches(pattern: &str, path: &str) -> bool {
    regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{codes, skipped, subject};

    #[test]
    fn planned_pages_are_where_hugo_looks() {
        let pages = subject().plan.pages.len();
        let cases: [(&str, &str, usize); 9] = [
            ("title = 'x'\n", "", 0),
            ("contentDir = 'src'\n", PATH, pages),
            (
                "contentDir = 'src'\n[languages.en]\ncontentDir = 'content'\n",
                "",
                0,
            ),
            (
                "contentDir = 'src'\n[[module.mounts]]\nsource = 'content'\ntarget = 'content'\n",
                "",
                0,
            ),
            ("[languages.de]\nweight = 1\n", SECTION, pages),
            ("[languages.en]\ndisabled = true\n", SECTION, pages),
            ("disableKinds = ['section']\n", SECTION, 2),
            ("ignoreFiles = ['content/docs/.*']\n", SECTION, 2),
            ("disableKinds = ['taxonomy']\n", "", 0),
        ];
        for (config, code, times) in cases {
            let mut subject = subject();
            subject.site.insert("hugo.toml", config);
            assert_eq!(codes(&HugoConfig, subject), vec![code; times], "{config}");
        }
    }

    #[test]
    fn a_configuration_must_be_there_and_parse() {
        let mut subject = subject();
        subject.site.insert("hugo.toml", "= broken");
        assert_eq!(codes(&HugoConfig, subject), [MISSING]);
    }

    #[test]
    fn a_folder_of_configuration_counts() {
        let mut subject = subject();
        subject.site.insert("hugo.toml", "= broken");
        subject
            .site
            .insert("config/_default/hugo.yaml", "title: x\n");
        subject
            .site
            .insert("config/_default/languages.toml", "[de]\nweight = 1\n");
        assert!(
            codes(&HugoConfig, subject)
                .iter()
                .all(|code| *code == SECTION)
        );
    }

    #[test]
    fn plain_markdown_sites_and_switched_off_gates_skip() {
        let mut plain = subject();
        plain.context.site_kind = SiteKind::Markdown;
        assert_eq!(skipped(&HugoConfig, plain), Some("not_applicable"));
        let mut off = subject();
        off.settings.skip_hugo_config = true;
        assert_eq!(skipped(&HugoConfig, off), Some("disabled"));
    }
}
