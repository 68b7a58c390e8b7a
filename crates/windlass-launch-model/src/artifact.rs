//! The artifacts of a run: which there are, who writes them, when, in what form.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    DraftManifest, EvidenceMap, FrontmatterContract, HugoFacts, LaunchState, PagePlan, PatchBundle,
    PatchConflicts, PrPlan, PrRecord, ProductFacts, RepoInventory, ResolvedConfig, ReviewReport,
    RunConfig, SchemaErrors, SiteContext, SnippetCatalog, TruthLockReport, ValidationReport,
    Worker, schema::Schema,
};

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// One artifact, or one family of artifacts.
#[derive(Debug)]
pub struct ArtifactSpec {
    /// The name; `<…>` stands for what differs within a family.
    pub name: &'static str,
    /// Who writes it first.
    pub writer: Worker,
    /// The state a run is in when it is first there.
    pub produced_in: LaunchState,
    /// The media type.
    pub content_type: &'static str,
    /// Whether the same inputs give the same bytes.
    pub deterministic: bool,
    schema: Option<fn() -> Schema>,
}

impl ArtifactSpec {
    const fn json(
        name: &'static str,
        writer: Worker,
        produced_in: LaunchState,
        schema: fn() -> Schema,
    ) -> Self {
        Self {
            name,
            writer,
            produced_in,
            content_type: JSON,
            deterministic: true,
            schema: Some(schema),
        }
    }

    const fn markdown(name: &'static str, writer: Worker, produced_in: LaunchState) -> Self {
        Self {
            name,
            writer,
            produced_in,
            content_type: MARKDOWN,
            deterministic: true,
            schema: None,
        }
    }

    const fn differs_between_runs(mut self) -> Self {
        self.deterministic = false;
        self
    }

    /// The id of its schema, as events name it; none for text.
    pub fn schema_id(&self) -> Option<String> {
        self.schema.is_some().then(|| {
            let stem = self.name.trim_end_matches(".json");
            format!("windlass:launch/{stem}/{}", crate::ARTIFACT_VERSION)
        })
    }
}

/// Every artifact, in the order a run makes them.
pub static ALL: &[ArtifactSpec] = {
    use LaunchState as S;
    use Worker as W;
    &[
        ArtifactSpec::json(
            "run_config.json",
            W::Engine,
            S::Created,
            Schema::of_input::<RunConfig>,
        ),
        ArtifactSpec::json(
            "site_context.json",
            W::Scout,
            S::ClonedInputs,
            Schema::of::<SiteContext>,
        ),
        ArtifactSpec::json(
            "hugo_facts.json",
            W::Scout,
            S::ClonedInputs,
            Schema::of::<HugoFacts>,
        ),
        ArtifactSpec::json(
            "frontmatter_contract.json",
            W::Scout,
            S::ClonedInputs,
            Schema::of::<FrontmatterContract>,
        ),
        ArtifactSpec::json(
            "repo_inventory.json",
            W::Scout,
            S::Ingested,
            Schema::of::<RepoInventory>,
        ),
        ArtifactSpec::json(
            "resolved_config.json",
            W::Scout,
            S::Ingested,
            Schema::of::<ResolvedConfig>,
        ),
        ArtifactSpec::json(
            "product_facts.json",
            W::Facts,
            S::FactsReady,
            Schema::of::<ProductFacts>,
        ),
        ArtifactSpec::json(
            "evidence_map.json",
            W::Facts,
            S::FactsReady,
            Schema::of::<EvidenceMap>,
        ),
        ArtifactSpec::json(
            "truth_lock_report.json",
            W::Facts,
            S::FactsReady,
            Schema::of::<TruthLockReport>,
        ),
        ArtifactSpec::json(
            "snippet_catalog.json",
            W::Snippets,
            S::FactsReady,
            Schema::of::<SnippetCatalog>,
        ),
        ArtifactSpec::json(
            "page_plan.json",
            W::Planner,
            S::PlanReady,
            Schema::of::<PagePlan>,
        ),
        ArtifactSpec::markdown("drafts/<section>/<output_path>", W::Drafter, S::Drafting),
        ArtifactSpec::json(
            "draft_manifest.json",
            W::Drafter,
            S::DraftReady,
            Schema::of::<DraftManifest>,
        ),
        ArtifactSpec::json(
            "review_report.json",
            W::Drafter,
            S::DraftReady,
            Schema::of::<ReviewReport>,
        ),
        ArtifactSpec::json(
            "patch_bundle.json",
            W::Linker,
            S::Linking,
            Schema::of::<PatchBundle>,
        ),
        ArtifactSpec::json(
            "patch_conflicts.json",
            W::Linker,
            S::Linking,
            Schema::of::<PatchConflicts>,
        ),
        ArtifactSpec::json("pr_plan.json", W::Linker, S::Linking, Schema::of::<PrPlan>),
        ArtifactSpec::markdown("diff_report.md", W::Linker, S::Linking),
        ArtifactSpec::json(
            "validation_report.json",
            W::Validator,
            S::Validating,
            Schema::of::<ValidationReport>,
        ),
        ArtifactSpec::markdown("fix_<issue_id>.md", W::Fixer, S::Fixing),
        ArtifactSpec::json("pr.json", W::PrManager, S::PrOpened, Schema::of::<PrRecord>)
            .differs_between_runs(),
        ArtifactSpec::markdown("failure_summary.md", W::Engine, S::Failed).differs_between_runs(),
    ]
};

