//! Generated projects with the real tools: npm install, tsc, eslint, the production build, vitest.
//!
//! Needs Node 20.19 or newer in `WINDLASS_TEST_NODE` and npm next to it or in the path;
//! `cargo xtask test` sets it. What is installed stays below the target folder for the next run.
//! `WINDLASS_TEST_PROJECTS` names a folder with the examples as the product has written them; the
//! examples are generated here without it.
//!
//! Of the forty specs in `tests/specs`, a few are tried in each preset; with `WINDLASS_TEST_SPECS=all`
//! every one is, in both: `WINDLASS_TEST_SPECS=all cargo xtask test --only generated-code`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use windlass_pipeline_design::model::Preset;

use super::fixture::{EXAMPLES, Product, specs, write};
use super::hostile;

const VARIABLE: &str = "WINDLASS_TEST_NODE";

/// A project's folder and the Node it is tried with.
struct Project {
    node: PathBuf,
    folder: PathBuf,
}

impl Project {
    fn open(name: &str) -> Option<Self> {
        let Some(node) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
            eprintln!(
                "SKIPPED, THE GENERATED CODE WAS NOT BUILT: {VARIABLE} does not name Node.js; \
                 `cargo xtask test` sets it"
            );
            return None;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("pipeline-code")
            .join(name);
        fs_err::create_dir_all(&folder).unwrap();
        Some(Self { node, folder })
    }

    /// Makes room for another project; what is installed stays.
    fn clear(&self) {
        for entry in fs_err::read_dir(&self.folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == "node_modules" || entry.file_name() == "package-lock.json" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                fs_err::remove_dir_all(entry.path()).unwrap();
            } else {
                fs_err::remove_file(entry.path()).unwrap();
            }
        }
    }

    fn write(&self, product: &Product, preset: Preset) {
        self.clear();
        write(&product.generate(preset, &[]).unwrap(), &self.folder);
    }

    /// Writes an example, as the product has written it where that is at hand.
    fn write_example(&self, name: &str, preset: Preset) {
        match written(name, preset) {
            Some(from) => {
                self.clear();
                copy(&from, &self.folder);
            }
            None => self.write(&Product::example(name, preset), preset),
        }
    }

    /// Leaves the build output next to the project that the product has written.
    fn keep(&self, name: &str, preset: Preset) {
        if let (Some(to), Preset::ViteReact) = (written(name, preset), preset) {
            copy(&self.folder.join("dist"), &to.join("dist"));
        }
    }

    /// Runs a command of the project and expects that it succeeds.
    fn run(&self, words: &[&str]) {
        let start = Instant::now();
        let mut path = vec![self.node.parent().unwrap().to_path_buf()];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir(&self.folder)
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("NEXT_TELEMETRY_DISABLED", "1")
            .env("CI", "1")
            .env("NO_COLOR", "1")
            // What is built is shown in a browser that knows this name.
            .env("VITE_SUPABASE_URL", "http://app.test")
            .env("VITE_SUPABASE_PUBLISHABLE_KEY", "publishable")
            .env_remove("NODE_OPTIONS")
            .output()
            .unwrap_or_else(|error| panic!("{words:?}: {error}"));
        eprintln!(
            "{:6.1} s  {}",
            start.elapsed().as_secs_f64(),
            words.join(" ")
        );
        assert!(
            output.status.success(),
            "{words:?} in {}\n{}{}",
            self.folder.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn install(&self) {
        self.run(&[
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefer-offline",
        ]);
    }

    fn compile(&self) {
        self.run(&["npm", "run", "typecheck"]);
        self.run(&["npm", "run", "lint", "--", "--max-warnings", "0"]);
    }
}

/// Text from every list of dangers in one.
const ALL_AT_ONCE: &str = "\"; drop table x; -- </script> ${x} `y` {z} */ %s \\ it's 🎲 اختبار";

/// The specs that are tried in every run: the shapes that differ most.
fn chosen(preset: Preset) -> Vec<(String, String)> {
    let few = match preset {
        Preset::NextjsReact => ["board-game-forum", "dental-clinic", "event-tickets"],
        Preset::ViteReact => ["bakery-shop", "conference-planner", "task-board"],
    };
    let all = std::env::var_os("WINDLASS_TEST_SPECS").is_some_and(|which| which == "all");
    let mut specs = specs();
    specs.retain(|(name, _)| all || few.contains(&name.as_str()));
    specs
}

/// The folder of an example that the product has written.
fn written(name: &str, preset: Preset) -> Option<PathBuf> {
    let folder = std::env::var_os("WINDLASS_TEST_PROJECTS")?;
    Some(Path::new(&folder).join(preset.as_str()).join(name))
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs_err::copy(entry.path(), to).unwrap();
        }
    }
}

fn builds(preset: Preset) {
    let Some(project) = Project::open(preset.as_str()) else {
        return;
    };
    for name in EXAMPLES {
        eprintln!("{name} in {}", preset.as_str());
        project.write_example(name, preset);
        project.install();
        project.compile();
        project.run(&["npm", "run", "build"]);
        project.run(&["npm", "test"]);
        project.keep(name, preset);
    }
    for (name, spec) in chosen(preset) {
        eprintln!("{name} in {}", preset.as_str());
        project.write(&Product::of(&spec, preset), preset);
        project.run(&["npm", "run", "typecheck"]);
        project.run(&["npm", "test"]);
    }
    eprintln!("hostile text in {}", preset.as_str());
    project.write(&hostile::with_text(ALL_AT_ONCE), preset);
    project.install();
    project.compile();
    project.run(&["npm", "test"]);
}

#[test]
fn a_next_project_installs_builds_and_passes_its_tests() {
    builds(Preset::NextjsReact);
}

#[test]
fn a_vite_project_installs_builds_and_passes_its_tests() {
    builds(Preset::ViteReact);
}
