//! Phases by rules: the same spec and options give the same bytes.

use serde::Serialize;
use serde_json::Value;
use windlass_pipeline_code::{CodeInput, Error, Generated, file_plan, generate};
use windlass_pipeline_design::model::{
    Analysis, Architecture, ArchitectureOutput, CodeOutput, Coverage, Generator, Phase,
    QualityReport, Requirements, StrategyOutput, Trace, UxOutput, UxSpec,
};
use windlass_pipeline_design::quality::{Given, Outputs, coverage, review};
use windlass_pipeline_design::spec::{
    SpecContext, analyse, from_requirements, requirements, requirements_as_spec, strategy,
};
use windlass_pipeline_design::{
    DesignOptions, architecture, architecture_markdown, ux, ux_markdown,
};
use windlass_types::Problem;

use super::Material;
use crate::input::refused;

/// What a product is called whose spec gives it no name.
const UNTITLED: &str = "Untitled app";

/// Makes a phase.
pub(super) fn make(phase: Phase, material: &Material) -> Result<Value, Problem> {
    let known = Known::of(material)?;
    finish(phase, material, known, Generator::offline())
}

/// What a phase knows: given, left by earlier phases, or derived here.
pub(super) struct Known {
    pub(super) analysis: Analysis,
    pub(super) requirements: Requirements,
    pub(super) architecture: Option<Architecture>,
    pub(super) ux_spec: Option<UxSpec>,
    /// Upstream results that nobody gave.
    pub(super) derived: Vec<String>,
}

impl Known {
    /// Reads the spec; requirements that are given win over it.
    pub(super) fn of(material: &Material) -> Result<Self, Problem> {
        let wanted = &material.wanted;
        let context = spec_context(material);
        let mut derived = Vec::new();
        let in_spec = requirements_in(&wanted.spec);
        let spec = match &in_spec {
            Some(requirements) => requirements_as_spec(requirements),
            None => wanted.spec.clone(),
        };
        let of_spec = material.requirements.is_none();
        let given = material.requirements.clone().or(in_spec);
        let (analysis, requirements) = match given {
            Some(given) => {
                let analysis = from_requirements(&spec, &given).map_err(|e| refused(&e))?;
                // Requirements that are the spec come from a text nobody has here: from now on
                // they are from this one.
                let given = if of_spec {
                    traced_to(&analysis, given)
                } else {
                    given
                };
                (analysis, given)
            }
            None => {
                let analysis = analyse(&wanted.spec, &context);
                let requirements = requirements(&analysis);
                if !wanted.phases.contains(&Phase::Strategy) {
                    derived.push("requirements".to_owned());
                }
                (analysis, requirements)
            }
        };
        Ok(Self {
            analysis,
            requirements,
            architecture: material.architecture.clone(),
            ux_spec: material.ux_spec.clone(),
            derived,
        })
    }

    /// The architecture, derived where nobody gave one.
    pub(super) fn with_architecture(&mut self, material: &Material) -> Architecture {
        if let Some(known) = &self.architecture {
            return known.clone();
        }
        self.derived.push("architecture".to_owned());
        let designed = architecture(&self.analysis, &self.requirements, material.wanted.preset);
        self.architecture = Some(designed.clone());
        designed
    }

    /// The UX, derived where nobody gave one.
    fn with_ux(&mut self, material: &Material) -> UxSpec {
        if let Some(known) = &self.ux_spec {
            return known.clone();
        }
        let architecture = self.with_architecture(material);
        self.derived.push("ux_spec".to_owned());
        let style = material.wanted.style_preference.as_deref();
        let designed = ux(&self.analysis, &self.requirements, &architecture, style);
        self.ux_spec = Some(designed.clone());
        designed
    }
}

/// A spec that is the output of an earlier tool holds requirements.
fn requirements_in(spec: &str) -> Option<Requirements> {
    let value: Value = serde_json::from_str(spec).ok()?;
    let inner = value.get("requirements")?;
    serde_json::from_value(inner.clone()).ok()
}

