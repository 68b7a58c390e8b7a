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
/// The stages in their order, and how the work items of each begin.
const STAGES: [(&str, &str); 9] = [
    ("clone", "W1:clone"),
    ("site", "W1:site"),
    ("inventory", "W1:inventory"),
    ("facts", "W2:"),
    ("snippets", "W3:"),
    ("plan", "W4:"),
    ("draft", "W5:"),
    ("link", "W6:"),
    ("validate", "W7:"),
];
const SECTIONS: [&str; 5] = ["products", "docs", "reference", "kb", "blog"];

pub(crate) fn run() -> Result<()> {
    report::heading("launches: start to READY_FOR_PR without a language model");
    let windlass = process::windlass()?;
    let base = pack::base()?;
    for files in SIZES {
        inputs(&base.path().join(files.to_string()), files)?;
    }
    let mut measured: [Measured; SIZES.len()] = Default::default();
    // By turns, so that a busy moment of the machine meets both sizes.
    for round in 0..ROUNDS {
        for (files, measured) in SIZES.iter().zip(&mut measured) {
            let root = base.path().join(files.to_string());
            let home = root.join(format!("home-{round}"));
            measured.add(&Place { root, home }, &windlass)?;
        }
    }
    for (files, measured) in SIZES.iter().zip(&measured) {
        for (name, samples) in measured.times() {
            report::figure(&format!("{files} files: {name}"), samples, "ms");
        }
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
    }
    let [small, large] = &measured;
    for ((name, few), (_, many)) in small.times().zip(large.times()) {
        let floored = if few.median() < FLOOR_MS {
            ", of 50 ms"
        } else {
            ""
        };
        let growth = many.median() / few.median().max(FLOOR_MS);
        report::ratio(
            &format!("{name}: 10 × the files{floored}"),
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

impl Measured {
    /// Adds one run.
    fn add(&mut self, place: &Place, windlass: &Path) -> Result<()> {
        let usage = place.launch(windlass)?;
        let journal = place.journal(windlass)?;
        for ((_, items), samples) in STAGES.iter().zip(&mut self.stages) {
            samples.push(journal.of(items));
        }
        self.whole.push(journal.whole_ms);
        self.cpu.push(usage.cpu_ms);
        self.memory.push(usage.rss_mib);
        self.rate
            .push(journal.events as f64 / (journal.whole_ms / 1e3));
        // What the next run would otherwise share the memory with.
        fs::remove_dir_all(&place.home)?;
        Ok(())
    }

    fn times(&self) -> impl Iterator<Item = (&'static str, &Samples)> {
        let stages = STAGES.iter().map(|(name, _)| *name).zip(&self.stages);
        stages.chain([
            ("start to READY_FOR_PR", &self.whole),
            ("processor time", &self.cpu),
        ])
    }
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

    fn of(&self, prefix: &str) -> f64 {
        let own = self
            .items
            .iter()
            .filter(|(item, _)| item.starts_with(prefix));
        own.map(|(_, ms)| ms).sum()
    }
}
