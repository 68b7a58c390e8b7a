//! Documents: every command that a page prints is one that the program takes, and the commands of the
//! pages in `tests/documents/pages.toml` are executed as printed, in the order of the page.
//!
//! A page is one shell session in a home of its own. What is printed below a command says what is expected:
//! a line that begins with `error:` a failure, anything else a success; and the words printed must be
//! among those of the real output.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use super::support::binary::free_address;

/// How long a page may take on a loaded machine.
const LIMIT: &str = "240";

/// Pages executed at a time: they mostly wait for servers and timers.
const AT_ONCE: usize = 3;

/// What setups may call. Nothing is waited for without a bound.
const HELPERS: &str = r#"
set -u
status=0
eventually() {
    for _ in $(seq 600); do "$@" && return; sleep 0.1; done
    echo "in vain: $*" >&2
    exit 1
}
slay() { { kill -9 "$1"; wait "$1"; } 2> /dev/null; }
"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pages {
    /// Scripts that pages share, by name.
    setups: BTreeMap<String, String>,
    page: Vec<Page>,
}

/// How a page is executed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    path: String,
    /// Why nothing of it is executed. Its commands are parsed.
    #[serde(default)]
    parsed_only: Option<String>,
    /// Names of shared scripts that run first.
    #[serde(default)]
    with: Vec<String>,
    /// A script that creates what the page expects to exist.
    #[serde(default)]
    setup: String,
    /// Commands that cannot be executed here, each with the reason.
    #[serde(default)]
    skip: Vec<(String, String)>,
    /// Texts of commands that differ from session to session, and what stands for them.
    #[serde(default)]
    replace: Vec<(String, String)>,
    /// Commands, each with what the page says happened before it.
    #[serde(default)]
    before: Vec<(String, String)>,
    /// Commands whose question is answered with yes on the page.
    #[serde(default)]
    yes: Vec<String>,
    /// Commands that fail without saying `error:`.
    #[serde(default)]
    fails: Vec<String>,
    /// Commands that do not end by themselves: the next one follows when they have printed something.
    #[serde(default)]
    serves: Vec<String>,
    /// Commands whose output is a different one in every session.
    #[serde(default)]
    any_output: Vec<String>,
}

impl Page {
    /// Whether an entry is about a command: the entry is the command's beginning, and `#2` after it
    /// means the second command of the page that begins so.
    fn is_about(entry: &str, commands: &[Printed], index: usize) -> bool {
        let numbered = entry.rsplit_once('#').and_then(|(beginning, number)| {
            let number: usize = number.parse().ok()?;
            Some((beginning, number))
        });
        let (beginning, number) = match numbered {
            Some((beginning, number)) => (beginning, Some(number)),
            None => (entry, None),
        };
        let begins = |printed: &&Printed| printed.command.starts_with(beginning);
        begins(&&commands[index])
            && number
                .is_none_or(|number| commands[..=index].iter().filter(begins).count() == number)
    }

    fn is_listed(entries: &[String], commands: &[Printed], index: usize) -> bool {
        let mut entries = entries.iter();
        entries.any(|entry| Self::is_about(entry, commands, index))
    }
}

/// A command of a page with what is printed below it.
struct Printed {
    line: usize,
    command: String,
    output: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Pages {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/pages.toml");
    toml::from_str(&fs_err::read_to_string(file).unwrap()).unwrap()
}

/// Every page, by its path from the root of the repository.
fn documents() -> Vec<(String, String)> {
    let mut open = vec![root().join("docs")];
    let mut files = vec![root().join("README.md")];
    while let Some(directory) = open.pop() {
        for entry in fs_err::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                None if path.is_dir() => open.push(path),
                Some(extension) if extension == "md" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            (name, fs_err::read_to_string(file).unwrap())
        })
        .collect()
}

/// The commands of a page's `console` blocks.
fn printed(text: &str) -> Vec<Printed> {
    let mut found: Vec<Printed> = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block && line == "```console";
            continue;
        }
        if !in_block {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Printed {
                line: index + 1,
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else if let Some(last) = found.last_mut() {
            if last.output.is_empty() && goes_on(&last.command) {
                last.command = format!("{}\n{line}", last.command);
            } else {
                last.output.push(line.to_owned());
            }
        }
    }
    found
}

