//! Cases of `review`, as tables.

use std::collections::BTreeSet;

use windlass_launch_model::SiteKind;

use super::*;
use crate::sample::{self, Sample};

fn judge(sample: &Sample, edit: impl Fn(&mut Draft)) -> ReviewReport {
    let (planned, mut drafts) = sample.drafts();
    drafts
        .iter_mut()
        .filter(|draft| draft.page_id == "docs/getting-started")
        .for_each(edit);
    let claim_ids: BTreeSet<String> = sample
        .facts
        .claims
        .iter()
        .map(|claim| claim.claim_id.clone())
        .collect();
    review(
        &drafts,
        &ReviewInput {
            plan: &planned.plan,
            contract: &sample.contract,
            snippets: &sample.snippets,
            claim_ids: &claim_ids,
        },
    )
}

#[test]
fn our_own_drafts_pass() {
    for sample in [
        sample::full(SiteKind::Hugo),
        sample::full(SiteKind::Markdown),
        sample::bare(SiteKind::Hugo),
    ] {
        let report = judge(&sample, |_| {});
        assert!(report.ok, "{:#?}", report.issues);
        assert_eq!(
            report.dimension_scores,
            DimensionScores {
                content: 5,
                technical: 5,
                usability: 5
            }
        );
    }
}

#[test]
fn each_dimension_can_fail() {
    let sample = sample::full(SiteKind::Hugo);
    type Case = (fn(&mut Draft), Dimension, u8, &'static str);
    let cases: [Case; 9] = [
        (
            |draft| draft.text = draft.text.replace("## First steps", "## Last steps"),
            Dimension::Content,
            3,
            "the heading \"First steps\" is missing",
        ),
        (
            |draft| draft.text += "\nIt is about pricing. <!-- claim_id: 0000000000000000000000000000000000000000000000000000000000000004 -->\n",
            Dimension::Content,
            3,
            "the page mentions pricing",
        ),
        (
            |draft| draft.text += "\nIt is the best.\n",
            Dimension::Technical,
            1,
            "no claim backs \"It is the best.\"",
        ),
        (
            |draft| draft.text += "\nIt is good. <!-- claim_id: ff -->\n",
            Dimension::Technical,
            1,
            "there is no claim ff",
        ),
        (
            |draft| draft.text += "\n```python\nother()\n```\n",
            Dimension::Technical,
            1,
            "the code is not in the catalogue",
        ),
        (
            |draft| draft.text = draft.text.replace("weight = ", "wait = "),
            Dimension::Technical,
            3,
            "the front matter has no \"weight\"",
        ),
        (
            |draft| draft.text = draft.text.replace("+++", "==="),
            Dimension::Technical,
            1,
            "there is no front matter",
        ),
        (
            |draft| draft.text += "\n#### Deep\n",
            Dimension::Usability,
            3,
            "the heading \"Deep\" skips a level",
        ),
        (
            |draft| draft.text += "\n- [](/x/)\n",
            Dimension::Usability,
            3,
            "the link to /x/ has no text",
        ),
    ];
    for (edit, dimension, expected, message) in cases {
        let report = judge(&sample, edit);
        assert!(!report.ok);
        let scores = report.dimension_scores;
        let score = match dimension {
            Dimension::Content => scores.content,
            Dimension::Technical => scores.technical,
            Dimension::Usability => scores.usability,
        };
        assert_eq!(score, expected, "{message}: {:#?}", report.issues);
        assert!(
            report.issues.iter().any(|found| found.message == message),
            "{message}: {:#?}",
            report.issues
        );
    }
}

#[test]
fn scores_follow_the_table() {
    for (errors, warnings, blockers, expected) in [
        (0, 0, 0, 5),
        (0, 1, 0, 4),
        (0, 3, 0, 4),
        (0, 4, 0, 3),
        (0, 6, 0, 3),
        (0, 7, 0, 2),
        (1, 0, 0, 3),
        (2, 0, 0, 3),
        (3, 0, 0, 2),
        (1, 7, 0, 2),
        (0, 0, 1, 1),
    ] {
        let severities = std::iter::repeat_n(Severity::Error, errors)
            .chain(std::iter::repeat_n(Severity::Warn, warnings))
            .chain(std::iter::repeat_n(Severity::Blocker, blockers))
            .chain([Severity::Info]);
        assert_eq!(
            score(severities),
            expected,
            "{errors} {warnings} {blockers}"
        );
    }
}
