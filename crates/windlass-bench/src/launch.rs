//! Launches: what each stage costs for a small and a large product, and whether it grows faster
//! than the product does.
//!
//! Whole runs of the binary without a language model, on a memory file system where there is one.
//! The stages' times come from the journal, so they are what the run itself has on record.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use fs_err as fs;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    launch_inputs::{self, PRODUCT},
    pack,
    process::{self, Usage},
    report::{self, Samples},
};

const SIZES: [usize; 2] = [200, 2_000];
const SITE_PAGES: usize = 100;
const ROUNDS: usize = 3;
/// Ten times the files may take this many times the time.
const GOAL: f64 = 12.0;
/// A stage that takes less is measured against this: what a process start or a flush costs
/// differs more from run to run than such a stage does from size to size.
const FLOOR_MS: f64 = 50.0;
/// The stages in their order, and the work items that belong to each.
const STAGES: [(&str, &[&str]); 9] = [
    ("clone", &["W1:clone"]),
    ("site", &["W1:site"]),
    ("inventory", &["W1:inventory"]),
    ("facts", &["W2:"]),
    ("snippets", &["W3:"]),
    ("plan", &["W4:"]),
    ("draft", &["W5:"]),
    ("link", &["W6:"]),
    ("validate", &["W7:"]),
];
const SECTIONS: [&str; 5] = ["products", "docs", "reference", "kb", "blog"];

pub(crate) fn run() -> Result<()> {
    report::heading("launches: start to READY_FOR_PR without a language model");
    let windlass = process::windlass()?;
    let mut medians: Vec<Vec<f64>> = Vec::new();
    for files in SIZES {
        let measured = measure(&windlass, files)?;
        let mut costs = Vec::new();
        for ((stage, _), samples) in STAGES.iter().zip(&measured.stages) {
            report::figure(&format!("{files} files: {stage}"), samples, "ms");
            costs.push(samples.median());
        }
        report::figure(
            &format!("{files} files: start to READY_FOR_PR"),
            &measured.whole,
            "ms",
        );
        costs.push(measured.whole.median());
        report::figure(
            &format!("{files} files: processor"),
            &measured.cpu,
            "ms CPU",
        );
        report::figure(
            &format!("{files} files: peak memory"),
            &measured.memory,
            "MiB",
        );
        report::figure(
            &format!("{files} files: events"),
            &measured.rate,
            "events/s",
        );
        medians.push(costs);
    }
    let names = STAGES
        .iter()
        .map(|(stage, _)| *stage)
        .chain(["start to READY_FOR_PR"]);
    for (index, stage) in names.enumerate() {
        let growth = medians[1][index] / medians[0][index].max(FLOOR_MS);
        let floored = if medians[0][index] < FLOOR_MS {
            ", of 50 ms"
        } else {
            ""
        };
        report::ratio(
            &format!("{stage}: 10 × the files{floored}"),
            growth,
            &format!("≤ {GOAL}"),
            growth <= GOAL,
        );
    }
    Ok(())
}

/// `launch-inputs DIRECTORY FILES`: writes the repositories `product` and `site`.
pub(crate) fn write_inputs(arguments: &[String]) -> Result<()> {
    let [directory, files] = arguments else {
        bail!("launch-inputs takes a directory and a number of files");
    };
    let files = files.parse().context("the number of files")?;
    inputs(Path::new(directory), files)
}

fn inputs(root: &Path, files: usize) -> Result<()> {
    launch_inputs::product(&root.join("product"), files)?;
    launch_inputs::site(&root.join("site"), SITE_PAGES)
}

#[derive(Default)]
struct Measured {
    stages: [Samples; STAGES.len()],
    whole: Samples,
    cpu: Samples,
    memory: Samples,
    rate: Samples,
}

