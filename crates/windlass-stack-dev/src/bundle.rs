//! TypeScript and JSX of a workload as one file of JavaScript, by the bundler that Windlass
//! brings. A project's own esbuild is never run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_ports::BundlerUnavailable;
use windlass_process::Ended;
use windlass_types::{Problem, code};

use crate::code::{Workshop, missing};
use crate::place;

/// How long a bundle may take.
const BUNDLE_TIME: Duration = Duration::from_secs(60);

impl Workshop<'_> {
    /// What Node runs for a file of any kind, and the flags it needs. JavaScript runs as it is.
    pub(crate) fn node_file(
        &self,
        name: &str,
        file: &Path,
    ) -> Result<(PathBuf, Vec<OsString>), Problem> {
        let ending = file
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        if matches!(ending, "js" | "mjs" | "cjs") {
            return Ok((file.to_owned(), Vec::new()));
        }
        let found = match self.bundler {
            Some(bundler) => bundler.esbuild(self.progress),
            None => Err(BundlerUnavailable {
                cause: "there is no bundler".to_owned(),
                next: Vec::new(),
                is_forbidden: true,
            }),
        };
        match found {
            Ok(esbuild) => Ok((self.bundle(&esbuild, name, file)?, Vec::new())),
            Err(refused) => {
                let flags = match ending {
                    "ts" | "mts" => self.type_stripping()?,
                    _ => None,
                };
                let flags = flags.ok_or_else(|| unavailable(name, refused.clone()))?;
                (self.progress)(&format!(
                    "{} is run without a bundle, since {refused}",
                    self.shown(file)
                ));
                Ok((file.to_owned(), flags))
            }
        }
    }

    fn shown(&self, file: &Path) -> String {
        let below = file.strip_prefix(self.directory).unwrap_or(file);
        below.display().to_string()
    }

    /// The flags with which the installed Node takes types away itself; nothing where it cannot.
    fn type_stripping(&self) -> Result<Option<Vec<OsString>>, Problem> {
        let node = self
            .programs
            .node
            .clone()
            .ok_or_else(|| missing("node", "TypeScript"))?;
        let mut asked = windlass_process::command(node);
        let version = run(asked.arg("--version"), "node --version")?;
        let mut numbers = version.trim().trim_start_matches('v').split('.');
        let mut number = || {
            numbers
                .next()
                .and_then(|text| text.parse::<u32>().ok())
                .unwrap_or(0)
        };
        Ok(match (number(), number()) {
            (major, _) if major >= 24 => Some(Vec::new()),
            (22, minor) if minor >= 18 => Some(Vec::new()),
            (22 | 23, minor) if minor >= 6 => Some(vec!["--experimental-strip-types".into()]),
            _ => None,
        })
    }

    fn bundle(&self, esbuild: &Path, name: &str, file: &Path) -> Result<PathBuf, Problem> {
        let output = self.build.join(name.replace('/', "-")).join("index.cjs");
        let mut command = windlass_process::command(esbuild);
        // Places in its messages are relative to where it runs.
        command.current_dir(self.directory).arg(file).args([
            "--bundle",
            "--platform=node",
            "--format=cjs",
            "--target=node18",
            "--sourcemap=inline",
            "--external:*.node",
            "--external:@aws-sdk/*",
            "--log-level=warning",
            "--color=false",
        ]);
        command.arg(format!("--outfile={}", output.display()));
        run(&mut command, &format!("bundling {}", self.shown(file)))?;
        Ok(output)
    }
}

fn unavailable(name: &str, refused: BundlerUnavailable) -> Problem {
    let problem = Problem::new(
        &code::TOOLCHAIN_MISSING,
        format!("{name} cannot be bundled: {refused}"),
    )
    .with("reason", "packaging_failed")
    .with("program", "esbuild");
    refused.next.into_iter().fold(problem, Problem::next)
}

/// Runs a tool to its end; where it fails, the message says where in the project, and all it
/// printed is in the problem.
fn run(command: &mut std::process::Command, what: &str) -> Result<String, Problem> {
    let failed = |message: String, output: &str| {
        Problem::invalid("packaging", "code that can be built", message)
            .with("reason", "packaging_failed")
            .with("output", output)
    };
    match windlass_process::run(command, None, BUNDLE_TIME) {
        Ok(Ended::Itself {
            code: Some(0),
            mut stdout,
            ..
        }) => {
            let bytes = stdout
                .all()
                .map_err(|error| Problem::internal("dev build", error))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        Ok(Ended::Itself { mut stderr, .. }) => {
            let text = stderr.all().unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let errors = place::of_bundler(&text);
            let message = match errors.as_slice() {
                [] => format!("{what} failed: {}", text.lines().next().unwrap_or_default()),
                errors => errors.join("; "),
            };
            Err(failed(message, &text))
        }
        Ok(Ended::Stopped) => Err(failed(
            format!("{what} took longer than {} s", BUNDLE_TIME.as_secs()),
            "",
        )),
        Err(error) => Err(failed(format!("{what}: {error}"), "")),
    }
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
