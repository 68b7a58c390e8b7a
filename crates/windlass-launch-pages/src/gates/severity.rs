//! How bad each code is in each profile: one table, and the two rules that lower a row.

use windlass_launch_model::{Profile, Severity};

use Severity::{Blocker as B, Error as E, Info as I, Warn as W};

/// Whether `error` is lowered in profile `ci` for the gates of taste.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// It is.
    Relaxed,
    /// It is not.
    #[default]
    Strict,
}

/// Code, then severity in `local`, `ci` and `prod`.
pub const SEVERITIES: &[(&str, [Severity; 3])] = &[
    ("GATE_SCHEMA_VALIDATION_FAILED", [B, B, B]),
    ("GATE_FRONTMATTER_MISSING", [E, E, E]),
    ("GATE_FRONTMATTER_INVALID_SYNTAX", [B, B, B]),
    ("GATE_FRONTMATTER_REQUIRED_FIELD_MISSING", [E, E, E]),
    ("GATE_FRONTMATTER_TYPE_MISMATCH", [E, E, E]),
    ("GATE_MARKDOWN_LINT_ERROR", [E, E, E]),
    ("GATE_TEMPLATE_TOKEN_UNRESOLVED", [B, B, B]),
    ("GATE_TEMPLATE_PLACEHOLDER_TEXT", [B, B, B]),
    ("GATE_HUGO_CONFIG_MISSING", [E, B, B]),
    ("GATE_HUGO_CONFIG_PATH_MISMATCH", [E, B, B]),
    ("GATE_HUGO_CONFIG_SECTION_NOT_ENABLED", [E, B, B]),
    ("GATE_HUGO_BUILD_FAILED", [B, B, B]),
    ("GATE_HUGO_BUILD_PAGE_NOT_RENDERED", [B, B, B]),
    ("GATE_LINK_BROKEN_INTERNAL", [E, E, B]),
    ("GATE_LINK_BROKEN_RELATIVE", [E, E, B]),
    ("GATE_LINK_BROKEN_ANCHOR", [E, E, B]),
    ("GATE_LINK_ORPHAN_PAGE", [W, W, W]),
    ("GATE_LINK_EXTERNAL_UNREACHABLE", [W, W, W]),
    ("GATE_LINK_EXTERNAL_TIMEOUT", [W, W, W]),
    ("GATE_LINK_EXTERNAL_NOT_PROBED", [I, I, I]),
    ("GATE_LINK_INSECURE_HTTP", [E, E, E]),
    ("GATE_SNIPPET_SYNTAX_ERROR", [E, E, B]),
    ("GATE_SNIPPET_LANGUAGE_MISMATCH", [E, E, B]),
    ("GATE_SNIPPET_NOT_IN_CATALOG", [E, E, B]),
    ("GATE_SNIPPET_NO_PARSER", [I, I, I]),
    ("GATE_TRUTHLOCK_UNCITED_FACT", [B, B, B]),
    ("GATE_TRUTHLOCK_INVALID_CLAIM_ID", [B, B, B]),
    ("GATE_TRUTHLOCK_UNSUPPORTED", [B, B, B]),
    ("GATE_TRUTHLOCK_REWRITE_REFUSED", [W, W, W]),
    ("GATE_TRUTHLOCK_UNRESOLVED_CONTRADICTION", [B, B, B]),
    ("GATE_TRUTHLOCK_EVIDENCE_MISSING", [B, B, B]),
    ("GATE_TRUTHLOCK_FORBIDDEN_INFERENCE", [B, B, B]),
    ("GATE_CONSISTENCY_PRODUCT_NAME", [E, E, B]),
    ("GATE_CONSISTENCY_REPO_URL", [E, E, B]),
    ("GATE_CONSISTENCY_CANONICAL_URL", [E, E, B]),
    ("GATE_CONSISTENCY_REQUIRED_HEADING", [E, E, B]),
    ("GATE_CONSISTENCY_REQUIRED_SECTION", [E, E, B]),
    ("GATE_UNIVERSALITY_TIER", [W, E, E]),
    ("GATE_UNIVERSALITY_LIMITATIONS_MISSING", [W, E, E]),
    ("GATE_UNIVERSALITY_INSTALL_COMMAND", [W, E, E]),
    ("GATE_UNIVERSALITY_HIDDEN_INFERENCE", [W, E, E]),
    ("GATE_DISTRIBUTION_ROLE_MISSING", [W, E, E]),
    ("GATE_DISTRIBUTION_STRATEGY_MISSING", [W, E, E]),
    ("GATE_DISTRIBUTION_TOC_SNIPPET", [W, E, B]),
    ("GATE_DISTRIBUTION_TOC_CHILD_MISSING", [W, E, E]),
    ("GATE_DISTRIBUTION_GUIDE_COVERAGE", [W, E, E]),
    ("GATE_DISTRIBUTION_FORBIDDEN_TOPIC", [W, E, E]),
    ("GATE_DISTRIBUTION_QUOTA_BELOW", [W, E, E]),
    ("GATE_DISTRIBUTION_QUOTA_ABOVE", [W, E, E]),
    ("GATE_DISTRIBUTION_DUPLICATE", [W, E, E]),
    ("GATE_DISTRIBUTION_MANDATORY_PAGE", [W, E, E]),
    ("GATE_CHANGE_BUDGET_FORMATTING", [W, B, B]),
    ("PR_MISSING_ROLLBACK_METADATA", [W, W, B]),
    ("PR_INVALID_BASE_REF_FORMAT", [W, W, B]),
    ("PR_EMPTY_ROLLBACK_STEPS", [W, W, B]),
    ("PR_EMPTY_AFFECTED_PATHS", [W, W, B]),
    ("PR_AFFECTED_PATH_NOT_IN_DIFF", [W, W, B]),
    ("GATE_SECRET_FOUND", [B, B, B]),
    ("GATE_XSS_SCRIPT", [B, B, B]),
    ("GATE_XSS_EMBED", [E, E, E]),
    ("GATE_ACCESSIBILITY_HEADING_SKIP", [E, E, E]),
    ("GATE_ACCESSIBILITY_ALT_MISSING", [E, E, E]),
    ("GATE_ACCESSIBILITY_LINK_TEXT_EMPTY", [E, E, E]),
    ("GATE_WEIGHT_PAGE", [W, W, E]),
    ("GATE_WEIGHT_IMAGE", [W, W, W]),
    ("GATE_TIMEOUT", [B, B, B]),
    ("GATE_TOOL_VERSION_MISMATCH", [W, B, B]),
    ("GATE_TOOLCHAIN_SKIPPED", [W, W, W]),
];

