//! Which pages are written, where, and what each must hold: `page_plan.json`.
//!
//! A pure function of the facts and the rules. Two pages with one address are an issue that
//! blocks, never a silent overwrite.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    ARTIFACT_VERSION, EvidenceMap, Issue, IssueStatus, Location, Page, PagePlan, ProductFacts,
    RepoInventory, ResolvedConfig, RunConfig, Section, Severity, SiteContext, SnippetCatalog,
    config::LaunchTier,
    page::{ContentStrategy, Quota},
};
use windlass_types::Problem;

use crate::{
    evidence::Material,
    links, markup,
    ruleset::{BlockKind, PageRule, Ruleset},
    templates,
    url::{LIST_PAGE, LocaleMode, Target, UrlRules, detect_mode},
};

/// The lines that front matter, headings and links take on any page.
const FRAME: u64 = 40;

/// What the run's configuration says about pages.
#[derive(Clone, Debug)]
pub struct PlanSettings {
    /// The folder of the product family.
    pub family: String,
    /// The languages, the first being the one the pages are named by.
    pub locales: Vec<String>,
    /// The sections to be written.
    pub required_sections: Vec<Section>,
    /// How sections separate their languages, where configured.
    pub locale_modes: BTreeMap<Section, LocaleMode>,
    /// How much the launch should hold.
    pub launch_tier: LaunchTier,
    /// The rule set; the newest when none is named.
    pub ruleset_version: Option<String>,
    /// The templates; the newest when none are named.
    pub templates_version: Option<String>,
    /// Whether conclusions may be shown as well.
    pub allow_inference: bool,
    /// How many lines a page may have.
    pub max_lines: u64,
}

impl PlanSettings {
    /// What a configuration says, once the repositories have answered what it left open.
    pub fn of(config: &RunConfig, resolved: &ResolvedConfig) -> Self {
        Self {
            family: config.family.clone(),
            locales: config.locales.clone(),
            required_sections: resolved.required_sections.clone(),
            locale_modes: resolved.locale_modes.clone(),
            launch_tier: config.launch_tier,
            ruleset_version: Some(config.ruleset_version.clone()),
            templates_version: Some(config.templates_version.clone()),
            allow_inference: config.allow_inference,
            max_lines: config.budgets.max_lines_per_file,
        }
    }
}

/// Everything a plan is made of.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// What is known of the product.
    pub facts: &'a ProductFacts,
    /// Where it is known from.
    pub evidence: &'a EvidenceMap,
    /// Code that may be shown.
    pub snippets: &'a SnippetCatalog,
    /// The product repository.
    pub inventory: &'a RepoInventory,
    /// The site.
    pub site: &'a SiteContext,
    /// How the site makes addresses.
    pub urls: &'a UrlRules,
    /// Every file of the site, relative to it.
    pub site_paths: &'a [String],
    /// What the configuration says.
    pub settings: &'a PlanSettings,
}

/// A plan, and what blocks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: PagePlan,
    /// What blocks it.
    pub issues: Vec<Issue>,
}

/// Plans the pages.
pub fn plan_pages(input: &PlanInput<'_>) -> Result<Planned, Problem> {
    let settings = input.settings;
    let rules = Ruleset::load(settings.ruleset_version.as_deref())?;
    templates::check_version(settings.templates_version.as_deref())?;
    let material = Material::gather(
        input.facts,
        input.evidence,
        input.snippets,
        input.site.site_kind,
        settings.allow_inference,
    );
    let (tier, tier_adjustments) = material.tier(settings.launch_tier, input.evidence);
    let evidence_volume = material.volume();
    let score = evidence_volume.get("score").copied().unwrap_or_default();
    let mandatory = mandatory_pages(&rules, input);
    let mut pages = Vec::new();
    let mut effective_quotas = BTreeMap::new();
    for section in Section::ALL {
        if !settings.required_sections.contains(&section) {
            continue;
        }
        let candidates = candidates(section, &rules, &material, &mandatory, settings.max_lines);
        let quota = quota(section, &rules, tier, score, &candidates);
        effective_quotas.insert(section, quota);
        let root = section_root(input.site, section)?;
        let target = Target {
            site_kind: input.site.site_kind,
            section_root: root,
            family: &settings.family,
            mode: mode(section, root, input),
        };
        for candidate in candidates.into_iter().take(quota.max as usize) {
            for (index, locale) in settings.locales.iter().enumerate() {
                pages.push(page(
                    &candidate, index, locale, &target, &rules, &material, input,
                ));
            }
        }
    }
    pages.sort_by(|left: &Page, right: &Page| {
        (left.section, &left.output_path).cmp(&(right.section, &right.output_path))
    });
    links::plan_links(&mut pages);
    let issues = collisions(&pages, input);
    let plan = PagePlan {
        schema_version: ARTIFACT_VERSION.to_owned(),
        launch_tier: tier.as_str().to_owned(),
        tier_adjustments,
        evidence_volume,
        effective_quotas,
        pages,
    };
    Ok(Planned { plan, issues })
}