/// The same requirements, each traced to where the analysed text states it.
fn traced_to(analysis: &Analysis, mut given: Requirements) -> Requirements {
    let statements = analysis.statements.iter();
    let mut spans: Vec<(&str, &[String])> = statements
        .map(|statement| (statement.requirement.as_str(), &*statement.spans))
        .collect();
    let qualities = analysis.qualities.iter();
    spans.extend(qualities.map(|quality| (quality.requirement.as_str(), &*quality.spans)));
    let bounds = analysis.bounds.iter();
    spans.extend(bounds.map(|bound| (bound.requirement.as_str(), &*bound.spans)));
    let retrace = |id: &str, trace: &mut Vec<Trace>| {
        trace.retain(|trace| trace.parts().is_none_or(|(kind, _)| kind != "spec"));
        let stated = spans.iter().filter(|(requirement, _)| *requirement == id);
        trace.extend(stated.flat_map(|(_, spans)| spans.iter().map(|span| Trace::spec(span))));
        trace.sort();
        trace.dedup();
    };
    for item in &mut given.functional {
        retrace(&item.id, &mut item.trace);
    }
    for item in &mut given.non_functional {
        retrace(&item.id, &mut item.trace);
    }
    for item in &mut given.constraints {
        retrace(&item.id, &mut item.trace);
    }
    given
}

fn spec_context(material: &Material) -> SpecContext {
    let given = &material.wanted.context;
    SpecContext {
        industry: given.industry.clone(),
        target_audience: given.target_audience.clone(),
        budget_tier: given.budget_tier.clone(),
    }
}

fn design_options(material: &Material) -> DesignOptions {
    let given = &material.wanted.context;
    DesignOptions {
        industry: given.industry.clone(),
        target_audience: given.target_audience.clone(),
        budget_tier: given.budget_tier.clone(),
    }
}

/// From what is known to the tool's output, with coverage and quality; shared by both generators.
pub(super) fn finish(
    phase: Phase,
    material: &Material,
    mut known: Known,
    generator: Generator,
) -> Result<Value, Problem> {
    let wanted = &material.wanted;
    let preset = wanted.preset;
    match phase {
        Phase::Strategy => {
            let parts = strategy(&known.analysis, &spec_context(material));
            let made = Made {
                summary: Some(&parts.summary),
                ..Made::default()
            };
            let (coverage, quality_report) = judged(phase, material, &known, &made);
            value(&StrategyOutput {
                requirements: known.requirements,
                strategy_summary: parts.summary,
                estimated_complexity: quality_report.complexity.level,
                assumptions: parts.assumptions,
                edge_cases: parts.edge_cases,
                open_questions: parts.open_questions,
                terminology: parts.terminology,
                generator,
                coverage,
                quality_report,
            })
        }
        Phase::Architecture => {
            let designed = match known.architecture.clone() {
                Some(designed) => designed,
                None => architecture(&known.analysis, &known.requirements, preset),
            };
            known.architecture = Some(designed.clone());
            let document = architecture_markdown(
                &known.analysis,
                &known.requirements,
                &designed,
                preset,
                &design_options(material),
            );
            let (coverage, quality_report) = judged(phase, material, &known, &Made::default());
            value(&ArchitectureOutput {
                architecture: designed,
                architecture_markdown: document,
                generator,
                coverage,
                quality_report,
            })
        }
        Phase::Ux => {
            let designed_for = known.with_architecture(material);
            let style = wanted.style_preference.as_deref();
            let designed = match known.ux_spec.clone() {
                Some(designed) => designed,
                None => ux(&known.analysis, &known.requirements, &designed_for, style),
            };
            known.ux_spec = Some(designed.clone());
            let document = ux_markdown(&known.analysis, &known.requirements, &designed, style);
            let (coverage, quality_report) = judged(phase, material, &known, &Made::default());
            value(&UxOutput {
                ux_spec: designed,
                ux_markdown: document,
                generator,
                coverage,
                quality_report,
            })
        }
        Phase::Code => {
            let architecture = known.with_architecture(material);
            let ux_spec = known.with_ux(material);
            let product = known.analysis.product.as_ref();
            let product = product
                .map_or(UNTITLED, |name| name.text.as_str())
                .to_owned();
            let input = CodeInput {
                product: &product,
                architecture: &architecture,
                ux: &ux_spec,
                requirements: &known.requirements,
                preset,
                target_files: &[],
            };
            // All of it is judged, also when only some files are wanted.
            let whole = generate(&input).map_err(not_generated)?;
            let made = Made {
                generated: Some(&whole),
                ..Made::default()
            };
            let (coverage, quality_report) = judged(phase, material, &known, &made);
            let generated = if wanted.target_files.is_empty() {
                whole
            } else {
                let some = CodeInput {
                    target_files: &wanted.target_files,
                    ..input
                };
                generate(&some).map_err(not_generated)?
            };
            value(&CodeOutput {
                files: generated.files,
                dependencies: generated.dependencies,
                setup_instructions: generated.setup_instructions,
                checks: generated.checks,
                generator,
                coverage,
                quality_report,
            })
        }
    }
}

