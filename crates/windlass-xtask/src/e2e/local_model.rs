//! A real small language model on this machine, asked by the real client and by the product.
//!
//! Checks mechanics: answers that stream, answers that fit a schema, a phase that completes or
//! fails as documented, outputs that name their generator. What so small a model answers is not
//! checked.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools;

const SCRIPT: &str = "crates/windlass-xtask/harness/small_model.py";
/// The name that outputs must repeat.
const MODEL: &str = "smollm2-135m-instruct";
const SPEC: &str = "Sailors can create listings.\n";
/// Loading a hundred megabytes from a cold disk.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Time for one phase: enough for an answer and a repair.
const PHASE_SECONDS: u64 = 30;
const COMMAND_LIMIT: Duration = Duration::from_secs(PHASE_SECONDS + 15);

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let python = tools::small_model(repo)?;
    let binary = binaries.product(repo)?;
    let scratch = repo.scratch("local-model")?;
    let server = ModelServer::start(&python, &repo.root.join(SCRIPT), &scratch)?;
    process::run(
        tools::tests_of(repo, &["windlass-model-calls"])?
            // There is one model, and it answers one question at a time.
            .args(["--test-threads", "1"])
            .env("WINDLASS_TEST_MODEL", &server.url),
    )?;
    let product = Product {
        binary,
        folder: scratch,
        url: server.url.clone(),
    };
    let by_model = outcome(&product.strategize("llm", 500)?)?;
    println!("strategize by the model: {by_model}");
    // A model that may not finish a word cannot answer; `auto` then uses the rules.
    let instead = product.strategize("auto", 1)?;
    let by_rules = product.strategize("offline", 1)?;
    ensure!(
        instead["generator"]["name"] == "offline",
        "`auto` did not fall back to rules: {instead}"
    );
    ensure!(
        instead == by_rules,
        "what `auto` falls back to differs from the output of the rules"
    );
    println!("strategize with a model that cannot answer: the same bytes as by the rules");
    Ok(format!("{MODEL}: {by_model}"))
}

/// How a phase by the model ended, where that is one of the ways it may end.
fn outcome(answer: &Value) -> Result<String> {
    let error = &answer["error"];
    if error.is_null() {
        let generator = &answer["generator"];
        ensure!(
            generator["name"] == "llm" && generator["model"] == MODEL,
            "the output does not name its generator: {generator}"
        );
        let requirements = &answer["requirements"]["functional"];
        let untraced = &answer["coverage"]["untraced"];
        ensure!(
            requirements.as_array().is_some_and(|list| !list.is_empty())
                && untraced.as_array().is_some_and(Vec::is_empty)
                && answer["quality_report"]["verdict"] != "BLOCKED",
            "an output that fails its own checks: {answer}"
        );
        return Ok("completed".to_owned());
    }
    let details = &error["details"];
    ensure!(details["phase"] == "strategy", "no phase in {error}");
    match error["code"].as_str() {
        Some("AGENT_TIMEOUT") => {
            ensure!(details["limit_s"] == PHASE_SECONDS, "no limit in {error}");
            Ok("AGENT_TIMEOUT".to_owned())
        }
        Some("AGENT_FAILURE") => {
            ensure!(details["model"] == MODEL, "no model in {error}");
            let reason = details["reason"].as_str().unwrap_or_default();
            let known = ["truncated", "schema_mismatch", "not_json", "empty_reply"];
            ensure!(known.contains(&reason), "an unexpected reason: {error}");
            let calls = details["model_calls"].as_u64().unwrap_or(0);
            ensure!(calls > 1, "it failed without a repair: {error}");
            Ok(format!("AGENT_FAILURE, {reason}, after {calls} answers"))
        }
        _ => bail!("an unexpected error: {error}"),
    }
}

/// The product with a home of its own.
struct Product {
    binary: PathBuf,
    folder: PathBuf,
    url: String,
}

