//! How code is run here: interpreter and bootstrap. A function and a service of the same
//! language differ only in who loads the code. Not here: bundles (bundle).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use windlass_files::Access;
use windlass_ports::Bundler;
use windlass_stack_config::model::function::LambdaRuntime;
use windlass_types::{Problem, code};

use crate::outside::Programs;
use crate::plan::in_project;

const NODE_BOOTSTRAP: &str = include_str!("bootstrap/node.mjs");
const PYTHON_BOOTSTRAP: &str = include_str!("bootstrap/python.py");

/// The languages that are run by an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Node,
    Python,
    /// A program of its own, named `bootstrap`.
    Provided,
}

impl Language {
    /// By the runtime, and without one by the file.
    pub fn of(runtime: Option<LambdaRuntime>, entry: &str) -> Result<Self, Problem> {
        let runtime = runtime.or_else(|| LambdaRuntime::for_entry_file(entry));
        match runtime.map(LambdaRuntime::as_str) {
            Some(name) if name.starts_with("nodejs") => Ok(Self::Node),
            Some(name) if name.starts_with("python") => Ok(Self::Python),
            // Go and PHP are compiled for these runtimes first, which is packaging.
            Some(name) if name.starts_with("provided") && !is_source(entry) => Ok(Self::Provided),
            Some(name) => Err(not_run(format!(
                "{entry} needs the runtime {name}, which is not run locally: Node, Python and ready-made `bootstrap` programs are; set dev.remote for this function"
            ))),
            None => Err(not_run(format!(
                "the language of {entry} is not known from its name; set `runtime`"
            ))),
        }
    }

    /// Whether a change of this file can change what runs.
    pub fn is_touched_by(self, file: &Path) -> bool {
        let ending = file
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        match ending {
            "py" => self == Self::Python,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => self == Self::Node,
            "pyc" | "swp" | "swx" | "tmp" | "md" => false,
            _ => true,
        }
    }
}

fn is_source(entry: &str) -> bool {
    [".go", ".php"].iter().any(|ending| entry.ends_with(ending))
}

fn not_run(message: String) -> Problem {
    Problem::invalid("packaging", "a language that runs locally", message)
        .with("reason", "packaging_failed")
}

pub(crate) fn missing(program: &str, what: &str) -> Problem {
    Problem::new(
        &code::TOOLCHAIN_MISSING,
        format!("{what} needs {program}, which is not on the PATH; install it and try again"),
    )
    .with("reason", "packaging_failed")
    .with("program", program)
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

/// Code that is ready to be started.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub run: Invocation,
    /// `LAMBDA_TASK_ROOT`.
    pub root: PathBuf,
    /// `_HANDLER`.
    pub handler: String,
}

/// Where code comes from and goes to.
pub(crate) struct Workshop<'a> {
    pub programs: &'a Programs,
    /// Where esbuild comes from.
    pub bundler: Option<&'a dyn Bundler>,
    /// Told what takes time.
    pub progress: &'a dyn Fn(&str),
    /// The folder of the config.
    pub directory: &'a Path,
    /// Where bundles and bootstraps go.
    pub build: &'a Path,
}

