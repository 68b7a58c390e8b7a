//! `product_facts.json` and `evidence_map.json`, from the statements that were collected.
//!
//! A claim that lost a contradiction, or that cannot be distinguished from its opposite, stays in
//! the evidence map and is not among the facts: no page may use it.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    Citation, Claim, ClaimKind, EvidenceMap, ProductFacts, TruthStatus,
    claim::{claim_id, normalise},
    facts::{ApiSurface, Distribution, Evidence},
    ids::slug,
};

use crate::{
    SCHEMA_VERSION,
    claims::{Found, Origin, Purpose, confidence, relevance},
    collect::license_file,
    contradictions::{Stated, judge},
    enrich::enrich,
    formats,
    input::ScoutInput,
    installs,
    manifests::{Manifest, speaking},
    tree::Tree,
    words::{content, is_negated, jaccard, keys},
};

/// No more claims than this, the best sources first.
const MOST_CLAIMS: usize = 1000;

/// No more citations than this for one claim.
const MOST_CITATIONS: usize = 5;

/// What a second passage must share with a claim to back it, in thousandths.
const SAME_STATEMENT: u32 = 600;

/// With fewer claims a launch is minimal.
const FEW_CLAIMS: usize = 5;

/// Facts, evidence, and what a reviewer should know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Established {
    pub facts: ProductFacts,
    pub evidence: EvidenceMap,
    /// Why the launch can only be minimal.
    pub minimal_because: Vec<String>,
    /// Statements whose lines do not hold them.
    pub unsupported: u64,
}

/// One claim and everything that backs it.
struct Record {
    id: String,
    best: Found,
    /// With relevance and priority; kept sorted at the end.
    backing: Vec<(u32, u8, Citation)>,
    purposes: BTreeSet<Purpose>,
}

impl Record {
    /// The best source first, then reading order.
    fn order(&self) -> (u8, &str, u64, &str) {
        let best = &self.best;
        (best.origin.priority(), &best.path, best.start, &self.id)
    }
}

/// Puts the statements together.
pub(crate) fn establish(
    tree: &Tree,
    manifests: &[Manifest],
    found: Vec<Found>,
    api_surface_summary: ApiSurface,
    input: &ScoutInput,
) -> Established {
    let product = input.product_name();
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    let mut unsupported = 0;
    for statement in found {
        let Some(excerpt) = statement.excerpt(tree) else {
            unsupported += 1;
            continue;
        };
        let id = claim_id(&statement.text, product, statement.kind);
        let backing = (
            relevance(&statement, &excerpt),
            statement.origin.priority(),
            statement.citation(&excerpt),
        );
        let record = records.entry(id.clone()).or_insert_with(|| Record {
            id,
            best: statement.clone(),
            backing: Vec::new(),
            purposes: BTreeSet::new(),
        });
        record.purposes.extend(statement.purpose);
        record.backing.push(backing);
        let is_better = {
            let rank = |found: &Found| (found.origin.priority(), found.path.clone(), found.start);
            rank(&statement) < rank(&record.best)
        };
        if is_better {
            record.best = statement;
        }
    }
    let mut records: Vec<Record> = records.into_values().collect();
    records.sort_by(|left, right| left.order().cmp(&right.order()));
    records.truncate(MOST_CLAIMS);
    share_evidence(tree, &mut records);

    let stated: Vec<Stated> = records
        .iter()
        .map(|record| Stated {
            id: record.id.clone(),
            said: record.best.text.clone(),
            text: normalise(&record.best.text, product),
            priority: record.best.origin.priority(),
            is_format_list: record.best.origin == Origin::Source
                && record.best.kind == ClaimKind::Format,
        })
        .collect();
    let verdict = judge(&stated);
    let mut minimal_because = Vec::new();
    if verdict
        .contradictions
        .iter()
        .any(|contradiction| contradiction.resolution != "prefer")
    {
        minimal_because.push("claims contradict each other and are withheld".to_owned());
    }
    let evidence = EvidenceMap {
        schema_version: SCHEMA_VERSION.to_owned(),
        claims: records
            .iter()
            .map(|record| (record.id.clone(), evidence(record)))
            .collect(),
        contradictions: verdict.contradictions,
    };
    records.retain(|record| !verdict.withheld.contains(&record.id));
    // What it depends on says little about it.
    let tells = |record: &&Record| !record.purposes.contains(&Purpose::Dependency);
    let telling = records.iter().filter(tells).count();
    if telling < FEW_CLAIMS {
        minimal_because.push(format!(
            "only {telling} claims are backed by the repository"
        ));
    }
    Established {
        facts: facts(tree, manifests, &records, api_surface_summary, input),
        evidence,
        minimal_because,
        unsupported,
    }
}

