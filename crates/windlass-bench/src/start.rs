//! Starting up: what `windlass --version` costs compared with the smallest program there is.

use std::path::Path;

use anyhow::Result;

use crate::{process, report};

const STARTS: usize = 25;

pub(crate) fn run() -> Result<()> {
    report::heading("start-up: windlass --version against /bin/true");
    let windlass = process::windlass()?;
    let mut ours = (report::Samples::default(), report::Samples::default());
    let mut peer = report::Samples::default();
    for _ in 0..STARTS {
        let usage = process::usage_of(&windlass, &["--version"])?;
        ours.0.push(usage.cpu_ms);
        ours.1.push(usage.rss_mib);
        peer.push(process::usage_of(Path::new("/bin/true"), &[])?.cpu_ms);
    }
    report::figure("windlass --version, CPU", &ours.0, "ms");
    report::figure("/bin/true, CPU", &peer, "ms");
    report::figure("windlass --version, memory", &ours.1, "MiB");
    report::ratio(
        "CPU, of 4 ms allowed",
        ours.0.median() / 4.0,
        "≤ 1",
        ours.0.median() <= 4.0,
    );
    report::ratio(
        "memory, of 12 MiB allowed",
        ours.1.median() / 12.0,
        "≤ 1",
        ours.1.median() <= 12.0,
    );
    Ok(())
}
