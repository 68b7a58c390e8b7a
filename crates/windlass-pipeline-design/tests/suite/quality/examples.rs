//! The example specs, read and designed: nothing is lost, nothing is made up, nothing blocks.

use std::path::Path;

use windlass_pipeline_design::model::coverage::Coverage;
use windlass_pipeline_design::model::quality::{Level, QualityReport, Verdict};
use windlass_pipeline_design::model::strategy::Priority;
use windlass_pipeline_design::model::{
    Analysis, Architecture, Phase, Preset, Requirements, UxSpec,
};
use windlass_pipeline_design::quality::{Outputs, coverage, review};
use windlass_pipeline_design::spec::{SpecContext, analyse, requirements, strategy};
use windlass_pipeline_design::{
    DesignOptions, architecture, architecture_markdown, ux, ux_markdown,
};

const EXAMPLES: [&str; 4] = [
    "clinic-appointments",
    "knowledge-base",
    "quiz-platform",
    "warehouse",
];

struct Designed {
    analysis: Analysis,
    requirements: Requirements,
    architecture: Architecture,
    ux: UxSpec,
    documents: [String; 3],
    coverage: Coverage,
    report: QualityReport,
}

fn design(name: &str) -> Designed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/pipeline")
        .join(format!("{name}.md"));
    let spec = fs_err::read_to_string(path).unwrap();
    let context = SpecContext::default();
    let analysis = analyse(&spec, &context);
    let requirements = requirements(&analysis);
    let summary = strategy(&analysis, &context).summary;
    let preset = Preset::NextjsReact;
    let options = DesignOptions::default();
    let made = architecture(&analysis, &requirements, preset);
    let markdown = architecture_markdown(&analysis, &requirements, &made, preset, &options);
    let design = ux(&analysis, &requirements, &made, None);
    let ux_text = ux_markdown(&analysis, &requirements, &design, None);
    let outputs = Outputs {
        strategy_summary: Some(&summary),
        architecture: Some(&made),
        architecture_markdown: Some(&markdown),
        ux: Some(&design),
        ux_markdown: Some(&ux_text),
        ..Outputs::new(&analysis, &requirements)
    };
    let coverage = coverage(&outputs);
    let report = review(Phase::Ux, &outputs, &coverage);
    Designed {
        analysis,
        requirements,
        architecture: made,
        ux: design,
        documents: [summary, markdown, ux_text],
        coverage,
        report,
    }
}

#[test]
fn nothing_of_an_example_is_lost() {
    for name in EXAMPLES {
        let made = design(name);
        let high: Vec<String> = made
            .report
            .findings
            .iter()
            .filter(|finding| finding.severity == Level::High)
            .map(|finding| format!("{} {}: {}", finding.check, finding.target, finding.message))
            .collect();
        assert!(high.is_empty(), "{name}:\n{}", high.join("\n"));
        assert_ne!(made.report.verdict, Verdict::Blocked, "{name}");
        assert_eq!(made.coverage.percent, 100, "{name}");
        assert!(made.coverage.untraced.is_empty(), "{name}");
        for one in &made.requirements.functional {
            let covered = made
                .coverage
                .requirements
                .iter()
                .find(|known| known.id == one.id)
                .unwrap();
            let reached = !covered.pages.is_empty() || !covered.endpoints.is_empty();
            assert_eq!(reached, one.priority != Priority::Wont, "{name} {}", one.id);
        }
    }
}

#[test]
fn what_an_example_states_is_in_the_outputs_as_it_is() {
    for name in EXAMPLES {
        let made = design(name);
        for colour in &made.analysis.colours {
            assert!(
                made.documents[2].contains(&colour.text),
                "{name} {}",
                colour.text
            );
        }
        let colors = &made.ux.design_tokens.colors;
        let values = [
            &colors.primary,
            &colors.secondary,
            &colors.background,
            &colors.text,
        ];
        for colour in &made.analysis.colours {
            let used = values.contains(&&colour.value)
                || colors.more.values().any(|value| *value == colour.value);
            assert!(used, "{name} {}", colour.text);
        }
        for page in &made.analysis.pages {
            let shown = made.ux.pages.iter().any(|known| known.name == page.text);
            assert!(shown, "{name} {}", page.text);
        }
    }
}

#[test]
fn examples_of_different_domains_are_different() {
    let all: Vec<Vec<String>> = EXAMPLES
        .iter()
        .map(|name| {
            let made = design(name);
            let entities = &made.architecture.data_model.entities;
            entities.iter().map(|one| one.name.clone()).collect()
        })
        .collect();
    for (at, one) in all.iter().enumerate() {
        assert!(one.len() >= 3, "{} {one:?}", EXAMPLES[at]);
        for other in &all[at + 1..] {
            // Who may do what is kept alike everywhere; nothing else is shared.
            let shared: Vec<&String> = one
                .iter()
                .filter(|name| {
                    other.contains(name) && !matches!(name.as_str(), "UserRole" | "User")
                })
                .collect();
            assert!(shared.len() <= 1, "{shared:?}");
        }
    }
}

#[test]
fn the_same_spec_produces_the_same_bytes() {
    for name in EXAMPLES {
        let (one, other) = (design(name), design(name));
        assert_eq!(one.documents, other.documents, "{name}");
        assert_eq!(one.architecture, other.architecture, "{name}");
        assert_eq!(one.ux, other.ux, "{name}");
        assert_eq!(one.report, other.report, "{name}");
    }
}
