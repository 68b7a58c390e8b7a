//! The binary: reads settings, builds adapters, hands them to the engine, starts one surface.

fn main() {}
