//! Finds the places where a rule's anchor occurs, much faster than looking for each.
//!
//! Every anchor has at least three bytes. A table over their first three, ignoring case,
//! turns most positions away with one lookup that depends on nothing before it, so a
//! processor does several at a time, where an automaton waits for each step before the
//! next. The few positions that stay are compared.

use crate::rules::{self, COUNT};

/// Where an anchor ends, and whose it is.
pub(crate) struct Hit {
    pub end: usize,
    pub rule: usize,
}

struct Table {
    /// For each hash of three bytes, which bytes may follow in an anchor: a bit for each of the
    /// lowest four bits of the fourth. All bits where an anchor ends after three.
    begins: [u16; SLOTS],
    /// For each hash, where its anchors begin in the list below, counted from 1; 0 is none.
    lists: [u16; SLOTS],
    /// The anchors of one hash after those of another, the longest of each first.
    anchors: [Anchor; COUNT],
}

#[derive(Clone, Copy)]
struct Anchor {
    /// The first eight bytes, lower-case, or as many as there are.
    key: u64,
    rule: u16,
    /// How many anchors of the same hash there are from here on.
    left: u16,
    len: u8,
}

impl Anchor {
    const EMPTY: Self = Self {
        key: 0,
        rule: 0,
        left: 0,
        len: 0,
    };

    /// Which bits of eight bytes the key has.
    const fn mask(self) -> u64 {
        match self.len {
            8.. => u64::MAX,
            len => (1 << (8 * len)) - 1,
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
const fn lower(bytes: u64) -> u64 {
    bytes | 0x2020_2020_2020_2020
}

/// Small enough to stay in the fastest cache.
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;

/// Made by the compiler: most processes redact a few words and end.
static TABLE: Table = table();

const fn table() -> Table {
    let mut table = Table {
        begins: [0; SLOTS],
        lists: [0; SLOTS],
        anchors: [Anchor::EMPTY; COUNT],
    };
    // Taken once from each rule: the compiler counts the steps.
    let (mut keys, mut slots, mut lengths) = ([0; COUNT], [0; COUNT], [0; COUNT]);
    let mut longest = 0;
    let mut rule = 0;
    while rule < COUNT {
        let anchor = rules::anchor(rule).as_bytes();
        keys[rule] = key(anchor);
        lengths[rule] = anchor.len();
        let slot = slot(keys[rule]);
        slots[rule] = slot;
        table.begins[slot] |= match anchor.len() {
            0..=3 => u16::MAX,
            _ => follows(anchor[3]),
        };
        table.lists[slot] += 1;
        if anchor.len() > longest {
            longest = anchor.len();
        }
        rule += 1;
    }
    // From how many there are to where they begin.
    let mut left = table.lists;
    let (mut slot_of, mut begin) = (0, 1);
    while slot_of < SLOTS {
        let count = table.lists[slot_of];
        if count > 0 {
            table.lists[slot_of] = begin;
            begin += count;
        }
        slot_of += 1;
    }
    let mut free = table.lists;
    let mut len = longest;
    while len > 0 {
        let mut rule = 0;
        while rule < COUNT {
            if lengths[rule] == len {
                let slot = slots[rule];
                table.anchors[free[slot] as usize - 1] = Anchor {
                    key: keys[rule],
                    rule: rule as u16,
                    left: left[slot],
                    len: len as u8,
                };
                free[slot] += 1;
                left[slot] -= 1;
            }
            rule += 1;
        }
        len -= 1;
    }
    table
}

/// The first eight bytes of an anchor, lower-case, or as many as there are.
const fn key(anchor: &[u8]) -> u64 {
    let (mut key, mut at) = (0, 0);
    while at < anchor.len() && at < 8 {
        key |= ((anchor[at] | 0x20) as u64) << (8 * at);
        at += 1;
    }
    key
}

/// The slot of the three lowest bytes, which are lower-case.
#[inline]
const fn slot(bytes: u64) -> usize {
    let key = bytes as u32 & 0x00FF_FFFF;
    (key.wrapping_mul(0x9E37_79B1) >> (32 - SLOT_BITS)) as usize
}

/// The bit of a fourth byte; its lowest four bits are the same for both cases of a letter.
#[inline]
const fn follows(fourth: u8) -> u16 {
    1 << (fourth & 15)
}

/// The first place at or after `from` where an anchor may begin.
pub(crate) fn find(text: &[u8], from: usize) -> Option<usize> {
    let table = &TABLE;
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
        let first = usize::from(self.lists[slot(here)]).checked_sub(1);
        let list = first.map_or(&[][..], |first| {
            let anchors = &self.anchors[first..];
            &anchors[..usize::from(anchors[0].left)]
        });
        list.iter()
            .filter(move |anchor| {
                here & anchor.mask() == anchor.key && {
                    let text = rules::anchor(usize::from(anchor.rule));
                    rest.get(..text.len())
                        .is_some_and(|rest| rest.eq_ignore_ascii_case(text.as_bytes()))
                }
            })
            .map(move |anchor| Hit {
                end: start + usize::from(anchor.len),
                rule: usize::from(anchor.rule),
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_anchor_is_found_at_every_offset_in_any_case() {
        for rule in rules::all() {
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
                        (start, rules::anchor(hit.rule).len()),
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
                rules::all().any(|rule| {
                    bytes[*start..]
                        .get(..rule.anchor.len())
                        .is_some_and(|here| here.eq_ignore_ascii_case(rule.anchor.as_bytes()))
                })
            });
            prop_assert_eq!(find(bytes, from), plain);
        }
    }
}
