//! Stated numbers with their unit, verbatim.

use crate::model::{analysis::Stated, naming};
use crate::spec::{
    find::stated::Collected,
    lexicon::{
        small::Tags,
        units::{self, Measure},
    },
    reading::Reading,
    token::{Kind, Token, slice},
};

/// Months, after or before the number of a day or a year.
pub(super) const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words between a number and what it counts.
const BETWEEN: &[&str] = &[
    "concurrent",
    "simultaneous",
    "working",
    "business",
    "different",
    "new",
    "active",
    "to",
];

/// All numbers, in the order of the text.
pub fn find(readings: &[Reading]) -> Vec<Stated> {
    let mut found = Collected::default();
    for reading in readings {
        if reading.is_set_aside() {
            continue;
        }
        for range in numbers(&reading.tokens) {
            found.add(slice(&reading.text, &reading.tokens[range]), &reading.id);
        }
    }
    found.items
}

/// The numbers among tokens, each with its unit or with what it counts.
pub fn numbers(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // The numbers of `rgb(…)` and `hsl(…)` are a colour.
        if tokens[at].is_any(&["rgb", "rgba", "hsl", "hsla"])
            && tokens.get(at + 1).is_some_and(|token| token.is("("))
        {
            at += tokens[at..]
                .iter()
                .position(|token| token.is(")"))
                .unwrap_or(1);
        }
        let spelled = tokens[at].has(Tags::NUMBER_WORD)
            && tokens
                .get(at + 1..(at + 3).min(tokens.len()))
                .is_some_and(|next| {
                    next.iter()
                        .any(|token| units::measure(&token.lower) == Some(Measure::Time))
                });
        let name = at > 0
            && tokens[at].text.len() == 1
            && at > 1
            && tokens[at - 1].is_capitalised()
            && tokens[at - 2].is_capitalised();
        if (tokens[at].kind != Kind::Number && !spelled) || name {
            at += 1;
            continue;
        }
        let mut start = at;
        let mut end = at + 1;
        if at > 0
            && MONTHS.contains(&tokens[at - 1].lower.as_str())
            && tokens[at - 1].is_capitalised()
        {
            start -= 1;
        }
        while tokens
            .get(end)
            .is_some_and(|token| BETWEEN.contains(&token.lower.as_str()))
            && tokens
                .get(end + 1)
                .is_some_and(|next| next.kind == Kind::Number || next.is_content())
        {
            end += 1;
        }
        match tokens.get(end) {
            Some(next) if next.kind == Kind::Number || MONTHS.contains(&next.lower.as_str()) => {
                end += 1;
                let year = tokens.get(end).is_some_and(|token| {
                    token.kind == Kind::Number
                        && token.text.len() == 4
                        && MONTHS.contains(&tokens[end - 1].lower.as_str())
                });
                let counted = !year && tokens.get(end).is_some_and(Token::is_content);
                end += usize::from(year || counted);
            }
            Some(next) if units::measure(&next.lower).is_some() => end = with_rate(tokens, end + 1),
            Some(next) if next.is_content() && !next.has(Tags::ADJECTIVE) => {
                end = with_rate(tokens, counted(tokens, end));
            }
            _ => {}
        }
        found.push(start..end);
        at = end;
    }
    found
}

/// Past `per minute`.
fn with_rate(tokens: &[Token], end: usize) -> usize {
    let per = tokens.get(end).is_some_and(|token| token.is("per"))
        && tokens
            .get(end + 1)
            .is_some_and(|token| token.is_content() || units::measure(&token.lower).is_some());
    if per { end + 2 } else { end }
}

/// Where the name of what is counted ends: at a unit, at a plural, after three words.
fn counted(tokens: &[Token], from: usize) -> usize {
    let mut end = from;
    while end < from + 3 && tokens.get(end).is_some_and(Token::is_content) {
        let word = &tokens[end];
        end += 1;
        if units::measure(&word.lower).is_some() || naming::is_plural(&word.lower) {
            return end;
        }
    }
    // No plural: only the word next to the number is sure to belong to it.
    from + 1
}

/// A measure: a number with a unit of time, size, load or share.
pub fn measures(tokens: &[Token]) -> Vec<(std::ops::Range<usize>, Measure)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Number {
            continue;
        }
        let digits = token.lower.trim_start_matches(|c: char| {
            c.is_numeric() || matches!(c, '.' | ',' | '€' | '$' | '£')
        });
        let joined = units::measure(digits).filter(|_| !digits.is_empty());
        let next = tokens
            .get(at + 1)
            .and_then(|next| units::measure(&next.lower));
        let money = token
            .lower
            .starts_with(['€', '$', '£', '¥'])
            .then_some(Measure::Money);
        let money = money.or_else(|| next.filter(|measure| *measure == Measure::Money));
        let per = tokens
            .get(at + 1..(at + 5).min(tokens.len()))
            .is_some_and(|next| {
                next.windows(2).any(|pair| {
                    pair[0].is("per") && units::measure(&pair[1].lower) == Some(Measure::Time)
                })
            });
        if let Some(measure) = joined {
            found.push((at..at + 1, measure));
        } else if let Some(measure) = money {
            found.push((at..at + 1, measure));
        } else if per {
            let end = tokens[at..]
                .iter()
                .position(|token| token.is("per"))
                .map_or(at + 1, |per| at + per + 2);
            found.push((at..end.min(tokens.len()), Measure::Load));
        } else if let Some(measure) = next {
            let end = if measure == Measure::Load {
                (at + 3).min(tokens.len())
            } else {
                at + 2
            };
            found.push((at..end, measure));
        }
    }
    found
}

/// Words that belong to a measure in front of it: `in less than`, `at most`.
const BOUNDS: &[&str] = &[
    "under", "within", "in", "less", "than", "at", "most", "least", "up", "to", "over", "above",
    "below", "no", "more", "faster", "maximum", "minimum", "max", "min", "<", "≤", ">", "≥",
    "after", "for", "every", "the", "first",
];

/// The measure a quality is stated with, verbatim, with the words that bound it.
pub fn metric(text: &str, tokens: &[Token]) -> Option<String> {
    let (range, _) = measures(tokens)
        .into_iter()
        .find(|(_, measure)| *measure != Measure::Money)?;
    let mut start = range.start;
    while start > 0 && BOUNDS.contains(&tokens[start - 1].lower.as_str()) {
        start -= 1;
    }
    while start < range.start && tokens[start].is_any(&["the", "to", "for", "than"]) {
        start += 1;
    }
    Some(slice(text, &tokens[start..range.end]).to_owned())
}
