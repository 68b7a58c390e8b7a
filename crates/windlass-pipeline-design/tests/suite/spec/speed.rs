//! Time grows with the text, not faster.

use std::time::{Duration, Instant};

use windlass_pipeline_design::spec::{SpecContext, analyse, requirements};

use super::examples::ALL;

/// Processor time of this thread, so that other work on the machine does not count;
/// wall time where the system does not report it.
fn spent(start: Instant) -> Duration {
    std::fs::File::open("/proc/thread-self/schedstat")
        .and_then(std::io::read_to_string)
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The least of a few readings.
fn best_of(times: usize, spec: &str) -> Duration {
    let start = Instant::now();
    (0..times)
        .map(|_| {
            let before = spent(start);
            let analysis = analyse(spec, &SpecContext::default());
            assert!(requirements(&analysis).functional.len() <= analysis.statements.len());
            spent(start) - before
        })
        .min()
        .unwrap_or_default()
}

#[test]
fn a_thousand_words_take_no_time() {
    let spec: String = ALL.concat().split_inclusive(' ').take(1000).collect();
    let took = best_of(5, &spec);
    println!("1,000 words: {took:?}");
    // A quarter of the time that the whole pipeline has, on a slow machine without optimisation.
    assert!(took < Duration::from_millis(150), "{took:?}");
}

#[test]
fn four_times_the_text_takes_four_times_as_long() {
    let limit = 64 * 1024;
    let numbered: String = (0..)
        .map(|n| format!("Teachers{n} can create thing{n}s. A thing{n} has a field{n} and belongs to a thing{}. ", n / 2))
        .scan(0, |length, line| {
            *length += line.len();
            (*length <= limit).then_some(line)
        })
        .collect();
    let examples = ALL.concat().repeat(limit / ALL.concat().len());
    let cases = [
        ("numbered", numbered),
        ("examples", examples),
        (
            "one line",
            "teachers can create quizzes and ".repeat(limit / 32),
        ),
        (
            "numbers",
            (0..limit / 12).map(|n| format!("{n} items, ")).collect(),
        ),
        ("symbols", "|-*#".repeat(limit / 4)),
        ("list", "- a b c\n".repeat(limit / 8)),
        (
            "same",
            "Users can add tasks. A task has a title.\n\n".repeat(limit / 42),
        ),
    ];
    for (name, spec) in cases {
        let part = |share: usize| {
            (0..=spec.len() / share)
                .rev()
                .find(|at| spec.is_char_boundary(*at))
                .map_or("", |at| &spec[..at])
        };
        let (quarter, whole) = (best_of(1, part(4)), best_of(1, part(1)));
        println!("{name}: {quarter:?} {whole:?}");
        assert!(
            whole < quarter * 9 + Duration::from_millis(200),
            "{name}: {quarter:?} for a quarter, {whole:?} for all"
        );
    }
}
