//! Source specs and path patterns, as typed: what is taken leads where it says.

use std::path::Path;

use windlass_pack_deploy::PathPattern;
use windlass_pack_model::{
    ModuleType, Source,
    source::{OutsidePaths, default_module_id, leaves_repository, parse_source},
};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match parse_source(text, OutsidePaths::Refuse) {
        Ok(source) => {
            match &source {
                Source::LocalPath { path } => assert!(leaves_repository(path).is_none()),
                Source::Git(git) => {
                    assert!(!git.url.starts_with('-') && !git.reference.starts_with('-'));
                    let subdir = git.subdir_path().expect("it was looked at");
                    assert!(
                        subdir
                            .is_none_or(|path| !path.as_str().split('/').any(|part| part == ".."))
                    );
                }
            }
            assert!(!default_module_id(ModuleType::Skill, &source).is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let (pattern, path) = text.split_once('\n').unwrap_or((text, "/a/b"));
    let found = PathPattern::new(pattern).matches(Path::new(path));
    // What covers a directory covers what is in it.
    if found {
        assert!(PathPattern::new(pattern).matches(&Path::new(path).join("below")));
    }
}
