//! A config repository, a home and a project in a temporary directory.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Mutex,
};

use windlass_pack_deploy::render::{
    Checkouts, Composed, Places, RenderInput, compose_module, render,
};
use windlass_pack_model::{
    Body, Desired, GitSource, HashCache, Lockfile, Manifest, NoHashCache, Project, Target,
    parse::parse_manifest,
};
use windlass_types::Problem;

pub struct World {
    dir: tempfile::TempDir,
    pub manifest: Manifest,
    pub project: Option<Project>,
    pub places: Places,
    pub target: Option<Target>,
    pub profile: String,
    pub lockfile: Option<Lockfile>,
    pub hashes: Box<dyn HashCache>,
    pub checkouts: Cloned,
}

/// Checkouts that are there already, by url.
#[derive(Default)]
pub struct Cloned {
    pub by_url: BTreeMap<String, PathBuf>,
    pub asked: Mutex<Vec<String>>,
}

impl Checkouts for Cloned {
    fn checkout(
        &self,
        module_id: &str,
        source: &GitSource,
        locked_commit: Option<&str>,
    ) -> Result<PathBuf, Problem> {
        self.asked.lock().unwrap().push(format!(
            "{module_id} {} {} {locked_commit:?}",
            source.url, source.reference
        ));
        Ok(self.by_url[&source.url].clone())
    }
}

impl World {
    /// A repository with this manifest, below its `version` and `profiles`.
    pub fn new(targets_and_modules: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // On some systems the temporary directory lies behind a link.
        let root = dir.path().canonicalize().unwrap();
        for sub in ["repo", "home", "project"] {
            fs_err::create_dir(root.join(sub)).unwrap();
        }
        let text = format!(
            "version: 1\nprofiles:\n  default: {{include_tags: [base]}}\n{targets_and_modules}"
        );
        Self {
            manifest: parse_manifest(&text).unwrap().manifest,
            project: Some(Project {
                root: root.join("project"),
                id: "0123456789abcdef".into(),
                origin_url: None,
            }),
            places: Places {
                home_dir: root.join("home"),
                codex_home: None,
            },
            target: None,
            profile: "default".into(),
            lockfile: None,
            hashes: Box::new(NoHashCache),
            checkouts: Cloned::default(),
            dir,
        }
    }

    /// The temporary directory by its real path.
    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    /// Writes a file of the repository.
    pub fn file(&self, path: &str, text: &str) -> &Self {
        write(&self.repo().join(path), text);
        self
    }

    /// Writes an executable file of the repository.
    #[cfg(unix)]
    pub fn executable(&self, path: &str, text: &str) -> &Self {
        use std::os::unix::fs::PermissionsExt as _;
        self.file(path, text);
        let mode = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(self.repo().join(path), mode).unwrap();
        self
    }

    /// Makes a link in the repository.
    #[cfg(unix)]
    pub fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        let path = self.repo().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    /// A skill with a SKILL.md that is well formed.
    pub fn skill(&self, path: &str) -> &Self {
        self.file(
            &format!("{path}/SKILL.md"),
            "---\nname: s\ndescription: d\n---\nbody\n",
        )
    }

    pub fn with<T>(&self, call: impl FnOnce(&RenderInput<'_>) -> T) -> T {
        let repo = self.repo();
        call(&RenderInput {
            repo: &repo,
            manifest: &self.manifest,
            profile: &self.profile,
            target: self.target,
            machine_id: "box",
            project: self.project.as_ref(),
            places: &self.places,
            checkouts: &self.checkouts,
            lockfile: self.lockfile.as_ref(),
            hashes: self.hashes.as_ref(),
        })
    }

    pub fn render(&self) -> Result<Desired, Problem> {
        self.with(render)
    }

    pub fn compose(&self, id: &str) -> Result<Composed, Problem> {
        let module = self.manifest.module(id).unwrap();
        self.with(|input| compose_module(input, module))
    }

    /// A path with the temporary directory left out.
    pub fn short(&self, path: &Path) -> String {
        self.shorten(&path.display().to_string())
    }

    /// A text with the temporary directory left out.
    pub fn shorten(&self, text: &str) -> String {
        let root = self.root();
        ["repo", "home", "project"]
            .iter()
            .fold(text.to_owned(), |text, sub| {
                let path = root.join(sub).display().to_string();
                text.replace(&path, &format!("${}", sub.to_uppercase()))
            })
            .replace(&root.display().to_string(), "$ROOT")
    }

    /// Every root, file and key of a rendering: path, mode, form, and module@layer per origin.
    pub fn listing(&self, desired: &Desired) -> String {
        let mut lines = Vec::new();
        for root in &desired.roots {
            let scan = if root.scan_extras { " scan" } else { "" };
            lines.push(format!(
                "root {} {} {:?}{scan}",
                root.target,
                self.short(&root.path),
                root.scope
            ));
        }
        for file in &desired.files {
            let origins: Vec<String> = file
                .origins
                .iter()
                .map(|origin| {
                    format!(
                        "{}:{}@{}",
                        origin.module_id, origin.module_path, origin.layer
                    )
                })
                .collect();
            let mode = if file.executable { " +x" } else { "" };
            lines.push(format!(
                "{} {} {:?}{mode} {}",
                file.target,
                self.short(&file.path),
                file.form,
                origins.join(" ")
            ));
        }
        for key in &desired.keys {
            lines.push(format!(
                "{} {}#{} {:?} {} {}@{}",
                key.target,
                self.short(&key.path),
                key.pointer,
                key.format,
                key.value,
                key.module_ids.join("+"),
                key.origin.layer
            ));
        }
        lines.extend(
            desired
                .warnings
                .iter()
                .map(|warning| format!("warning: {}", self.shorten(warning))),
        );
        lines.join("\n")
    }

    pub fn rendered(&self) -> String {
        self.listing(&self.render().unwrap())
    }

    /// The text of a rendered file.
    pub fn text(&self, desired: &Desired, path: &str) -> String {
        let file = desired
            .files
            .iter()
            .find(|file| self.short(&file.path) == path)
            .unwrap_or_else(|| panic!("no {path} in\n{}", self.listing(desired)));
        match &file.body {
            Body::Memory(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Body::File(path) => fs_err::read_to_string(path).unwrap(),
        }
    }

    /// The code, message and details of the problem a rendering ends with.
    pub fn problem(&self) -> String {
        self.show(&self.render().unwrap_err())
    }

    pub fn show(&self, problem: &Problem) -> String {
        let details = serde_json::to_string_pretty(problem.details()).unwrap();
        self.shorten(&format!("{problem}\n{details}"))
    }
}

pub fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// A module line of a manifest.
pub fn module(id: &str, kind: &str, path: &str) -> String {
    format!(
        "  - {{id: '{id}', type: {kind}, tags: [base], source: {{local_path: {{path: '{path}'}}}}}}\n"
    )
}
