//! What a pull request says: pages, evidence, gates, and how to take it all back.
//!
//! Text for people who review. Names the run, so it is not the same for two runs; everything
//! else in it comes from the artifacts.

use std::{collections::BTreeSet, fmt::Write as _};

use windlass_launch_model::{
    EvidenceMap, GateResult, Issue, Page, PagePlan, PrPlan, ProductFacts, RunConfig, Severity,
    TruthLockReport, ValidationReport,
};

use crate::markup;

/// Everything a pull request describes.
#[derive(Clone, Copy, Debug)]
pub struct PrBodyInput<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Its configuration.
    pub config: &'a RunConfig,
    /// `page_plan.json`.
    pub plan: &'a PagePlan,
    /// `product_facts.json`.
    pub facts: &'a ProductFacts,
    /// `evidence_map.json`.
    pub evidence: &'a EvidenceMap,
    /// `truth_lock_report.json`.
    pub truth: &'a TruthLockReport,
    /// `validation_report.json`.
    pub report: &'a ValidationReport,
    /// `pr_plan.json`.
    pub pr_plan: &'a PrPlan,
    /// Where the site's branch is by now, when it moved since the run read it.
    pub moved_to: Option<&'a str>,
}

/// The body of the pull request, as Markdown.
pub fn pr_body(input: &PrBodyInput<'_>) -> String {
    let mut body = String::new();
    for part in [summary, pages, evidence, gates, warnings, rollback, files] {
        part(input, &mut body);
    }
    body
}

// Writing to a string cannot fail, so what `write!` answers is dropped throughout.

fn summary(input: &PrBodyInput<'_>, body: &mut String) {
    let (passed, skipped, all) = counted(&input.report.gates);
    let failed = all - passed - skipped;
    let _ = writeln!(
        body,
        "# Launch of {}\n",
        markup::inline(&input.facts.product_name)
    );
    let pages = touched(input).count();
    let files = input.pr_plan.affected_paths.len();
    let pages = counted_as(pages, "page");
    let _ = writeln!(
        body,
        "{pages}. Every factual sentence names its evidence.\n"
    );
    body.push_str("| what | value |\n| --- | --- |\n");
    let gates = format!("{passed} of {all} passed, {skipped} skipped, {failed} failed");
    let rows = [
        ("run", markup::code_span(input.run_id)),
        ("profile", markup::code_span(input.report.profile.as_str())),
        ("tier", markup::code_span(&input.plan.launch_tier)),
        ("gates", gates),
        (
            "product commit",
            markup::code_span(&input.config.github_ref),
        ),
        ("site commit", markup::code_span(&input.pr_plan.base_ref)),
        ("files", files.to_string()),
    ];
    for (what, value) in rows {
        let _ = writeln!(body, "| {what} | {value} |");
    }
    if let Some(commit) = input.moved_to {
        let _ = writeln!(
            body,
            "\nThe site's branch is at {} by now. No file of this pull request changed on the way there.",
            markup::code_span(commit)
        );
    }
    if input.report.manual_edits {
        let edited = input.report.manual_edited_files.iter();
        let edited: Vec<String> = edited.map(|path| code(path)).collect();
        let _ = writeln!(body, "\nEdited by hand: {}.", edited.join(", "));
    }
}

/// The planned pages among the files that change.
fn touched<'a>(input: &PrBodyInput<'a>) -> impl Iterator<Item = &'a Page> {
    let affected = &input.pr_plan.affected_paths;
    let pages = input.plan.pages.iter();
    pages.filter(move |page| affected.contains(&page.output_path))
}

fn pages(input: &PrBodyInput<'_>, body: &mut String) {
    body.push_str(
        "\n## Pages\n\n| page | section | address | claims |\n| --- | --- | --- | --- |\n",
    );
    for page in touched(input) {
        let cited = input.truth.pages.iter();
        let claims = cited
            .filter(|claims| claims.path == page.output_path)
            .map(|claims| claims.claim_ids.len())
            .sum::<usize>();
        let title = markup::inline(&page.title).replace('|', "\\|");
        let named = match file_address(input, &page.output_path) {
            Some(address) => format!("[{title}]({address})"),
            None => title,
        };
        let _ = writeln!(
            body,
            "| {named} | {} | {} | {claims} |",
            page.section.as_str(),
            code(&page.url_path)
        );
    }
}

