//! What may be said: claims that stand, code that may be shown, and how much there is of both.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    Claim, ClaimKind, Complexity, EvidenceMap, ProductFacts, SiteKind, Snippet, SnippetCatalog,
    TruthStatus, config::LaunchTier,
};

use crate::{markup, ruleset::BlockKind, support};

/// Fewer claims than this make a minimal launch.
const FEW_CLAIMS: usize = 5;
/// More examples than this tire a reader.
const MOST_EXAMPLES: usize = 3;

/// The claims and code a launch may use.
#[derive(Debug)]
pub struct Material<'a> {
    facts: &'a ProductFacts,
    claims: BTreeMap<&'a str, &'a Claim>,
    snippets: Vec<&'a Snippet>,
}

impl<'a> Material<'a> {
    /// Keeps what is backed by evidence, not contradicted, and fit to be shown.
    pub fn gather(
        facts: &'a ProductFacts,
        evidence: &EvidenceMap,
        catalog: &'a SnippetCatalog,
        site_kind: SiteKind,
        allow_inference: bool,
    ) -> Self {
        let withheld = withheld(evidence);
        let claims = facts
            .claims
            .iter()
            .filter(|claim| allow_inference || claim.truth_status == TruthStatus::Fact)
            .filter(|claim| !withheld.contains(claim.claim_id.as_str()))
            .filter(|claim| {
                evidence
                    .claims
                    .get(&claim.claim_id)
                    .is_some_and(|found| !found.citations.is_empty())
            })
            .filter(|claim| markup::is_showable(&claim.claim_text))
            .map(|claim| (claim.claim_id.as_str(), claim))
            .collect();
        let snippets = catalog
            .snippets
            .iter()
            .filter(|snippet| snippet.validation.syntax_ok != Some(false))
            // Hugo runs shortcodes even where they stand in code.
            .filter(|snippet| {
                site_kind == SiteKind::Markdown
                    || !(snippet.code.contains("{{<") || snippet.code.contains("{{%"))
            })
            .collect();
        Self {
            facts,
            claims,
            snippets,
        }
    }