fn measure(windlass: &Path, files: usize) -> Result<Measured> {
    let base = pack::base()?;
    let root = base.path();
    inputs(root, files)?;
    let mut measured = Measured::default();
    for round in 0..ROUNDS {
        let place = Place {
            root: root.to_owned(),
            home: root.join(format!("home-{round}")),
        };
        let usage = place.launch(windlass)?;
        measured.cpu.push(usage.cpu_ms);
        measured.memory.push(usage.rss_mib);
        let journal = place.journal(windlass)?;
        for ((_, items), samples) in STAGES.iter().zip(&mut measured.stages) {
            samples.push(journal.of(items));
        }
        measured.whole.push(journal.whole_ms);
        measured
            .rate
            .push(journal.events as f64 / (journal.whole_ms / 1e3));
        // What the next round would otherwise share the memory with.
        fs::remove_dir_all(&place.home)?;
    }
    Ok(measured)
}

/// Two repositories and a home.
struct Place {
    root: PathBuf,
    home: PathBuf,
}

impl Place {
    fn launch(&self, windlass: &Path) -> Result<Usage> {
        let mut arguments = vec![
            "launch",
            "start",
            "--json",
            "--product",
            "product",
            "--site",
            "site",
        ];
        arguments.extend(["--name", PRODUCT, "--allow"]);
        arguments.extend(SECTIONS);
        let variables = [
            ("HOME", self.home.clone()),
            ("WINDLASS_HOME", self.home.clone()),
        ];
        fs::create_dir_all(&self.home)?;
        process::usage_in(windlass, &arguments, &self.root, &variables).with_context(|| {
            format!(
                "the launch did not reach READY_FOR_PR; look with WINDLASS_HOME={}",
                self.home.display()
            )
        })
    }

    fn journal(&self, windlass: &Path) -> Result<Journal> {
        let export = self.home.join("export");
        let output = Command::new(windlass)
            .args(["runs", "export", "latest", "--dir"])
            .arg(&export)
            .env("HOME", &self.home)
            .env("WINDLASS_HOME", &self.home)
            .output()
            .context("runs export")?;
        if !output.status.success() {
            bail!("runs export: {}", String::from_utf8_lossy(&output.stderr));
        }
        Journal::read(&fs::read_to_string(export.join("events.ndjson"))?)
    }
}

/// What a run has on record of its time.
struct Journal {
    /// Milliseconds by work item, as `<worker>:<scope>`.
    items: BTreeMap<String, f64>,
    whole_ms: f64,
    events: usize,
}

impl Journal {
    fn read(text: &str) -> Result<Self> {
        let mut started: BTreeMap<String, f64> = BTreeMap::new();
        let mut items: BTreeMap<String, f64> = BTreeMap::new();
        let (mut first, mut ready, mut events) = (None, None, 0);
        for line in text.lines() {
            let event: Value = serde_json::from_str(line)?;
            let ts = event["ts"].as_str().context("an event without a time")?;
            let at = ts.parse::<Timestamp>()?.as_millisecond() as f64;
            first.get_or_insert(at);
            events += 1;
            let payload = &event["payload"];
            let field = |name: &str| payload[name].as_str().unwrap_or_default();
            let item = format!("{}:{}", field("worker"), field("scope_key"));
            match event["type"].as_str().unwrap_or_default() {
                "WORK_ITEM_STARTED" => {
                    started.insert(item, at);
                }
                "WORK_ITEM_FINISHED" => {
                    let from = started
                        .remove(&item)
                        .with_context(|| format!("{item} never began"))?;
                    *items.entry(item).or_default() += at - from;
                }
                "RUN_STATE_CHANGED" if field("to_state") == "READY_FOR_PR" => ready = Some(at),
                _ => {}
            }
        }
        let whole_ms = ready.context("READY_FOR_PR is not in the journal")? - first.unwrap_or(0.0);
        Ok(Self {
            items,
            whole_ms,
            events,
        })
    }

    fn of(&self, prefixes: &[&str]) -> f64 {
        let belongs = |item: &str| prefixes.iter().any(|prefix| item.starts_with(prefix));
        self.items
            .iter()
            .filter(|(item, _)| belongs(item))
            .map(|(_, ms)| ms)
            .sum()
    }
}
