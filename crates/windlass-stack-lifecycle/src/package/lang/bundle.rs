//! One bundle: what esbuild is told, and packages that a package can do without.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::modules;
use crate::package::failure::with_hint;
use crate::package::program::Call;
use crate::package::workshop::Workshop;

/// How often esbuild is run to learn which packages are absent; it names six each time.
const MOST_ROUNDS: usize = 20;

/// What a bundle is made of, and how.
pub(super) struct Bundle<'a> {
    pub directory: &'a Path,
    pub entry: &'a Path,
    pub format: &'static str,
    pub target: String,
    pub banner: Option<&'static str>,
    pub output: PathBuf,
    /// Where esbuild says what went in.
    pub record: PathBuf,
    pub has_maps: bool,
    pub tsconfig: Option<PathBuf>,
    pub leaves_all_packages: bool,
    /// Imports that stay imports.
    pub external: BTreeSet<String>,
    /// Those among them that are not installed, and whose callers can do without.
    pub absent: BTreeSet<String>,
}

impl Bundle<'_> {
    /// Runs esbuild.
    pub fn write(
        &mut self,
        shop: &Workshop<'_>,
        workload: &str,
        program: &Path,
    ) -> Result<(), Problem> {
        let mut round = 0;
        loop {
            let outcome = shop.runner(workload).run(Call {
                tool: "esbuild",
                program,
                arguments: self.arguments(),
                directory: self.directory,
                environment: Vec::new(),
                input: None,
            });
            let Err(problem) = outcome else {
                return Ok(());
            };
            round += 1;
            let output = problem.details().get("output").and_then(Value::as_str);
            let known = self.absent.len();
            let found = dispensable(output.unwrap_or_default(), self.directory);
            self.absent.extend(found);
            if self.absent.len() == known || round == MOST_ROUNDS {
                return Err(explained(problem));
            }
            self.external.extend(self.absent.iter().cloned());
        }
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![
            self.entry.into(),
            "--bundle".into(),
            "--platform=node".into(),
            format!("--target={}", self.target).into(),
            format!("--format={}", self.format).into(),
            joined("--outfile=", &self.output),
            joined("--metafile=", &self.record),
            "--keep-names".into(),
            "--log-level=warning".into(),
            "--color=false".into(),
        ];
        if let Some(banner) = self.banner {
            arguments.push(format!("--banner:js={banner}").into());
        }
        if self.has_maps {
            arguments.push("--sourcemap=linked".into());
        }
        if let Some(tsconfig) = &self.tsconfig {
            arguments.push(joined("--tsconfig=", tsconfig));
        }
        if self.leaves_all_packages {
            arguments.push("--packages=external".into());
        }
        let external = self.external.iter();
        arguments.extend(external.map(|it| format!("--external:{it}").into()));
        arguments
    }

    /// The same for esbuild's interface for Node.
    pub fn options(&self) -> Value {
        let mut options = json!({
            "absWorkingDir": self.directory,
            "entryPoints": [self.entry],
            "bundle": true,
            "platform": "node",
            "target": self.target,
            "format": self.format,
            "outfile": self.output,
            "keepNames": true,
            "logLevel": "warning",
            "color": false,
            "external": self.external,
        });
        if let Some(banner) = self.banner {
            options["banner"] = json!({ "js": banner });
        }
        if self.has_maps {
            options["sourcemap"] = json!("linked");
        }
        if let Some(tsconfig) = &self.tsconfig {
            options["tsconfig"] = json!(tsconfig);
        }
        if self.leaves_all_packages {
            options["packages"] = json!("external");
        }
        options
    }
}

/// A failure of esbuild with what helps.
pub(super) fn explained(problem: Problem) -> Problem {
    let output = problem.details().get("output").and_then(Value::as_str);
    let output = output.unwrap_or_default();
    let hint = if output.contains("\".prisma/client") {
        "npx prisma generate: Prisma's client is generated code, and it is not there yet"
    } else if output.contains("No loader is configured for \".node\"") {
        "packages with native parts go into languageSpecificConfig.dependenciesToExcludeFromBundle"
    } else if output.contains("Could not resolve") {
        "npm install (or what installs the project's packages); packages that are not needed go \
         into excludeDependencies"
    } else {
        "correct what esbuild names"
    };
    with_hint(problem, hint)
}

