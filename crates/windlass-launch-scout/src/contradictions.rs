//! Claims that cannot both hold, and which of them stands.
//!
//! Versions, licences and needed runtimes are compared by what they say, whatever the words
//! around them ([`crate::typed`]). Other statements are compared only if they share three tenths
//! of their words: they contradict each other when one denies what the other says. A denial that
//! says more than the other statement ("does not read encrypted files" and "reads files") only
//! narrows it, and is no contradiction. Where a statement about formats and its denial are equally
//! good sources, the product's own list of formats decides.

use std::collections::BTreeSet;

use windlass_launch_model::facts::Contradiction;

use crate::{
    formats,
    typed::Typed,
    words::{content, is_negated, jaccard},
};

/// What two statements must share to be compared, in thousandths.
const PREFILTER: u32 = 300;

/// A claim, as far as contradictions go.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub id: String,
    /// As it was read.
    pub said: String,
    /// Normalised, the product's name replaced.
    pub text: String,
    /// 1 is best.
    pub priority: u8,
    /// It is the list of formats that a public constant of the product holds.
    pub is_format_list: bool,
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
    typed: Typed,
}

/// Two claims that cannot both hold, and why.
struct Conflict<'a> {
    left: &'a Stated,
    right: &'a Stated,
    cause: String,
}

/// Compares every two claims.
pub(crate) fn judge(claims: &[Stated]) -> Verdict {
    let mut ordered: Vec<Compared<'_>> = claims
        .iter()
        .map(|stated| Compared {
            words: content(&stated.text.replace("{product_name}", "")),
            is_negated: is_negated(&stated.text),
            typed: Typed::of(&stated.text),
            stated,
        })
        .collect();
    ordered.sort_by(|left, right| left.stated.id.cmp(&right.stated.id));
    let lists: Vec<&Stated> = claims.iter().filter(|one| one.is_format_list).collect();
    let mut conflicts = Vec::new();
    for (index, left) in ordered.iter().enumerate() {
        for right in &ordered[index + 1..] {
            let Some(cause) = cause(left, right) else {
                continue;
            };
            let conflict = Conflict {
                left: left.stated,
                right: right.stated,
                cause,
            };
            conflicts.extend(listed(left, right, &lists));
            conflicts.push(conflict);
        }
    }
    // What the best source settles is settled first, before anything is withheld for want of one.
    conflicts.sort_by_key(|one| {
        let is_clear = one.left.priority.abs_diff(one.right.priority) >= 2;
        let best = one.left.priority.min(one.right.priority);
        (!is_clear, best, one.left.id.clone(), one.right.id.clone())
    });
    conflicts.dedup_by(|next, first| {
        (&next.left.id, &next.right.id) == (&first.left.id, &first.right.id)
    });
    let mut verdict = Verdict::default();
    for conflict in &conflicts {
        settle(conflict, &mut verdict);
    }
    verdict.contradictions.sort_by(|left, right| {
        (&left.claim_a_id, &left.claim_b_id).cmp(&(&right.claim_a_id, &right.claim_b_id))
    });
    verdict
}

fn cause(left: &Compared<'_>, right: &Compared<'_>) -> Option<String> {
    if !left.typed.is_empty() && !right.typed.is_empty() {
        let (better, other) = if left.stated.priority <= right.stated.priority {
            (left, right)
        } else {
            (right, left)
        };
        return better.typed.contradicts(&other.typed);
    }
    if left.is_negated == right.is_negated {
        return None;
    }
    let (denial, other) = if left.is_negated {
        (left, right)
    } else {
        (right, left)
    };
    // The cheap question first: most pairs can contradict each other in no way.
    (denial.words.len() >= 2
        && denial.words.is_subset(&other.words)
        && jaccard(&left.words, &right.words) >= PREFILTER)
        .then(|| "one denies what the other says".to_owned())
}

