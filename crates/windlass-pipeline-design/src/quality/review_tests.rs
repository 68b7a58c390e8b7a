//! A good product is approved; every defect that is put into it is found.

use insta::assert_snapshot;

use crate::model::analysis::Weakness;
use crate::model::code::Dependencies;
use crate::model::quality::{Level, QualityReport, Verdict};
use crate::model::{Phase, Trace};
use crate::quality::example::{Product, file, parcels};
use crate::quality::{Given, Outputs, complexity, coverage, review};

fn report(product: &Product) -> QualityReport {
    let outputs = product.outputs();
    review(Phase::Code, &outputs, &coverage(&outputs))
}

fn lines(report: &QualityReport) -> String {
    report
        .findings
        .iter()
        .map(|one| {
            format!(
                "{:?} {} {} | {}\n",
                one.severity, one.check, one.target, one.message
            )
        })
        .collect()
}

#[test]
fn a_good_product_is_approved() {
    let report = report(&parcels());
    assert_snapshot!(lines(&report), @"");
    assert_eq!(report.verdict, Verdict::Approved);
    assert!((report.score - 5.0).abs() < f64::EPSILON);
    assert_snapshot!(serde_json::to_string(&report.complexity).unwrap(), @r#"{"dimensions":{"infrastructure":4,"integration":1,"knowledge":1,"risk":3,"scope":1},"total":10,"level":"standard"}"#);
}

#[test]
fn every_piece_of_the_spec_is_accounted_for() {
    let product = parcels();
    let outputs = product.outputs();
    let coverage = coverage(&outputs);
    assert_eq!(coverage.percent, 100);
    assert!(coverage.untraced.is_empty());
    assert_snapshot!(serde_json::to_string_pretty(&coverage.requirements).unwrap(), @r#"
    [
      {
        "id": "FR-1",
        "endpoints": [
          "POST /api/parcels"
        ],
        "pages": [
          "New parcel"
        ],
        "files": [
          "src/app/parcels/new/page.tsx"
        ]
      },
      {
        "id": "FR-2",
        "endpoints": [
          "GET /api/parcels"
        ],
        "pages": [
          "Parcels"
        ],
        "files": [
          "src/app/parcels/page.tsx"
        ]
      },
      {
        "id": "FR-3",
        "endpoints": [],
        "pages": [],
        "files": []
      },
      {
        "id": "CON-1",
        "endpoints": [],
        "pages": [],
        "files": []
      }
    ]
    "#);
    let spans: String = coverage
        .spans
        .iter()
        .map(|span| format!("{} {}\n", span.id, span.mapped_to.join(" ")))
        .collect();
    assert_snapshot!(spans, @"
    S-1 page:Home file:src/app//page.tsx
    S-2 req:FR-1 entity:Parcel entity:UserRole endpoint:POST /api/parcels page:New parcel file:supabase/migrations/0001_init.sql file:src/app/parcels/new/page.tsx
    S-3 req:FR-2 entity:UserRole endpoint:GET /api/parcels page:Parcels file:src/app/parcels/page.tsx
    S-4 req:FR-3
    S-5 token:primary
    S-6 req:CON-1
    S-7
    ");
    let dropped: String = coverage
        .dropped
        .iter()
        .map(|span| format!("{}: {}\n", span.id, span.reason))
        .collect();
    assert_snapshot!(dropped, @"S-7: context: it states no behaviour, quality, bound or design");
    let verbatim: String = coverage
        .verbatim
        .iter()
        .map(|one| format!("{} {}: {}\n", one.kind, one.text, one.found_in.join(" ")))
        .collect();
    assert_snapshot!(verbatim, @"
    colour teal: token:primary ux_markdown
    name Parcelo: page:Sign in page:Home architecture_markdown ux_markdown
    number 40 parcels: req:FR-1 req:FR-2 req:FR-3 architecture_markdown ux_markdown
    ");
}

/// A change and the finding it must lead to: level, check, target.
type Case = (fn(&mut Product), Level, &'static str, &'static str);

#[test]
fn every_defect_is_found() {
    let cases: &[Case] = &[
        (
            |product| product.ux.pages[0].trace.clear(),
            Level::High,
            "untraced",
            "page:Parcels",
        ),
        (
            |product| product.requirements.functional[0].trace = vec![Trace::spec("S-99")],
            Level::High,
            "dangling_trace",
            "req:FR-1 spec:S-99",
        ),
        (
            |product| {
                product.architecture.api_design.endpoints[0].trace =
                    vec![Trace::default_rule("because")];
            },
            Level::High,
            "dangling_trace",
            "endpoint:POST /api/parcels default:because",
        ),
        (
            |product| {
                product.ux.design_tokens.stated.clear();
                product.ux_markdown.clear();
            },
            Level::Medium,
            "verbatim_missing",
            "colour:teal",
        ),
        (
            |product| {
                product.requirements.functional.remove(0);
            },
            Level::Medium,
            "span_unmapped",
            "spec:S-2",
        ),
        (
            |product| product.files.truncate(1),
            Level::Medium,
            "must_not_built",
            "req:FR-1",
        ),
        (
            |product| product.requirements.functional[1].acceptance.clear(),
            Level::Medium,
            "no_acceptance",
            "req:FR-2",
        ),
        (
            |product| product.architecture.data_model.entities[0].fields[0].primary = false,
            Level::High,
            "entity_without_key",
            "entity:Parcel",
        ),
        (
            |product| {
                product
                    .architecture
                    .security
                    .policies
                    .retain(|policy| policy.command != "delete" || policy.table != "parcels");
            },
            Level::High,
            "table_without_policy",
            "policy:parcels/delete",
        ),
        (
            |product| {
                product.ux.pages[0].states.pop();
            },
            Level::High,
            "page_without_state",
            "page:Parcels error",
        ),
        (
            |product| {
                let route = product.ux.pages[0].route.clone();
                product.ux.pages[1].route = route;
            },
            Level::High,
            "not_unique",
            "route:/parcels",
        ),
        (
            |product| {
                product.architecture.api_design.endpoints[0].entity = Some("Box".to_owned());
            },
            Level::High,
            "unknown_reference",
            "endpoint:POST /api/parcels",
        ),
        (
            |product| product.ux.user_flows[0].steps[0] = "Nowhere".to_owned(),
            Level::High,
            "flow_without_page",
            "flow:Parcel flow (clerk) Nowhere",
        ),
        (
            |product| {
                product.files[0].content = product.files[0].content.replace("enable row", "x");
            },
            Level::High,
            "table_without_rls",
            "entity:Parcel",
        ),
        (
            |product| product.files[0].content = "select 1;".to_owned(),
            Level::High,
            "table_not_in_sql",
            "entity:Parcel",
        ),
        (
            |product| {
                let field = &mut product.architecture.data_model.entities[0].fields[2];
                field.references = Some("Parcel".to_owned());
            },
            Level::High,
            "circular_relation",
            "entity:Parcel",
        ),
        (
            |product| {
                product.requirements.constraints[0].description = "built with Django".to_owned();
            },
            Level::Medium,
            "constraint_not_met",
            "req:CON-1",
        ),
        (
            |product| {
                product.ux.pages[0].trace.push(Trace::requirement("FR-3"));
            },
            Level::High,
            "out_of_scope_built",
            "req:FR-3",
        ),
        (
            |product| {
                product.analysis.weaknesses.push(Weakness {
                    check: "no_metric".to_owned(),
                    message: "fast has no metric".to_owned(),
                    spans: vec!["S-7".to_owned()],
                });
            },
            Level::Medium,
            "no_metric",
            "S-7",
        ),
        (
            |product| product.analysis.entities[0].fields.clear(),
            Level::Low,
            "entity_without_fields",
            "entity:Parcel",
        ),
        (
            |product| product.ux.design_tokens.contrast[0].passes = false,
            Level::High,
            "contrast_too_low",
            "contrast:#1B1F23 on #FFFFFF",
        ),
    ];
    for (change, severity, check, target) in cases {
        let mut product = parcels();
        change(&mut product);
        let report = report(&product);
        let found = report
            .findings
            .iter()
            .find(|one| one.check == *check && one.target == *target);
        let Some(found) = found else {
            panic!("{check} {target}:\n{}", lines(&report));
        };
        assert_eq!(found.severity, *severity, "{check}");
        let blocked = report.verdict == Verdict::Blocked;
        assert_eq!(
            blocked,
            report
                .findings
                .iter()
                .any(|one| one.severity == Level::High),
            "{check}"
        );
    }
}

#[test]
fn what_the_caller_brought_does_not_block() {
    let mut product = parcels();
    product.ux.pages[0].trace.clear();
    product.architecture.security.policies.clear();
    product.requirements.functional[0].trace.clear();
    let mut outputs = product.outputs();
    outputs.given = Given {
        requirements: true,
        architecture: true,
        ux: true,
    };
    let report = review(Phase::Ux, &outputs, &coverage(&outputs));
    assert_ne!(report.verdict, Verdict::Blocked, "{}", lines(&report));
    assert!(!report.findings.is_empty());
}

#[test]
fn ranges_of_versions_block() {
    let product = parcels();
    let mut dependencies = Dependencies::default();
    for (name, version) in [("react", "19.3.1"), ("next", "^16.0.0")] {
        dependencies
            .production
            .insert(name.to_owned(), version.to_owned());
    }
    let mut outputs = product.outputs();
    outputs.dependencies = Some(&dependencies);
    let report = review(Phase::Code, &outputs, &coverage(&outputs));
    assert_snapshot!(lines(&report), @r#"High version_not_exact dependency:next | next has the version "^16.0.0", which is not exact"#);
}

#[test]
fn at_most_fifty_findings_are_reported() {
    let mut product = parcels();
    for number in 0..70 {
        product.files.push(file(
            &format!("f{number}.txt"),
            "",
            vec![Trace::page("Nowhere")],
        ));
    }
    let report = report(&product);
    assert_eq!(report.findings.len(), 50);
    // Every file names a page that does not exist and therefore leads back to nothing.
    assert_eq!(report.truncated, 2 * 70 - 50);
    assert_eq!(report.verdict, Verdict::Blocked);
}

#[test]
fn an_early_phase_is_not_asked_for_later_ones() {
    let product = parcels();
    let outputs = Outputs::new(&product.analysis, &product.requirements);
    let coverage = coverage(&outputs);
    let report = review(Phase::Strategy, &outputs, &coverage);
    assert_snapshot!(lines(&report), @r#"Low verbatim_missing name:Parcelo | the stated name "Parcelo" is in no output"#);
    assert_eq!(report.verdict, Verdict::Approved);
}

#[test]
fn complexity_follows_the_planned_files() {
    let product = parcels();
    let mut outputs = product.outputs();
    for (files, scope) in [(0, 1), (3, 2), (10, 3), (11, 4), (21, 5)] {
        outputs.planned_files = Some(files);
        assert_eq!(complexity(&outputs).dimensions["scope"], scope, "{files}");
    }
}
