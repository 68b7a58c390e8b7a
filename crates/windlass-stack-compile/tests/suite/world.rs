//! Configs of `tests/configs`, and the facts they are compiled with.

use std::path::{Path, PathBuf};

use windlass_stack_compile::{Artifact, Facts, Need, NeedKind, Network, needed_artifacts};
use windlass_stack_config::{Config, ConfigText, Context, LoadFailure, NoLookups, load};

/// Every config there is, by name.
pub fn configs() -> Vec<(String, Config)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs");
    let mut files: Vec<PathBuf> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = fs_err::read_to_string(&path).unwrap();
            let config = config(&name, &text);
            (name, config)
        })
        .collect()
}

/// One config.
pub fn config(name: &str, text: &str) -> Config {
    let source = ConfigText { file: name, text };
    let here = Path::new("/nonexistent");
    let context = Context {
        project_name: Some("shop".to_owned()),
        stage: Some("dev".to_owned()),
        region: Some("eu-west-1".to_owned()),
        profile: None,
        arguments: serde_json::Map::new(),
        project_root: here.to_owned(),
        config_directory: here.to_owned(),
        allowed: Default::default(),
        lookups: &NoLookups,
    };
    match load(&source, &context) {
        Ok(loaded) => loaded.config,
        Err(LoadFailure::Invalid(faults)) => panic!("{name}: {}", faults.render()),
        Err(LoadFailure::Lookup(problem)) => panic!("{name}: {}", problem.message()),
    }
}

/// Facts with everything packaged.
pub fn facts(config: &Config) -> Facts {
    let mut facts = Facts::new("shop", "dev", "eu-west-1");
    facts.version = "1.2.3".to_owned();
    facts.account_id = Some("123456789012".to_owned());
    let zone = ("example.com".to_owned(), "Z0123456789ABC".to_owned());
    facts.hosted_zones = Some([zone].into());
    facts.network = Some(Network {
        vpc_id: "vpc-0123456789abcdef0".to_owned(),
        cidr: "172.16.0.0/16".to_owned(),
        public_subnets: vec![
            "subnet-0123456789abcdef0".to_owned(),
            "subnet-0123456789abcdef1".to_owned(),
        ],
        private_subnets: vec![
            "subnet-0123456789abcdef2".to_owned(),
            "subnet-0123456789abcdef3".to_owned(),
        ],
    });
    facts.artifacts = needed_artifacts(config).iter().map(artifact).collect();
    facts
}

fn artifact(need: &Need<'_>) -> (String, Artifact) {
    let digest = "0123456789abcdef".repeat(4);
    let artifact = match need.kind {
        NeedKind::Zip(_) => Artifact::Zip {
            bucket: "windlass-assets-123456789012-eu-west-1".to_owned(),
            key: format!("zips/{digest}.zip"),
            sha256: digest,
            handler: None,
        },
        NeedKind::Image(_) => Artifact::Image {
            uri: format!("123456789012.dkr.ecr.eu-west-1.amazonaws.com/windlass-assets:{digest}"),
        },
    };
    (need.name.clone(), artifact)
}