impl Product {
    /// What `windlass pipeline strategize` answers, error or not.
    fn strategize(&self, generator: &str, max_tokens: u32) -> Result<Value> {
        let home = self.folder.join(format!("home-{generator}"));
        fs_err::create_dir_all(&home)?;
        let settings = format!(
            "[pipeline]\ngenerator = \"{generator}\"\n\n\
             [pipeline.timeouts]\nstrategy_s = {PHASE_SECONDS}\n\n\
             [pipeline.model]\napi_base_url = \"{}\"\nmodel = \"{MODEL}\"\nmax_tokens = {max_tokens}\n\n\
             [models]\nallow_private_targets = true\nallow_http = true\n",
            self.url
        );
        fs_err::write(home.join("config.toml"), settings)?;
        let spec = self.folder.join("spec.md");
        fs_err::write(&spec, SPEC)?;
        let output = process::capture(
            Command::new(&self.binary)
                .args(["--json", "pipeline", "strategize", "--spec"])
                .arg(&spec)
                .env("WINDLASS_HOME", &home),
            COMMAND_LIMIT,
        )?;
        serde_json::from_str(&output.stdout).with_context(|| {
            format!(
                "`windlass pipeline strategize` printed no JSON\n{}",
                process::indent(&process::tail(&output.stderr, 20))
            )
        })
    }
}

/// The model's server, stopped when this is dropped.
struct ModelServer {
    child: Child,
    /// With `/v1`.
    url: String,
}

impl ModelServer {
    fn start(python: &Path, script: &Path, folder: &Path) -> Result<ModelServer> {
        let log = folder.join("server.log");
        let mut child = Command::new(python)
            // Bytecode would land next to the script, inside the checkout.
            .arg("-B")
            .arg(script)
            // Closed when this process ends, however it ends.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).context("could not create the model's log")?)
            .spawn()
            .context("could not start the model's server")?;
        let (sender, receiver) = mpsc::channel();
        let stdout = child.stdout.take();
        thread::spawn(move || {
            let mut lines = stdout.map(|stream| BufReader::new(stream).lines());
            let first = lines.as_mut().and_then(Iterator::next);
            // The receiver is gone after a time-out.
            let _ = sender.send(first.and_then(Result::ok));
            // Keep reading, so that the server never blocks on a full pipe.
            lines.into_iter().flatten().for_each(drop);
        });
        match receiver.recv_timeout(START_LIMIT) {
            Ok(Some(address)) if address.starts_with("http://") => Ok(ModelServer {
                child,
                url: format!("{}/v1", address.trim()),
            }),
            _ => {
                process::stop(&mut child);
                let logged = fs_err::read_to_string(&log).unwrap_or_default();
                bail!(
                    "the model's server did not start\n{}",
                    process::indent(&process::tail(&logged, 20))
                )
            }
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        process::stop(&mut self.child);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_documented_endings_pass() {
        let failure =
            |code: &str, details: Value| json!({ "error": { "code": code, "details": details } });
        let output = |model: &str, verdict: &str| {
            json!({
                "generator": { "name": "llm", "model": model },
                "requirements": { "functional": [{ "id": "FR-1" }] },
                "coverage": { "untraced": [] },
                "quality_report": { "verdict": verdict },
            })
        };
        let details = |reason: &str, calls: u32| json!({ "phase": "strategy", "model": MODEL, "reason": reason, "model_calls": calls });
        for (answer, passes) in [
            (output(MODEL, "APPROVED"), true),
            (output("another", "APPROVED"), false),
            (output(MODEL, "BLOCKED"), false),
            (failure("AGENT_FAILURE", details("truncated", 4)), true),
            (failure("AGENT_FAILURE", details("truncated", 1)), false),
            (failure("AGENT_FAILURE", details("unreachable", 4)), false),
            (
                failure(
                    "AGENT_TIMEOUT",
                    json!({ "phase": "strategy", "limit_s": PHASE_SECONDS }),
                ),
                true,
            ),
            (
                failure(
                    "AGENT_TIMEOUT",
                    json!({ "phase": "ux", "limit_s": PHASE_SECONDS }),
                ),
                false,
            ),
            (
                failure("INTERNAL_ERROR", json!({ "phase": "strategy" })),
                false,
            ),
        ] {
            assert_eq!(outcome(&answer).is_ok(), passes, "{answer}");
        }
    }
}
