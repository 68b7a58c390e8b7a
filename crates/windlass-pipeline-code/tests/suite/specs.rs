//! Forty specs of different kinds, by different hands: what holds for every project made of them.
//!
//! What needs npm is tried in `node.rs`.

use std::collections::{BTreeMap, BTreeSet};

use windlass_pipeline_code::Generated;
use windlass_pipeline_design::model::quality::{Level, Verdict};
use windlass_pipeline_design::model::{Phase, Preset};
use windlass_pipeline_design::quality::{Outputs, coverage, review};
use windlass_pipeline_design::spec::{SpecContext, analyse};

use super::fixture::{Product, specs};

fn all() -> impl Iterator<Item = (String, Preset, Product)> {
    specs().into_iter().flat_map(|(name, spec)| {
        Preset::ALL.map(|preset| (name.clone(), preset, Product::of(&spec, preset)))
    })
}

#[test]
fn forty_specs_of_different_kinds_pass_the_checks_of_their_files() {
    assert_eq!(specs().len(), 40);
    for (name, preset, product) in all() {
        let generated = product.generate(preset, &[]).unwrap();
        assert_eq!(generated.problems(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_report_is_true_and_withholds_nothing() {
    for (name, spec) in specs() {
        let product = Product::of(&spec, Preset::ViteReact);
        let generated = product.generate(Preset::ViteReact, &[]).unwrap();
        let analysis = analyse(spec.trim(), &SpecContext::default());
        let problems = generated.problems();
        let outputs = Outputs {
            architecture: Some(&product.architecture),
            ux: Some(&product.ux),
            files: Some(&generated.files),
            dependencies: Some(&generated.dependencies),
            served: Some(&generated.served),
            code_problems: &problems,
            ..Outputs::new(&analysis, &product.requirements)
        };
        let coverage = coverage(&outputs);
        let report = review(Phase::Code, &outputs, &coverage);
        let high: Vec<_> = report
            .findings
            .iter()
            .filter(|finding| finding.severity == Level::High)
            .collect();
        assert!(high.is_empty(), "{name}: {high:#?}");
        assert_ne!(report.verdict, Verdict::Blocked, "{name}");
        let works = coverage.works.unwrap();
        assert_eq!(
            works.works + works.partly + works.recorded + works.text,
            works.requirements,
            "{name}"
        );
        if works.works < works.requirements {
            assert_ne!(coverage.percent, 100, "{name}");
        }
        let musts_missing = report
            .findings
            .iter()
            .any(|finding| finding.check == "not_working" && finding.severity == Level::Medium);
        if musts_missing {
            assert_eq!(report.verdict, Verdict::NeedsRevision, "{name}");
        }
    }
}

/// `<QuizList` → `QuizList`, in the order of the text.
fn elements(text: &str) -> Vec<&str> {
    text.split('<')
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
            &rest[..end.unwrap_or(rest.len())]
        })
        .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
        .collect()
}

/// The components of a project by name.
fn components(generated: &Generated) -> BTreeMap<&str, &str> {
    generated
        .files
        .iter()
        .filter_map(|file| {
            let name = file.path.strip_prefix("src/components/")?;
            Some((name.strip_suffix(".tsx")?, file.content.as_str()))
        })
        .filter(|(name, _)| !name.contains('/'))
        .collect()
}

/// What a list component lists: the module its rows come from.
fn lists(content: &str) -> Option<&str> {
    let is_list = content.contains("<EmptyState title=\"No ");
    let (_, module) = content.split_once(" } from \"@/data/")?;
    is_list.then(|| module.split('"').next().unwrap())
}

/// Every list on a page, those inside other components included.
fn placed<'a>(
    name: &'a str,
    all: &BTreeMap<&'a str, &'a str>,
    found: &mut Vec<&'a str>,
    seen: &mut BTreeSet<&'a str>,
) {
    let Some(content) = all.get(name) else {
        return;
    };
    if let Some(listed) = lists(content) {
        found.push(listed);
    } else if seen.insert(name) {
        for inner in elements(content) {
            placed(inner, all, found, seen);
        }
    }
}

#[test]
fn a_list_and_a_sentence_are_placed_once_on_a_page() {
    for (name, spec) in specs() {
        let product = Product::of(&spec, Preset::ViteReact);
        let generated = product.generate(Preset::ViteReact, &[]).unwrap();
        let all = components(&generated);
        for page in generated
            .files
            .iter()
            .filter(|file| file.path.starts_with("src/pages/"))
        {
            let used = elements(&page.content);
            let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
            for component in &used {
                placed(component, &all, &mut found, &mut seen);
            }
            let once: BTreeSet<&str> = found.iter().copied().collect();
            assert_eq!(once.len(), found.len(), "{name} {}: {found:?}", page.path);
            let mut told: BTreeSet<&str> = BTreeSet::new();
            for content in used.iter().filter_map(|component| all.get(component)) {
                for id in content.split("{ id: \"").skip(1) {
                    let id = id.split('"').next().unwrap();
                    assert!(told.insert(id), "{name} {}: {id} twice", page.path);
                }
            }
        }
    }
}