/// The product's list of formats against the statement that names others, where a denial says so
/// too.
fn listed<'a>(
    left: &Compared<'a>,
    right: &Compared<'a>,
    lists: &[&'a Stated],
) -> Option<Conflict<'a>> {
    let claimed = [left, right].into_iter().find(|one| !one.is_negated)?;
    if left.is_negated == right.is_negated || claimed.stated.is_format_list {
        return None;
    }
    let named = formats::named(&claimed.stated.said);
    let way = formats::direction(&claimed.stated.said);
    let fitting: Vec<&&Stated> = lists
        .iter()
        .filter(|list| {
            let other = formats::direction(&list.said);
            other.is_none() || other == way
        })
        .collect();
    let holds = |list: &&Stated| !formats::named(&list.said).is_disjoint(&named);
    if named.is_empty() || fitting.iter().any(|list| holds(list)) {
        return None;
    }
    let list = fitting.first()?;
    let (left, right) = if list.id < claimed.stated.id {
        (**list, claimed.stated)
    } else {
        (claimed.stated, **list)
    };
    let names: Vec<&str> = named.iter().map(String::as_str).collect();
    Some(Conflict {
        left,
        right,
        cause: format!(
            "{} is not in the product's list of formats",
            names.join(", ")
        ),
    })
}

fn settle(conflict: &Conflict<'_>, verdict: &mut Verdict) {
    let Conflict { left, right, cause } = conflict;
    let difference = left.priority.abs_diff(right.priority);
    let (winner, loser) = if left.priority <= right.priority {
        (left, right)
    } else {
        (right, left)
    };
    let lost = [left, right].map(|one| verdict.withheld.contains(&one.id));
    let (resolution, winning, reasoning) = match (difference, lost) {
        // Both are out already, and nothing is left to decide.
        (_, [true, true]) => return,
        // One of the two has lost to a better source; the other has nothing against it.
        (_, [true, false]) => ("prefer", Some(right.id.clone()), lost_already(cause)),
        (_, [false, true]) => ("prefer", Some(left.id.clone()), lost_already(cause)),
        (0, _) => {
            verdict.withheld.extend([left.id.clone(), right.id.clone()]);
            (
                "unresolved",
                None,
                format!("{cause}; both sources have priority {}", left.priority),
            )
        }
        (1, _) => {
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

fn lost_already(cause: &str) -> String {
    format!("{cause}; the other lost to a better source")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(left: (&str, u8), right: (&str, u8)) -> Verdict {
        judge(&[stated("a", left), stated("b", right)])
    }

    fn stated(id: &str, (text, priority): (&str, u8)) -> Stated {
        Stated {
            id: id.to_owned(),
            said: text.to_owned(),
            text: text.to_lowercase(),
            priority,
            is_format_list: priority == 2,
        }
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
            (
                "{product_name} requires node.js `>=18.17`.",
                "{product_name} needs node.js 14 or later.",
                true,
            ),
            (
                "{product_name} requires rust `1.78`.",
                "{product_name} supports rust 1.65 and later.",
                true,
            ),
            (
                "{product_name} is at version `4.0.2`.",
                "the latest version of {product_name} is 4.1.",
                true,
            ),
            (
                "{product_name} is licensed under `mit`.",
                "{product_name} is released under the gpl-3.0 license.",
                true,
            ),
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

    #[test]
    fn the_list_of_formats_decides_between_a_statement_and_its_denial() {
        let says = ("Acme reads XLSX workbooks.", 7);
        let denies = ("Acme does not read XLSX workbooks.", 6);
        for (list, withheld) in [
            ("Acme reads the CSV and OFX formats.", vec!["says"]),
            ("Acme supports the CSV and OFX formats.", vec!["says"]),
            // A list of what is written says nothing about what is read.
            (
                "Acme writes the CSV and OFX formats.",
                vec!["denies", "says"],
            ),
            (
                "Acme reads the CSV and XLSX formats.",
                vec!["denies", "says"],
            ),
        ] {
            let claims = [
                stated("says", says),
                stated("denies", denies),
                stated("list", (list, 2)),
            ];
            let found = judge(&claims);
            assert_eq!(
                found.withheld.iter().collect::<Vec<_>>(),
                withheld,
                "{list}"
            );
            let winners: BTreeSet<_> = found
                .contradictions
                .iter()
                .filter_map(|one| one.winning_claim_id.as_deref())
                .collect();
            let expected: &[&str] = if withheld.len() == 1 {
                &["denies", "list"]
            } else {
                &[]
            };
            assert_eq!(winners, expected.iter().copied().collect(), "{list}");
        }
        // Without a denial a list is no proof that it is whole.
        let alone = judge(&[
            stated("says", says),
            stated("list", ("Acme reads the CSV format.", 2)),
        ]);
        assert_eq!(alone, Verdict::default());
    }
}
