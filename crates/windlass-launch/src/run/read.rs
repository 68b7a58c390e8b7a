//! CLONED_INPUTS → INGESTED → FACTS_READY: both repositories are read.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use windlass_engine::run::RunError;
use windlass_launch_model::{
    LaunchState, ResolvedConfig, SectionState, TruthLockReport, Worker, config::RunConfig,
};
use windlass_launch_scout::{Scout, ScoutInput};
use windlass_types::Problem;

use super::{
    Launch, Tools,
    clone::{Inputs, blocking},
    record::{Done, Item},
};
use crate::fault;

/// The repositories as they were read, for as long as this process is at it: after a crash the
/// next work item reads them again.
#[derive(Clone, Default)]
struct Reading(Arc<Mutex<Option<Arc<Scout>>>>);

impl Reading {
    fn scout(&self, tools: &Tools, input: &ScoutInput) -> Result<Arc<Scout>, Problem> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scout) = &*kept {
            return Ok(Arc::clone(scout));
        }
        let folder = &tools.folder;
        let scout = Scout::open(&folder.product(), &folder.site(), input.clone())?;
        Ok(Arc::clone(kept.insert(Arc::new(scout))))
    }
}

fn scout_input(config: &RunConfig, inputs: &Inputs) -> ScoutInput {
    ScoutInput {
        config: config.clone(),
        site_sha: inputs.site_sha.clone(),
        workflows_sha: inputs.workflows_sha.clone(),
        default_branch: inputs.default_branch.clone(),
        latest_release_tag: inputs.latest_release_tag.clone(),
    }
}

impl Launch<'_> {
    pub(super) async fn read_inputs(&mut self, inputs: &Inputs) -> Result<(), RunError> {
        let reading = Reading::default();
        let input = scout_input(self.tools.accepted.config(), inputs);
        let at = json!({ "repo_sha": inputs.repo_sha, "site_sha": inputs.site_sha });

        let item = Item {
            worker: Worker::Scout,
            scope: "site",
            inputs: at.clone(),
            message: "the site is known".to_owned(),
        };
        self.look(item, &reading, &input, |tools, scout| async move {
            let site = blocking(move || Ok(scout.site())).await?;
            let mut kept = vec![
                tools
                    .keep_json("frontmatter_contract.json", &site.frontmatter_contract)
                    .await?,
                tools
                    .keep_json("site_context.json", &site.site_context)
                    .await?,
            ];
            if let Some(hugo) = &site.hugo_facts {
                kept.push(tools.keep_json("hugo_facts.json", hugo).await?);
            }
            Ok(Done::new(kept, ()))
        })
        .await?;
        self.enter(LaunchState::ClonedInputs)?;

        let item = Item {
            worker: Worker::Scout,
            scope: "inventory",
            inputs: at.clone(),
            message: "the product repository is known".to_owned(),
        };
        self.look(item, &reading, &input, |tools, scout| async move {
            let product = blocking(move || Ok(scout.inventory(&scout.site()))).await?;
            let resolved =
                ResolvedConfig::new(&tools.accepted, product.found).map_err(|error| {
                    fault::invalid("/allowed_paths", "no_section", error.to_string())
                })?;
            let kept = vec![
                tools
                    .keep_json("repo_inventory.json", &product.inventory)
                    .await?,
                tools.keep_json("resolved_config.json", &resolved).await?,
            ];
            Ok(Done::new(kept, ()))
        })
        .await?;
        self.enter(LaunchState::Ingested)?;
        self.commit().await?;
        let resolved: ResolvedConfig = self.load("resolved_config.json").await?;
        for section in &resolved.required_sections {
            self.sections.insert(*section, SectionState::NotStarted);
        }

        let item = Item {
            worker: Worker::Facts,
            scope: "facts",
            inputs: at.clone(),
            message: "facts and their evidence are established".to_owned(),
        };
        self.look(item, &reading, &input, |tools, scout| async move {
            let found = blocking(move || Ok(scout.facts())).await?;
            let claims = &found.facts.claims;
            let inferred = claims
                .iter()
                .filter(|claim| claim.truth_status == windlass_launch_model::TruthStatus::Inference)
                .map(|claim| claim.claim_id.clone())
                .collect();
            let truth = TruthLockReport {
                schema_version: "1.0".to_owned(),
                ok: true,
                inferred_claim_ids: inferred,
                ..TruthLockReport::default()
            };
            let kept = vec![
                tools.keep_json("product_facts.json", &found.facts).await?,
                tools
                    .keep_json("evidence_map.json", &found.evidence)
                    .await?,
                tools.keep_json("truth_lock_report.json", &truth).await?,
            ];
            Ok(Done::new(kept, ()))
        })
        .await?;

        let item = Item {
            worker: Worker::Snippets,
            scope: "snippets",
            inputs: at,
            message: "code that may be shown is collected".to_owned(),
        };
        self.look(item, &reading, &input, |tools, scout| async move {
            let snippets = blocking(move || Ok(scout.snippets())).await?;
            let kept = tools.keep_json("snippet_catalog.json", &snippets).await?;
            Ok(Done::new(vec![kept], ()))
        })
        .await?;
        self.enter(LaunchState::FactsReady)?;
        self.commit().await
    }

    /// A work item over what was read.
    async fn look<F, Fut>(
        &mut self,
        item: Item<'_>,
        reading: &Reading,
        input: &ScoutInput,
        look: F,
    ) -> Result<(), RunError>
    where
        F: Fn(Tools, Arc<Scout>) -> Fut + Send + Sync,
        Fut: Future<Output = Result<Done<()>, Problem>> + Send,
    {
        let tools = self.tools.clone();
        self.work(item, async |_| {
            let busy = tools.folder.busy().await;
            let (own, reading, input) = (tools.clone(), reading.clone(), input.clone());
            let scout = blocking(move || {
                let _busy = busy;
                reading.scout(&own, &input)
            })
            .await?;
            look(tools.clone(), scout).await
        })
        .await?;
        self.commit().await
    }
}
