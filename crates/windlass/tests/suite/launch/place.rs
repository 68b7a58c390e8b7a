//! A home, a product and a site as git repositories, and clients of the launch server.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use crate::suite::support::{
    binary::{Said, windlass},
    directory::{copy_tree, fill},
    home::temporary,
};

/// Where `https://git.example/` leads when a repository must not be given as a path.
pub(crate) const FAR: &str = "https://git.example/";

/// A product of three files, with claims of every kind that a page needs.
const PRODUCT: [(&str, &str); 3] = [
    (
        "pyproject.toml",
        "[project]\nname = \"quill\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n\
         requires-python = \">=3.10\"\ndescription = \"Quill turns notes into letters.\"\n",
    ),
    (
        "README.md",
        "# Quill\n\nQuill turns notes into letters.\n\n## Features\n\n- Quill reads Markdown files.\n\
         - Quill writes PDF files.\n- Quill numbers pages.\n\n## Limits\n\nQuill does not print.\n",
    ),
    (
        "src/quill/__init__.py",
        "\"\"\"Quill.\"\"\"\n\n\ndef write(text):\n    \"\"\"Write a letter.\"\"\"\n    return text\n",
    ),
];

/// A plain Markdown site whose pages need nothing but a title.
const CLEAN_SITE: [(&str, &str); 1] = [(
    "content/docs/index.md",
    "---\ntitle: Docs\n---\n\nOur documentation.\n",
)];

/// The same, and every page says `package: "__PACKAGE_NAME__"`: a habit that comes with each of
/// the three new pages and can be fixed.
const DEFECTIVE_SITE: [(&str, &str); 2] = [
    (
        "content/docs/index.md",
        "---\ntitle: Docs\npackage: \"__PACKAGE_NAME__\"\n---\n\nOur documentation.\n",
    ),
    (
        "content/docs/more.md",
        "---\ntitle: More\npackage: \"__PACKAGE_NAME__\"\n---\n\nMore of it.\n",
    ),
];

/// How many of the defective site's habits come along.
pub(crate) const DEFECTS: u64 = 3;

/// Everything a launch needs, in a temporary directory.
pub(crate) struct LaunchPlace {
    root: TempDir,
    config: Value,
}

impl LaunchPlace {
    /// The small product on a site that finds nothing wrong: it goes straight to READY_FOR_PR.
    pub(crate) fn clean() -> Self {
        Self::small(&CLEAN_SITE)
    }

    /// The small product on a site with a habit: it stops at VALIDATING with [`DEFECTS`] issues.
    pub(crate) fn defective() -> Self {
        Self::small(&DEFECTIVE_SITE)
    }

    fn small(site: &[(&str, &str)]) -> Self {
        let root = bare_root();
        for (name, files) in [("product", PRODUCT.as_slice()), ("site", site)] {
            fill(&root.path().join(name), files);
        }
        let (product, site) = (commit(&root, "product"), commit(&root, "site"));
        let config = json!({
            "product_name": "Quill",
            "github_repo_url": root.path().join("product"),
            "github_ref": product,
            "site_repo_url": root.path().join("site"),
            "site_ref": site,
            "allowed_paths": ["content/docs/quill"],
            "site_layout": { "content_root": "content" },
            "required_sections": ["docs"],
            "launch_tier": "minimal",
            "max_fix_attempts": 5,
        });
        Self { root, config }
    }

    /// The example of the documentation; the site is a bare repository, as its README has it.
    pub(crate) fn example() -> Self {
        let root = bare_root();
        let example = repository_root().join("examples/launch");
        for name in ["product", "site"] {
            copy_tree(&example.join(name), &root.path().join(name));
        }
        let (product, site) = (commit(&root, "product"), commit(&root, "site"));
        let place = root.path().to_str().unwrap().to_owned();
        git(
            root.path(),
            &["clone", "--quiet", "--bare", "site", "site.git"],
        );
        let text = fs_err::read_to_string(example.join("run_config.yaml")).unwrap();
        let text = text
            .replace("PRODUCT_REPOSITORY", &format!("{place}/product"))
            .replace("PRODUCT_COMMIT", &product)
            .replace("SITE_REPOSITORY", &format!("{place}/site.git"))
            .replace("SITE_COMMIT", &site);
        let config = serde_saphyr::from_str(&text).unwrap();
        Self { root, config }
    }

