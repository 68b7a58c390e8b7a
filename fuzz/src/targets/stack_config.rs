//! A stack config: read without a panic; faults lie in the text; what is accepted survives being
//! written; directives that are read print to what is read again.

use std::path::Path;

use windlass_stack_config::directive::syntax;
use windlass_stack_config::{Config, ConfigText, Context, LoadFailure, NoLookups, load};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(parts) = syntax::parse(text, &|_| true) {
        for part in parts {
            if let syntax::Part::Directive(_) = &part {
                let again = syntax::parse(&part.to_string(), &|_| true);
                assert_eq!(again, Ok(vec![part]));
            }
        }
    }
    let nowhere = Path::new("/nonexistent").to_owned();
    let context = Context {
        project_name: None,
        stage: Some("dev".to_owned()),
        region: Some("eu-west-1".to_owned()),
        profile: None,
        arguments: serde_json::Map::new(),
        project_root: nowhere.clone(),
        config_directory: nowhere,
        allowed: Default::default(),
        lookups: &NoLookups,
    };
    let source = ConfigText {
        file: "stacktape.yml",
        text,
    };
    match load(&source, &context) {
        Ok(loaded) => {
            let written = serde_json::to_value(&loaded.config).expect("a config is JSON");
            let again: Config = serde_json::from_value(written).expect("it was accepted");
            assert_eq!(again, loaded.config);
        }
        Err(LoadFailure::Invalid(faults)) => {
            assert!(!faults.list.is_empty());
            // A carriage return alone ends a line too.
            let lines = text.split(['\n', '\r']).count() + 1;
            for fault in &faults.list {
                assert!(fault.line.is_none_or(|line| (1..=lines).contains(&line)));
            }
            let _ = (faults.render(), faults.to_problem());
        }
        Err(LoadFailure::Lookup(_)) => {}
    }
}
