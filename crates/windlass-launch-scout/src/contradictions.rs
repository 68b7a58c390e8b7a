//! Claims that cannot both hold, and which of them stands.
//!
//! Two statements are compared only if they share three tenths of their words. They contradict
//! each other when one denies what the other says, or when both name a different version of the
//! same runtime as needed. A denial that says more than the other statement ("does not read
//! encrypted files" beside "reads files") only narrows it, and is no contradiction.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::Regex;
use windlass_launch_model::facts::Contradiction;

use crate::words::{content, is_negated, jaccard};

/// What two statements must share to be compared, in thousandths.
const PREFILTER: u32 = 300;

/// A claim, as far as contradictions go.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub id: String,
    /// Normalised, the product's name removed.
    pub text: String,
    /// 1 is best.
    pub priority: u8,
}

/// What became of the claims that contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Sorted by both ids.
    pub contradictions: Vec<Contradiction>,
    /// Claims that may not be used.
    pub withheld: BTreeSet<String>,
}

struct Compared<'a> {
    stated: &'a Stated,
    words: BTreeSet<String>,
    is_negated: bool,
    needs: Option<BTreeMap<String, String>>,
}

/// Compares every two claims.
pub(crate) fn judge(claims: &[Stated]) -> Verdict {
    let mut ordered: Vec<Compared<'_>> = claims
        .iter()
        .map(|stated| Compared {
            words: content(&stated.text),
            is_negated: is_negated(&stated.text),
            needs: needs(&stated.text),
            stated,
        })
        .collect();
    ordered.sort_by(|left, right| left.stated.id.cmp(&right.stated.id));
    let mut verdict = Verdict::default();
    for (index, left) in ordered.iter().enumerate() {
        for right in &ordered[index + 1..] {
            if let Some(cause) = cause(left, right) {
                settle(left.stated, right.stated, cause, &mut verdict);
            }
        }
    }
    verdict
}

fn cause(left: &Compared<'_>, right: &Compared<'_>) -> Option<String> {
    // The cheap questions first: most pairs can contradict each other in no way.
    let opposed = left.is_negated != right.is_negated;
    if !opposed && (left.needs.is_none() || right.needs.is_none()) {
        return None;
    }
    if jaccard(&left.words, &right.words) < PREFILTER {
        return None;
    }
    if opposed {
        let (denial, other) = if left.is_negated {
            (left, right)
        } else {
            (right, left)
        };
        if denial.words.len() >= 2 && denial.words.is_subset(&other.words) {
            return Some("one denies what the other says".to_owned());
        }
    }
    let (left, right) = (left.needs.as_ref()?, right.needs.as_ref()?);
    left.iter().find_map(|(runtime, version)| {
        let other = right.get(runtime)?;
        (version != other)
            .then(|| format!("they need different versions of {runtime}: {version} and {other}"))
    })
}

fn settle(left: &Stated, right: &Stated, cause: String, verdict: &mut Verdict) {
    let difference = left.priority.abs_diff(right.priority);
    let (winner, loser) = if left.priority <= right.priority {
        (left, right)
    } else {
        (right, left)
    };
    let (resolution, winning, reasoning) = match difference {
        0 => {
            verdict.withheld.extend([left.id.clone(), right.id.clone()]);
            (
                "unresolved",
                None,
                format!("{cause}; both sources have priority {}", left.priority),
            )
        }
        1 => {
            verdict.withheld.extend([left.id.clone(), right.id.clone()]);
            (
                "withhold",
                None,
                format!(
                    "{cause}; priorities {} and {} are too close to prefer one",
                    winner.priority, loser.priority
                ),
            )
        }
        _ => {
            verdict.withheld.insert(loser.id.clone());
            (
                "prefer",
                Some(winner.id.clone()),
                format!(
                    "{cause}; priority {} goes before {}",
                    winner.priority, loser.priority
                ),
            )
        }
    };
    verdict.contradictions.push(Contradiction {
        claim_a_id: left.id.clone(),
        claim_b_id: right.id.clone(),
        resolution: resolution.to_owned(),
        winning_claim_id: winning,
        reasoning,
    });
}

static NEEDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(python|node(?:\.js)?|java|jdk|rust|go|ruby|php)\b[^0-9.;]{0,24}?v?(\d+(?:\.\d+)*)",
    )
    .ok()
});

/// The runtimes a statement says are needed, each with its lowest version.
fn needs(text: &str) -> Option<BTreeMap<String, String>> {
    let lower = text.to_lowercase();
    if !["requires", "require ", "needs", "need "]
        .iter()
        .any(|word| lower.contains(word))
    {
        return None;
    }
    let found: BTreeMap<String, String> = NEEDS
        .as_ref()?
        .captures_iter(&lower)
        .map(|found| {
            let runtime = match &found[1] {
                "node.js" => "node",
                "jdk" => "java",
                other => other,
            };
            let mut version = &found[2];
            while let Some(shorter) = version.strip_suffix(".0") {
                version = shorter;
            }
            (runtime.to_owned(), version.to_owned())
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(left: (&str, u8), right: (&str, u8)) -> Verdict {
        let stated = |id: &str, (text, priority): (&str, u8)| Stated {
            id: id.to_owned(),
            text: text.to_owned(),
            priority,
        };
        judge(&[stated("a", left), stated("b", right)])
    }

    #[test]
    fn what_contradicts_and_what_does_not() {
        for (left, right, contradicts) in [
            (
                "supports encrypted files.",
                "does not support encrypted files.",
                true,
            ),
            (
                "reads docx files.",
                "does not read encrypted docx files.",
                false,
            ),
            (
                "reads encrypted docx files.",
                "does not read docx files.",
                true,
            ),
            (
                "requires python `>=3.10`.",
                "requires python 3.8 or later.",
                true,
            ),
            (
                "requires python `>=3.8`.",
                "requires python 3.8.0 or later.",
                false,
            ),
            (
                "requires python `>=3.8`.",
                "is tested with python 3.12.",
                false,
            ),
            (
                "requires node.js `>=18`.",
                "requires node.js 16 or later.",
                true,
            ),
            ("renders charts.", "cannot send mail.", false),
        ] {
            let found = verdict((left, 1), (right, 6));
            assert_eq!(
                !found.contradictions.is_empty(),
                contradicts,
                "{left} / {right}"
            );
        }
    }

    #[test]
    fn the_distance_of_the_sources_decides() {
        let texts = (
            "supports encrypted files.",
            "does not support encrypted files.",
        );
        for (left, right, resolution, winner, withheld) in [
            (1, 6, "prefer", Some("a"), vec!["b"]),
            (7, 4, "prefer", Some("b"), vec!["a"]),
            (6, 7, "withhold", None, vec!["a", "b"]),
            (6, 6, "unresolved", None, vec!["a", "b"]),
        ] {
            let found = verdict((texts.0, left), (texts.1, right));
            let one = &found.contradictions[0];
            assert_eq!(one.resolution, resolution);
            assert_eq!(one.winning_claim_id.as_deref(), winner);
            assert_eq!(found.withheld.iter().collect::<Vec<_>>(), withheld);
        }
    }
}
