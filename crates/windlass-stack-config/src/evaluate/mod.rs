//! Configs and directives that are programs: run with the installed Node or Python, answered in
//! JSON, ended after 30 seconds.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path as FilePath, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::Bundler;
use windlass_process::{Bounds, Ended, Stragglers};
use windlass_types::{Problem, code};

use crate::directive::{Context, CustomCall};

const LOADER: &str = include_str!("loader.mjs");
const HOOKS: &str = include_str!("hooks.mjs");
const PYTHON: &str = include_str!("directive.py");
const MARK: &str = "\u{1e}windlass:";
/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How much it may answer.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The programs that run configs and directives.
#[derive(Clone, Debug, Default)]
pub struct Interpreters {
    /// Node.
    pub node: Option<PathBuf>,
    /// Python 3.
    pub python: Option<PathBuf>,
    /// Where esbuild comes from, for a Node that does not read TypeScript.
    pub bundler: Option<Arc<dyn Bundler>>,
    /// All of the environment they get. They run code of the project, so credentials of the caller
    /// do not belong in it.
    pub environment: BTreeMap<OsString, OsString>,
}

impl Interpreters {
    /// Those on a `PATH`, with that environment.
    pub fn find(path: &OsStr, environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            node: windlass_process::find("node", path),
            python: windlass_process::find("python3", path),
            bundler: None,
            environment: environment.into_iter().collect(),
        }
    }

    /// The same with a bundler.
    #[must_use]
    pub fn with_bundler(mut self, bundler: Arc<dyn Bundler>) -> Self {
        self.bundler = Some(bundler);
        self
    }

    /// A `.ts` or `.js` config as JSON.
    pub fn config(
        &self,
        file: &FilePath,
        context: &Context<'_>,
        command: &str,
    ) -> Result<Made, Problem> {
        let request = json!({
            "kind": "config",
            "file": file,
            "parameters": parameters(context, command),
        });
        let mut answer = self.node(file, &request)?;
        Ok(Made {
            config: answer["config"].take(),
            has_transforms: answer["hasTransforms"] == true,
        })
    }

    /// A template changed by the transforms of a `.ts` or `.js` config.
    pub fn transform(
        &self,
        file: &FilePath,
        context: &Context<'_>,
        command: &str,
        template: &Value,
    ) -> Result<Value, Problem> {
        let request = json!({
            "kind": "transform",
            "file": file,
            "parameters": parameters(context, command),
            "template": template,
        });
        self.node(file, &request)
            .map(|mut answer| answer["template"].take())
    }

    /// What a directive of the user's own returns.
    pub fn directive(&self, call: &CustomCall) -> Result<Value, Problem> {
        let request = json!({
            "kind": "directive",
            "file": call.file,
            "name": call.name,
            "function": call.function,
            "arguments": call.arguments,
        });
        let is_python = call
            .file
            .extension()
            .is_some_and(|extension| extension == "py");
        let answer = if is_python {
            self.python(&call.file, &request)
        } else {
            self.node(&call.file, &request)
        };
        answer
            .map(|mut answer| answer["value"].take())
            .map_err(|problem| problem.with("directive", call.name.as_str()))
    }

    fn node(&self, file: &FilePath, request: &Value) -> Result<Value, Problem> {
        let shown = name(file);
        let Some(node) = &self.node else {
            return Err(refusal(
                "node_not_found",
                format!("{shown} needs Node, and there is none on the PATH"),
            )
            .next("install Node 20.6 or newer")
            .next("or name a .yml config by configPath"));
        };
        let folder = tempfile::tempdir().map_err(|error| Problem::internal("tempdir", error))?;
        let loader = folder.path().join("loader.mjs");
        for (path, text) in [(&loader, LOADER), (&folder.path().join("hooks.mjs"), HOOKS)] {
            fs_err::write(path, text).map_err(|error| Problem::internal("loader", error))?;
        }
        let run = |request: &Value| {
            let mut command = windlass_process::command(node);
            command.arg(&loader);
            self.run(command, file, request)
        };
        let bundler = match (run(request), &self.bundler) {
            (Ok(answer), _) => return Ok(answer),
            // Only such a file has esbuild fetched.
            (Err(failed), Some(bundler)) if failed.lacks_compiler() => bundler,
            (Err(failed), _) => return Err(failed.into_problem(file)),
        };
        let esbuild = bundler.esbuild(&|_| {}).map_err(|refused| {
            let message =
                format!("{shown} is TypeScript, which this Node does not read, and {refused}");
            let problem = refusal("typescript_not_found", message).next("use Node 22.18 or newer");
            let steps = refused.next.iter().cloned();
            steps
                .fold(problem, Problem::next)
                .with("file", shown.as_str())
        })?;
        let mut request = request.clone();
        request["esbuild"] = json!(esbuild);
        run(&request).map_err(|failed| failed.into_problem(file))
    }

    fn python(&self, file: &FilePath, request: &Value) -> Result<Value, Problem> {
        let Some(python) = &self.python else {
            let message = format!(
                "{} needs Python 3, and there is none on the PATH",
                name(file)
            );
            return Err(refusal("python_not_found", message).next("install Python 3"));
        };
        let mut command = windlass_process::command(python);
        command.args(["-c", PYTHON]);
        self.run(command, file, request)
            .map_err(|failed| failed.into_problem(file))
    }

    fn run(&self, mut command: Command, file: &FilePath, request: &Value) -> Result<Value, Failed> {
        command.env_clear().envs(&self.environment);
        run(command, file, request)
    }
}