/// Where a file of the branch can be looked at; none for a site that is not on the web.
fn file_address(input: &PrBodyInput<'_>, path: &str) -> Option<String> {
    let site = input.config.site_repo_url.strip_prefix("https://")?;
    let site = site.trim_end_matches('/').trim_end_matches(".git");
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte))
    };
    let branch = format!("launch/{}/{}", input.run_id, input.config.product_slug);
    (is_plain(site) && is_plain(path)).then(|| format!("https://{site}/blob/{branch}/{path}"))
}

fn evidence(input: &PrBodyInput<'_>, body: &mut String) {
    let used: BTreeSet<&str> = input
        .truth
        .pages
        .iter()
        .flat_map(|page| page.claim_ids.iter().map(String::as_str))
        .collect();
    let citations: Vec<_> = used
        .iter()
        .filter_map(|id| input.evidence.claims.get(*id))
        .flat_map(|evidence| &evidence.citations)
        .collect();
    let files: BTreeSet<&str> = citations.iter().map(|found| found.path.as_str()).collect();
    let _ = writeln!(
        body,
        "\n## Evidence\n\n- {} of {} known claims are used.\n- They rest on {} in {} of the product repository.\n- {} found.",
        used.len(),
        input.facts.claims.len(),
        counted_as(citations.len(), "citation"),
        counted_as(files.len(), "file"),
        match input.evidence.contradictions.len() {
            0 => "No contradiction was".to_owned(),
            1 => "1 contradiction was".to_owned(),
            many => format!("{many} contradictions were"),
        },
    );
    let concluded = &input.truth.inferred_claim_ids;
    if !concluded.is_empty() {
        let _ = writeln!(
            body,
            "- {} concluded, not read.",
            counted_as(concluded.len(), "claim")
        );
    }
}

fn gates(input: &PrBodyInput<'_>, body: &mut String) {
    body.push_str("\n## Gates\n\n| gate | result | open issues |\n| --- | --- | --- |\n");
    for gate in &input.report.gates {
        let result = match (&gate.reason, gate.skipped, gate.ok) {
            (Some(reason), true, _) => format!("skipped ({})", reason.replace('_', " ")),
            (None, true, _) => "skipped".to_owned(),
            (_, _, true) => "passed".to_owned(),
            _ => "failed".to_owned(),
        };
        let of_gate = |issue: &&Issue| issue.gate == gate.name;
        let open = input.report.open_issues().filter(of_gate).count();
        let _ = writeln!(body, "| {} | {result} | {open} |", gate.name);
    }
}

fn warnings(input: &PrBodyInput<'_>, body: &mut String) {
    body.push_str("\n## Open warnings\n\n");
    let open: Vec<&Issue> = input
        .report
        .open_issues()
        .filter(|issue| issue.severity >= Severity::Warn)
        .collect();
    if open.is_empty() {
        body.push_str("None.\n");
    }
    for issue in open {
        let place = match (issue.path(), issue.line()) {
            ("", _) => String::new(),
            (path, 0) => format!(" in {}", markup::code_span(path)),
            (path, line) => format!(" in {}", markup::code_span(&format!("{path}:{line}"))),
        };
        let severity = if issue.severity > Severity::Warn {
            format!("**{}** ", issue.severity.as_str())
        } else {
            String::new()
        };
        let title = markup::inline(&issue.title);
        let _ = writeln!(body, "- {severity}{}: {title}{place}", issue.gate);
    }
}

fn rollback(input: &PrBodyInput<'_>, body: &mut String) {
    body.push_str("\n## Rollback\n\nOnce this is merged, in a checkout of the site:\n\n");
    let steps = input.pr_plan.rollback_steps.join("\n");
    let fence = markup::fence(&steps);
    let _ = writeln!(body, "{fence}sh\n{steps}\n{fence}");
}

fn files(input: &PrBodyInput<'_>, body: &mut String) {
    body.push_str("\n## Files\n\n");
    for path in &input.pr_plan.affected_paths {
        let _ = writeln!(body, "- {}", markup::code_span(path));
    }
}

/// Gates that passed, that were skipped, and all.
fn counted(gates: &[GateResult]) -> (usize, usize, usize) {
    let skipped = gates.iter().filter(|gate| gate.skipped).count();
    let passed = gates.iter().filter(|gate| gate.ok && !gate.skipped).count();
    (passed, skipped, gates.len())
}

fn counted_as(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn code(text: &str) -> String {
    markup::code_span(text).replace('|', "\\|")
}

#[cfg(test)]
#[path = "pull_request_tests.rs"]
mod tests;
