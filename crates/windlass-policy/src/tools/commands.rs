//! A command compared with the start of a rule.

use windlass_shell::{Command, Kind, Word};

use super::paths::Paths;

/// A command and where it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub command: &'a Command,
    pub paths: Paths<'a>,
    /// Whether it runs on another machine or in a container, where no path is known.
    pub is_elsewhere: bool,
    /// Whether it does nothing but run a command that is listed after it.
    pub is_only_runner: bool,
    /// The hosts that the call names.
    pub hosts: &'a [String],
}

/// Directories whose programs are what their names say.
const PROGRAM_DIRECTORIES: [&str; 6] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
];

/// Options of a program that may come before its subcommand.
struct Globals {
    names: &'static [&'static str],
    /// Harmless ones, with and without a value.
    valued: &'static [&'static str],
    flags: &'static [&'static str],
    /// Others with a value, so that it is not taken for the subcommand.
    other_valued: &'static [&'static str],
}

const GLOBALS: [Globals; 10] = [
    Globals {
        names: &["git"],
        valued: &["-C"],
        flags: &[
            "--no-pager",
            "--no-optional-locks",
            "--literal-pathspecs",
            "-P",
        ],
        other_valued: &[
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--config-env",
        ],
    },
    Globals {
        names: &["kubectl", "oc"],
        valued: &["-n", "--namespace", "--context", "--request-timeout"],
        flags: &[],
        other_valued: &[
            "--kubeconfig",
            "--cluster",
            "--user",
            "-s",
            "--server",
            "--token",
            "--as",
            "--as-group",
            "--certificate-authority",
            "--client-key",
            "--client-certificate",
            "--cache-dir",
            "-v",
        ],
    },
    Globals {
        names: &["helm"],
        valued: &["-n", "--namespace", "--kube-context"],
        flags: &["--debug"],
        other_valued: &[
            "--kubeconfig",
            "--kube-apiserver",
            "--kube-token",
            "--registry-config",
        ],
    },
    Globals {
        names: &["docker", "podman", "nerdctl"],
        valued: &["--context", "-c"],
        flags: &["-D", "--debug"],
        other_valued: &["-H", "--host", "--config", "-l", "--log-level"],
    },
    Globals {
        names: &["aws"],
        valued: &["--region", "--profile", "--output", "--query"],
        flags: &["--no-cli-pager", "--no-paginate"],
        other_valued: &["--endpoint-url", "--ca-bundle", "--color"],
    },
    Globals {
        names: &["terraform", "tofu"],
        valued: &[],
        flags: &[],
        other_valued: &["-chdir"],
    },
    Globals {
        names: &["cargo"],
        valued: &["--color"],
        flags: &["-q", "--quiet", "--offline", "--locked", "--frozen", "-v"],
        other_valued: &["-C", "-Z", "--config", "--explain"],
    },
    Globals {
        names: &["npm", "pnpm", "yarn"],
        valued: &[],
        flags: &["--silent", "-s"],
        other_valued: &[
            "--prefix",
            "-C",
            "--cwd",
            "--dir",
            "-w",
            "--workspace",
            "--filter",
            "-F",
        ],
    },
    Globals {
        names: &["systemctl", "journalctl"],
        valued: &[],
        flags: &["--no-pager", "--user", "--system", "-q", "--quiet"],
        other_valued: &["-H", "--host", "-M", "--machine", "--root"],
    },
    Globals {
        names: &["gcloud", "az", "pulumi"],
        valued: &["--project", "--format", "--output", "-o", "--subscription"],
        flags: &["--quiet", "-q"],
        other_valued: &["--account", "--configuration", "-C", "--cwd", "-s"],
    },
];

/// The words after the name, without options of the program itself.
pub(crate) struct Subcommand<'a> {
    pub words: Vec<&'a Word>,
    /// Whether all options left out are known to be harmless.
    pub is_plain: bool,
    /// Whether it is not certain where the subcommand starts.
    pub is_guessed: bool,
}

impl<'a> Site<'a> {
    /// The command's name, in lower case: on some file systems `RM` is `rm`.
    pub(crate) fn name(&self) -> String {
        self.command.name().unwrap_or_default().to_ascii_lowercase()
    }

