//! Units after numbers.

use super::{Words, set};

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Seconds to years.
    Time,
    /// Bytes.
    Size,
    /// Users, requests, rows at once or per time.
    Load,
    /// Per cent.
    Share,
    /// Euro and cents.
    Money,
}

static TIME: Words = Words::new(|| {
    set(
        "ms millisecond milliseconds s sec secs second seconds min mins minute minutes h hr hrs hour hours day \
         days week weeks month months year years",
    )
});
static SIZE: Words =
    Words::new(|| set("b kb mb gb tb kib mib gib byte bytes kilobytes megabytes gigabytes"));
static LOAD: Words = Words::new(|| {
    set(
        "concurrent simultaneous parallel requests request rps qps connections transactions sessions tps",
    )
});
static MONEY: Words = Words::new(|| set("euro euros eur dollar dollars usd cents gbp pounds chf"));

/// What a unit measures.
pub fn measure(lower: &str) -> Option<Measure> {
    let table: [(&Words, Measure); 4] = [
        (&TIME, Measure::Time),
        (&SIZE, Measure::Size),
        (&LOAD, Measure::Load),
        (&MONEY, Measure::Money),
    ];
    if lower == "%" || lower == "percent" || lower == "per cent" {
        return Some(Measure::Share);
    }
    table
        .iter()
        .find(|(words, _)| words.contains(lower))
        .map(|(_, measure)| *measure)
}
