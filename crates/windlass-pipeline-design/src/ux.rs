//! The UX specification of one analysis and its architecture.

use crate::agree::{agreed, without_statement};
use crate::model::Requirements;
use crate::model::analysis::Analysis;
use crate::model::architecture::Architecture;
use crate::model::ux::UxSpec;
use crate::{components, flows, pages, placement, tokens, traces};

/// Works out pages, flows and tokens. Entities are the architecture's, which may have been given.
pub fn ux(
    analysis: &Analysis,
    requirements: &Requirements,
    architecture: &Architecture,
    style: Option<&str>,
) -> UxSpec {
    let analysis = &agreed(analysis, requirements);
    let entities: Vec<String> = architecture
        .data_model
        .entities
        .iter()
        .map(|entity| entity.name.clone())
        .collect();
    let mut site = pages::pages(analysis, &entities);
    placement::views(analysis, &entities, &mut site);
    pages::entry_pages(analysis, &mut site);
    let placed = placement::place(analysis, &architecture.data_model, &entities, &mut site);
    // A given requirement that no clause of the spec stands for is met where everyone starts.
    let home = site.home();
    traces::extend(
        &mut site.pages[home].trace,
        without_statement(analysis, requirements),
    );
    components::fill(analysis, architecture, &mut site, &placed);
    let user_flows = flows::flows(analysis, &site, &placed);
    UxSpec {
        user_flows,
        pages: site.pages,
        design_tokens: tokens::tokens(analysis, style),
        component_library: "shadcn/ui".to_owned(),
    }
}
