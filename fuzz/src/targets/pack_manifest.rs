//! The YAML files of a pack: any text is understood wholly or refused with a place in the file.

use std::collections::HashSet;

use windlass_pack_model::{Frontmatter, org::parse_org, parse_manifest};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match parse_manifest(text) {
        Ok(parsed) => {
            let manifest = parsed.manifest;
            assert!(manifest.profiles.contains_key("default"));
            let ids: HashSet<&str> = manifest.modules.iter().map(|module| &*module.id).collect();
            assert_eq!(ids.len(), manifest.modules.len(), "an id is there twice");
            let lines = text.lines().count();
            assert!(manifest.modules.iter().all(|module| module.line <= lines));
        }
        Err(problem) => assert!(problem.message().contains("agentpack.yaml")),
    }
    if let Err(problem) = parse_org(text) {
        assert!(problem.message().contains("agentpack.org.yaml"));
    }
    if let Ok(frontmatter) = Frontmatter::parse(text) {
        assert!(text.ends_with(frontmatter.body));
    }
}
