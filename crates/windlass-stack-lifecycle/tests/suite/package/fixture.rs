//! A project on disk and a workshop around it.

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::{Bundler, BundlerUnavailable, DecoratorTools, TrustNothing, trust};
use windlass_stack_config::model::function::Architecture;
use windlass_stack_lifecycle::package::{
    FunctionJob, ImageJob, ImagePlan, Limits, Tools, Workshop, Zip,
};
use windlass_types::Problem;

pub struct Project {
    folder: tempfile::TempDir,
    pub tools: Tools,
    pub limits: Limits,
    pub is_trusted: bool,
    pub heard: RefCell<Vec<String>>,
}

impl Project {
    /// A project with files, without any tool.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
            tools: Tools::default(),
            limits: Limits::default(),
            is_trusted: true,
            heard: RefCell::default(),
        };
        fs_err::create_dir(project.root()).unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Next to the project, so outside of it.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, path: &str, text: &str) {
        let place = self.root().join(path);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::write(place, text).unwrap();
    }

    /// A program that is a shell script.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let place = self.outside(name);
        fs_err::write(&place, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        place
    }

    pub fn with<T>(&self, work: impl FnOnce(&Workshop<'_>) -> T) -> T {
        let root = self.root();
        work(&Workshop {
            project: &root,
            base: &root,
            cache: &self.outside("cache"),
            tools: &self.tools,
            trust: &|runs, what| match self.is_trusted {
                true => Ok(()),
                false => trust::require(&TrustNothing, &root, runs, what),
            },
            limits: self.limits,
            time: Duration::from_secs(300),
            unwanted: &|| false,
            progress: &|workload, message| {
                self.heard
                    .borrow_mut()
                    .push(format!("{workload}: {message}"));
            },
        })
    }

    /// Packages a function.
    pub fn zip(&self, kind: &str, properties: Value) -> Result<Zip, Problem> {
        let packaging = json!({"type": kind, "properties": properties});
        let packaging = serde_json::from_value(packaging).unwrap();
        self.with(|shop| {
            shop.zip(&FunctionJob {
                workload: "api",
                packaging: &packaging,
                runtime: None,
                architecture: Architecture::X86_64,
            })
        })
    }

    pub fn buildpack(&self, properties: Value) -> Result<Zip, Problem> {
        self.zip("stacktape-lambda-buildpack", properties)
    }

    /// Plans an image.
    pub fn image(&self, kind: &str, properties: Value) -> Result<Option<ImagePlan>, Problem> {
        let packaging = json!({"type": kind, "properties": properties});
        let packaging = serde_json::from_value(packaging).unwrap();
        self.with(|shop| {
            shop.image(&ImageJob {
                workload: "web",
                packaging: &packaging,
                architecture: Architecture::X86_64,
            })
        })
    }
}

/// A bundler that is a program of a test.
#[derive(Debug)]
pub struct OwnBundler(pub PathBuf);

impl OwnBundler {
    /// A program that writes what esbuild would, with these sources in its record.
    pub fn recording(project: &Project, sources: &[&str]) -> Arc<dyn Bundler> {
        let inputs: serde_json::Map<_, _> = sources
            .iter()
            .map(|it| ((*it).to_owned(), json!({})))
            .collect();
        let record = json!({ "inputs": inputs });
        let script = format!(
            "for it; do case \"$it\" in --outfile=*) echo bundled > \"${{it#*=}}\" ;; \
             --metafile=*) echo '{record}' > \"${{it#*=}}\" ;; esac; done"
        );
        Arc::new(Self(project.program("esbuild", &script)))
    }
}

impl Bundler for OwnBundler {
    fn esbuild(&self, _: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable> {
        Ok(self.0.clone())
    }

    fn decorators(&self, _: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable> {
        Err(unreachable())
    }

    fn identity(&self) -> String {
        "own".to_owned()
    }
}

/// A bundler whose registry does not answer.
#[derive(Debug)]
pub struct Offline;

fn unreachable() -> BundlerUnavailable {
    BundlerUnavailable {
        cause: "esbuild could not be fetched from npm.example: no answer".to_owned(),
        next: vec!["connect this machine".to_owned(), "or name one".to_owned()],
        is_forbidden: false,
    }
}

impl Bundler for Offline {
    fn esbuild(&self, _: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable> {
        Err(unreachable())
    }

    fn decorators(&self, _: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable> {
        Err(unreachable())
    }

    fn identity(&self) -> String {
        "offline".to_owned()
    }
}

/// The names of a zip's entries, from its directory.
pub fn names(zip: &Path) -> Vec<String> {
    let bytes = fs_err::read(zip).unwrap();
    let mut names = Vec::new();
    for at in 0..bytes.len().saturating_sub(46) {
        if bytes[at..at + 4] == *b"PK\x01\x02" {
            let length = usize::from(u16::from_le_bytes([bytes[at + 28], bytes[at + 29]]));
            let name = bytes[at + 46..at + 46 + length].to_vec();
            names.push(String::from_utf8(name).unwrap());
        }
    }
    names
}

/// The reason, tool and hint of a failure.
pub fn detail<'a>(problem: &'a Problem, key: &str) -> &'a str {
    problem
        .details()
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or("")
}