/// A passage that says nearly the same in other words backs a claim, too, if it holds the
/// claim's own key words.
fn share_evidence(tree: &Tree, records: &mut [Record]) {
    let said: Vec<(BTreeSet<String>, bool, Vec<String>)> = records
        .iter()
        .map(|record| {
            let text = &record.best.text;
            (content(text), is_negated(text), keys(text))
        })
        .collect();
    let words: Vec<&BTreeSet<String>> = said.iter().map(|(words, ..)| words).collect();
    let mut extra: Vec<(usize, (u32, u8, Citation))> = Vec::new();
    for (index, other_index) in alike(&words, SAME_STATEMENT) {
        let (record, other) = (&records[index], &records[other_index]);
        if record.best.kind != other.best.kind || said[index].1 != said[other_index].1 {
            continue;
        }
        let borrowed = Found {
            keys: said[index].2.clone(),
            text: record.best.text.clone(),
            ..other.best.clone()
        };
        if let Some(excerpt) = borrowed.excerpt(tree) {
            let rank = relevance(&borrowed, &excerpt);
            let priority = borrowed.origin.priority();
            extra.push((index, (rank, priority, borrowed.citation(&excerpt))));
        }
    }
    for (index, backing) in extra {
        records[index].backing.push(backing);
    }
}

/// Every two sets that share this many thousandths of their words, both ways round, in order.
///
/// Two such sets share one of the rarest words of each, since the rest of either is too few; so
/// only sets that meet there are compared, and a thousand of them take no million comparisons.
fn alike(sets: &[&BTreeSet<String>], least: u32) -> BTreeSet<(usize, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sets.iter().flat_map(|set| set.iter()) {
        *counts.entry(word).or_default() += 1;
    }
    let mut meeting: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (index, set) in sets.iter().enumerate() {
        let mut rarest: Vec<&str> = set.iter().map(String::as_str).collect();
        rarest.sort_by_key(|word| (counts.get(word).copied(), *word));
        let shared = (rarest.len() * least as usize).div_ceil(1000);
        rarest.truncate(rarest.len() - shared + 1);
        for word in rarest {
            let others = meeting.entry(word).or_default();
            for other in others.iter().copied() {
                if jaccard(set, sets[other]) >= least {
                    found.extend([(index, other), (other, index)]);
                }
            }
            others.push(index);
        }
    }
    found
}

fn evidence(record: &Record) -> Evidence {
    let mut backing: Vec<&(u32, u8, Citation)> = record.backing.iter().collect();
    backing.sort_by(|left, right| (right.0, &left.2).cmp(&(left.0, &right.2)));
    backing.dedup_by(|next, first| next.2 == first.2);
    Evidence {
        citations: backing
            .iter()
            .take(MOST_CITATIONS)
            .map(|(_, _, citation)| citation.clone())
            .collect(),
        source_priority: record.best.origin.priority(),
    }
}

fn facts(
    tree: &Tree,
    manifests: &[Manifest],
    records: &[Record],
    api_surface_summary: ApiSurface,
    input: &ScoutInput,
) -> ProductFacts {
    let mut claims: Vec<Claim> = records
        .iter()
        .map(|record| {
            let best = record.backing.iter().map(|backing| backing.0).max();
            Claim {
                claim_id: record.id.clone(),
                claim_text: record.best.text.clone(),
                claim_kind: record.best.kind,
                truth_status: TruthStatus::Fact,
                confidence: confidence(best.unwrap_or(0)).to_owned(),
            }
        })
        .collect();
    claims.sort_by(|left, right| left.claim_id.cmp(&right.claim_id));
    let positioning = records
        .iter()
        .find(|record| record.purposes.contains(&Purpose::Positioning));
    let manifests = speaking(manifests, input);
    let license = manifests
        .iter()
        .find_map(|manifest| Some(manifest.license.as_ref()?.text.clone()))
        .or_else(|| license_file(tree).map(|(_, found)| found.text));
    let mut facts = ProductFacts {
        claim_enrichment: BTreeMap::new(),
        schema_version: SCHEMA_VERSION.to_owned(),
        product_name: input.product_name().to_owned(),
        product_slug: input.config.product_slug.clone(),
        repo_url: input.config.github_repo_url.clone(),
        positioning_claim_id: positioning.map(|record| record.id.clone()),
        claims,
        claim_groups: groups(records),
        supported_formats: supported_formats(records),
        workflows: workflows(records),
        api_surface_summary,
        license,
        distribution: distribution(tree, &manifests, input),
        runtime_requirements: sorted(manifests.iter().flat_map(|manifest| {
            manifest
                .runtimes
                .iter()
                .map(|need| format!("{} {}", need.runtime, need.spec.text))
        })),
        dependencies: sorted(
            manifests
                .iter()
                .flat_map(|manifest| manifest.dependencies.iter().cloned())
                .filter(|name| !name.is_empty()),
        ),
    };
    facts.claim_enrichment = enrich(&facts);
    facts
}

