//! `cargo xtask prepare`: install the tools and build the programs that the stages of `test` need.
//!
//! `cargo xtask test` starts it in the background at the lowest priority, so that downloads and
//! builds use the time in which other stages wait for something else. Nothing depends on it: a stage
//! asks for what it needs again, waits while another process holds the lock, and then finds it done
//! or sees the error itself. Not here: what a stage needs; that is in the table of stages.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::test::STAGES;
use crate::args::Args;
use crate::repo::Repo;

const USAGE: &str = "\
Usage: cargo xtask prepare

Installs every tool and builds every program that `cargo xtask test` needs.";

/// From the target folder.
const LOG: &str = "xtask/prepare.log";

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    args.finish()?;
    let repo = Repo::load()?;
    let mut failed = Vec::new();
    for stage in &STAGES {
        println!("=== {} ===", stage.name);
        if let Err(error) = (stage.prepare)(&repo) {
            println!("{} cannot be prepared: {error:#}", stage.name);
            failed.push(stage.name);
        }
    }
    if !failed.is_empty() {
        bail!("not prepared: {}", failed.join(", "));
    }
    Ok(())
}

/// `cargo xtask prepare` in a process of its own.
pub struct Background(Child);

impl Background {
    pub fn start(repo: &Repo) -> Result<Background> {
        let path = repo.target.join(LOG);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let log = fs_err::File::create(&path)?.into_parts().0;
        let child = Command::new("nice")
            .args(["-n", "19"])
            .arg(std::env::current_exe().context("this program has no path")?)
            .arg("prepare")
            .current_dir(&repo.root)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("could not start `nice`")?;
        println!(
            "tools and programs are prepared in the background, see {}",
            path.display()
        );
        Ok(Background(child))
    }

    /// Waits for the end. Failures were shown by the stages that needed what failed.
    pub fn wait(mut self) -> Result<()> {
        self.0.wait()?;
        Ok(())
    }
}