/// Whether a shell would wait for another line.
fn goes_on(command: &str) -> bool {
    if command.contains("<<'END'") {
        return !command.ends_with("\nEND");
    }
    let mut quote = None;
    let mut escaped = false;
    for letter in command.chars() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    escaped || quote.is_some() || command.trim_end().ends_with('|')
}

/// The words of the `windlass` commands in a shell command, or in what it sends to one.
fn calls(command: &str) -> Vec<Vec<String>> {
    let mut words = vec![Vec::new()];
    let mut word = String::new();
    let mut is_word = false;
    let mut quote = None;
    let mut letters = command.chars().peekable();
    let flush = |word: &mut String, is_word: &mut bool, words: &mut Vec<Vec<String>>| {
        if std::mem::take(is_word) {
            words.last_mut().unwrap().push(std::mem::take(word));
        }
    };
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => (quote, is_word) = (Some(letter), true),
            (Some(open), letter) if open == letter => quote = None,
            (Some('\''), letter) => word.push(letter),
            (_, '\\') => {
                if let Some(next) = letters.next().filter(|next| *next != '\n') {
                    (is_word, _) = (true, word.push(next));
                }
            }
            (Some(_), letter) => word.push(letter),
            (None, '#') if !is_word => break,
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '<' | '>') => {
                flush(&mut word, &mut is_word, &mut words);
                words.push(Vec::new());
            }
            (None, letter) if letter.is_whitespace() => {
                flush(&mut word, &mut is_word, &mut words);
            }
            (None, letter) => (is_word, _) = (true, word.push(letter)),
        }
    }
    flush(&mut word, &mut is_word, &mut words);
    words
        .into_iter()
        .filter(|words| words.first().is_some_and(|first| first == "windlass"))
        .collect()
}

