//! Which pages a launch has: rules embedded as data, chosen by version.
//!
//! A rule names a page, its headings and what evidence it needs. It knows no site and no product;
//! what it makes of them is decided in [`crate::plan`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_launch_model::{PageRole, Section, config::LaunchTier, page::Quota};
use windlass_types::Problem;

const EMBEDDED: [(&str, &str); 1] = [("1", include_str!("rulesets/1.toml"))];

/// The rule sets that can be asked for, oldest first.
pub fn versions() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(version, _)| *version)
}

/// The content below a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// What the product is.
    Positioning,
    /// What it does.
    KeyFeatures,
    /// How it is installed.
    Install,
    /// How it is first used.
    Quickstart,
    /// Every way of working.
    Workflows,
    /// One way of working.
    WorkflowSteps,
    /// What it does not do.
    Limitations,
    /// What it works with.
    Compatibility,
    /// What it reads and writes.
    Formats,
    /// What it needs.
    Requirements,
    /// What it is built on.
    Dependencies,
    /// Its licence.
    License,
    /// Its modules.
    Modules,
    /// Its types.
    Classes,
    /// Its functions.
    Functions,
    /// Code that shows it.
    Example,
    /// The pages beneath this one.
    Children,
    /// Other pages.
    SeeAlso,
}

/// A page a launch may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageRule {
    /// Its section.
    pub section: Section,
    /// Its slug; `{workflow}` stands for the workflow's.
    pub slug: String,
    /// What it is for.
    pub role: PageRole,
    /// Its title.
    pub title: String,
    /// What a reader comes for.
    pub purpose: String,
    /// Whether it is always there.
    #[serde(default)]
    pub mandatory: bool,
    /// Lower comes first.
    pub priority: u32,
    /// Whether there is one per workflow.
    #[serde(default)]
    pub per_workflow: bool,
    /// Its headings, in order.
    pub headings: Vec<String>,
    /// How many claims it holds.
    pub claims: Quota,
    /// Tags of the code it shows.
    #[serde(default)]
    pub snippets: Vec<String>,
    /// Words people search for.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// It is made only when one of these has something to say.
    #[serde(default)]
    pub needs: Vec<BlockKind>,
}

impl PageRule {
    /// `<section>/<slug>`, as overrides name it.
    pub fn id(&self) -> String {
        format!("{}/{}", self.section.as_str(), self.slug)
    }
}

/// How many pages a section has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionRule {
    /// How much evidence one page takes.
    pub points: u32,
    /// At least.
    pub min: u32,
    /// At most, by tier.
    pub max: BTreeMap<LaunchTier, u32>,
    /// What its pages do not mention.
    #[serde(default)]
    pub forbidden: Vec<String>,
}

/// Pages that must be there besides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// By `<section>/<slug>`.
    pub mandatory: Vec<String>,
}

/// A rule set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruleset {
    /// Its name.
    pub version: String,
    /// How much of the evidence a tier uses.
    pub tier_factors: BTreeMap<LaunchTier, f64>,
    /// How many pages a section has.
    pub sections: BTreeMap<Section, SectionRule>,
    /// What a family, a kind of product or a platform needs besides.
    #[serde(default)]
    pub overrides: BTreeMap<String, Override>,
    /// The content below each heading.
    pub headings: BTreeMap<String, BlockKind>,
    /// The pages.
    pub pages: Vec<PageRule>,
}

impl Ruleset {
    /// The rule set of a version; the newest when none is named.
    pub fn load(version: Option<&str>) -> Result<Self, Problem> {
        let found = EMBEDDED
            .iter()
            .rev()
            .find(|(name, _)| version.is_none_or(|asked| asked == *name));
        let Some((name, text)) = found else {
            let known = versions().collect::<Vec<_>>().join(", ");
            let asked = version.unwrap_or_default();
            return Err(Problem::invalid(
                "/ruleset_version",
                "one of the embedded rule sets",
                format!("there is no rule set {asked:?}; there is {known}"),
            ));
        };
        toml::from_str(text)
            .map_err(|error| Problem::internal("ruleset", format!("rule set {name}: {error}")))
    }

    /// The content below a heading.
    pub fn block(&self, heading: &str) -> Option<BlockKind> {
        self.headings.get(heading).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_rule_set_is_complete() {
        for version in versions() {
            let rules = Ruleset::load(Some(version)).unwrap();
            assert_eq!(rules.version, version);
            for tier in [LaunchTier::Minimal, LaunchTier::Standard, LaunchTier::Rich] {
                assert!(rules.tier_factors.contains_key(&tier));
            }
            for section in Section::ALL {
                let rule = &rules.sections[&section];
                let mandatory = rules
                    .pages
                    .iter()
                    .filter(|page| page.section == section && page.mandatory)
                    .count();
                assert!(rule.min as usize >= mandatory, "{section:?}");
                assert!(rule.max.len() == 3 && rule.max.values().all(|max| *max >= rule.min));
                assert_eq!(
                    rules
                        .pages
                        .iter()
                        .filter(|page| page.section == section && page.slug == "_index")
                        .count(),
                    1
                );
            }
            for page in &rules.pages {
                assert!(page.claims.min <= page.claims.max);
                assert_eq!(page.per_workflow, page.slug.contains("{workflow}"));
                let mut headings = page.headings.clone();
                for heading in &headings {
                    assert!(rules.block(heading).is_some(), "{heading}");
                }
                headings.sort();
                headings.dedup();
                assert_eq!(
                    headings.len(),
                    page.headings.len(),
                    "a heading twice in {}",
                    page.id()
                );
                let shows_code = page
                    .headings
                    .iter()
                    .any(|heading| rules.block(heading) == Some(BlockKind::Example));
                assert!(page.role != PageRole::Toc || !shows_code);
            }
            for id in rules.overrides.values().flat_map(|entry| &entry.mandatory) {
                assert!(rules.pages.iter().any(|page| page.id() == *id), "{id}");
            }
        }
    }

    #[test]
    fn an_unknown_version_is_refused() {
        let problem = Ruleset::load(Some("none")).unwrap_err();
        assert_eq!(
            problem.message(),
            "there is no rule set \"none\"; there is 1"
        );
    }
}
