//! A contract belongs to its domain: the engine, the ports and the surfaces name no domain that
//! follows a contract, and the command line only in that domain's own folder.
//!
//! Comments count too. Tests do not: they may show a real domain through a surface.

use super::{Crate, SourceFile, Violation};

/// Crates without a domain's name.
const NAMELESS: [&str; 11] = [
    "windlass-admin",
    "windlass-engine",
    "windlass-http",
    "windlass-mcp",
    "windlass-policy",
    "windlass-ports",
    "windlass-runs",
    "windlass-secrets",
    "windlass-store",
    "windlass-telemetry",
    "windlass-tui",
];
/// The command line, and where each domain has its commands and views.
const CLI: &str = "crates/windlass-cli/src/";
const COMMANDS: &str = "crates/windlass-cli/src/commands/";

/// Domains about the engine itself: their names are the words it is described with.
const OWN: [&str; 3] = ["admin", "demo", "runs"];
/// A domain whose name is also the word for any program that calls Windlass.
const ORDINARY: [&str; 1] = ["agent"];
/// Other names of a domain: those its contract uses.
const CONTRACT_NAMES: [(&str, &str); 2] = [("agentpack", "pack"), ("stacktape", "stack")];

/// Where a name is allowed: the beginning of a path, the domain or any, and why.
const ALLOWED: [(&str, Option<&str>, &str); 10] = [
    (
        "crates/windlass-cli/src/cli.rs",
        None,
        "the list of commands",
    ),
    (
        "crates/windlass-cli/src/commands/mod.rs",
        None,
        "the list of commands",
    ),
    (
        "crates/windlass-cli/src/commands/launch/",
        Some("docs"),
        "the folder of a site that pages are written to",
    ),
    (
        "crates/windlass-cli/src/commands/pipeline/",
        Some("docs"),
        "the folder of a project that its documents are written to",
    ),
    (
        "crates/windlass-cli/src/commands/pipeline/",
        Some("stack"),
        "the technology a project is made with, as the contract calls it",
    ),
    (
        "crates/windlass-cli/src/commands/stack/",
        Some("docs"),
        "the documentation is asked with a tool of the same contract",
    ),
    (
        "crates/windlass-cli/src/output/lines.rs",
        Some("stack"),
        "a field that the lines of `--agent` keep, whatever the command",
    ),
    (
        "crates/windlass-ports/src/aws.rs",
        Some("stack"),
        "CloudFormation's word for what it deploys",
    ),
    (
        "crates/windlass-ports/src/aws/",
        Some("stack"),
        "CloudFormation's word for what it deploys",
    ),
    (
        "crates/windlass-tui/src/",
        Some("pack"),
        "the crate is the screen of this domain and nothing else",
    ),
];

/// Looks at the sources of the crates that know no domain.
pub fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Violation> {
    let domains = domains(crates);
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        if !is_checked(&file.path) {
            continue;
        }
        for (index, line) in shipped(text).enumerate() {
            for word in words(line) {
                let Some(domain) = domain_of(&word, &domains) else {
                    continue;
                };
                if !is_allowed(&file.path, domain) {
                    violations.push(Violation::new(
                        format!("{}:{}", file.path, index + 1),
                        format!(
                            "`{word}` is a name of the domain {domain}: what belongs to its \
                             contract is declared by the domain (`Domain`, `Contract`)"
                        ),
                    ));
                }
            }
        }
    }
    violations
}

/// The domains that may have a contract: `windlass-<name>` and its parts `windlass-<name>-…`.
fn domains(crates: &[Crate]) -> Vec<&str> {
    let mut names: Vec<&str> = crates
        .iter()
        .filter(|own| own.layer.as_deref() == Some("domain"))
        .filter_map(|own| own.name.strip_prefix("windlass-")?.split('-').next())
        .filter(|name| !OWN.contains(name) && !ORDINARY.contains(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a file is shipped code of a crate that is looked at.
fn is_checked(path: &str) -> bool {
    let Some((folder, file)) = path
        .strip_prefix("crates/")
        .and_then(|rest| rest.split_once('/'))
    else {
        return false;
    };
    let is_shipped = file.starts_with("src/") && !file.ends_with("_tests.rs");
    is_shipped && (NAMELESS.contains(&folder) || path.starts_with(CLI))
}

/// The lines before the tests at the end of a file.
fn shipped(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines
        .windows(2)
        .position(|pair| matches!(pair, ["#[cfg(test)]", next] if next.starts_with("mod ") && next.ends_with('{')));
    let end = tests.unwrap_or(lines.len());
    lines.into_iter().take(end)
}

/// The words of a line in lower case; `PackView` and `pack_view` have two each.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        let begins = letter.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if begins || !letter.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if letter.is_ascii_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The domain that a word names: by its name, several of them, or a name of its contract.
fn domain_of<'a>(word: &str, domains: &[&'a str]) -> Option<&'a str> {
    let by_contract = CONTRACT_NAMES.iter().find(|(name, _)| *name == word);
    let meant = by_contract.map_or(word, |(_, domain)| domain);
    let one = meant
        .strip_suffix("es")
        .filter(|one| domains.contains(one))
        .or_else(|| meant.strip_suffix('s').filter(|one| domains.contains(one)))
        .unwrap_or(meant);
    domains.iter().copied().find(|domain| *domain == one)
}

