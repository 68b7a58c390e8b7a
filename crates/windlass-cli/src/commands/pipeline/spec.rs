//! Reads a spec, and earlier outputs, from files or standard input.

use std::{io::Read as _, path::Path};

use clap::Args;
use serde_json::Value;
use windlass_types::{Problem, code};

// The spec of a product.
#[derive(Args, Clone, Debug)]
pub(super) struct SpecArg {
    /// The file with the product spec, or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    spec: String,
}

impl SpecArg {
    /// Its text.
    pub(super) fn read(&self) -> Result<String, Problem> {
        read(&self.spec)
    }
}

/// The text of a file, or of standard input for `-`.
fn read(name: &str) -> Result<String, Problem> {
    let read = if name == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs_err::read_to_string(name)
    };
    read.map_err(|error| {
        Problem::new(
            &code::INVALID_INPUT,
            format!("the spec cannot be read: {error}"),
        )
        .with("field", "spec")
        .with("constraint", "readable")
    })
}

/// A JSON file an earlier command wrote.
pub(super) fn earlier(file: &Path) -> Result<Value, Problem> {
    let name = file.display().to_string();
    let text = read(&name)?;
    serde_json::from_str(&text).map_err(|error| {
        Problem::new(&code::INVALID_INPUT, format!("{name} is not JSON: {error}"))
            .with("field", name)
            .with("constraint", "json")
    })
}
