//! Packs: what planning, deploying and looking cost for small and large repositories, and how
//! the cost grows.
//!
//! Codex and Claude Code in the user's scope, so that every skill file is written twice. CPU time
//! of the whole process, on a memory file system where there is one.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;

use crate::{
    process::{self, Usage},
    report::{self, Samples},
};

const SIZES: [usize; 5] = [10, 100, 500, 3_000, 20_000];
/// The size the limits of memory and disk are for.
const LARGE: usize = 3_000;
const ROUNDS: usize = 5;
/// The limits at the first four sizes, in milliseconds of CPU. At 3,000 files those of the
/// requirements; at 100 and 500 what the program that pack replaces takes; at 10 the same and the
/// 6 ms that a command may take to open its home.
const LIMITS: [(&str, [f64; 4]); 6] = [
    ("plan, nothing deployed", [11.4, 15.0, 59.0, 66.0]),
    ("deploy, first", [12.6, 25.0, 108.0, 209.0]),
    ("plan, clean", [11.5, 16.0, 63.0, 72.0]),
    ("status, clean", [11.2, 16.0, 65.0, 77.0]),
    ("deploy, no-op", [11.8, 16.0, 64.0, 122.0]),
    ("deploy, one file changed", [12.6, 21.0, 87.0, 173.0]),
];
/// In MiB, for a plan.
const PLAN_MEMORY: f64 = 23.6;
/// A snapshot's index may take this much per managed file.
const INDEX_BYTES: u64 = 400;

pub(crate) fn run() -> Result<()> {
    report::heading("packs: CPU time by number of source files, each written to two targets");
    let windlass = process::windlass()?;
    let mut costs: Vec<Vec<f64>> = Vec::new();
    for (size, files) in SIZES.into_iter().enumerate() {
        let measured = measure(&windlass, files)?;
        for ((what, limits), samples) in LIMITS.iter().zip(&measured.times) {
            report::figure(&format!("{files} files: {what}"), samples, "ms CPU");
            if let Some(limit) = limits.get(size) {
                let share = samples.median() / limit;
                report::ratio(
                    &format!("{files} files: {what}, of {limit} ms"),
                    share,
                    "≤ 1",
                    share <= 1.0,
                );
            }
        }
        report::figure(
            &format!("{files} files: plan, memory"),
            &measured.memory,
            "MiB",
        );
        if files == LARGE {
            let share = measured.memory.median() / PLAN_MEMORY;
            report::ratio("plan memory, of 23.6 MiB", share, "≤ 1", share <= 1.0);
            let share = measured.growth as f64 / (2 * files as u64 * INDEX_BYTES) as f64;
            report::ratio(
                "snapshot growth for one file, of 400 B a file",
                share,
                "≤ 1",
                share <= 1.0,
            );
        }
        costs.push(measured.times.iter().map(Samples::median).collect());
    }
    for (index, (what, _)) in LIMITS.iter().enumerate() {
        // The slope between the two large sizes: start-up no longer matters there.
        let (small, large) = (costs[3][index], costs[4][index]);
        let exponent = (large / small).ln() / (SIZES[4] as f64 / SIZES[3] as f64).ln();
        report::ratio(
            &format!("{what}: grows with files to the power of"),
            exponent,
            "≤ 1.1",
            exponent <= 1.1,
        );
    }
    Ok(())
}

struct Measured {
    times: [Samples; LIMITS.len()],
    memory: Samples,
    /// What one changed file added to the snapshots and blobs, in bytes.
    growth: u64,
}

fn measure(windlass: &Path, files: usize) -> Result<Measured> {
    let mut measured = Measured {
        times: Default::default(),
        memory: Samples::default(),
        growth: 0,
    };
    for round in 0..ROUNDS {
        let base = base()?;
        let place = Place::create(base.path(), files)?;
        let run = |arguments: &[&str]| place.run(windlass, arguments);
        // The first start makes the home; it is not what is measured.
        run(&["pack", "doctor", "--json"])?;
        let plan = run(&["pack", "plan", "--json"])?;
        measured.times[0].push(plan.cpu_ms);
        measured.memory.push(plan.rss_mib);
        measured.times[1].push(run(&["pack", "deploy", "--apply", "--yes", "--json"])?.cpu_ms);
        run(&["pack", "plan", "--json"])?;
        measured.times[2].push(run(&["pack", "plan", "--json"])?.cpu_ms);
        measured.times[3].push(run(&["pack", "status", "--json"])?.cpu_ms);
        measured.times[4].push(run(&["pack", "deploy", "--apply", "--yes", "--json"])?.cpu_ms);
        let before = size_of(&place.state())?;
        fs::write(place.one_file(), format!("changed in round {round}\n"))?;
        measured.times[5].push(run(&["pack", "deploy", "--apply", "--yes", "--json"])?.cpu_ms);
        measured.growth = size_of(&place.state())?.saturating_sub(before);
    }
    Ok(measured)
}

/// A directory on a memory file system where there is one.
pub(crate) fn base() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(directory) = tempfile::tempdir_in(memory)
    {
        return Ok(directory);
    }
    Ok(tempfile::tempdir()?)
}

/// A home with a repository of skills.
struct Place(PathBuf);

impl Place {
    fn create(root: &Path, files: usize) -> Result<Self> {
        let repo = root.join("pack/repo");
        let mut manifest = String::from(
            "version: 1\nprofiles:\n  default:\n    include_tags: [base]\ntargets:\n  \
             codex: { mode: files, scope: user }\n  claude_code:\n    mode: files\n    scope: user\n    \
             options: { write_user_skills: true }\nmodules:\n",
        );
        let (mut written, mut module) = (0, 0);
        while written < files {
            let own = (3 + module % 2).min(files - written);
            let directory = repo.join(format!("modules/skills/s{module}"));
            fs::create_dir_all(directory.join("notes"))?;
            for file in 0..own {
                let text = format!("line of file {file} of skill {module}\n").repeat(60);
                if file == 0 {
                    let head = format!("---\nname: s{module}\ndescription: skill {module}\n---\n");
                    fs::write(directory.join("SKILL.md"), head + &text)?;
                } else {
                    fs::write(directory.join(format!("notes/{file}.md")), text)?;
                }
            }
            manifest.push_str(&format!(
                "  - id: skill:s{module}\n    type: skill\n    tags: [base]\n    source:\n      \
                 local_path:\n        path: modules/skills/s{module}\n"
            ));
            written += own;
            module += 1;
        }
        fs::write(repo.join("agentpack.yaml"), manifest)?;
        for directory in ["home", "project"] {
            fs::create_dir_all(root.join(directory))?;
        }
        Ok(Self(root.to_owned()))
    }

    fn one_file(&self) -> PathBuf {
        self.0.join("pack/repo/modules/skills/s0/notes/1.md")
    }

    fn state(&self) -> PathBuf {
        self.0.join("pack/state")
    }

    fn run(&self, windlass: &Path, arguments: &[&str]) -> Result<Usage> {
        let variables = [
            ("HOME", self.0.join("home")),
            ("AGENTPACK_HOME", self.0.join("pack")),
            ("WINDLASS_HOME", self.0.join("windlass")),
        ];
        process::usage_in(windlass, arguments, &self.0.join("project"), &variables)
            .with_context(|| arguments.join(" "))
    }
}

fn size_of(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            size_of(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}