static SCHEMAS: LazyLock<BTreeMap<&'static str, Schema>> = LazyLock::new(|| {
    ALL.iter()
        .filter_map(|spec| Some((spec.name, spec.schema?())))
        .collect()
});

/// What is known of an artifact's name; `None` for a name no run ever writes.
pub fn spec_of(name: &str) -> Option<&'static ArtifactSpec> {
    let family = if is_fix_report(name) {
        "fix_<issue_id>.md"
    } else if is_draft(name) {
        "drafts/<section>/<output_path>"
    } else if name.contains('<') {
        return None;
    } else {
        name
    };
    ALL.iter().find(|spec| spec.name == family)
}

fn is_fix_report(name: &str) -> bool {
    name.strip_prefix("fix_iss_")
        .and_then(|rest| rest.strip_suffix(".md"))
        .is_some_and(|hex| {
            hex.len() == 12
                && hex
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        })
}

fn is_draft(name: &str) -> bool {
    let Some((section, path)) = name
        .strip_prefix("drafts/")
        .and_then(|rest| rest.split_once('/'))
    else {
        return false;
    };
    crate::Section::by_name(section).is_some()
        && crate::site_path::normalise(path).is_ok_and(|parts| parts.join("/") == path)
}

/// The name of a draft.
pub fn draft_name(section: crate::Section, output_path: &str) -> String {
    format!("drafts/{}/{output_path}", section.as_str())
}

/// The name of the report of a fix attempt.
pub fn fix_report_name(issue_id: &str) -> String {
    format!("fix_{issue_id}.md")
}

/// The JSON Schema of an artifact; none for text and unknown names.
pub fn schema_of(name: &str) -> Option<&'static Value> {
    SCHEMAS.get(name).map(Schema::json)
}

/// Checks an artifact against its schema; one without a schema always fits.
pub fn check(name: &str, value: &Value) -> Result<(), SchemaErrors> {
    match SCHEMAS.get(name) {
        Some(schema) => schema.check(value),
        None => Ok(()),
    }
}

/// The artifacts that must be there before a run may enter a state.
pub fn required_on_entry(state: LaunchState) -> &'static [&'static str] {
    match state {
        LaunchState::ClonedInputs => &["frontmatter_contract.json"],
        LaunchState::Ingested => &["repo_inventory.json"],
        LaunchState::FactsReady => &[
            "product_facts.json",
            "evidence_map.json",
            "snippet_catalog.json",
        ],
        LaunchState::PlanReady => &["page_plan.json"],
        LaunchState::DraftReady => &["draft_manifest.json"],
        LaunchState::Validating => &["patch_bundle.json", "diff_report.md"],
        LaunchState::Fixing | LaunchState::ReadyForPr => &["validation_report.json"],
        LaunchState::PrOpened => &["pr.json"],
        _ => &[],
    }
}

/// The bytes of a JSON artifact: keys sorted at every depth, two spaces, one final newline.
pub fn artifact_text<T: Serialize>(artifact: &T) -> Result<String, serde_json::Error> {
    let sorted = sorted(serde_json::to_value(artifact)?);
    let mut text = serde_json::to_string_pretty(&sorted)?;
    text.push('\n');
    Ok(text)
}

/// Whether maps keep or sort their keys depends on a feature any dependency may switch on.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(map) => {
            let entries: BTreeMap<String, Value> = map
                .into_iter()
                .map(|(key, entry)| (key, sorted(entry)))
                .collect();
            Value::Object(entries.into_iter().collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[cfg(test)]
#[path = "artifact_tests.rs"]
mod tests;
