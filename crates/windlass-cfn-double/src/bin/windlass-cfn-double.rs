//! Runs the double until it is stopped: prints its address, then serves.
//!
//! `windlass-cfn-double [--port N] [--speed FACTOR | --per-call MS]`; without a pace the clock
//! moves with real time.

use std::process::ExitCode;

use windlass_cfn_double::{Double, Options, Pace};

const USAGE: &str = "usage: windlass-cfn-double [--port N] [--speed FACTOR | --per-call MS]";

#[tokio::main]
async fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => return fail(&format!("{message}\n{USAGE}")),
    };
    match Double::start(options).await {
        Ok(handle) => {
            announce(&handle.endpoint);
            handle.wait().await;
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("the double cannot listen: {error}")),
    }
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        pace: Pace::Real(1.0),
        ..Options::default()
    };
    while let Some(word) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{word} needs a value"))?;
        let wrong = || format!("{word} does not take `{value}`");
        match word.as_str() {
            "--port" => options.port = value.parse().map_err(|_| wrong())?,
            "--speed" => options.pace = Pace::Real(value.parse().map_err(|_| wrong())?),
            "--per-call" => options.pace = Pace::PerCall(value.parse().map_err(|_| wrong())?),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(options)
}

#[expect(clippy::print_stdout, reason = "the address is this program's output")]
fn announce(endpoint: &str) {
    println!("{endpoint}");
}

#[expect(clippy::print_stderr, reason = "a program says on stderr why it stops")]
fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