/// A config that a program made.
#[derive(Clone, Debug)]
pub struct Made {
    /// The config.
    pub config: Value,
    /// The template has to go through [`Interpreters::transform`].
    pub has_transforms: bool,
}

/// The argument of a config's function.
fn parameters(context: &Context<'_>, command: &str) -> Value {
    json!({
        "projectName": context.project_name,
        "stage": context.stage,
        "region": context.region,
        "awsProfile": context.profile,
        "cliArgs": context.arguments,
        "command": command,
        "user": {},
    })
}

/// Why there is no answer.
enum Failed {
    Start(std::io::Error),
    Late,
    Silent(String),
    Said { code: String, message: String },
}

fn run(mut command: Command, file: &FilePath, request: &Value) -> Result<Value, Failed> {
    if let Some(directory) = file.parent() {
        command.current_dir(directory);
    }
    let input = request.to_string();
    let ended = windlass_process::start(&mut command, Some(input.as_bytes()), Command::spawn)
        .and_then(|running| {
            running.finish(&Bounds {
                time: LIMIT,
                unwanted: &|| false,
                stragglers: Stragglers::End,
            })
        })
        .map_err(Failed::Start)?;
    let Ended::Itself {
        mut stdout,
        mut stderr,
        ..
    } = ended
    else {
        return Err(Failed::Late);
    };
    let bytes = stdout.all().map_err(Failed::Start)?;
    if bytes.len() > MAX_ANSWER {
        return Err(Failed::Silent(format!(
            "it answered with {} bytes",
            bytes.len()
        )));
    }
    let text = String::from_utf8_lossy(&bytes);
    let answer = text
        .rsplit_once(MARK)
        .and_then(|(_, answer)| serde_json::from_str::<Value>(answer).ok());
    match answer {
        Some(answer) if answer["ok"] == true => Ok(answer),
        Some(answer) => Err(Failed::Said {
            code: answer["code"].as_str().unwrap_or_default().to_owned(),
            message: answer["message"].as_str().unwrap_or_default().to_owned(),
        }),
        None => {
            let (first, last) = stderr.ends(1000).map_err(Failed::Start)?;
            let bytes = if last.is_empty() { first } else { last };
            Err(Failed::Silent(
                String::from_utf8_lossy(&bytes).trim().to_owned(),
            ))
        }
    }
}

impl Failed {
    /// Whether the file is TypeScript and nothing here reads it.
    fn lacks_compiler(&self) -> bool {
        matches!(self, Self::Said { code, .. } if code == "WINDLASS_NO_TYPESCRIPT")
    }

    fn into_problem(self, file: &FilePath) -> Problem {
        let shown = name(file);
        match self {
            Self::Start(error) => refusal(
                "config_invalid",
                format!("{shown} could not be run: {error}"),
            ),
            Self::Late => refusal(
                "config_timeout",
                format!("{shown} did not answer within {} s", LIMIT.as_secs()),
            ),
            Self::Silent(said) => refusal(
                "config_invalid",
                format!("{shown} ended without an answer: {said}"),
            ),
            Self::Said { code, .. } if code == "WINDLASS_NO_TYPESCRIPT" => refusal(
                "typescript_not_found",
                format!(
                    "{shown} is TypeScript, which this Node does not read, and the project has \
                     no typescript"
                ),
            )
            .next("use Node 22.18 or newer")
            .next("or add typescript to the project"),
            Self::Said { code, message }
                if code.ends_with("MODULE_NOT_FOUND") && message.contains("'stacktape'") =>
            {
                refusal(
                    "dependencies_missing",
                    format!("{shown} uses the package stacktape, which is not installed"),
                )
                .next(format!("run {}", install_command(file)))
            }
            Self::Said { message, .. } => {
                refusal("config_invalid", format!("{shown} failed: {message}"))
            }
        }
        .with("file", shown)
    }
}

/// How the project's packages are installed, by its lock file.
fn install_command(file: &FilePath) -> &'static str {
    let has = |name: &str| {
        file.ancestors()
            .skip(1)
            .take(4)
            .any(|folder| folder.join(name).is_file())
    };
    if has("pnpm-lock.yaml") {
        "pnpm install"
    } else if has("yarn.lock") {
        "yarn install"
    } else if has("bun.lockb") || has("bun.lock") {
        "bun install"
    } else {
        "npm install"
    }
}

fn name(file: &FilePath) -> String {
    file.file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn refusal(reason: &str, message: String) -> Problem {
    Problem::new(&code::INVALID_INPUT, message).with("reason", reason)
}
