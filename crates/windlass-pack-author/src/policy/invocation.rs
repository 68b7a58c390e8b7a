//! Calls of pack in slash commands: those that change things without `--json` and `--yes` would
//! stop and ask without a terminal, or print what no program reads.

/// The commands that write. New ones join the list.
pub const MUTATING_COMMANDS: [&str; 23] = [
    "add",
    "bootstrap",
    "deploy --apply",
    "doctor --fix",
    "evolve propose",
    "evolve restore",
    "fetch",
    "import --apply",
    "init",
    "lock",
    "overlay edit",
    "overlay rebase",
    "policy lock",
    "record",
    "remote set",
    "remove",
    "rollback",
    "snapshots prune",
    "sync",
    "undo",
    "uninstall",
    "update",
    "watch --apply",
];

/// The flags before a command that take a value.
const VALUED: [&str; 4] = ["--repo", "--profile", "--target", "--machine"];

/// A call that lacks something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) command_id: String,
    pub(super) invocation: String,
    pub(super) missing: Vec<&'static str>,
}

/// The command lines a slash command runs, with the number of the line each starts on: the lines
/// of a `!bash` block, which ends with a blank one, and what stands between ``!` `` and `` ` ``.
pub(super) fn bash_lines(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut in_block = false;
    let mut continued = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if in_block {
            if line.is_empty() {
                in_block = false;
                continued = false;
                continue;
            }
            let (part, goes_on) = match line.strip_suffix('\\') {
                Some(part) => (part.trim_end(), true),
                None => (line, false),
            };
            match found.last_mut() {
                Some((_, command)) if continued => {
                    command.push(' ');
                    command.push_str(part);
                }
                _ => found.push((index + 1, part.to_owned())),
            }
            continued = goes_on;
        } else if line == "!bash" || line == "!`bash`" {
            in_block = true;
        } else {
            found.extend(inline(line).map(|command| (index + 1, command.to_owned())));
        }
    }
    found
}

fn inline(line: &str) -> impl Iterator<Item = &str> {
    line.split("!`")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('`')?.0))
}

/// The calls of pack in a command line that change things and lack a flag.
pub(super) fn dangerous(line: &str) -> Vec<Call> {
    statements(line)
        .iter()
        .filter_map(|words| arguments(words))
        .filter_map(|arguments| {
            let command_id = command_id(arguments)?;
            let has = |flag: &str| arguments.iter().any(|word| word == flag);
            if !MUTATING_COMMANDS.contains(&command_id.as_str()) || has("--dry-run") {
                return None;
            }
            let missing: Vec<&str> = ["--json", "--yes"]
                .into_iter()
                .filter(|flag| !has(flag))
                .collect();
            (!missing.is_empty()).then(|| Call {
                command_id,
                invocation: arguments.join(" "),
                missing,
            })
        })
        .collect()
}

/// The words of each simple command of a line, quotes taken away.
fn statements(line: &str) -> Vec<Vec<String>> {
    let mut split = Split::default();
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => split.add(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                split.word.get_or_insert_default();
            }
            (None, '\\') => characters
                .next()
                .into_iter()
                .for_each(|next| split.add(next)),
            // A comment.
            (None, '#') if split.word.is_none() => break,
            (None, ';' | '|' | '&' | '(' | ')' | '`') => split.end_statement(),
            (None, blank) if blank.is_whitespace() => split.end_word(),
            (None, other) => split.add(other),
        }
    }
    split.end_statement();
    split.statements
}

/// A command line, split so far.
#[derive(Default)]
struct Split {
    statements: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Split {
    fn add(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_statement(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.statements.push(words);
        }
    }
}

/// The arguments of a call of pack, under either name, wherever in the command it stands: `env`,
/// `sudo` and the like come before it.
fn arguments(words: &[String]) -> Option<&[String]> {
    words.iter().enumerate().find_map(|(index, word)| {
        let rest = &words[index + 1..];
        match program(word) {
            "agentpack" => Some(rest),
            "windlass" => {
                let command = rest.iter().position(|word| !word.starts_with('-'))?;
                (rest[command] == "pack").then(|| &rest[command + 1..])
            }
            _ => None,
        }
    })
}

fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// What a call is named in the list.
fn command_id(arguments: &[String]) -> Option<String> {
    let mut words = arguments.iter().map(String::as_str);
    let command = loop {
        match words.next()? {
            flag if VALUED.contains(&flag) => {
                words.next();
            }
            flag if flag.starts_with('-') => {}
            command => break command,
        }
    };
    let rest: Vec<&str> = words.collect();
    let flagged = |flag: &str| match rest.contains(&flag) {
        true => format!("{command} {flag}"),
        false => command.to_owned(),
    };
    Some(match command {
        "deploy" | "import" | "watch" => flagged("--apply"),
        "doctor" => flagged("--fix"),
        "overlay" | "remote" | "evolve" | "policy" | "snapshots" => {
            match rest.iter().find(|word| !word.starts_with('-')) {
                Some(second) => format!("{command} {second}"),
                None => command.to_owned(),
            }
        }
        other => other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_that_lack_a_flag_are_found_under_both_names() {
        for (line, expected) in [
            ("agentpack deploy --apply", "deploy --apply: --json --yes"),
            (
                "windlass pack deploy --apply --json",
                "deploy --apply: --yes",
            ),
            ("/usr/bin/agentpack --repo /r lock --yes", "lock: --json"),
            (
                "windlass --quiet pack --profile p rollback --to 1",
                "rollback: --json --yes",
            ),
            ("env A=1 agentpack undo", "undo: --json --yes"),
            (
                "cd x;agentpack sync&&agentpack add skill local:a",
                "sync: --json --yes, add: --json --yes",
            ),
            (
                "echo $(agentpack evolve propose)",
                "evolve propose: --json --yes",
            ),
            ("agentpack doctor --fix --yes --json", ""),
            ("agentpack doctor", ""),
            ("agentpack deploy --json", ""),
            ("agentpack deploy --apply --dry-run", ""),
            ("agentpack import --json", ""),
            (
                "agentpack policy lint; agentpack policy lock",
                "policy lock: --json --yes",
            ),
            ("echo 'agentpack lock'", ""),
            ("windlass run deploy", ""),
            ("# agentpack lock", ""),
            ("agentpackage lock", ""),
        ] {
            let found: Vec<String> = dangerous(line)
                .into_iter()
                .map(|call| format!("{}: {}", call.command_id, call.missing.join(" ")))
                .collect();
            assert_eq!(found.join(", "), expected, "{line}");
        }
    }

    #[test]
    fn only_what_is_run_is_looked_at() {
        let text = "agentpack lock\n!bash\nagentpack deploy --apply \\\n  --yes --json\nls\n\nagentpack sync\nSee !`agentpack add x` and !`ls`.\n";
        assert_eq!(
            bash_lines(text),
            [
                (3, "agentpack deploy --apply --yes --json".to_owned()),
                (5, "ls".to_owned()),
                (8, "agentpack add x".to_owned()),
                (8, "ls".to_owned()),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_line_is_handled(line in "\\PC{0,40}") {
            let _ = dangerous(&line);
            let _ = bash_lines(&format!("!bash\n{line}\n"));
        }
    }
}
