//! Documentation search: how often the right page comes first, how long an answer and the index
//! take, compared with the minimum: scanning every page once for one word.

use std::{path::Path, time::Instant};

use anyhow::{Result, anyhow};
use serde::Deserialize;
use windlass_docs::{Docs, Query};

use crate::report;

const BUILDS: usize = 5;
const ROUNDS: usize = 5;

#[derive(Deserialize)]
struct Set {
    questions: Vec<Vec<String>>,
}

pub(crate) fn run() -> Result<()> {
    report::heading("docs: the written set of questions");
    let set: Set = toml::from_str(include_str!("../../windlass-docs/tests/questions.toml"))?;
    let failed = |problem: windlass_types::Problem| anyhow!("{}", problem.message());
    let mut builds = report::Samples::default();
    for _ in 0..BUILDS {
        let docs = Docs::embedded().map_err(failed)?;
        let start = Instant::now();
        docs.prepare();
        builds.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    let docs = Docs::embedded().map_err(failed)?;
    docs.prepare();
    let mut latency = report::Samples::default();
    let (mut first, mut three, mut reciprocal) = (0.0, 0.0, 0.0);
    for round in 0..ROUNDS {
        for entry in &set.questions {
            let Some((question, expected)) = entry.split_first() else {
                continue;
            };
            let query = Query {
                max_items: 10,
                ..Query::new(question)
            };
            let start = Instant::now();
            let answer = docs.query(&query).map_err(failed)?;
            latency.push(start.elapsed().as_secs_f64() * 1_000.0);
            let rank = answer
                .references
                .iter()
                .position(|reference| expected.contains(&reference.path));
            if let (0, Some(rank)) = (round, rank) {
                first += f64::from(u8::from(rank == 0));
                three += f64::from(u8::from(rank < 3));
                reciprocal += 1.0 / (rank as f64 + 1.0);
            }
        }
    }
    let all = set.questions.len() as f64;
    println!(
        "{:.0} questions: hit@1 {:.3}, hit@3 {:.3}, MRR {:.3}",
        all,
        first / all,
        three / all,
        reciprocal / all
    );
    let floor = scan(&docs, &set)?;
    report::figure("index build", &builds, "ms");
    report::figure("answer", &latency, "ms");
    println!(
        "answer p50 {:.3} ms, p99 {:.3} ms",
        latency.quantile(0.5),
        latency.quantile(0.99)
    );
    report::figure("floor: every page once, one word", &floor, "ms");
    let slowest = latency.quantile(0.99) / 20.0;
    report::ratio(
        "answer p99, of 20 ms allowed",
        slowest,
        "≤ 1",
        slowest <= 1.0,
    );
    let build = builds.median() / 1_000.0;
    report::ratio("index build, of 1 s allowed", build, "≤ 1", build <= 1.0);
    Ok(())
}

fn scan(docs: &Docs<'_>, set: &Set) -> Result<report::Samples> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut texts = Vec::new();
    for (path, _, _) in docs.pages() {
        texts.push(fs_err::read_to_string(folder.join(path))?);
    }
    let mut samples = report::Samples::default();
    for entry in &set.questions {
        let word = entry[0].split(' ').next_back().unwrap_or_default();
        let start = Instant::now();
        let found = texts.iter().filter(|text| text.contains(word)).count();
        std::hint::black_box(found);
        samples.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok(samples)
}
