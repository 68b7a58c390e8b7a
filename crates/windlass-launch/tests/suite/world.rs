//! A small product, a small site, and a launch between them that nothing outside takes part in.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_engine::Domain;
use windlass_launch::{LaunchOutside, TokenError, Tokens};
use windlass_launch_model::{
    Profile,
    config::{Accepted, Caller},
};
use windlass_ports::{
    BoxFuture, HugoBuild, LanguageModel, LinkAnswer, LinkProbe, ModelError, ModelReply,
    ModelRequest, ToolError, Toolchain,
    language_model::{Listener, ModelAddress},
    toolchain::HugoJob,
};
use windlass_testkit::proofs::ProofWorld;
use windlass_types::{Digest, Secret};

use super::{repositories::Repositories, service::Hosted};

const PRODUCT: &[(&str, &str)] = &[
    (
        "README.md",
        "# Knot\n\nKnot ties ropes. Knot reads JSON files. Knot writes YAML files.\n\n\
         Knot does not support Windows.\n\n## Install\n\n```sh\ncargo add knot\n```\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"knot\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n\
         description = \"Ties ropes\"\nrust-version = \"1.80\"\n",
    ),
    (
        "src/lib.rs",
        "//! Ties ropes.\n\n/// Ties a rope.\npub fn tie(rope: &str) -> String {\n    rope.to_owned()\n}\n",
    ),
];

/// Every page has an unfilled package: what the run copies, a gate refuses.
const SITE: &[(&str, &str)] = &[
    ("README.md", "# Site\n"),
    (
        "products/one/index.md",
        "---\ntitle: One\npackage: \"__PACKAGE_NAME__\"\n---\n\nWords about one.\n",
    ),
    (
        "products/two/index.md",
        "---\ntitle: Two\npackage: \"__PACKAGE_NAME__\"\n---\n\nWords about two.\n",
    ),
];

/// Where a launch takes place.
pub struct LaunchWorld {
    folder: TempDir,
    hosted: Hosted,
    config: Value,
}

impl LaunchWorld {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let config = json!({
            "product_name": "Knot",
            "github_repo_url": "https://git.example/knot",
            "github_ref": "1".repeat(40),
            "site_repo_url": "https://git.example/site",
            "site_ref": "5".repeat(40),
            "allowed_paths": ["products/**"],
            "required_sections": ["products"],
            "launch_tier": "minimal",
        });
        Self {
            folder: folder.unwrap(),
            hosted: Hosted::default(),
            config,
        }
    }

    fn outside(&self) -> LaunchOutside {
        let repositories = Repositories(BTreeMap::from([
            ("1".repeat(40), PRODUCT.to_vec()),
            ("5".repeat(40), SITE.to_vec()),
        ]));
        LaunchOutside {
            folder: self.folder.path().to_owned(),
            git: Arc::new(repositories),
            services: Arc::new(self.hosted.clone()),
            toolchain: Arc::new(Nothing),
            links: Arc::new(|_| Arc::new(Nothing)),
            models: Arc::new(Nothing),
            tokens: Arc::new(Nothing),
            outbound: Arc::new(windlass_testkit::RecordingOutbound::new(
                &windlass_testkit::FakeClock::new(),
            )),
            default_profile: Profile::Local,
            local_roots: Vec::new(),
            exec_allow: Vec::new(),
        }
    }
}

impl ProofWorld for LaunchWorld {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![windlass_launch::domain(self.outside())]
    }

    fn input(&self) -> Value {
        let accepted = Accepted::new(self.config.clone(), &Caller::local()).unwrap();
        json!({ "config": accepted.json(), "config_hash": accepted.hash() })
    }

    /// Branches, pull requests, and whatever lies in the folder.
    fn state_hash(&self) -> Digest {
        let mut text = format!("{:?}\n", self.hosted.0.lock().unwrap());
        list(self.folder.path(), &mut text);
        Digest::of(self.normalise(text).as_bytes())
    }

    fn normalise(&self, text: String) -> String {
        text.replace(&self.folder.path().display().to_string(), "FOLDER")
    }

    /// Work that is begun again says so, and so does a state that is gone back to.
    fn depends_on_restarts(&self, event: &str) -> bool {
        event.starts_with("WORK_ITEM_") || ["RESUME_REWIND", "RUN_STATE_CHANGED"].contains(&event)
    }

    fn uses_threads(&self) -> bool {
        true
    }
}

fn list(folder: &Path, text: &mut String) {
    let mut entries: Vec<_> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        writeln!(text, "{}", path.display()).unwrap();
        if path.is_dir() {
            list(&path, text);
        }
    }
}

/// No tool, no link, no model, no secret.
struct Nothing;

impl Toolchain for Nothing {
    fn hugo_version(&self) -> Option<String> {
        None
    }

    fn hugo_build(&self, _: &HugoJob<'_>) -> Result<HugoBuild, ToolError> {
        Err(ToolError::NotRun("there is none".to_owned()))
    }
}

impl LinkProbe for Nothing {
    fn probe(&self, _: &[String], _: Duration) -> BTreeMap<String, LinkAnswer> {
        BTreeMap::new()
    }
}

impl LanguageModel for Nothing {
    fn complete<'a>(
        &'a self,
        _: &'a ModelAddress,
        _: &'a ModelRequest,
        _: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async { Err(ModelError::Unreachable("there is none".to_owned())) })
    }
}

impl Tokens for Nothing {
    fn token(&self, variable: &str, _: &str) -> Result<Secret<String>, TokenError> {
        Err(TokenError::NotSet {
            variable: variable.to_owned(),
        })
    }
}