fn section_root(site: &SiteContext, section: Section) -> Result<&str, Problem> {
    site.section_roots
        .get(&section)
        .map(String::as_str)
        .ok_or_else(|| {
            Problem::invalid(
                "/site_layout/subdomain_roots",
                "a folder for every required section",
                format!(
                    "the section {:?} has no folder on the site",
                    section.as_str()
                ),
            )
            .next("add it to site_layout.subdomain_roots or leave it out of required_sections")
        })
}

fn mode(section: Section, root: &str, input: &PlanInput<'_>) -> LocaleMode {
    let languages: Vec<String> = input
        .urls
        .languages
        .iter()
        .map(|language| language.code.clone())
        .collect();
    input
        .settings
        .locale_modes
        .get(&section)
        .copied()
        .unwrap_or_else(|| {
            detect_mode(
                input.site.site_kind,
                root,
                &languages,
                input.site_paths,
                &input.settings.locales,
            )
        })
}

/// The pages that must be there: the rules' own and those of family, kind and platform.
fn mandatory_pages(rules: &Ruleset, input: &PlanInput<'_>) -> BTreeSet<String> {
    let keys = [
        input.settings.family.as_str(),
        input.inventory.inferred_product_type.as_str(),
        input.inventory.repo_profile.platform_family.as_str(),
    ];
    let besides = keys
        .into_iter()
        .filter_map(|key| rules.overrides.get(key))
        .flat_map(|entry| entry.mandatory.iter().cloned());
    rules
        .pages
        .iter()
        .filter(|page| page.mandatory)
        .map(PageRule::id)
        .chain(besides)
        .collect()
}

/// A page that could be written.
struct Candidate<'a> {
    rule: &'a PageRule,
    mandatory: bool,
    quality: usize,
    slug: String,
    /// The workflow it is about.
    workflow: Option<String>,
    /// The workflows it covers.
    scenarios: Vec<String>,
}

fn candidates<'a>(
    section: Section,
    rules: &'a Ruleset,
    material: &Material<'_>,
    mandatory: &BTreeSet<String>,
    max_lines: u64,
) -> Vec<Candidate<'a>> {
    let every: Vec<String> = material.facts().workflows.keys().cloned().collect();
    let mut found = Vec::new();
    for rule in rules.pages.iter().filter(|rule| rule.section == section) {
        let subjects: Vec<Option<String>> = if rule.per_workflow {
            every.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        for workflow in subjects {
            let scenarios = workflow
                .clone()
                .map_or_else(|| covered(rule, material, max_lines), |name| vec![name]);
            let mandatory = mandatory.contains(&rule.id());
            let has_material = |block: &BlockKind| {
                !material.claims_of(*block, &scenarios).is_empty() || material.has_data(*block)
            };
            if !mandatory && !rule.needs.is_empty() && !rule.needs.iter().any(has_material) {
                continue;
            }
            let blocks = rule
                .headings
                .iter()
                .filter_map(|heading| rules.block(heading));
            let claims: BTreeSet<&str> = blocks
                .flat_map(|block| material.claims_of(block, &scenarios))
                .collect();
            let tags = fill_all(&rule.snippets, "", workflow.as_deref());
            let slug = workflow.as_deref().map_or_else(
                || rule.slug.clone(),
                |name| rule.slug.replace("{workflow}", &markup::slug(name)),
            );
            found.push(Candidate {
                rule,
                mandatory,
                quality: 2 * claims.len() + 3 * material.snippets_of(&tags).len(),
                slug,
                workflow,
                scenarios,
            });
        }
    }
    found.sort_by(|left, right| {
        let key = |entry: &Candidate<'_>| {
            (
                !entry.mandatory,
                entry.rule.priority,
                std::cmp::Reverse(entry.quality),
            )
        };
        key(left)
            .cmp(&key(right))
            .then_with(|| left.slug.cmp(&right.slug))
    });
    found
}