fn is_allowed(path: &str, domain: &str) -> bool {
    let is_listed = ALLOWED.iter().any(|(place, allowed, _)| {
        path.starts_with(place) && allowed.is_none_or(|allowed| allowed == domain)
    });
    let folder = path
        .strip_prefix(COMMANDS)
        .and_then(|rest| rest.split_once('/'));
    is_listed || folder.is_some_and(|(folder, _)| folder == domain)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    fn own(name: &str, layer: &str) -> Crate {
        Crate {
            name: name.into(),
            folder: name.into(),
            layer: Some(layer.into()),
            manifest: String::new(),
            dependencies: Vec::new(),
        }
    }

    fn crates() -> [Crate; 5] {
        [
            own("windlass-pack", "domain"),
            own("windlass-launch-model", "domain"),
            own("windlass-stack", "domain"),
            own("windlass-runs", "domain"),
            own("windlass-engine", "engine"),
        ]
    }

    /// What is found in one line of a file, without the advice.
    fn found(path: &str, line: &str) -> Vec<String> {
        messages(&check(&crates(), &[file(path, line)]))
            .iter()
            .map(|message| message.split_once(':').unwrap().1.to_owned())
            .map(|message| message.split(": what").next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        for (line, word, domain) in [
            ("//! What pack deploys.", "pack", "pack"),
            ("Envelope::Pack => text(),", "pack", "pack"),
            ("fn of_pack_command()", "pack", "pack"),
            ("const NAME: &str = \"agentpack\";", "agentpack", "pack"),
            ("/// Several launches.", "launches", "launch"),
            ("\"/v1/stacks/{id}\"", "stacks", "stack"),
            ("const STACK: u8 = 1;", "stack", "stack"),
            ("tool: \"stacktape_ops\"", "stacktape", "stack"),
        ] {
            assert_eq!(
                found("crates/windlass-engine/src/a.rs", line),
                [format!("1: `{word}` is a name of the domain {domain}")],
                "{line}"
            );
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        for line in ["unpack the packet", "every run", "runs.list", "stacked"] {
            assert!(
                found("crates/windlass-engine/src/a.rs", line).is_empty(),
                "{line}"
            );
        }
    }

    #[test]
    fn the_command_line_names_a_domain_in_its_own_folder() {
        for (path, count) in [
            ("crates/windlass-cli/src/commands/pack/plan.rs", 0),
            ("crates/windlass-cli/src/commands/launch/plan.rs", 1),
            ("crates/windlass-cli/src/commands/pack.rs", 1),
            ("crates/windlass-cli/src/dispatch.rs", 1),
            ("crates/windlass-cli/src/cli.rs", 0),
        ] {
            assert_eq!(found(path, "pack").len(), count, "{path}");
        }
    }

    #[test]
    fn an_exception_holds_for_its_domain_only() {
        let path = "crates/windlass-ports/src/aws/stacks.rs";
        assert!(found(path, "the stack").is_empty());
        assert_eq!(found(path, "the pack").len(), 1);
    }

    #[test]
    fn tests_and_other_crates_are_not_looked_at() {
        for (path, text) in [
            ("crates/windlass-engine/src/a_tests.rs", "pack"),
            ("crates/windlass-engine/tests/a.rs", "pack"),
            ("crates/windlass-pack/src/a.rs", "pack"),
            ("crates/windlass/src/a.rs", "pack"),
            (
                "crates/windlass-engine/src/a.rs",
                "x\n#[cfg(test)]\nmod tests {\npack",
            ),
        ] {
            assert!(found(path, text).is_empty(), "{path}");
        }
        let path = "crates/windlass-engine/src/a.rs";
        let between = "#[cfg(test)]\nmod a_tests;\npack";
        assert_eq!(found(path, between).len(), 1);
    }

    #[test]
    fn every_exception_says_why() {
        for (place, _, reason) in ALLOWED {
            assert!(!reason.is_empty(), "{place}");
        }
    }
}