    /// The facts.
    pub fn facts(&self) -> &'a ProductFacts {
        self.facts
    }

    /// A claim that may be used.
    pub fn claim(&self, id: &str) -> Option<&'a Claim> {
        self.claims.get(id).copied()
    }

    /// The claims a block may show, in the order of the facts.
    pub fn claims_of(&self, block: BlockKind, workflows: &[String]) -> Vec<&'a str> {
        let group = |name: &str| {
            self.facts
                .claim_groups
                .get(name)
                .map_or(&[][..], Vec::as_slice)
        };
        let ids: Vec<&str> = match block {
            BlockKind::Positioning => {
                let named = self.facts.positioning_claim_id.as_deref();
                // Without a sentence on what it is, the first feature has to do.
                let first = group("key_features").first().map(String::as_str);
                named
                    .filter(|id| self.claims.contains_key(id))
                    .or(first)
                    .into_iter()
                    .collect()
            }
            BlockKind::KeyFeatures => self.simplest_first(group("key_features")),
            BlockKind::Install => as_strs(group("install_steps")),
            BlockKind::Quickstart => as_strs(group("quickstart_steps")),
            BlockKind::Limitations => as_strs(group("limitations")),
            BlockKind::Compatibility => as_strs(group("compatibility_notes")),
            BlockKind::Workflows | BlockKind::WorkflowSteps => workflows
                .iter()
                .filter_map(|name| self.facts.workflows.get(name))
                .flat_map(|ids| ids.iter().map(String::as_str))
                .collect(),
            BlockKind::Formats => self.of_kind("format"),
            BlockKind::Modules | BlockKind::Classes | BlockKind::Functions => self.about(block),
            _ => Vec::new(),
        };
        let mut seen = BTreeSet::new();
        ids.into_iter()
            .filter_map(|id| self.claims.get_key_value(id).map(|(id, _)| *id))
            .filter(|id| seen.insert(*id))
            .collect()
    }

    /// What presumes little comes before what presumes much; otherwise the order stays.
    fn simplest_first(&self, ids: &'a [String]) -> Vec<&'a str> {
        let mut ids = as_strs(ids);
        let enriched = &self.facts.claim_enrichment;
        ids.sort_by_key(|id| {
            enriched
                .get(*id)
                .map_or(Complexity::Basic, |found| found.complexity)
        });
        ids
    }

    fn of_kind(&self, kind: &str) -> Vec<&'a str> {
        self.claims
            .values()
            .filter(|claim| claim.claim_kind.as_str() == kind)
            .map(|claim| claim.claim_id.as_str())
            .collect()
    }

    /// The API claims about the symbols of a block: a claim is about the first symbol it names in
    /// code. One that names none belongs beneath none of these headings.
    fn about(&self, block: BlockKind) -> Vec<&'a str> {
        let api = &self.facts.api_surface_summary;
        // Types first: a constructor is listed with its type.
        let lists = [
            (BlockKind::Classes, &api.classes),
            (BlockKind::Functions, &api.functions),
            (BlockKind::Modules, &api.modules),
        ];
        let mut known: BTreeMap<&str, BlockKind> = BTreeMap::new();
        for (kind, symbols) in lists {
            for symbol in symbols {
                let own = symbol.name.rsplit(['.', ':', '/']).next();
                known.entry(&symbol.name).or_insert(kind);
                known.entry(own.unwrap_or(&symbol.name)).or_insert(kind);
            }
        }
        let kind_of = |claim: &Claim| {
            let mut codes = claim.claim_text.split('`').skip(1).step_by(2);
            codes.find_map(|code| known.get(called(code)).copied())
        };
        self.claims
            .values()
            .filter(|claim| claim.claim_kind == ClaimKind::Api && kind_of(claim) == Some(block))
            .map(|claim| claim.claim_id.as_str())
            .collect()
    }

    /// Code that may be shown for these tags: the best-tagged first, then as catalogued.
    pub fn snippets_of(&self, tags: &[String]) -> Vec<&'a Snippet> {
        if tags.is_empty() {
            return Vec::new();
        }
        let rank = |snippet: &Snippet| tags.iter().position(|tag| snippet.tags.contains(tag));
        let mut found: Vec<_> = self
            .snippets
            .iter()
            .filter_map(|snippet| Some((rank(snippet)?, *snippet)))
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        found
            .into_iter()
            .map(|(_, snippet)| snippet)
            .take(MOST_EXAMPLES)
            .collect()
    }

    /// The values a block lists as code, each with the claim that states it.
    pub fn values(&self, block: BlockKind) -> Vec<(&'a str, &'a str)> {
        let facts = self.facts;
        let values: Vec<&'a String> = match block {
            BlockKind::Install => facts
                .distribution
                .iter()
                .flat_map(|entry| &entry.install_commands)
                .collect(),
            BlockKind::Formats => facts.supported_formats.iter().collect(),
            BlockKind::Requirements => facts.runtime_requirements.iter().collect(),
            BlockKind::Dependencies => facts.dependencies.iter().collect(),
            BlockKind::License => facts.license.iter().collect(),
            _ => Vec::new(),
        };
        let fits = |claim: &Claim| {
            let text = claim.claim_text.as_str();
            match block {
                BlockKind::Install => text.starts_with("Install "),
                BlockKind::Dependencies => text.contains(" depends on "),
                BlockKind::License => text.to_lowercase().contains("licens"),
                BlockKind::Formats => claim.claim_kind == ClaimKind::Format,
                BlockKind::Requirements => text.contains(" requires "),
                _ => false,
            }
        };
        let candidates: Vec<&'a Claim> = self
            .claims
            .values()
            .copied()
            .filter(|claim| fits(claim))
            .collect();
        let stated = values.into_iter().filter_map(|value| {
            let code = format!("`{value}`");
            let states = |claim: &&&Claim| {
                support::check(&code, &[claim.claim_text.as_str()], &facts.product_name).is_ok()
            };
            let claim = candidates.iter().find(states)?;
            Some((value.as_str(), claim.claim_id.as_str()))
        });
        stated.collect()
    }

    /// Whether a block has anything to say beyond claims.
    pub fn has_data(&self, block: BlockKind) -> bool {
        let api = &self.facts.api_surface_summary;
        match block {
            BlockKind::Install
            | BlockKind::Formats
            | BlockKind::Requirements
            | BlockKind::Dependencies
            | BlockKind::License => !self.values(block).is_empty(),
            BlockKind::Modules => !api.modules.is_empty(),
            BlockKind::Classes => !api.classes.is_empty(),
            BlockKind::Functions => !api.functions.is_empty(),
            _ => false,
        }
    }

    /// How many claims there are, without those on dependencies, which say little of a product.
    fn telling(&self) -> usize {
        let dependencies = self.facts.claim_groups.get("dependencies");
        let shown = dependencies.into_iter().flatten();
        let count = shown
            .filter(|id| self.claims.contains_key(id.as_str()))
            .count();
        self.claims.len() - count
    }

    /// How much there is: 2 points a claim, 3 a piece of code, 1 a symbol.
    pub fn volume(&self) -> BTreeMap<String, u64> {
        let api = &self.facts.api_surface_summary;
        let claims = self.telling() as u64;
        let snippets = self.snippets.len() as u64;
        let symbols = (api.classes.len() + api.functions.len() + api.modules.len()) as u64;
        BTreeMap::from([
            ("claims".to_owned(), claims),
            ("snippets".to_owned(), snippets),
            ("api_symbols".to_owned(), symbols),
            ("score".to_owned(), 2 * claims + 3 * snippets + symbols),
        ])
    }

    /// The tier the evidence carries, with the reasons when it is not the one asked for.
    pub fn tier(&self, asked: LaunchTier, evidence: &EvidenceMap) -> (LaunchTier, Vec<String>) {
        let mut reasons = Vec::new();
        let telling = self.telling();
        if telling < FEW_CLAIMS {
            reasons.push(format!(
                "{telling} usable claims are fewer than {FEW_CLAIMS}"
            ));
        }
        let withheld = evidence
            .contradictions
            .iter()
            .filter(|found| found.resolution != "prefer")
            .count();
        if withheld > 0 {
            reasons.push(format!(
                "{withheld} contradictions leave both claims withheld"
            ));
        }
        if reasons.is_empty() || asked == LaunchTier::Minimal {
            return (asked, Vec::new());
        }
        (LaunchTier::Minimal, reasons)
    }
}

