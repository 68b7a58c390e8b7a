//! Where a page's file goes, and the address it gets there.
//!
//! The file follows the localisation mode of its section; the address follows Hugo's own rules
//! for languages, list pages and permalinks. Reads no configuration: the rules are handed in.

use std::collections::BTreeMap;

use windlass_launch_model::{HugoFacts, SiteContext, SiteKind};

pub use windlass_launch_model::config::ResolvedLocaleMode as LocaleMode;

/// The slug of a list page.
pub const LIST_PAGE: &str = "_index";

/// A page's file: everything that decides where it goes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// What kind of site it is.
    pub site_kind: SiteKind,
    /// The section's folder.
    pub section_root: &'a str,
    /// The product family's folder.
    pub family: &'a str,
    /// How languages are separated.
    pub mode: LocaleMode,
}

impl Target<'_> {
    /// The file of a page.
    pub fn output_path(&self, slug: &str, locale: &str) -> String {
        let name = match (slug, self.site_kind) {
            (LIST_PAGE, SiteKind::Markdown) => "index",
            (name, _) => name,
        };
        let root = self.section_root.trim_end_matches('/');
        self.mode.page_path(root, self.family, locale, name)
    }
}

/// Path components joined by `/`, without the empty ones and `.`.
pub(crate) fn join(parts: &[&str]) -> String {
    parts
        .iter()
        .flat_map(|part| part.split('/'))
        .filter(|part| !part.is_empty() && *part != ".")
        .collect::<Vec<_>>()
        .join("/")
}

/// A language of a Hugo site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Language {
    /// Its key in the configuration, e.g. `de`.
    pub code: String,
    /// Its own content folder, relative to the site.
    pub content_dir: Option<String>,
}

/// What decides addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRules {
    /// What kind of site it is.
    pub site_kind: SiteKind,
    /// The content folder, relative to the site.
    pub content_root: String,
    /// The site's languages; empty for a site that names none.
    pub languages: Vec<Language>,
    /// `defaultContentLanguage`.
    pub default_language: String,
    /// `defaultContentLanguageInSubdir`.
    pub default_language_in_subdir: bool,
    /// Patterns for the pages of a top-level section.
    pub permalinks: BTreeMap<String, String>,
}

impl UrlRules {
    /// The rules of a site, as the scout found them.
    pub fn of(site: &SiteContext, hugo: Option<&HugoFacts>) -> Self {
        let language = |code: &String| Language {
            code: code.clone(),
            content_dir: None,
        };
        Self {
            site_kind: site.site_kind,
            content_root: site.content_root.clone(),
            languages: hugo.map_or_else(Vec::new, |facts| {
                facts.languages.iter().map(language).collect()
            }),
            default_language: hugo
                .map_or_else(|| "en".to_owned(), |facts| facts.default_language.clone()),
            default_language_in_subdir: hugo.is_some_and(|facts| facts.default_language_in_subdir),
            permalinks: hugo.map(page_permalinks).unwrap_or_default(),
        }
    }

    /// The address of a file, beginning with `/`; none for a file that is no page.
    pub fn url_path(&self, output_path: &str) -> Option<String> {
        let stem = output_path.strip_suffix(".md")?;
        if self.site_kind == SiteKind::Markdown {
            let inside = strip_root(output_path, &self.content_root)?;
            return Some(format!("/{inside}"));
        }
        let (language, inside) = self.language_of(stem)?;
        let (folder, name) = inside.rsplit_once('/').unwrap_or(("", &inside));
        let path = if matches!(name, "_index" | "index") {
            folder.to_owned()
        } else {
            self.permalink(folder, name)
                .unwrap_or_else(|| join(&[folder, name]))
        };
        let prefix = self.prefix(&language);
        let joined = join(&[prefix, &path]).to_lowercase().replace(' ', "-");
        Some(if joined.is_empty() {
            "/".to_owned()
        } else {
            format!("/{joined}/")
        })
    }

    /// The language of a file and its path within that language's content, as Hugo determines them:
    /// by a content folder of its own, else by the name, else the default.
    fn language_of(&self, stem: &str) -> Option<(String, String)> {
        let own = self
            .languages
            .iter()
            .filter_map(|language| Some((language, language.content_dir.as_deref()?)))
            .filter_map(|(language, root)| Some((root.len(), language, strip_root(stem, root)?)))
            .max_by_key(|(length, ..)| *length);
        if let Some((_, language, inside)) = own {
            return Some((language.code.clone(), inside.to_owned()));
        }
        let inside = strip_root(stem, &self.content_root)?;
        let named = inside.rsplit_once('.').filter(|(_, suffix)| {
            self.languages
                .iter()
                .any(|language| language.code.eq_ignore_ascii_case(suffix))
                || suffix.eq_ignore_ascii_case(&self.default_language)
        });
        Some(match named {
            Some((inside, suffix)) => (suffix.to_lowercase(), inside.to_owned()),
            None => (self.default_language.clone(), inside.to_owned()),
        })
    }

