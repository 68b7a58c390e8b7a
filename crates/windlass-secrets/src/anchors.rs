//! Finds the places where a rule's anchor occurs, much faster than looking for each.
//!
//! Every anchor has at least three bytes. A table over their first three, ignoring case,
//! turns most positions away with one lookup that depends on nothing before it, so a
//! processor does several at a time, where an automaton waits for each step before the
//! next. The few positions that stay are compared.

use std::sync::LazyLock;

use crate::rules::RULES;

/// Where an anchor begins and ends, and whose it is.
pub(crate) struct Hit {
    pub start: usize,
    pub end: usize,
    pub rule: usize,
}

struct Table {
    /// Whether an anchor begins with three bytes of this hash.
    begins: Box<[u8; SLOTS]>,
    /// Rules by hash, longest anchor first.
    rules: Vec<(usize, Vec<usize>)>,
}

/// Small enough to stay in the fastest cache.
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut by_length: Vec<usize> = (0..RULES.len()).collect();
    by_length.sort_by_key(|rule| usize::MAX - RULES[*rule].anchor.len());
    let mut table = Table {
        begins: Box::new([0; SLOTS]),
        rules: Vec::new(),
    };
    for rule in by_length {
        let anchor = RULES[rule].anchor.as_bytes();
        let slot = slot(u64::from_le_bytes([
            anchor[0], anchor[1], anchor[2], 0, 0, 0, 0, 0,
        ]));
        table.begins[slot] = 1;
        match table.rules.iter_mut().find(|(other, _)| *other == slot) {
            Some((_, rules)) => rules.push(rule),
            None => table.rules.push((slot, vec![rule])),
        }
    }
    table.rules.sort_unstable();
    table
});

/// The slot of the three lowest bytes. Setting the sixth bit makes letters lower-case; that
/// it also joins a few signs costs a comparison at most.
#[inline]
fn slot(bytes: u64) -> usize {
    let key = (bytes | 0x0020_2020) as u32 & 0x00FF_FFFF;
    (key.wrapping_mul(0x9E37_79B1) >> (32 - SLOT_BITS)) as usize
}

/// The first anchor at or after `from`; of several at one place the longest.
pub(crate) fn find(text: &[u8], from: usize) -> Option<Hit> {
    let table = &*TABLE;
    let mut at = from;
    // Eight bytes hold six places where an anchor may begin.
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let bytes = u64::from_le_bytes(*bytes);
        let begins = |place: usize| table.begins[slot(bytes >> (8 * place))];
        let any = begins(0) | begins(1) | begins(2) | begins(3) | begins(4) | begins(5);
        if any != 0 {
            let hit = (0..6)
                .filter(|place| begins(*place) != 0)
                .find_map(|place| table.compare(text, at + place));
            if hit.is_some() {
                return hit;
            }
        }
        at += 6;
    }
    (at..text.len().saturating_sub(2)).find_map(|start| table.compare(text, start))
}

impl Table {
    /// The longest anchor that begins exactly here.
    fn compare(&self, text: &[u8], start: usize) -> Option<Hit> {
        let [first, second, third] = *text[start..].first_chunk()?;
        let slot = slot(u64::from_le_bytes([first, second, third, 0, 0, 0, 0, 0]));
        if self.begins[slot] == 0 {
            return None;
        }
        let index = self
            .rules
            .binary_search_by_key(&slot, |(slot, _)| *slot)
            .ok()?;
        let fits = |rule: &&usize| {
            let anchor = RULES[**rule].anchor.as_bytes();
            text[start..]
                .get(..anchor.len())
                .is_some_and(|here| here.eq_ignore_ascii_case(anchor))
        };
        let rule = *self.rules[index].1.iter().find(fits)?;
        Some(Hit {
            start,
            end: start + RULES[rule].anchor.len(),
            rule,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_anchor_is_found_at_every_offset_in_any_case() {
        for rule in RULES {
            for offset in 0..20 {
                for anchor in [
                    rule.anchor.to_owned(),
                    rule.anchor.to_ascii_uppercase(),
                    rule.anchor.to_ascii_lowercase(),
                ] {
                    let text = format!("{}{anchor}", "~".repeat(offset));
                    let hit = find(text.as_bytes(), 0).unwrap();
                    assert_eq!(
                        (hit.start, RULES[hit.rule].anchor.len()),
                        (offset, anchor.len()),
                        "{text}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_finds_what_a_plain_search_finds(text in "(sk-|sk-ant-|token|tok|://|eyJ|SECRET_key|[a-zA-Z_:/.-]|é){0,12}", from in 0usize..30) {
            let bytes = text.as_bytes();
            let plain = (from..bytes.len())
                .find_map(|start| {
                    RULES
                        .iter()
                        .map(|rule| rule.anchor.len())
                        .filter(|length| bytes[start..].get(..*length).is_some_and(|here| {
                            RULES.iter().any(|rule| rule.anchor.len() == *length && here.eq_ignore_ascii_case(rule.anchor.as_bytes()))
                        }))
                        .max()
                        .map(|length| (start, start + length))
                });
            prop_assert_eq!(find(bytes, from).map(|hit| (hit.start, hit.end)), plain);
        }
    }
}
