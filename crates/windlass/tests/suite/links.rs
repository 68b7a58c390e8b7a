//! Commands that write files, run where links lie in wait: whatever kind a link is and however
//! deep it lies, nothing outside the directory changes and the refusal names the link.

use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;

use super::support::binary::{Said, windlass};

const SPEC: &str =
    "A task list. Users sign in, add tasks with a title and a due date, complete and delete them.";

struct World {
    scratch: TempDir,
}

impl World {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        for folder in ["home", "project", "outside/below"] {
            fs_err::create_dir_all(scratch.path().join(folder)).unwrap();
        }
        fs_err::write(scratch.path().join("outside/precious"), "precious\n").unwrap();
        Self { scratch }
    }

    fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.scratch.path().join(below)
    }

    fn say(&self, arguments: &[&str]) -> Said {
        windlass(&self.path("home"))
            .args(arguments)
            .current_dir(self.path("project"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .into()
    }

    /// Everything outside, with its content.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.path("outside")];
        while let Some(folder) = open.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path.clone());
                }
                found.insert(path.clone(), fs_err::read(&path).unwrap_or_default());
            }
        }
        found
    }

    /// Every kind of link that may be at a path of the project.
    fn texts(&self, at: &Path) -> [PathBuf; 5] {
        let up = "../".repeat(at.components().count());
        [
            self.path("outside"),
            self.path("outside/precious"),
            self.path("outside/new"),
            Path::new(&up).join("outside/below"),
            at.file_name().unwrap().into(),
        ]
    }
}

/// A command is run once for every link; the link stays, the outside too.
fn refuses_links(places: &[PathBuf], run: impl Fn(&World) -> Said) -> usize {
    let mut cases = 0;
    for place in places {
        for kind in 0..5 {
            let world = World::new();
            let link = world.path("project").join(place);
            let text = world.texts(place).into_iter().nth(kind).unwrap();
            fs_err::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&text, &link).unwrap();
            let before = world.outside();
            let said = run(&world);
            let case = format!("{} -> {}: {}", place.display(), text.display(), said.stderr);
            assert_ne!(said.code, Some(0), "{case}");
            let name = place.file_name().unwrap().to_str().unwrap();
            let told = format!("{}{}", said.stdout, said.stderr);
            assert!(told.contains(name) && told.contains("link"), "{case}");
            assert_eq!(world.outside(), before, "{case}");
            assert_eq!(fs_err::read_link(&link).unwrap(), text, "{case}");
            cases += 1;
        }
    }
    cases
}

#[test]
fn a_generated_project_is_written_through_no_link() {
    let code = [
        "pipeline",
        "code",
        "--spec",
        "-",
        "--framework",
        "vite-react",
    ];
    let generate = |world: &World| -> Said {
        let spec = world.path("spec.md");
        fs_err::write(&spec, SPEC).unwrap();
        windlass(&world.path("home"))
            .args(code)
            .args(["--out", ".", "--force"])
            .current_dir(world.path("project"))
            .stdin(fs_err::File::open(spec).unwrap().into_file())
            .output()
            .unwrap()
            .into()
    };
    let world = World::new();
    generate(&world).worked();
    // A file and a directory of each depth.
    let mut places: BTreeMap<(usize, bool), PathBuf> = BTreeMap::new();
    let mut open = vec![world.path("project")];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(world.path("project")).unwrap().to_owned();
            let depth = below.components().count();
            if path.is_dir() {
                open.push(path.clone());
            }
            places.entry((depth, path.is_dir())).or_insert(below);
        }
    }
    let places: Vec<PathBuf> = places.into_values().take(6).collect();
    let cases = refuses_links(&places, generate);
    assert!(cases >= 20, "{cases}: {places:?}");
    // The directory itself is the user's choice.
    let world = World::new();
    fs_err::create_dir(world.path("chosen")).unwrap();
    fs_err::remove_dir(world.path("project")).unwrap();
    symlink(world.path("chosen"), world.path("project")).unwrap();
    generate(&world).worked();
    assert!(world.path("chosen/package.json").is_file());
}

#[test]
fn a_first_stack_config_is_written_through_no_link() {
    for flags in [&["stack", "init"][..], &["stack", "init", "--force"]] {
        let world = World::new();
        // A name that leads nowhere is not taken, and still a link.
        symlink(
            world.path("outside/new"),
            world.path("project/stacktape.yml"),
        )
        .unwrap();
        let before = world.outside();
        let said = world.say(flags);
        assert_ne!(said.code, Some(0), "{}", said.stdout);
        assert!(said.stderr.contains("symbolic link"), "{}", said.stderr);
        assert_eq!(world.outside(), before);
    }
    refuses_links(&["stacktape.yml".into()], |world| {
        world.say(&["stack", "init", "--force"])
    });
}

#[test]
fn manual_pages_are_written_through_no_link() {
    refuses_links(&["windlass.1".into()], |world| world.say(&["man", "."]));
}

/// The directory itself may have come with a clone, however deep it lies.
#[test]
fn a_named_directory_is_no_link_of_the_project() {
    let made = World::new();
    let applied = made.say(&[
        "demo", "apply", "--dir", ".", "--file", "a=1", "--yes", "--json",
    ]);
    let text = applied.worked().json().to_string();
    let start = text.find("run_").unwrap();
    let run: String = text[start..]
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect();
    for out in ["out", "a/out", "a/out/below", "./out/"] {
        for command in ["man", "export", "pipeline"] {
            let world = World::new();
            fs_err::create_dir_all(world.path("project/a")).unwrap();
            for link in ["project/out", "project/a/out"] {
                symlink(world.path("outside"), world.path(link)).unwrap();
            }
            let before = world.outside();
            let said: Said = match command {
                "man" => world.say(&["man", out]),
                "export" => {
                    let arguments = ["runs", "export", &run, "--dir", out];
                    let mut command = windlass(&made.path("home"));
                    command.args(arguments).current_dir(world.path("project"));
                    command.stdin(Stdio::null()).output().unwrap().into()
                }
                _ => {
                    fs_err::write(world.path("spec.md"), SPEC).unwrap();
                    let spec = world.path("spec.md");
                    let spec = spec.to_str().unwrap();
                    let code = [
                        "pipeline",
                        "code",
                        "--spec",
                        spec,
                        "--framework",
                        "vite-react",
                    ];
                    world.say(&[&code[..], &["--out", out, "--force"]].concat())
                }
            };
            let case = format!("{command} {out}: {}{}", said.stdout, said.stderr);
            assert_ne!(said.code, Some(0), "{case}");
            assert!(case.contains("symbolic link"), "{case}");
            assert_eq!(world.outside(), before, "{case}");
            // A whole path is the user's choice.
            let chosen = world.path("outside/chosen");
            if command == "man" {
                world.say(&["man", chosen.to_str().unwrap()]).worked();
                assert!(chosen.join("windlass.1").is_file());
            }
        }
    }
}