    /// One of the products of the tests, on the site of the example. Its name in the
    /// configuration is the one `EXPECT.json` gives.
    pub(crate) fn product(name: &str, product_name: &str) -> Self {
        let mut place = Self::example();
        let from = products().join(name);
        let to = place.root.path().join(name);
        copy_tree(&from, &to);
        for not_part in ["EXPECT.json", "setup.json"] {
            fs_err::remove_file(to.join(not_part)).unwrap();
        }
        set_up(&to, &json_file(&from.join("setup.json")));
        let head = commit(&place.root, name);
        place.config["product_name"] = json!(product_name);
        place.config["github_repo_url"] = json!(to);
        place.config["github_ref"] = json!(head);
        place.config["allowed_paths"] = json!(["content"]);
        let members = place.config.as_object_mut().unwrap();
        members.remove("canonical_urls");
        members.insert("max_fix_attempts".to_owned(), json!(40));
        place
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Where runs keep their checkouts.
    pub(crate) fn checkouts(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.home().join("launch")) else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// The configuration of a launch here.
    pub(crate) fn config(&self) -> Value {
        self.config.clone()
    }

    /// The same with some members set.
    pub(crate) fn config_with(&self, members: Value) -> Value {
        let mut config = self.config();
        let Value::Object(members) = members else {
            panic!("members are an object")
        };
        config.as_object_mut().unwrap().extend(members);
        config
    }

    /// The same with repositories that are somewhere else, as stricter profiles want them.
    pub(crate) fn config_far(&self, profile: &str) -> Value {
        let near = self.root().to_str().unwrap();
        let far = |key: &str| {
            let path = self.config[key].as_str().unwrap().replace(near, "");
            format!("{FAR}{}", path.trim_start_matches('/'))
        };
        self.config_with(json!({
            "github_repo_url": far("github_repo_url"),
            "site_repo_url": far("site_repo_url"),
            "validation_profile": profile,
        }))
    }

    /// Writes the settings of the home.
    pub(crate) fn settings(&self, text: &str) {
        fs_err::write(self.home().join("config.toml"), text).unwrap();
    }

    /// Writes the policy of the home.
    pub(crate) fn policy(&self, text: &str) {
        fs_err::write(self.home().join("policy.toml"), text).unwrap();
    }

    /// The binary on this home. Git is all it finds on its `PATH`, and the far repositories are
    /// the ones here.
    pub(crate) fn command(&self) -> Command {
        self.command_on(&self.home())
    }

    /// The same on another home.
    pub(crate) fn command_on(&self, home: &Path) -> Command {
        let mut command = windlass(home);
        command
            .env("HOME", self.root().join("user"))
            .env("PATH", self.root().join("bin"))
            .env("GIT_CONFIG_COUNT", "1")
            .env(
                "GIT_CONFIG_KEY_0",
                format!("url.file://{}/.insteadOf", self.root().display()),
            )
            .env("GIT_CONFIG_VALUE_0", FAR)
            .stderr(Stdio::null());
        command
    }

    /// A server of the launch tools.
    pub(crate) fn serve(&self) -> Client {
        Client::of(self.command(), &self.home())
    }

    /// Runs a command to its end.
    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null());
        command.stderr(Stdio::piped()).output().unwrap().into()
    }

    /// What git says about the site, wherever it is.
    pub(crate) fn site_git(&self, arguments: &[&str]) -> String {
        let site = self.config["site_repo_url"].as_str().unwrap();
        git(Path::new(site), arguments)
    }
}

fn bare_root() -> TempDir {
    let root = temporary();
    for name in ["home", "user", "bin"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(git_program(), root.path().join("bin/git")).unwrap();
    root
}

/// The git of this machine.
pub(crate) fn git_program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join("git"))
        .find(|program| program.is_file())
        .expect("git is installed")
}

pub(crate) fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where the products of the tests are.
pub(crate) fn products() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/launch-products")
}

pub(crate) fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

/// What git says; the call must work.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    String::from_utf8(git_bytes(directory, arguments)).unwrap()
}

/// The same as bytes.
pub(crate) fn git_bytes(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(
            ["AUTHOR", "COMMITTER"]
                .into_iter()
                .flat_map(|who| {
                    [
                        (format!("GIT_{who}_NAME"), "example"),
                        (format!("GIT_{who}_EMAIL"), "example@quayside.example"),
                        (format!("GIT_{who}_DATE"), "2026-01-02T00:00:00Z"),
                    ]
                })
                .collect::<Vec<_>>(),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    output.stdout
}

/// Makes a folder a repository with one commit; its id, the same on every machine.
fn commit(root: &TempDir, name: &str) -> String {
    let folder = root.path().join(name);
    git(&folder, &["init", "--quiet", "--initial-branch", "main"]);
    // Whatever the folder's own rules leave out is part of it here.
    git(&folder, &["add", "--all", "--force"]);
    git(&folder, &["commit", "--quiet", "--message", "start"]);
    git(&folder, &["rev-parse", "HEAD"]).trim().to_owned()
}

/// Does what a product's `setup.json` says.
fn set_up(folder: &Path, setup: &Value) {
    let list = |key: &str| setup[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for change in list("replace") {
        let path = folder.join(text(&change["path"]));
        let parts: Vec<String> = change["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect();
        let before = fs_err::read_to_string(&path).unwrap();
        let after = before.replace(&text(&change["find"]), &parts.concat());
        assert_ne!(before, after, "{}", path.display());
        fs_err::write(path, after).unwrap();
    }
    for link in list("symlinks") {
        let path = folder.join(text(&link["path"]));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(text(&link["target"]), path).unwrap();
    }
    for file in list("files") {
        fill(folder, &[(&text(&file["path"]), &text(&file["text"]))]);
    }
}