#[test]
fn every_printed_command_is_one_that_the_program_takes() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for printed in printed(&text) {
            for words in calls(&printed.command) {
                // What a page leaves out cannot be parsed.
                if words.iter().any(|word| word == "…") {
                    continue;
                }
                count += 1;
                let parsed = windlass_cli::command().try_get_matches_from(&words);
                if let Err(error) = parsed
                    && error.use_stderr()
                {
                    wrong.push(format!("{path}:{}: {words:?}: {error}", printed.line));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "only {count} commands were found");
}

#[test]
fn every_page_with_commands_is_executed_or_says_why_not() {
    let pages = pages().page;
    let known: BTreeSet<String> = pages.iter().map(|page| page.path.clone()).collect();
    let with_commands: BTreeSet<String> = documents()
        .into_iter()
        .filter(|(_, text)| !printed(text).is_empty())
        .map(|(path, _)| path)
        .collect();
    assert_eq!(known, with_commands);
    for page in pages {
        let reasons = page.skip.iter().map(|(_, reason)| reason);
        for reason in reasons.chain(&page.parsed_only) {
            assert!(reason.len() > 10, "{}: {reason:?}", page.path);
        }
    }
}

/// Executes the pages of a group. `WINDLASS_TEST_PAGE` chooses one of them.
fn execute(group: Group) {
    let documents = documents();
    let pages = pages();
    let chosen = std::env::var_os("WINDLASS_TEST_PAGE").unwrap_or_default();
    let chosen = chosen.to_string_lossy();
    let executed: Vec<&Page> = pages
        .page
        .iter()
        .filter(|page| page.parsed_only.is_none() && Group::of(&page.path) == group)
        .filter(|page| page.path.contains(&*chosen))
        .collect();
    let waiting = Mutex::new(executed.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some(page) = next else { break };
                    let (_, text) = documents
                        .iter()
                        .find(|(path, _)| *path == page.path)
                        .unwrap();
                    let found = session(page, &pages.setups, &printed(text));
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    println!("{} pages executed", executed.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Executes a page; what was not as printed.
fn session(page: &Page, setups: &BTreeMap<String, String>, commands: &[Printed]) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("ada");
    let programs = place.path().join("bin");
    fs_err::create_dir_all(home.join(".windlass")).unwrap();
    let private = std::fs::Permissions::from_mode(0o700);
    fs_err::set_permissions(home.join(".windlass"), private).unwrap();
    fs_err::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_windlass"), programs.join("windlass")).unwrap();
    let address = free_address().to_string();
    let port = address.rsplit_once(':').unwrap().1;
    let other_port = free_address().port().to_string();
    let settings = format!("[server]\nlisten = \"{address}\"\n");
    fs_err::write(home.join(".windlass/config.toml"), settings).unwrap();
    let is_skipped = |index: usize| {
        let mut entries = page.skip.iter();
        entries.any(|(entry, _)| Page::is_about(entry, commands, index))
    };
    let mut script = HELPERS.to_owned();
    for name in &page.with {
        script.push_str(&format!("{}\n", setups[name]));
    }
    script.push_str(&format!("{}\n", page.setup));
    for (index, printed) in commands.iter().enumerate() {
        if is_skipped(index) {
            continue;
        }
        let mut command = printed.command.replace("7717", port);
        command = command.replace("7718", &other_port);
        if Page::is_listed(&page.yes, commands, index) {
            command.push_str(" --yes");
        }
        for (text, instead) in &page.replace {
            command = command.replace(text.as_str(), instead);
        }
        for (entry, happened) in &page.before {
            if Page::is_about(entry, commands, index) {
                script.push_str(&format!("{happened}\n"));
            }
        }
        let (out, code) = (place.path().join("out"), place.path().join("code"));
        let (out, code) = (out.display(), code.display());
        script.push_str(&match Page::is_listed(&page.serves, commands, index) {
            true => format!(
                "{{ {command}\n}} > {out}.{index} 2>&1 < /dev/null &\n\
                 eventually test -s {out}.{index}\nstatus=0; echo 0 > {code}.{index}\n"
            ),
            false => format!(
                "{{ (exit $status); {command}\n}} > {out}.{index} 2>&1 < /dev/null\n\
                 status=$?; echo $status > {code}.{index}\n"
            ),
        });
    }
    let inherited = std::env::var_os("PATH").unwrap();
    let path = format!("{}:{}", programs.display(), inherited.display());
    let mut shell = Command::new("timeout")
        .args([LIMIT, "bash", "-c", &script])
        .env_clear()
        .env("HOME", &home)
        .env("USER", "ada")
        .env("PATH", path)
        .env("PORT", port)
        .env("REPOSITORY", root())
        .current_dir(&home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(place.path().join("said")).unwrap())
        .process_group(0)
        .spawn()
        .unwrap();
    let group = Pid::from_child(&shell);
    let status = shell.wait().unwrap();
    // Servers that the page started.
    let _ = kill_process_group(group, Signal::KILL);
    let mut wrong = Vec::new();
    let said = fs_err::read_to_string(place.path().join("said")).unwrap();
    if !said.trim().is_empty() || !status.success() {
        wrong.push(format!("{}: the session: {status}: {said}", page.path));
    }
    for (index, printed) in commands.iter().enumerate() {
        if is_skipped(index) {
            continue;
        }
        let read = |what: &str| {
            let file = place.path().join(format!("{what}.{index}"));
            String::from_utf8_lossy(&fs_err::read(file).unwrap_or_default()).into_owned()
        };
        let (output, code) = (read("out"), read("code"));
        let says_so = |line: &String| {
            line.starts_with("error:") || line.replace(' ', "").contains("\"ok\":false")
        };
        // curl succeeds with the answer of a server that refused.
        let says_so = |line: &String| says_so(line) && !printed.command.starts_with("curl");
        let fails =
            Page::is_listed(&page.fails, commands, index) || printed.output.iter().any(says_so);
        let place = format!("{}:{}: $ {}", page.path, printed.line, printed.command);
        for (unit, count) in counts(&printed.output.join("\n")) {
            let mut real = counts(&output).into_iter();
            if let Some((_, real)) = real.find(|(of, real)| *of == unit && *real != count) {
                wrong.push(format!(
                    "{place}\n{count} {unit} are printed, and there are {real}"
                ));
            }
        }
        if (code.trim() != "0") != fails {
            wrong.push(format!("{place}\nexit {}\n{output}", code.trim()));
        } else if !Page::is_listed(&page.any_output, commands, index) {
            let missing = missing_words(&printed.output, &output);
            if !missing.is_empty() {
                wrong.push(format!("{place}\nnot in the output: {missing:?}\n{output}"));
            }
        }
    }
    wrong
}

/// What the program has a number of, and pages say so.
const COUNTED: [&str; 2] = ["operations", "manual pages"];

/// How many of each a text mentions.
fn counts(text: &str) -> Vec<(&'static str, &str)> {
    let mut found = Vec::new();
    for unit in COUNTED {
        for (start, _) in text.match_indices(&format!(" {unit}")) {
            let digits = |letter: char| letter.is_ascii_digit();
            let number = text[..start].trim_end_matches(digits).len();
            if number < start {
                found.push((unit, &text[number..start]));
            }
        }
    }
    found
}

/// Words that are printed and not among those of the output. Numbers, ids and paths differ, and
/// questions are not asked without a terminal.
fn missing_words(printed: &[String], output: &str) -> Vec<String> {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '_')
            .filter(|word| word.len() >= 4)
            .map(str::to_owned)
            .collect()
    };
    let real = words(output);
    printed
        .iter()
        .filter(|line| !line.contains('…') && !line.contains("[y/N]"))
        .flat_map(|line| {
            let plain = line.split_whitespace().filter(|word| {
                !word.contains('/') && !word.chars().any(|letter| letter.is_ascii_digit())
            });
            words(&plain.collect::<Vec<_>>().join(" "))
        })
        .filter(|word| !real.contains(word))
        .collect()
}

/// Pages that are executed by one test, so that tests run side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    General,
    Products,
    Stack,
}