    /// The literal arguments.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.command.arguments().iter().filter_map(Word::literal)
    }

    /// The arguments that are no options, after `--` all of them.
    pub(crate) fn operands(&self) -> Vec<&'a Word> {
        let mut rest = self.command.arguments().iter();
        let mut operands = Vec::new();
        for word in rest.by_ref() {
            if word.kind == Kind::Literal && word.text == "--" {
                break;
            }
            if !(word.text.starts_with('-') && word.text.len() > 1) {
                operands.push(word);
            }
        }
        operands.extend(rest);
        operands
    }

    pub(crate) fn subcommand(&self) -> Subcommand<'a> {
        let words = self.command.arguments();
        let name = self.name();
        let globals = GLOBALS
            .iter()
            .find(|one| one.names.contains(&name.as_str()));
        let mut found = Subcommand {
            words: words.iter().collect(),
            is_plain: true,
            is_guessed: false,
        };
        let Some(globals) = globals else {
            return found;
        };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if !word.text.starts_with('-') {
                break;
            }
            let (option, has_value) = match word.text.split_once('=') {
                Some((option, _)) => (option, true),
                None => (word.text.as_str(), false),
            };
            let is_valued = globals.valued.contains(&option);
            if is_valued || globals.other_valued.contains(&option) {
                at += usize::from(!has_value);
            }
            let is_plain = is_valued || globals.flags.contains(&option);
            let is_known = is_plain || globals.other_valued.contains(&option);
            found.is_plain &= is_plain && word.kind == Kind::Literal;
            found.is_guessed |= !is_known;
            at += 1;
        }
        found.words = words.get(at..).unwrap_or_default().iter().collect();
        found
    }

    /// The literal words that say what a program does: `["push", "origin"]`.
    pub(crate) fn verbs(&self) -> Vec<&'a str> {
        let words = self.subcommand().words.into_iter();
        words
            .filter(|word| !word.text.starts_with('-'))
            .filter_map(Word::literal)
            .collect()
    }

    pub(crate) fn has_option(&self, long: &[&str], letters: &str) -> bool {
        self.command.arguments().iter().any(|word| {
            let text = word.text.as_str();
            let key = text.split('=').next().unwrap_or(text);
            let is_cluster = text.starts_with('-') && !text.starts_with("--");
            long.contains(&key) || (is_cluster && text.contains(|letter| letters.contains(letter)))
        })
    }

    /// Whether the command certainly starts as a rule says.
    pub(crate) fn certainly_starts_with(&self, prefix: &[Vec<String>]) -> bool {
        let Some((names, rest)) = prefix.split_first() else {
            return true;
        };
        let Some(name) = self.command.words.first().and_then(Word::literal) else {
            return false;
        };
        let (directory, base) = name.rsplit_once('/').unwrap_or(("", name));
        let is_named = names.iter().any(|wanted| {
            if wanted.contains('/') {
                return wanted == name;
            }
            wanted == base && (directory.is_empty() || PROGRAM_DIRECTORIES.contains(&directory))
        });
        let fits = |words: &[&Word]| {
            words.len() >= rest.len()
                && rest.iter().zip(words).all(|(wanted, word)| {
                    word.literal()
                        .is_some_and(|text| wanted.iter().any(|one| one == text))
                })
        };
        let subcommand = self.subcommand();
        let written: Vec<&Word> = self.command.arguments().iter().collect();
        is_named && (fits(&written) || (subcommand.is_plain && fits(&subcommand.words)))
    }

    /// Whether the command may be what a rule means, in whatever spelling.
    pub(crate) fn possibly_starts_with(&self, prefix: &[Vec<String>]) -> bool {
        let Some((names, rest)) = prefix.split_first() else {
            return true;
        };
        let name = self.name();
        let is_named = names.iter().any(|wanted| {
            let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
            wanted.eq_ignore_ascii_case(&name)
        });
        if name.is_empty() || !is_named {
            return false;
        }
        let subcommand = self.subcommand();
        if subcommand.is_guessed {
            // In this order, with anything between.
            let mut words = self.command.arguments().iter();
            return rest
                .iter()
                .all(|wanted| words.any(|word| wanted.contains(&word.text)));
        }
        // Options may stand between the words, unless the rule names options itself.
        let names_options = rest.iter().flatten().any(|one| one.starts_with('-'));
        let starts = |words: Vec<&Word>| {
            words.len() >= rest.len()
                && rest
                    .iter()
                    .zip(words)
                    .all(|(wanted, word)| wanted.contains(&word.text))
        };
        let is_verb = |word: &&&Word| names_options || !word.text.starts_with('-');
        let written: Vec<&Word> = self.command.arguments().iter().collect();
        starts(subcommand.words.iter().filter(is_verb).copied().collect()) || starts(written)
    }
}