    fn prefix<'a>(&self, language: &'a str) -> &'a str {
        let is_default = language.eq_ignore_ascii_case(&self.default_language);
        if is_default && !self.default_language_in_subdir {
            ""
        } else {
            language
        }
    }

    /// The path a permalink pattern gives; none where there is no pattern, or where it asks for
    /// something that is not known from the path alone, such as a date.
    fn permalink(&self, folder: &str, name: &str) -> Option<String> {
        let section = folder
            .split('/')
            .next()
            .filter(|section| !section.is_empty())?;
        let pattern = self.permalinks.get(section)?;
        let mut path = Vec::new();
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            path.push(match part {
                ":section" => section,
                ":sections" => folder,
                ":slug"
                | ":slugorfilename"
                | ":filename"
                | ":contentbasename"
                | ":slugorcontentbasename" => name,
                other if other.starts_with(':') => return None,
                other => other,
            });
        }
        Some(join(&path))
    }
}

/// The patterns for single pages: those given for a section outright, and those below `page`.
fn page_permalinks(facts: &HugoFacts) -> BTreeMap<String, String> {
    let below = facts
        .permalinks
        .get("page")
        .and_then(serde_json::Value::as_object);
    let outright = facts.permalinks.iter();
    outright
        .chain(below.into_iter().flatten())
        .filter_map(|(section, pattern)| Some((section.clone(), pattern.as_str()?.to_owned())))
        .collect()
}

fn strip_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let root = root.trim_matches('/');
    if root.is_empty() || root == "." {
        return Some(path);
    }
    path.strip_prefix(root)?.strip_prefix('/')
}

/// The mode of a section that names none: what its files show, else the simplest that works.
pub fn detect_mode(
    site_kind: SiteKind,
    section_root: &str,
    languages: &[String],
    site_paths: &[String],
    locales: &[String],
) -> LocaleMode {
    let known = |code: &str| {
        languages
            .iter()
            .chain(locales)
            .any(|language| language.eq_ignore_ascii_case(code))
    };
    let mut named = false;
    for inside in site_paths
        .iter()
        .filter_map(|path| strip_root(path, section_root))
    {
        let Some(stem) = inside.strip_suffix(".md") else {
            continue;
        };
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        if folder.split('/').any(known) {
            return LocaleMode::Dir;
        }
        named |= name
            .rsplit_once('.')
            .is_some_and(|(_, suffix)| known(suffix));
    }
    match (named, locales.len(), site_kind) {
        (true, ..) => LocaleMode::Filename,
        (false, 0 | 1, _) => LocaleMode::None,
        (false, _, SiteKind::Hugo) => LocaleMode::Filename,
        (false, _, SiteKind::Markdown) => LocaleMode::Dir,
    }
}