impl Group {
    fn of(path: &str) -> Self {
        let is = |names: &[&str]| names.iter().any(|name| path.starts_with(name));
        match path {
            _ if is(&["docs/stack/"]) => Self::Stack,
            _ if is(&["docs/pack", "docs/launch", "docs/pipeline"]) => Self::Products,
            _ => Self::General,
        }
    }
}

#[test]
fn commands_of_general_pages_work_as_printed() {
    execute(Group::General);
}

#[test]
fn commands_about_packs_launches_and_pipelines_work_as_printed() {
    execute(Group::Products);
}

#[test]
fn commands_about_stacks_work_as_printed() {
    execute(Group::Stack);
}

#[test]
fn figures_are_found_in_front_of_what_they_count() {
    let text = "✓ catalogue  129 operations\n156 manual pages written; no operations";
    assert_eq!(
        counts(text),
        [("operations", "129"), ("manual pages", "156")]
    );
}

#[test]
fn shell_commands_are_read_as_a_shell_reads_them() {
    for (command, expected) in [
        (
            "windlass runs list --limit 2",
            "windlass runs list --limit 2",
        ),
        (
            "T=$(windlass demo plan --dir x --json | jq -r .t)",
            "windlass demo plan --dir x --json",
        ),
        ("windlass docs \"a b\" # why", "windlass docs a b"),
        ("echo windlass", ""),
        ("cd x && windlass pack plan > y", "windlass pack plan"),
    ] {
        let found: Vec<String> = calls(command).iter().map(|words| words.join(" ")).collect();
        assert_eq!(found.join("|"), expected);
    }
    for (command, expected) in [
        ("curl x \\", true),
        ("cat > f <<'END'", true),
        ("cat > f <<'END'\na\nEND", false),
        ("curl -d '{\"a\":", true),
        ("a |", true),
        ("a \"b\"", false),
    ] {
        assert_eq!(goes_on(command), expected, "{command}");
    }
}
