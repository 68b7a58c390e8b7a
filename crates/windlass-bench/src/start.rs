//! Starting up: what `windlass --version` and `windlass runs list` cost, and how long an MCP client
//! waits for the first reply.

use std::path::Path;

use anyhow::Result;

use crate::{calls, process, report};

const STARTS: usize = 25;

/// A command, its milliseconds of CPU and its mebibytes.
type Allowed = (&'static [&'static str], f64, f64);

const ALLOWED: [Allowed; 2] = [(&["--version"], 3.0, 10.0), (&["runs", "list"], 6.0, 18.0)];

pub(crate) fn run() -> Result<()> {
    report::heading("start-up: windlass against /bin/true");
    let windlass = process::windlass()?;
    let home = tempfile::tempdir()?;
    let variables = [("WINDLASS_HOME", home.path().to_owned())];
    let usage_of = |program: &Path, arguments: &[&str]| {
        process::usage_in(program, arguments, Path::new("."), &variables)
    };
    // The first command creates the home.
    usage_of(&windlass, &["runs", "list"])?;
    for (arguments, cpu, memory) in ALLOWED {
        let (mut ours, mut mebibytes) = (report::Samples::default(), report::Samples::default());
        let mut peer = report::Samples::default();
        for _ in 0..STARTS {
            let usage = usage_of(&windlass, arguments)?;
            ours.push(usage.cpu_ms);
            mebibytes.push(usage.rss_mib);
            peer.push(usage_of(Path::new("/bin/true"), &[])?.cpu_ms);
        }
        let name = format!("windlass {}", arguments.join(" "));
        report::figure(&format!("{name}, CPU"), &ours, "ms");
        report::figure("/bin/true, CPU", &peer, "ms");
        report::figure(&format!("{name}, memory"), &mebibytes, "MiB");
        for (what, samples, allowed, unit) in [
            ("CPU", &ours, cpu, "ms"),
            ("memory", &mebibytes, memory, "MiB"),
        ] {
            let ratio = samples.median() / allowed;
            let line = format!("{what}, of {allowed} {unit} allowed");
            report::ratio(&line, ratio, "≤ 1", ratio <= 1.0);
        }
    }
    calls::over_stdio(home.path())
}