/// How many claims a page may have: what its rule says, as far as there is room. A claim takes two
/// lines where it is a paragraph, and some of the page is for lists and code.
fn most_claims(rule: &PageRule, max_lines: u64) -> u32 {
    let room = u32::try_from(max_lines.saturating_sub(FRAME) / 3).unwrap_or(u32::MAX);
    rule.claims.max.min(room.max(1))
}

/// The workflows a page covers: all, or those with the most steps if there is no room for all. Each
/// takes a heading and a claim, and every heading of the page keeps a claim.
fn covered(rule: &PageRule, material: &Material<'_>, max_lines: u64) -> Vec<String> {
    let lines = usize::try_from(max_lines.saturating_sub(FRAME) / 8).unwrap_or(usize::MAX);
    let claims = (most_claims(rule, max_lines) as usize).saturating_sub(rule.headings.len());
    let workflows = &material.facts().workflows;
    let mut names: Vec<&String> = workflows.keys().collect();
    names.sort_by_key(|name| {
        let steps = material.claims_of(BlockKind::WorkflowSteps, std::slice::from_ref(name));
        std::cmp::Reverse(steps.len())
    });
    names.truncate(lines.min(claims).max(1));
    names.sort();
    names.into_iter().cloned().collect()
}

/// How many pages a section gets: what the evidence asks for, between what must be there and
/// what the tier allows.
fn quota(
    section: Section,
    rules: &Ruleset,
    tier: LaunchTier,
    score: u64,
    candidates: &[Candidate<'_>],
) -> Quota {
    let mandatory = u32::try_from(candidates.iter().filter(|page| page.mandatory).count());
    let Some(rule) = rules.sections.get(&section) else {
        return Quota::default();
    };
    let min = rule.min.max(mandatory.unwrap_or(u32::MAX));
    let most = rule.max.get(&tier).copied().unwrap_or(min).max(min);
    let factor = rules.tier_factors.get(&tier).copied().unwrap_or(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the score is a small count, and a cast to an integer saturates"
    )]
    let target = (score as f64 * factor / f64::from(rule.points.max(1))) as u32;
    Quota {
        min,
        max: target.clamp(min, most),
    }
}

fn page(
    candidate: &Candidate<'_>,
    locale_index: usize,
    locale: &str,
    target: &Target<'_>,
    rules: &Ruleset,
    material: &Material<'_>,
    input: &PlanInput<'_>,
) -> Page {
    let rule = candidate.rule;
    let product = &input.facts.product_name;
    let workflow = candidate.workflow.as_deref();
    let output_path = target.output_path(&candidate.slug, locale);
    let base = format!("{}/{}", rule.section.as_str(), candidate.slug);
    let page_id = if locale_index == 0 {
        base
    } else {
        format!("{base}.{locale}")
    };
    let forbidden_topics = rules
        .sections
        .get(&rule.section)
        .map(|section| section.forbidden.clone())
        .unwrap_or_default();
    let most = most_claims(rule, input.settings.max_lines);
    let required_claim_ids = select_claims(candidate, rules, material, &forbidden_topics, most);
    let tags = fill_all(&rule.snippets, product, workflow);
    let has_code = !material.snippets_of(&tags).is_empty();
    let available = u32::try_from(required_claim_ids.len()).unwrap_or(u32::MAX);
    Page {
        page_id,
        section: rule.section,
        url_path: input
            .urls
            .url_path(&output_path)
            .unwrap_or_else(|| format!("/{output_path}")),
        output_path,
        slug: candidate.slug.clone(),
        locale: locale.to_owned(),
        title: fill(&rule.title, product, workflow),
        purpose: rule.purpose.clone(),
        page_role: rule.role,
        required_headings: rule.headings.clone(),
        required_claim_ids,
        required_snippet_tags: if has_code { tags } else { Vec::new() },
        cross_links: Vec::new(),
        seo_keywords: fill_all(&rule.keywords, product, workflow),
        forbidden_topics,
        template: templates::name(rule.role).to_owned(),
        content_strategy: ContentStrategy {
            // What the evidence does not hold cannot be asked of a page.
            claim_quota: Quota {
                min: rule.claims.min.min(available),
                max: most,
            },
            child_pages: Vec::new(),
            scenario_coverage: if covers_workflows(candidate, rules) {
                candidate.scenarios.clone()
            } else {
                Vec::new()
            },
        },
    }
}