/// How many files there will be for what the product does: what complexity is measured by, also
/// before there are files.
fn planned_files(material: &Material, known: &Known) -> Option<usize> {
    let preset = material.wanted.preset;
    let designed = match &known.architecture {
        Some(known) => known.clone(),
        None => architecture(&known.analysis, &known.requirements, preset),
    };
    let style = material.wanted.style_preference.as_deref();
    let ux_spec = match &known.ux_spec {
        Some(known) => known.clone(),
        None => ux(&known.analysis, &known.requirements, &designed, style),
    };
    let plan = file_plan(&designed, &ux_spec, preset).ok()?;
    Some(plan.iter().filter(|file| file.feature).count())
}

/// What a phase has made, as far as it is judged.
#[derive(Default)]
struct Made<'a> {
    summary: Option<&'a str>,
    generated: Option<&'a Generated>,
}

/// Coverage and quality. They report; nothing is withheld, however bad it is.
fn judged(
    phase: Phase,
    material: &Material,
    known: &Known,
    made: &Made<'_>,
) -> (Coverage, QualityReport) {
    let wanted = &material.wanted;
    // What an earlier phase has said in its document counts as said.
    let design = known.architecture.as_ref().map(|designed| {
        architecture_markdown(
            &known.analysis,
            &known.requirements,
            designed,
            wanted.preset,
            &design_options(material),
        )
    });
    let style = wanted.style_preference.as_deref();
    let looks = known.ux_spec.as_ref();
    let looks =
        looks.map(|designed| ux_markdown(&known.analysis, &known.requirements, designed, style));
    let problems = made.generated.map(Generated::problems).unwrap_or_default();
    let outputs = Outputs {
        strategy_summary: made.summary,
        architecture: known.architecture.as_ref(),
        architecture_markdown: design.as_deref(),
        ux: known.ux_spec.as_ref(),
        ux_markdown: looks.as_deref(),
        files: made.generated.map(|generated| generated.files.as_slice()),
        dependencies: made.generated.map(|generated| &generated.dependencies),
        served: made.generated.map(|generated| &generated.served),
        code_problems: &problems,
        planned_files: planned_files(material, known),
        given: Given {
            requirements: wanted.requirements.is_some(),
            architecture: wanted.architecture.is_some(),
            ux: wanted.ux_spec.is_some(),
        },
        ..Outputs::new(&known.analysis, &known.requirements)
    };
    let mut coverage = coverage(&outputs);
    let report = review(phase, &outputs, &coverage);
    coverage.derived_inputs.clone_from(&known.derived);
    coverage
        .preferences_not_honoured
        .extend(wanted.not_honoured.iter().cloned());
    coverage.ignored_fields.clone_from(&wanted.ignored_fields);
    (coverage, report)
}

fn value<T: Serialize>(output: &T) -> Result<Value, Problem> {
    serde_json::to_value(output).map_err(|error| Problem::internal("pipeline output", error))
}

fn not_generated(error: Error) -> Problem {
    match error {
        Error::Input(error) => refused(&error),
        other => Problem::internal("code templates", other),
    }
}
