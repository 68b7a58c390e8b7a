//! `truth_lock_report.json`: which claims the pages rest on, out of a validation.

use std::collections::BTreeSet;

use windlass_launch_model::{
    TruthStatus, ValidationReport,
    truth::{PageClaims, TruthLockReport},
};

use crate::gates::input::GateInput;

/// The report on claims that goes with a validation report of the same input.
pub fn truth_lock_report(input: &GateInput, report: &ValidationReport) -> TruthLockReport {
    let mut pages = Vec::new();
    let mut used = BTreeSet::new();
    for (path, document) in input.changed_pages() {
        let ids: BTreeSet<String> = document
            .claim_ids()
            .into_iter()
            .map(str::to_owned)
            .collect();
        used.extend(ids.iter().cloned());
        pages.push(PageClaims {
            path: path.to_owned(),
            claim_ids: ids.into_iter().collect(),
        });
    }
    let is_inferred = |id: &&String| {
        input
            .claim(id)
            .is_some_and(|claim| claim.truth_status == TruthStatus::Inference)
    };
    let inferred: Vec<String> = used.iter().filter(is_inferred).cloned().collect();
    let issues: Vec<_> = report
        .issues
        .iter()
        .filter(|issue| issue.gate == "TruthLock")
        .cloned()
        .collect();
    TruthLockReport {
        schema_version: "1.0".to_owned(),
        ok: !ValidationReport::fails(&issues),
        pages,
        unresolved_claim_ids: used
            .iter()
            .filter(|id| input.claim(id).is_none())
            .cloned()
            .collect(),
        forbidden_inferred_claim_ids: if input.settings.allow_inference {
            Vec::new()
        } else {
            inferred.clone()
        },
        inferred_claim_ids: inferred,
        issues,
    }
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::SiteKind;

    use super::*;
    use crate::gates::{
        run::run_gates,
        sample::{self, GUIDE, page_with, with_text},
    };

    #[test]
    fn claims_are_listed_by_page() {
        let unknown = "0".repeat(64);
        let body = format!(
            "A. <!-- claim_id: {unknown} --> B. <!-- claim_id: {} -->",
            sample::id(sample::READS)
        );
        let mut subject = with_text(GUIDE, &page_with(&body));
        subject.context.site_kind = SiteKind::Markdown;
        for claim in &mut subject.facts.claims {
            claim.truth_status = TruthStatus::Inference;
        }
        let input = GateInput::new(subject);
        let report = truth_lock_report(&input, &run_gates(&input, &mut |_| {}).unwrap());
        assert!(!report.ok);
        assert_eq!(report.unresolved_claim_ids, [unknown]);
        assert_eq!(report.inferred_claim_ids, [sample::id(sample::READS)]);
        assert_eq!(
            report.forbidden_inferred_claim_ids,
            report.inferred_claim_ids
        );
        assert_eq!(report.pages.len(), 3);
        assert!(report.issues.iter().all(|issue| issue.gate == "TruthLock"));
    }
}