fn sorted(values: impl Iterator<Item = String>) -> Vec<String> {
    values.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Claims by use, each list from the best source down and in reading order.
fn groups(records: &[Record]) -> BTreeMap<String, Vec<String>> {
    let pick = |wanted: &dyn Fn(&Record) -> bool| -> Vec<String> {
        records
            .iter()
            .filter(|record| wanted(record))
            .map(|record| record.id.clone())
            .collect()
    };
    let serves = |record: &Record, purpose: Purpose| record.purposes.contains(&purpose);
    let kind = |record: &Record, kind: ClaimKind| record.best.kind == kind;
    let lists: [(&str, Vec<String>); 7] = [
        (
            "key_features",
            pick(&|record| {
                matches!(record.best.kind, ClaimKind::Feature | ClaimKind::Format)
                    && !serves(record, Purpose::Compatibility)
                    && !serves(record, Purpose::License)
                    && !serves(record, Purpose::Version)
                    && !serves(record, Purpose::Dependency)
                    && !serves(record, Purpose::Install)
            }),
        ),
        (
            "install_steps",
            pick(&|record| {
                serves(record, Purpose::Install) && !kind(record, ClaimKind::Limitation)
            }),
        ),
        (
            "quickstart_steps",
            pick(&|record| {
                serves(record, Purpose::Quickstart) && !kind(record, ClaimKind::Limitation)
            }),
        ),
        (
            "workflow_claims",
            pick(&|record| kind(record, ClaimKind::Workflow)),
        ),
        (
            "dependencies",
            pick(&|record| serves(record, Purpose::Dependency)),
        ),
        (
            "limitations",
            pick(&|record| kind(record, ClaimKind::Limitation)),
        ),
        (
            "compatibility_notes",
            // Which version it is comes after what it needs.
            [Purpose::Compatibility, Purpose::Version]
                .map(|purpose| pick(&|record| serves(record, purpose)))
                .concat(),
        ),
    ];
    lists
        .into_iter()
        .map(|(name, ids)| (name.to_owned(), ids))
        .collect()
}

/// The formats that claims say are read or written.
fn supported_formats(records: &[Record]) -> Vec<String> {
    sorted(
        records
            .iter()
            .filter(|record| record.best.kind == ClaimKind::Format)
            .flat_map(|record| formats::named(&record.best.text)),
    )
}

/// Ways of working, by the heading that describes each.
fn workflows(records: &[Record]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    for record in records {
        if record.best.kind != ClaimKind::Workflow {
            continue;
        }
        let name = if record.purposes.contains(&Purpose::Install) {
            "installation".to_owned()
        } else {
            slug(&record.best.heading)
        };
        if !name.is_empty() {
            found.entry(name).or_default().push(record);
        }
    }
    found
        .into_iter()
        .map(|(name, mut steps)| {
            // Steps keep the order of the document they are given in.
            steps.sort_by_key(|record| (record.best.path.clone(), record.best.start));
            (
                name,
                steps.into_iter().map(|step| step.id.clone()).collect(),
            )
        })
        .collect()
}

fn distribution(tree: &Tree, manifests: &[&Manifest], input: &ScoutInput) -> Vec<Distribution> {
    let stated = installs::stated(tree, manifests, input);
    let mut found: Vec<((String, String), Vec<String>)> = Vec::new();
    let mut add = |method: &str, name: &str, command: &str| {
        let key = (method.to_owned(), name.to_owned());
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, commands)) if commands.iter().any(|known| known == command) => {}
            Some((_, commands)) => commands.push(command.to_owned()),
            None => found.push((key, vec![command.to_owned()])),
        }
    };
    for install in &stated {
        add(install.method, &install.identifier, &install.command);
    }
    for manifest in manifests.iter().filter(|_| stated.is_empty()) {
        if let (Some(name), Some(command)) = (&manifest.name, installs::plain(manifest)) {
            add(manifest.method, &name.text, command);
        }
    }
    found
        .into_iter()
        .map(|((method, identifier), install_commands)| Distribution {
            method,
            identifier,
            install_commands,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The short way finds what comparing all with all finds.
        #[test]
        fn all_duplicates_are_found(texts in proptest::collection::vec("([a-e] ){0,6}", 0..12)) {
            let sets: Vec<BTreeSet<String>> = texts
                .iter()
                .map(|text| text.split_whitespace().map(str::to_owned).collect())
                .collect();
            let sets: Vec<&BTreeSet<String>> = sets.iter().collect();
            let mut expected = BTreeSet::new();
            for left in 0..sets.len() {
                for right in 0..sets.len() {
                    if left != right && jaccard(sets[left], sets[right]) >= SAME_STATEMENT {
                        expected.insert((left, right));
                    }
                }
            }
            prop_assert_eq!(alike(&sets, SAME_STATEMENT), expected);
        }
    }
}
