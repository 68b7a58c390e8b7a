//! Finds the places where a rule's anchor occurs, much faster than looking for each.
//!
//! Every anchor has at least three bytes. A table over their first three, ignoring case,
//! turns most positions away with one lookup that depends on nothing before it, so a
//! processor does several at a time, where an automaton waits for each step before the
//! next. The few positions that stay are compared.

use std::sync::LazyLock;

use crate::rules::RULES;

/// Where an anchor ends, and whose it is.
pub(crate) struct Hit {
    pub end: usize,
    pub rule: usize,
}

struct Table {
    /// For each hash of three bytes, which bytes may follow in an anchor: a bit for each of the
    /// lowest four bits of the fourth. All bits where an anchor ends after three.
    begins: Box<[u16; SLOTS]>,
    /// For each hash, where its rules are in the list below; 0 is none.
    lists: Box<[u16; SLOTS]>,
    /// The anchors of each hash, longest first.
    anchors: Vec<Vec<Anchor>>,
}

struct Anchor {
    /// The first eight bytes, lower-case, or as many as there are.
    key: u64,
    mask: u64,
    text: &'static [u8],
    rule: usize,
}

impl Anchor {
    fn new(text: &'static [u8], rule: usize) -> Self {
        let mask = u64::MAX >> (64 - 8 * text.len().min(8));
        Self {
            key: lower(first_bytes(text)) & mask,
            mask,
            text,
            rule,
        }
    }
}

/// The first eight bytes, with zeros after the end.
#[inline]
fn first_bytes(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..text.len()].copy_from_slice(text);
            u64::from_le_bytes(bytes)
        }
    }
}

/// Setting the sixth bit makes letters lower-case; that it also joins a few signs costs a
/// comparison at most.
#[inline]
fn lower(bytes: u64) -> u64 {
    bytes | 0x2020_2020_2020_2020
}

/// Small enough to stay in the fastest cache.
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut by_length: Vec<usize> = (0..RULES.len()).collect();
    by_length.sort_by_key(|rule| usize::MAX - RULES[*rule].anchor.len());
    let mut table = Table {
        begins: Box::new([0; SLOTS]),
        lists: Box::new([0; SLOTS]),
        anchors: vec![Vec::new()],
    };
    for rule in by_length {
        let anchor = RULES[rule].anchor.as_bytes();
        let slot = slot(lower(first_bytes(anchor)));
        table.begins[slot] |= anchor.get(3).map_or(u16::MAX, |fourth| follows(*fourth));
        if table.lists[slot] == 0 {
            table.lists[slot] = u16::try_from(table.anchors.len()).unwrap_or_default();
            table.anchors.push(Vec::new());
        }
        table.anchors[usize::from(table.lists[slot])].push(Anchor::new(anchor, rule));
    }
    table
});

/// The slot of the three lowest bytes, which are lower-case.
#[inline]
fn slot(bytes: u64) -> usize {
    let key = bytes as u32 & 0x00FF_FFFF;
    (key.wrapping_mul(0x9E37_79B1) >> (32 - SLOT_BITS)) as usize
}

/// The bit of a fourth byte; its lowest four bits are the same for both cases of a letter.
#[inline]
fn follows(fourth: u8) -> u16 {
    1 << (fourth & 15)
}

/// The first place at or after `from` where an anchor may begin.
pub(crate) fn find(text: &[u8], from: usize) -> Option<usize> {
    let table = &*TABLE;
    let mut at = from;
    // Eight bytes hold five places where an anchor of three may begin and a fourth byte follow.
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let bytes = lower(u64::from_le_bytes(*bytes));
        let begins = |place: usize| {
            let here = bytes >> (8 * place);
            table.begins[slot(here)] & follows((here >> 24) as u8)
        };
        let any = begins(0) | begins(1) | begins(2) | begins(3) | begins(4);
        if any != 0 {
            let place = (0..5).find(|place| begins(*place) != 0 && table.any(text, at + place));
            if let Some(place) = place {
                return Some(at + place);
            }
        }
        at += 5;
    }
    (at..text.len().saturating_sub(2)).find(|start| table.any(text, *start))
}

/// The anchors that begin exactly here, longest first.
pub(crate) fn at(text: &[u8], start: usize) -> impl Iterator<Item = Hit> {
    TABLE.hits(text, start)
}

impl Table {
    fn any(&self, text: &[u8], start: usize) -> bool {
        self.hits(text, start).next().is_some()
    }

    fn hits(&self, text: &[u8], start: usize) -> impl Iterator<Item = Hit> {
        let rest = &text[start..];
        let here = lower(first_bytes(rest));
        self.anchors[usize::from(self.lists[slot(here)])]
            .iter()
            .filter(move |anchor| {
                here & anchor.mask == anchor.key
                    && rest
                        .get(..anchor.text.len())
                        .is_some_and(|text| text.eq_ignore_ascii_case(anchor.text))
            })
            .map(move |anchor| Hit {
                end: start + anchor.text.len(),
                rule: anchor.rule,
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_anchor_is_found_at_every_offset_in_any_case() {
        for rule in RULES.iter() {
            for offset in 0..12 {
                for anchor in [
                    rule.anchor.to_owned(),
                    rule.anchor.to_ascii_uppercase(),
                    rule.anchor.to_ascii_lowercase(),
                ] {
                    let text = format!("{}{anchor}", "~".repeat(offset));
                    let start = find(text.as_bytes(), 0).unwrap();
                    let hit = at(text.as_bytes(), start).next().unwrap();
                    assert_eq!(
                        (start, RULES[hit.rule].anchor.len()),
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
            let plain = (from..bytes.len()).find(|start| {
                RULES.iter().any(|rule| {
                    bytes[*start..]
                        .get(..rule.anchor.len())
                        .is_some_and(|here| here.eq_ignore_ascii_case(rule.anchor.as_bytes()))
                })
            });
            prop_assert_eq!(find(bytes, from), plain);
        }
    }
}
