//! Reads a spec, and earlier outputs, from files or standard input.

use std::{io::Read as _, path::Path};

use clap::Args;
use serde_json::Value;
use windlass_pipeline_design::model::Preset;
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
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs_err::read(name)
    };
    let bytes = read.map_err(|error| {
        Problem::new(
            &code::INVALID_INPUT,
            format!("the spec cannot be read: {error}"),
        )
        .with("field", "spec")
        .with("constraint", "readable")
    })?;
    String::from_utf8(bytes).map_err(|_| {
        Problem::invalid(
            "spec",
            "text",
            format!("{name} is not a text file in UTF-8; export it as Markdown or plain text"),
        )
    })
}

/// A stack that is asked for by name; one that does not exist is refused here, because a person
/// typed it. The tools take it as a preference.
pub(super) fn stack(name: Option<String>) -> Result<Option<String>, Problem> {
    let Some(name) = name else {
        return Ok(None);
    };
    if Preset::by_preference(&name).is_some() {
        return Ok(Some(name));
    }
    let allowed: Vec<&str> = Preset::ALL.iter().map(|preset| preset.as_str()).collect();
    Err(Problem::invalid(
        "stack",
        "enum",
        format!(
            "there is no stack {name:?}; choose {}",
            allowed.join(" or ")
        ),
    )
    .with("allowed", allowed))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_does_not_exist_is_refused_with_those_that_do() {
        let problem = stack(Some("nope".to_owned())).unwrap_err();
        assert_eq!(
            problem.message(),
            "there is no stack \"nope\"; choose nextjs-react or vite-react"
        );
        assert_eq!(problem.details()["constraint"], "enum");
        for name in ["vite-react", "Next.js", "vite"] {
            assert_eq!(stack(Some(name.to_owned())).unwrap().as_deref(), Some(name));
        }
        assert_eq!(stack(None).unwrap(), None);
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_by_name() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("spec.docx");
        fs_err::write(&file, [0x50, 0x4b, 0x03, 0xff, 0xfe]).unwrap();
        let name = file.display().to_string();
        let problem = read(&name).unwrap_err();
        assert_eq!(problem.details()["constraint"], "text");
        assert!(problem.message().starts_with(&name), "{problem}");
    }
}
