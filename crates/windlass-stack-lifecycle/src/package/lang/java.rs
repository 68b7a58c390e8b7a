//! Java: classes and the libraries they run with, as Gradle builds them.
//!
//! The build is the project's own code, so it takes trust. An init script adds one task to it, which
//! copies what the `java` plugin made; the project's files stay as they are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use windlass_ports::Runs;
use windlass_types::Problem;

use super::python::walk;
use crate::package::failure::{failed, missing_tool, with_hint};
use crate::package::program::Call;
use crate::package::stage::{Body, Entry, Staged};
use crate::package::tree::{self, Kind, Links, Node};
use crate::package::workshop::{Source, Workshop};

const INIT: &str = include_str!("stage.gradle");
const BUILD_FILES: [&str; 2] = ["build.gradle", "build.gradle.kts"];

/// The files of a package whose entry file is Java.
pub(super) fn stage(shop: &Workshop<'_>, source: &Source<'_>) -> Result<Staged, Problem> {
    let workload = source.workload;
    let broken = |error: std::io::Error| failed(workload, error);
    let entry = shop.inside(workload, source.entry)?;
    let root = shop.root(workload)?;
    let above = || {
        entry
            .ancestors()
            .skip(1)
            .take_while(|it| it.starts_with(&root))
    };
    let has = |folder: &&Path| BUILD_FILES.iter().any(|name| folder.join(name).is_file());
    let Some(folder) = above()
        .find(has)
        .filter(|_| source.language.use_maven != Some(true))
    else {
        return Err(without_gradle(
            workload,
            above().any(|it| it.join("pom.xml").is_file()),
        ));
    };
    let wrapper = folder
        .ancestors()
        .take_while(|it| it.starts_with(&root))
        .map(|it| it.join("gradlew"))
        .find(|it| it.is_file());
    if wrapper.is_none() && shop.tools.gradle.is_none() {
        let hint = "install Gradle from https://gradle.org/install and a JDK, or add the wrapper to \
                    the project: gradle wrapper";
        return Err(missing_tool(workload, "gradle", "Gradle builds it", hint));
    }
    (shop.trust)(Runs::Code, &format!("the Gradle build of \"{workload}\""))?;

    let mut staged = Staged::default();
    let wanted = |path: &str, kind: Kind| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_made = matches!(name, "build" | ".gradle" | "node_modules" | "out" | "bin")
            && !path.split('/').any(|part| part == "src");
        !(tree::is_never_packaged(path) || kind == Kind::Folder && is_made)
    };
    for found in shop.walk(workload, folder, Links::Followed, &wanted)? {
        if let Node::File { source, .. } = found.node {
            staged.inputs.push(source);
        }
    }
    let made = tempfile::tempdir().map_err(broken)?;
    let scratch = fs::canonicalize(made.path()).map_err(broken)?;
    let output = scratch.join("package");
    let init = scratch.join("stage.gradle");
    fs::write(&init, INIT).map_err(broken)?;
    (shop.progress)(workload, &format!("building {} with Gradle", source.entry));
    build(shop, source, wrapper, folder, &scratch)?;
    if !output.is_dir() {
        let cause = "its Gradle build has no java plugin, so it made no classes";
        let hint = "add plugins { id 'java' } to the build file next to its sources";
        return Err(with_hint(
            failed(workload, cause).with("tool", "gradle"),
            hint,
        ));
    }
    for found in walk(workload, &output)? {
        if let Node::File { source, .. } = found.node {
            staged.add(Entry {
                path: found.path,
                body: Body::File(source),
                executable: false,
            });
        }
    }
    let text = fs::read_to_string(&entry).map_err(broken)?;
    let class = class_of(&entry, &text);
    staged.handler = Some(match source.handler_function {
        Some(function) if function.contains('.') => function.to_owned(),
        Some(function) => format!("{class}::{function}"),
        None => class.clone(),
    });
    staged.start = class;
    staged.made.push(made);
    Ok(staged)
}