fn covers_workflows(candidate: &Candidate<'_>, rules: &Ruleset) -> bool {
    candidate.rule.headings.iter().any(|heading| {
        matches!(
            rules.block(heading),
            Some(BlockKind::Workflows | BlockKind::WorkflowSteps)
        )
    })
}

/// The claims of a page, each once, up to the page's maximum. The first claim of every workflow
/// and of every heading comes before the second of any, so that a guide covers all workflows and
/// no heading stands empty for want of room.
fn select_claims(
    candidate: &Candidate<'_>,
    rules: &Ruleset,
    material: &Material<'_>,
    forbidden: &[String],
    most: u32,
) -> Vec<String> {
    let allowed = |id: &&str| {
        material.claim(id).is_some_and(|claim| {
            let text = claim.claim_text.to_lowercase();
            !forbidden.iter().any(|topic| text.contains(topic.as_str()))
        })
    };
    let mut chosen: Vec<&str> = Vec::new();
    let first_of_each = candidate.scenarios.iter().filter_map(|name| {
        material
            .claims_of(BlockKind::WorkflowSteps, std::slice::from_ref(name))
            .into_iter()
            .find(allowed)
    });
    if covers_workflows(candidate, rules) {
        chosen.extend(first_of_each);
    }
    let blocks: Vec<Vec<&str>> = candidate
        .rule
        .headings
        .iter()
        .filter_map(|heading| rules.block(heading))
        .map(|block| {
            let claims = material.claims_of(block, &candidate.scenarios).into_iter();
            claims.filter(allowed).collect()
        })
        .collect();
    let longest = blocks.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        chosen.extend(blocks.iter().filter_map(|claims| claims.get(turn)));
    }
    let mut seen = BTreeSet::new();
    chosen.retain(|id| seen.insert(*id));
    chosen.truncate(most as usize);
    chosen.into_iter().map(str::to_owned).collect()
}

fn fill(pattern: &str, product: &str, workflow: Option<&str>) -> String {
    let title = workflow.map_or_else(String::new, |name| markup::title_with(name, product));
    // A workflow that names the product needs it named no second time.
    let pattern = if title.contains(product) && !product.is_empty() {
        pattern.replace(" with {product}", "")
    } else {
        pattern.to_owned()
    };
    pattern
        .replace("{product}", product)
        .replace("{workflow}", &title)
}

fn fill_all(patterns: &[String], product: &str, workflow: Option<&str>) -> Vec<String> {
    patterns
        .iter()
        .map(|pattern| match workflow {
            // A tag is the workflow's own name, not its title.
            Some(name) if pattern == "{workflow}" => name.to_owned(),
            _ => fill(pattern, product, workflow),
        })
        .collect()
}

/// One blocking issue for every address that two files would have.
fn collisions(pages: &[Page], input: &PlanInput<'_>) -> Vec<Issue> {
    let mut by_url: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for page in pages {
        by_url
            .entry(page.url_path.to_lowercase())
            .or_default()
            .insert(&page.output_path);
    }
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for page in pages {
        *files.entry(&page.output_path).or_default() += 1;
    }
    for path in input.site_paths {
        if let Some(url) = input.urls.url_path(path)
            && let Some(paths) = by_url.get_mut(&url.to_lowercase())
        {
            paths.insert(path);
        }
    }
    by_url
        .into_iter()
        .filter(|(_, paths)| {
            paths.len() > 1
                || paths
                    .iter()
                    .any(|path| files.get(path).is_some_and(|count| *count > 1))
        })
        .map(|(url, paths)| collision(&url, &paths))
        .collect()
}

fn collision(url: &str, paths: &BTreeSet<&str>) -> Issue {
    let gate = "ContentDistribution";
    let code = "GATE_DISTRIBUTION_DUPLICATE";
    let files: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
    let first = files.first().cloned().unwrap_or_default();
    Issue {
        issue_id: Issue::id(gate, code, &first, url, 0),
        gate: gate.to_owned(),
        severity: Severity::Blocker,
        title: "Two pages have one address".to_owned(),
        message: format!("{} would all be served as {url}", files.join(", ")),
        status: IssueStatus::Open,
        error_code: Some(code.to_owned()),
        location: Some(Location {
            path: first,
            line: None,
        }),
        files,
        occurrences: Vec::new(),
        suggested_fix: Some(
            "change the product family or the section's folder, or remove the other page"
                .to_owned(),
        ),
        fixable: false,
    }
}

/// Whether a page lists the others of its section.
pub fn is_list_page(page: &Page) -> bool {
    page.slug == LIST_PAGE
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