/// The gates whose errors a relaxed build lowers.
const RELAXED: [&str; 4] = [
    "MarkdownLint",
    "ContentDistribution",
    "Accessibility",
    "PageWeight",
];

/// How bad a code of a gate is. A code without a row is a blocker, so that forgetting one
/// never lets a page out.
pub fn severity(gate: &str, code: &str, profile: Profile, strictness: Strictness) -> Severity {
    let row = SEVERITIES
        .iter()
        .find(|(name, _)| *name == code)
        .map_or([B, B, B], |(_, row)| *row);
    let found = match profile {
        Profile::Local => row[0],
        Profile::Ci => row[1],
        Profile::Prod => row[2],
    };
    let relaxed = strictness == Strictness::Relaxed
        && profile == Profile::Ci
        && RELAXED.contains(&gate)
        && found == E;
    if relaxed { W } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique_and_well_formed() {
        let mut names: Vec<&str> = SEVERITIES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
        for name in names {
            let word =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_uppercase());
            assert!(name.split('_').all(word), "{name}");
        }
    }

    #[test]
    fn no_severity_is_milder_in_a_stricter_profile() {
        for (code, row) in SEVERITIES {
            assert!(row[0] <= row[1] && row[1] <= row[2], "{code}");
        }
    }

    #[test]
    fn profiles_and_strictness() {
        let cases = [
            (
                "InternalLinks",
                "GATE_LINK_BROKEN_ANCHOR",
                Profile::Local,
                Strictness::Strict,
                E,
            ),
            (
                "InternalLinks",
                "GATE_LINK_BROKEN_ANCHOR",
                Profile::Prod,
                Strictness::Strict,
                B,
            ),
            (
                "ContentDistribution",
                "GATE_DISTRIBUTION_TOC_SNIPPET",
                Profile::Prod,
                Strictness::Strict,
                B,
            ),
            (
                "ContentDistribution",
                "GATE_DISTRIBUTION_TOC_SNIPPET",
                Profile::Local,
                Strictness::Strict,
                W,
            ),
            (
                "MarkdownLint",
                "GATE_MARKDOWN_LINT_ERROR",
                Profile::Ci,
                Strictness::Relaxed,
                W,
            ),
            (
                "MarkdownLint",
                "GATE_MARKDOWN_LINT_ERROR",
                Profile::Prod,
                Strictness::Relaxed,
                E,
            ),
            (
                "TruthLock",
                "GATE_TRUTHLOCK_UNCITED_FACT",
                Profile::Ci,
                Strictness::Relaxed,
                B,
            ),
            (
                "Consistency",
                "GATE_CONSISTENCY_REPO_URL",
                Profile::Ci,
                Strictness::Relaxed,
                E,
            ),
            (
                "Any",
                "GATE_UNHEARD_OF",
                Profile::Local,
                Strictness::Relaxed,
                B,
            ),
        ];
        for (gate, code, profile, strictness, expected) in cases {
            assert_eq!(
                severity(gate, code, profile, strictness),
                expected,
                "{code} {profile:?}"
            );
        }
    }
}