fn build(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    wrapper: Option<PathBuf>,
    folder: &Path,
    scratch: &Path,
) -> Result<(), Problem> {
    let workload = source.workload;
    let mut words: Vec<OsString> = vec![
        "--no-daemon".into(),
        "--console=plain".into(),
        "--quiet".into(),
        "--init-script".into(),
        scratch.join("stage.gradle").into(),
        "--project-cache-dir".into(),
        scratch.join("cache").into(),
    ];
    for (name, value) in [("folder", folder), ("scratch", scratch)] {
        let mut option = OsString::from(format!("-Dwindlass.{name}="));
        option.push(value);
        words.push(option);
    }
    words.push("windlassStage".into());
    let shell = Path::new("/bin/sh");
    let (program, arguments) = match (&wrapper, &shop.tools.gradle) {
        // A wrapper need not be executable: archives lose that.
        (Some(wrapper), _) => {
            let first = std::iter::once(wrapper.into());
            (shell, first.chain(words).collect())
        }
        (None, Some(gradle)) => (gradle.as_path(), words),
        (None, None) => return Err(failed(workload, "gradle disappeared")),
    };
    let call = Call {
        tool: "gradle",
        program,
        arguments,
        directory: folder,
        environment: Vec::new(),
        input: None,
    };
    shop.runner(workload).run(call).map(drop).map_err(|problem| {
        let output = problem.details().get("output").and_then(|it| it.as_str());
        let output = output.unwrap_or_default();
        let hint = if output.contains("JAVA_HOME") || output.contains("toolchain") {
            "install the JDK that the build names (a JRE has no compiler), and set JAVA_HOME to it"
        } else if output.contains("Could not resolve") || output.contains("Could not GET") {
            "dependencies come from the repositories of the build file: connect this machine to \
             them, or name a mirror there"
        } else {
            "correct what Gradle names"
        };
        with_hint(problem, hint)
    })
}

fn without_gradle(workload: &str, has_maven: bool) -> Problem {
    if has_maven {
        let cause =
            "Java is built with Gradle, and this project has Maven, which Windlass does not run";
        let hint = "build it yourself (mvn package with the shade plugin) and use custom-artifact \
                    with packagePath target/NAME.jar, or a container with custom-dockerfile";
        return with_hint(failed(workload, cause).with("tool", "mvn"), hint);
    }
    let cause = "Java is built with Gradle, and there is no build.gradle for its entry file";
    let hint = "write build.gradle with plugins { id 'java' }, or build it yourself and use \
                custom-artifact";
    with_hint(failed(workload, cause).with("tool", "gradle"), hint)
}

/// The full name of the class in a file.
fn class_of(file: &Path, text: &str) -> String {
    #[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
    static PACKAGE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^\s*package\s+([\w.]+)\s*;").unwrap());
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    match PACKAGE.captures(text).and_then(|found| found.get(1)) {
        Some(package) => format!("{}.{stem}", package.as_str()),
        None => stem.into_owned(),
    }
}

/// The major version of Java the code runs on.
pub(crate) fn java_version(source: &Source<'_>) -> u32 {
    source.language.java_version.unwrap_or_else(|| {
        let runtime = source.runtime.map(|it| it.as_str()).unwrap_or_default();
        let digits = runtime.strip_prefix("java");
        digits.and_then(|it| it.parse().ok()).unwrap_or(21)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_name_of_their_file_and_package() {
        let file = Path::new("src/main/java/posts/Save.java");
        for (text, expected) in [
            ("package posts;\nclass Save {}", "posts.Save"),
            (
                "/* x */\n  package com.example.api ;",
                "com.example.api.Save",
            ),
            ("class Save {}", "Save"),
            ("// package of nothing;", "Save"),
        ] {
            assert_eq!(class_of(file, text), expected, "{text}");
        }
    }
}
