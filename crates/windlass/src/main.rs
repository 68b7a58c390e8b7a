//! The binary: reads settings, builds adapters, hands them to the engine, starts one surface.

mod assemble;
mod host;
mod key_file;
mod user;

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_cli::run(&host::Binary, std::env::args_os())
}
