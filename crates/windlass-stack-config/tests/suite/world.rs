//! A context with fixed answers.

use std::path::Path;

use serde_json::{Map, Value, json};
use windlass_stack_config::{
    ConfigText, Context, CustomCall, GitInfo, LoadFailure, Loaded, Lookups, load,
};
use windlass_types::{Problem, code};

/// Answers that are always the same.
pub struct Answers;

impl Lookups for Answers {
    fn require_trust(&self, _: &str) -> Result<(), Problem> {
        Ok(())
    }

    fn account_id(&self) -> Result<String, Problem> {
        Ok("123456789012".to_owned())
    }

    fn git(&self) -> Result<GitInfo, Problem> {
        Ok(GitInfo {
            has_uncommitted_changes: false,
            username: String::new(),
            branch: "main".to_owned(),
            commit: "c0ffee".to_owned(),
            git_url: "https://ada:secret@example.com/shop.git".to_owned(),
        })
    }

    fn stack_output(
        &self,
        stack: &str,
        output: &str,
        region: Option<&str>,
    ) -> Result<Value, Problem> {
        if stack == "missing" {
            return Err(Problem::new(&code::NOT_FOUND, "there is no stack missing"));
        }
        Ok(json!(format!(
            "{stack}/{output}/{}",
            region.unwrap_or("here")
        )))
    }

    fn custom_directive(&self, call: &CustomCall) -> Result<Value, Problem> {
        Ok(json!({ "name": call.name, "arguments": call.arguments }))
    }
}

/// A context for a directory.
pub fn context<'a>(directory: &Path, lookups: &'a dyn Lookups) -> Context<'a> {
    let arguments: Map<String, Value> = [
        ("release".to_owned(), json!(7)),
        ("dryRun".to_owned(), json!(false)),
    ]
    .into_iter()
    .collect();
    Context {
        project_name: Some("shop".to_owned()),
        stage: Some("dev".to_owned()),
        region: Some("eu-west-1".to_owned()),
        profile: None,
        arguments,
        project_root: directory.to_owned(),
        config_directory: directory.to_owned(),
        allowed: Default::default(),
        lookups,
    }
}

/// A text read in a directory that does not exist.
pub fn read(text: &str) -> Result<Loaded, LoadFailure> {
    let source = ConfigText {
        file: "stacktape.yml",
        text,
    };
    load(&source, &context(Path::new("/nonexistent"), &Answers))
}

/// The faults of a text, as they are shown.
pub fn faults(text: &str) -> String {
    match read(text) {
        Ok(_) => "accepted".to_owned(),
        Err(LoadFailure::Invalid(faults)) => faults.render(),
        Err(LoadFailure::Lookup(problem)) => format!("lookup: {}", problem.message()),
    }
}
