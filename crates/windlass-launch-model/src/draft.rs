//! `draft_manifest.json` and `review_report.json`: what was written, and how good it is.

use serde::{Deserialize, Serialize};

use crate::Issue;

/// One draft.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct DraftEntry {
    /// The page.
    pub page_id: String,
    /// Where it goes, relative to the site.
    pub output_path: String,
    /// Where the draft is: `drafts/<section>/<output_path>`.
    pub draft_path: String,
    /// The draft's digest.
    pub sha256: String,
}

/// `draft_manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftManifest {
    /// The version of this format.
    pub schema_version: String,
    /// The drafts, in the plan's order.
    pub drafts: Vec<DraftEntry>,
}

/// The outcome of a review.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewStatus {
    /// Every score is 4 or 5.
    Pass,
    /// Something is worth another round.
    NeedsChanges,
    /// A score is 1 or 2.
    Reject,
}

/// Scores from 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionScores {
    /// Whether it says what it should.
    #[schemars(range(min = 1, max = 5))]
    pub content: u8,
    /// Whether it is right.
    #[schemars(range(min = 1, max = 5))]
    pub technical: u8,
    /// Whether it is easy to use.
    #[schemars(range(min = 1, max = 5))]
    pub usability: u8,
}

impl DimensionScores {
    /// What these scores come to.
    pub fn status(self) -> ReviewStatus {
        match self.content.min(self.technical).min(self.usability) {
            0..=2 => ReviewStatus::Reject,
            3 => ReviewStatus::NeedsChanges,
            _ => ReviewStatus::Pass,
        }
    }
}

/// `review_report.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewReport {
    /// The version of this format.
    pub schema_version: String,
    /// Whether it passed.
    pub ok: bool,
    /// The outcome.
    pub overall_status: ReviewStatus,
    /// The scores.
    pub dimension_scores: DimensionScores,
    /// What is wrong, in the order it would be fixed.
    pub issues: Vec<Issue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_score_decides() {
        for (content, technical, usability, status) in [
            (5, 5, 5, ReviewStatus::Pass),
            (4, 5, 4, ReviewStatus::Pass),
            (5, 3, 5, ReviewStatus::NeedsChanges),
            (5, 5, 2, ReviewStatus::Reject),
            (1, 3, 5, ReviewStatus::Reject),
        ] {
            let scores = DimensionScores {
                content,
                technical,
                usability,
            };
            assert_eq!(scores.status(), status, "{scores:?}");
        }
    }
}
