//! The binary: reads settings, builds adapters, hands them to the engine, starts one surface.

mod assemble;
mod descriptors;
mod host;
mod key_file;
mod launch;
mod pack;
mod pipeline;
mod sandbox;
mod stack;
mod stack_dev;
mod tour_double;
mod user;

use std::process::ExitCode;

/// Serving calls is mostly making and dropping small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    windlass_cli::run(&host::Binary::default(), std::env::args_os())
}