/// Packages that are not installed, which another package requires only where it uses them: it
/// does not list them as dependencies, and asks at run time. Without a bundler that works as well.
fn dispensable(output: &str, directory: &Path) -> Vec<String> {
    #[expect(clippy::unwrap_used, reason = "constant patterns, tried by a test")]
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^Could not resolve "([^"]+)""#).unwrap());
    #[expect(clippy::unwrap_used, reason = "constant patterns, tried by a test")]
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^ {4}(\S.*):\d+:\d+:$").unwrap());
    let blocks = output.split("[ERROR] ").skip(1);
    blocks
        .filter(|block| block.contains("this \"require\" call") || block.contains("\".catch()\""))
        .filter_map(|block| {
            let name = NAMED.captures(block)?.get(1)?.as_str();
            let place = PLACE.captures(block)?.get(1)?.as_str();
            let package = modules::package_of(name)?;
            let is_named = !package.starts_with(['.', '/']);
            let is_listed = depends(&directory.join(importer(place)?), &package);
            (is_named && !is_listed).then(|| name.to_owned())
        })
        .collect()
}

/// The folder of the installed package a file belongs to.
fn importer(file: &str) -> Option<&str> {
    const FOLDER: &str = "node_modules/";
    let start = file.rfind(FOLDER)? + FOLDER.len();
    let below = file.get(start..)?;
    let mut ends = below.match_indices('/').map(|(at, _)| at);
    let first = ends.next()?;
    let end = match below.starts_with('@') {
        true => ends.next()?,
        false => first,
    };
    file.get(..start + end)
}

/// Whether a package cannot do without another one.
fn depends(folder: &Path, package: &str) -> bool {
    let manifest = fs::read(folder.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    let listed = |section: &str| manifest[section].get(package).is_some();
    listed("dependencies") && !listed("optionalDependencies")
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut out = OsString::from(option);
    out.push(path);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &str, place: &str, note: &str) -> String {
        format!(
            "✘ [ERROR] Could not resolve \"{name}\"\n\n    {place}:18:111:\n      18 │ x\n         ╵ ~\n\n  \
             You can mark the path \"{name}\" as external. {note}\n\n"
        )
    }

    #[test]
    fn only_what_another_package_can_do_without_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for (package, manifest) in [
            ("@a/core", r#"{"dependencies": {"needed": "1"}}"#),
            (
                "b",
                r#"{"dependencies": {"both": "1"}, "optionalDependencies": {"both": "1"}}"#,
            ),
        ] {
            let place = folder.path().join("node_modules").join(package);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("package.json"), manifest).unwrap();
        }
        let require = "You can also surround this \"require\" call with a try/catch block";
        let later = "You can also add \".catch()\" here";
        for (name, place, note, is_left_out) in [
            ("x", "node_modules/@a/core/y.js", require, true),
            ("@x/y/deep", "node_modules/@a/core/y.js", later, true),
            ("both", "node_modules/b/c/d.js", require, true),
            ("needed", "node_modules/@a/core/y.js", require, false),
            ("needed/deep", "node_modules/@a/core/y.js", require, false),
            ("x", "src/own.ts", require, false),
            ("x", "node_modules/@a/core/y.js", "", false),
            ("./x", "node_modules/@a/core/y.js", require, false),
            (
                ".prisma/client/default",
                "node_modules/b/y.js",
                require,
                false,
            ),
        ] {
            let text = block(name, place, note) + "2 errors\n";
            let found = dispensable(&text, folder.path());
            assert_eq!(found == [name], is_left_out, "{name} of {place}: {found:?}");
        }
        // The beginning of an output may be cut off.
        let cut = block("x", "node_modules/b/a.js", require)[30..].to_owned();
        let text = cut + &block("y", "node_modules/b/a.js", require);
        assert_eq!(dispensable(&text, folder.path()), ["y"]);
    }
}