impl Workshop<'_> {
    /// A function by its entry file.
    pub fn function(
        &self,
        name: &str,
        entry: &str,
        handler: Option<&str>,
        runtime: Option<LambdaRuntime>,
    ) -> Result<Prepared, Problem> {
        let language = Language::of(runtime, entry)?;
        let wanted = handler.unwrap_or("default");
        let file = self.source(name, entry)?;
        match language {
            Language::Node => {
                let (file, flags) = self.node_file(name, &file)?;
                Ok(Prepared {
                    run: self.node(flags, self.bootstrap("node.mjs", NODE_BOOTSTRAP)?)?,
                    root: self.directory.to_owned(),
                    handler: format!("{}.{wanted}", file.display()),
                })
            }
            Language::Python => Ok(Prepared {
                run: self.python(self.bootstrap("python.py", PYTHON_BOOTSTRAP)?)?,
                root: self.directory.to_owned(),
                handler: format!("{}.{wanted}", file.with_extension("").display()),
            }),
            Language::Provided => Ok(Prepared {
                run: Invocation {
                    program: file,
                    arguments: Vec::new(),
                },
                root: self.directory.to_owned(),
                handler: wanted.to_owned(),
            }),
        }
    }

    /// A function by the folder of an artifact that was made elsewhere.
    pub fn artifact(
        &self,
        name: &str,
        package: &str,
        handler: Option<&str>,
        runtime: Option<LambdaRuntime>,
    ) -> Result<Prepared, Problem> {
        let root = self.directory.join(package);
        if !root.is_dir() {
            return Err(not_run(format!(
                "packagePath {package} of {name} is not a folder; zip archives are not run locally, so name the folder they are made from"
            )));
        }
        let bootstrap = root.join("bootstrap");
        let handler = handler.unwrap_or("index.handler").to_owned();
        let language = match runtime {
            Some(_) => Language::of(runtime, "bootstrap")?,
            None if bootstrap.is_file() => Language::Provided,
            None => Language::Node,
        };
        // `_HANDLER` joins file and function by a dot, with or without the file's ending.
        let run = match language {
            Language::Node => self.node(Vec::new(), self.bootstrap("node.mjs", NODE_BOOTSTRAP)?)?,
            Language::Python => self.python(self.bootstrap("python.py", PYTHON_BOOTSTRAP)?)?,
            Language::Provided => Invocation {
                program: bootstrap,
                arguments: Vec::new(),
            },
        };
        Ok(Prepared { run, root, handler })
    }

    /// A service by its entry file.
    pub fn service(&self, name: &str, entry: &str, port: u16) -> Result<Invocation, Problem> {
        let (path, app) = match entry.rsplit_once(':') {
            Some((path, app)) => (path, Some(app)),
            None => (entry, None),
        };
        let file = self.source(name, path)?;
        match (Language::of(None, path)?, app) {
            (Language::Node, _) => {
                let (file, flags) = self.node_file(name, &file)?;
                self.node(flags, file)
            }
            (Language::Python, None) => self.python(file),
            (Language::Python, Some(app)) => {
                let module = Path::new(path).with_extension("").display().to_string();
                let module = module.trim_start_matches("./").replace('/', ".");
                let mut run = self.python(PathBuf::from("-m"))?;
                run.arguments.extend(
                    [
                        "uvicorn",
                        &format!("{module}:{app}"),
                        "--host",
                        "127.0.0.1",
                        "--port",
                        &port.to_string(),
                    ]
                    .map(OsString::from),
                );
                Ok(run)
            }
            (Language::Provided, _) => Ok(Invocation {
                program: file,
                arguments: Vec::new(),
            }),
        }
    }

    fn source(&self, name: &str, entry: &str) -> Result<PathBuf, Problem> {
        let file = self.directory.join(entry);
        let file = fs_err::canonicalize(&file).unwrap_or(file);
        if file.is_file() {
            return Ok(file);
        }
        Err(not_run(format!(
            "{name}: its entry file {} does not exist",
            file.display()
        )))
    }

    fn node(&self, flags: Vec<OsString>, script: PathBuf) -> Result<Invocation, Problem> {
        let program = self
            .programs
            .node
            .clone()
            .ok_or_else(|| missing("node", "JavaScript"))?;
        let mut arguments = vec![OsString::from("--enable-source-maps")];
        arguments.extend(flags);
        arguments.push(script.into_os_string());
        Ok(Invocation { program, arguments })
    }

    fn python(&self, script: PathBuf) -> Result<Invocation, Problem> {
        let program = self
            .programs
            .python
            .clone()
            .ok_or_else(|| missing("python3", "Python"))?;
        // Unbuffered: a line is in the log when it is printed.
        Ok(Invocation {
            program,
            arguments: vec!["-u".into(), "-B".into(), script.into_os_string()],
        })
    }

    fn bootstrap(&self, name: &str, text: &str) -> Result<PathBuf, Problem> {
        let file = self.build.join(name);
        if fs_err::read_to_string(&file).ok().as_deref() != Some(text) {
            in_project(&file)
                .and_then(|(project, below)| project.write(&below, text.as_bytes(), Access::Usual))
                .map_err(|error| {
                    error.into_problem(|error| Problem::internal("dev build", error))
                })?;
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_by_runtime_and_file() {
        for (runtime, entry, expected) in [
            (None, "src/a.ts", Some(Language::Node)),
            (None, "src/a.py", Some(Language::Python)),
            (
                Some(LambdaRuntime::ProvidedAl2023),
                "bin/app",
                Some(Language::Provided),
            ),
            (None, "main.go", None),
            (None, "Main.java", None),
            (None, "noending", None),
        ] {
            assert_eq!(Language::of(runtime, entry).ok(), expected, "{entry}");
        }
    }

    #[test]
    fn a_missing_tool_or_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("a.py"), "").unwrap();
        let workshop = Workshop {
            programs: &Programs {
                node: Some("/bin/node".into()),
                ..Programs::default()
            },
            bundler: None,
            progress: &|_| {},
            directory: folder.path(),
            build: &folder.path().join("build"),
        };
        let no_tool = workshop.function("web", "a.py", None, None).unwrap_err();
        assert!(no_tool.message().contains("needs python3"), "{no_tool}");
        let no_file = workshop.function("web", "b.js", None, None).unwrap_err();
        assert!(
            no_file.message().contains("b.js does not exist"),
            "{no_file}"
        );
        let no_python = workshop.service("job", "c.py", 1).unwrap_err();
        assert!(
            no_python.message().contains("c.py does not exist"),
            "{no_python}"
        );
    }
}