/// The relative path from one file to another.
pub fn relative(from: &str, to: &str) -> String {
    let mut here: Vec<&str> = from.split('/').collect();
    here.pop();
    let there: Vec<&str> = to.split('/').collect();
    let common = here
        .iter()
        .zip(&there)
        .take_while(|(left, right)| left == right)
        .count();
    let common = common.min(there.len().saturating_sub(1));
    std::iter::repeat_n("..", here.len() - common)
        .chain(there[common..].iter().copied())
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(in_subdir: bool) -> UrlRules {
        let language = |code: &str| Language {
            code: code.to_owned(),
            content_dir: None,
        };
        UrlRules {
            site_kind: SiteKind::Hugo,
            content_root: "content".to_owned(),
            languages: vec![language("en"), language("de")],
            default_language: "en".to_owned(),
            default_language_in_subdir: in_subdir,
            permalinks: BTreeMap::new(),
        }
    }

    #[test]
    fn files_follow_the_mode_of_their_section() {
        use {LocaleMode as Mode, SiteKind as Kind};
        for (kind, mode, slug, expected) in [
            (
                Kind::Hugo,
                Mode::None,
                "install",
                "content/docs/acme/install.md",
            ),
            (
                Kind::Hugo,
                Mode::Dir,
                "install",
                "content/docs/acme/de/install.md",
            ),
            (
                Kind::Hugo,
                Mode::Filename,
                "install",
                "content/docs/acme/install.de.md",
            ),
            (
                Kind::Hugo,
                Mode::None,
                LIST_PAGE,
                "content/docs/acme/_index.md",
            ),
            (
                Kind::Hugo,
                Mode::Filename,
                LIST_PAGE,
                "content/docs/acme/_index.de.md",
            ),
            (
                Kind::Markdown,
                Mode::None,
                LIST_PAGE,
                "content/docs/acme/index.md",
            ),
        ] {
            let target = Target {
                site_kind: kind,
                section_root: "content/docs/",
                family: "acme",
                mode,
            };
            assert_eq!(target.output_path(slug, "de"), expected);
        }
    }

    #[test]
    fn the_default_language_is_prefixed_only_when_hugo_puts_it_in_a_folder() {
        for (in_subdir, path, expected) in [
            (false, "content/docs/a/x.md", "/docs/a/x/"),
            (false, "content/docs/a/x.en.md", "/docs/a/x/"),
            (false, "content/docs/a/x.de.md", "/de/docs/a/x/"),
            (true, "content/docs/a/x.md", "/en/docs/a/x/"),
            (true, "content/docs/a/x.de.md", "/de/docs/a/x/"),
            (true, "content/docs/a/_index.md", "/en/docs/a/"),
            (false, "content/docs/a/x/index.md", "/docs/a/x/"),
            (false, "content/_index.md", "/"),
            (false, "content/Docs/A b/X.md", "/docs/a-b/x/"),
            (false, "content/docs/a/v1.2.md", "/docs/a/v1.2/"),
        ] {
            assert_eq!(
                rules(in_subdir).url_path(path).as_deref(),
                Some(expected),
                "{path} {in_subdir}"
            );
        }
        assert_eq!(rules(false).url_path("static/a.md"), None);
        assert_eq!(rules(false).url_path("content/a.png"), None);
    }

    #[test]
    fn a_language_with_its_own_folder_is_recognised_by_it() {
        let mut rules = rules(false);
        rules.languages[1].content_dir = Some("content/german".to_owned());
        assert_eq!(
            rules.url_path("content/german/docs/x.md").as_deref(),
            Some("/de/docs/x/")
        );
    }

    #[test]
    fn permalinks_apply_to_pages_whose_parts_are_known() {
        let mut rules = rules(false);
        rules
            .permalinks
            .insert("docs".to_owned(), "/manual/:slug/".to_owned());
        rules
            .permalinks
            .insert("blog".to_owned(), "/:year/:slug/".to_owned());
        assert_eq!(
            rules.url_path("content/docs/a/x.md").as_deref(),
            Some("/manual/x/")
        );
        assert_eq!(
            rules.url_path("content/docs/a/_index.md").as_deref(),
            Some("/docs/a/")
        );
        assert_eq!(
            rules.url_path("content/blog/a/x.md").as_deref(),
            Some("/blog/a/x/")
        );
    }

    #[test]
    fn the_rules_come_from_what_the_scout_found() {
        let site = crate::sample::bare(SiteKind::Hugo).site;
        let facts = HugoFacts {
            languages: vec!["de".to_owned(), "en".to_owned()],
            default_language: "de".to_owned(),
            default_language_in_subdir: true,
            permalinks: BTreeMap::from([
                ("docs".to_owned(), "/d/:slug/".into()),
                ("page".to_owned(), serde_json::json!({"kb": "/k/:slug/"})),
                ("section".to_owned(), serde_json::json!({"kb": "/s/"})),
            ]),
            ..HugoFacts::default()
        };
        let rules = UrlRules::of(&site, Some(&facts));
        for (path, expected) in [
            ("content/docs/a/x.md", "/de/d/x/"),
            ("content/kb/a/x.en.md", "/en/k/x/"),
            ("content/blog/a/_index.md", "/de/blog/a/"),
        ] {
            assert_eq!(rules.url_path(path).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_plain_site_has_its_files_as_addresses() {
        let mut rules = rules(false);
        rules.site_kind = SiteKind::Markdown;
        rules.content_root = ".".to_owned();
        assert_eq!(
            rules.url_path("docs/a/index.md").as_deref(),
            Some("/docs/a/index.md")
        );
    }

    #[test]
    fn the_mode_is_what_the_section_shows() {
        let paths = |list: &[&str]| list.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
        let (one, two) = (paths(&["en"]), paths(&["en", "de"]));
        for (files, locales, kind, expected) in [
            (vec![], &one, SiteKind::Hugo, LocaleMode::None),
            (vec![], &two, SiteKind::Hugo, LocaleMode::Filename),
            (vec![], &two, SiteKind::Markdown, LocaleMode::Dir),
            (
                vec!["docs/a/en/x.md"],
                &one,
                SiteKind::Hugo,
                LocaleMode::Dir,
            ),
            (
                vec!["docs/a/x.en.md"],
                &one,
                SiteKind::Hugo,
                LocaleMode::Filename,
            ),
            (
                vec!["blog/a/en/x.md"],
                &one,
                SiteKind::Hugo,
                LocaleMode::None,
            ),
        ] {
            assert_eq!(
                detect_mode(kind, "docs", &[], &paths(&files), locales),
                expected,
                "{files:?}"
            );
        }
    }

    #[test]
    fn relative_paths_link_file_to_file() {
        for (from, to, expected) in [
            ("docs/a/x.md", "docs/a/y.md", "y.md"),
            ("docs/a/x.md", "docs/b/y.md", "../b/y.md"),
            ("x.md", "docs/y.md", "docs/y.md"),
            ("docs/a/x.md", "y.md", "../../y.md"),
        ] {
            assert_eq!(relative(from, to), expected);
        }
    }
}