/// The symbol that a piece of code calls or names: `save` of `save(path)`.
fn called(code: &str) -> &str {
    code.split(['(', '<', ' '])
        .next()
        .unwrap_or_default()
        .trim_end_matches(['!', '?'])
}

fn as_strs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

/// The claims a contradiction takes out: the loser, or both where none won.
fn withheld(evidence: &EvidenceMap) -> BTreeSet<&str> {
    evidence
        .contradictions
        .iter()
        .flat_map(|found| {
            [found.claim_a_id.as_str(), found.claim_b_id.as_str()].map(|id| (found, id))
        })
        .filter(|(found, id)| {
            found.resolution != "prefer" || found.winning_claim_id.as_deref() != Some(*id)
        })
        .map(|(_, id)| id)
        .collect()
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::facts::Enrichment;

    use super::*;
    use crate::sample;

    #[test]
    fn features_that_presume_little_come_first() {
        let mut sample = sample::full(windlass_launch_model::SiteKind::Hugo);
        let order = |sample: &sample::Sample| -> Vec<String> {
            let material = sample.material();
            let ids = material.claims_of(BlockKind::KeyFeatures, &[]);
            ids.into_iter().map(str::to_owned).collect()
        };
        let before = order(&sample);
        assert!(before.len() >= 2);
        let advanced = Enrichment {
            audience: Vec::new(),
            complexity: Complexity::Advanced,
            prerequisites: Vec::new(),
            use_cases: Vec::new(),
        };
        let enriched = &mut sample.facts.claim_enrichment;
        enriched.insert(before[0].clone(), advanced);
        let mut expected = before.clone();
        expected.rotate_left(1);
        assert_eq!(order(&sample), expected);
    }

    #[test]
    fn api_claims_are_listed_with_their_symbols() {
        let mut sample = sample::full(windlass_launch_model::SiteKind::Hugo);
        let symbol = |name: &str| windlass_launch_model::facts::ApiSymbol {
            name: name.to_owned(),
            path: "src/a.py".to_owned(),
            line: 1,
            summary: None,
        };
        let api = &mut sample.facts.api_surface_summary;
        api.classes = vec![symbol("Reader")];
        api.functions = vec![symbol("Reader.save"), symbol("merge")];
        api.modules = vec![symbol("acme.io")];
        for (text, block) in [
            ("`Reader`: Reads a document.", Some(BlockKind::Classes)),
            (
                "`Reader.save`: Saves a document.",
                Some(BlockKind::Functions),
            ),
            (
                "Two files are joined by `merge(a, b)`.",
                Some(BlockKind::Functions),
            ),
            ("`save` returns a path.", Some(BlockKind::Functions)),
            (
                "The functions of `acme.io` return bytes.",
                Some(BlockKind::Modules),
            ),
            ("The API reads `settings.toml`.", None),
            ("The API is stable.", None),
        ] {
            let mut sample = sample::full(windlass_launch_model::SiteKind::Hugo);
            sample.facts.api_surface_summary = api.clone();
            let id = sample.claim(text, ClaimKind::Api, "api");
            let material = sample.material();
            for kind in [BlockKind::Modules, BlockKind::Classes, BlockKind::Functions] {
                let listed = material.claims_of(kind, &[]).contains(&id.as_str());
                assert_eq!(listed, block == Some(kind), "{text} {kind:?}");
            }
        }
    }
}
