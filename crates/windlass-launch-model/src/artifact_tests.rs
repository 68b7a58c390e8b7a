//! The table agrees with itself, every schema accepts its own artifact and refuses others.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<_> = ALL.iter().map(|spec| spec.name).collect();
    assert_eq!(names.len(), ALL.len());
    for spec in ALL.iter().filter(|spec| !spec.name.contains('<')) {
        assert_eq!(spec_of(spec.name).unwrap().name, spec.name);
        assert_eq!(spec.content_type == JSON, spec.name.ends_with(".json"));
        assert_eq!(schema_of(spec.name).is_some(), spec.content_type == JSON);
    }
}

#[test]
fn families_are_recognised_and_hostile_names_are_not() {
    for (name, family) in [
        ("fix_iss_0123456789ab.md", Some("fix_<issue_id>.md")),
        (
            "drafts/docs/content/docs/acme/x.md",
            Some("drafts/<section>/<output_path>"),
        ),
        ("fix_iss_0123.md", None),
        ("fix_iss_../../../etc.md", None),
        ("fix_<issue_id>.md", None),
        ("drafts/docs/../../x.md", None),
        ("drafts/docs//etc/passwd", None),
        ("drafts/news/x.md", None),
        ("drafts/docs/", None),
        ("../run_config.json", None),
        ("page_plan.json\0", None),
        ("PAGE_PLAN.JSON", None),
        ("", None),
    ] {
        assert_eq!(spec_of(name).map(|spec| spec.name), family, "{name:?}");
    }
    let draft = draft_name(crate::Section::Docs, "content/x.md");
    assert_eq!(spec_of(&draft).unwrap().content_type, "text/markdown");
    let fix = fix_report_name(&crate::Issue::id("G", "C", "p", "e", 0));
    assert_eq!(spec_of(&fix).unwrap().writer, Worker::Fixer);
}

#[test]
fn every_schema_compiles_and_refuses_unknown_keys() {
    for spec in ALL.iter().filter(|spec| spec.content_type == JSON) {
        let errors = check(spec.name, &json!({"no_such_key": 1})).unwrap_err();
        let keywords: BTreeSet<_> = errors
            .errors()
            .iter()
            .map(|error| error.keyword.as_str())
            .collect();
        assert!(!keywords.contains("schema"), "{}: {errors:?}", spec.name);
        assert!(
            errors
                .errors()
                .iter()
                .any(|error| error.pointer == "/no_such_key"),
            "{}: {errors:?}",
            spec.name
        );
    }
}

#[test]
fn what_is_required_is_there_by_then() {
    for state in LaunchState::ALL {
        for name in required_on_entry(state) {
            let spec = spec_of(name).unwrap();
            assert!(spec.produced_in <= state, "{name} before {state:?}");
        }
    }
}

#[test]
fn empty_artifacts_fit_their_schemas() {
    let version = || crate::ARTIFACT_VERSION.to_owned();
    let cases = [
        (
            "evidence_map.json",
            serde_json::to_value(EvidenceMap {
                schema_version: version(),
                ..EvidenceMap::default()
            }),
        ),
        (
            "snippet_catalog.json",
            serde_json::to_value(SnippetCatalog {
                schema_version: version(),
                snippets: Vec::new(),
            }),
        ),
        (
            "patch_conflicts.json",
            serde_json::to_value(PatchConflicts {
                schema_version: version(),
                conflicts: Vec::new(),
            }),
        ),
        (
            "hugo_facts.json",
            serde_json::to_value(HugoFacts {
                schema_version: version(),
                ..HugoFacts::default()
            }),
        ),
        (
            "truth_lock_report.json",
            serde_json::to_value(TruthLockReport {
                schema_version: version(),
                ..TruthLockReport::default()
            }),
        ),
        (
            "frontmatter_contract.json",
            serde_json::to_value(FrontmatterContract {
                schema_version: version(),
                sections: [(crate::Section::Docs, crate::SectionContract::default())].into(),
            }),
        ),
    ];
    for (name, value) in cases {
        assert_eq!(check(name, &value.unwrap()), Ok(()), "{name}");
    }
}

#[test]
fn text_is_sorted_at_every_depth_and_ends_in_a_newline() {
    let value: Value = serde_json::from_str(r#"{"b":{"z":1,"a":[]},"a":[{"y":1,"x":2}]}"#).unwrap();
    insta::assert_snapshot!(artifact_text(&value).unwrap(), @r#"
    {
      "a": [
        {
          "x": 2,
          "y": 1
        }
      ],
      "b": {
        "a": [],
        "z": 1
      }
    }
    "#);
    assert!(artifact_text(&value).unwrap().ends_with("}\n"));
}
