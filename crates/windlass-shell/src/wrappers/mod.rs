//! Programs that run other programs: which one, as far as the words say.

mod options;

use options::{CONTAINER, CONTAINER_EXEC, Lost, Options, RUNNERS, SSH, WATCH, XARGS};

use crate::{
    interpreters::SHELLS,
    model::{Assignment, Command, ConcernKind, Input, Kind, Via, Word},
};

/// What a command runs besides itself.
pub(crate) enum Runs {
    /// Nothing that is known of.
    Itself,
    /// A command, given as words.
    Command {
        via: Via,
        words: Vec<Word>,
        assignments: Vec<Assignment>,
        has_unknown_arguments: bool,
    },
    /// Several commands, given as words.
    Commands(Vec<(Via, Vec<Word>)>),
    /// A text that a shell reads, and what else is to be said about it.
    Text {
        via: Via,
        text: String,
        and: Option<(ConcernKind, String)>,
    },
    /// Something, but not certainly what.
    Unknown(ConcernKind, String),
}

impl Runs {
    pub(crate) fn via(&self) -> Option<&Via> {
        match self {
            Self::Command { via, .. } | Self::Text { via, .. } => Some(via),
            Self::Commands(inner) => inner.first().map(|(via, _)| via),
            Self::Itself | Self::Unknown(..) => None,
        }
    }

    fn command(via: Via, words: &[Word]) -> Self {
        Self::Command {
            via,
            words: words.to_vec(),
            assignments: Vec::new(),
            has_unknown_arguments: false,
        }
    }

    fn shell(via: Via, words: &[Word]) -> Self {
        let literals: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        match literals {
            Some(texts) => Self::Text {
                via,
                text: texts.join(" "),
                and: None,
            },
            None => Self::Unknown(ConcernKind::DynamicCommand, via.as_str().to_owned()),
        }
    }
}

/// What a command runs.
pub(crate) fn of(command: &Command) -> Runs {
    let words = command.words.as_slice();
    let Some(name) = command.name() else {
        return Runs::Itself;
    };
    // On some file systems the case of a program's name does not matter.
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    let found = match name {
        "env" | "genv" => env(words),
        "xargs" | "gxargs" => xargs(words),
        "find" | "gfind" => Ok(find(words)),
        "ssh" => ssh(words),
        "watch" => watch(words),
        "docker" | "podman" | "nerdctl" => container(words, name),
        "kubectl" | "oc" | "k3s" | "microk8s" => Ok(kubectl(words)),
        "git" => Ok(git(words)),
        "su" | "runuser" => Ok(switch_user(words)),
        "eval" => Ok(evaluation(words.get(1..).unwrap_or_default(), name)),
        "trap" => Ok(evaluation(words.get(1..2).unwrap_or_default(), name)),
        "flock" => Ok(flock(words)),
        "command"
            if words
                .get(1)
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) =>
        {
            Ok(Runs::Itself)
        }
        "parallel" | "script" | "entr" | "chroot" | "unshare" | "nsenter" | "strace" | "ltrace"
        | "gdb" | "systemd-run" | "at" | "batch" | "crontab" | "tmux" | "screen" | "proot"
        | "firejail" | "bwrap" | "npx" | "bunx" | "uvx" | "pipx" => {
            Err((ConcernKind::DynamicCommand, name.to_owned()))
        }
        _ if SHELLS.contains(&name) => shell(command),
        _ => runner(words, name),
    };
    found.unwrap_or_else(|(kind, about)| Runs::Unknown(kind, about))
}

/// Whether a program runs others, whatever its words are.
pub(crate) fn is_wrapper(command: &Command) -> bool {
    command.name().is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        let name = name.as_str();
        SHELLS.contains(&name)
            || RUNNERS.iter().any(|runner| runner.names.contains(&name))
            || matches!(
                name,
                "env" | "xargs" | "ssh" | "watch" | "flock" | "eval" | "find"
            )
    })
}

fn runner(words: &[Word], name: &str) -> Result<Runs, Lost> {
    let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&name)) else {
        return Ok(Runs::Itself);
    };
    let mut at = runner.options.end(words, 1)?;
    if let Some(operands) = words.get(at..at + runner.operands)
        && let Some(unknown) = operands.iter().find(|word| word.literal().is_none())
    {
        return Err((ConcernKind::DynamicCommand, unknown.text.clone()));
    }
    at += runner.operands;
    let via = if runner.elevates {
        Via::Elevation(name.to_owned())
    } else {
        Via::Runner(name.to_owned())
    };
    Ok(with_assignments(via, words, at))
}

/// A command after `NAME=value` words.
fn with_assignments(via: Via, words: &[Word], mut at: usize) -> Runs {
    let mut assignments = Vec::new();
    // `time` is a word of the shell, so assignments may follow it, too.
    let takes_assignments = match &via {
        Via::Elevation(_) => true,
        Via::Runner(name) => matches!(name.as_str(), "env" | "time"),
        _ => false,
    };
    let is_variable = |name: &str| {
        let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        !name.is_empty() && name.chars().all(is_letter)
    };
    if takes_assignments {
        while let Some(word) = words.get(at)
            && let Some((name, value)) = word.text.split_once('=')
            && is_variable(name)
        {
            let value = Word {
                text: value.to_owned(),
                kind: word.kind,
            };
            assignments.push(Assignment {
                name: name.to_owned(),
                value,
            });
            at += 1;
        }
    }
    match words.get(at..) {
        Some(inner) if !inner.is_empty() => Runs::Command {
            via,
            words: inner.to_vec(),
            assignments,
            has_unknown_arguments: false,
        },
        _ => Runs::Itself,
    }
}

fn env(words: &[Word]) -> Result<Runs, Lost> {
    const ENV: Options = Options {
        flags: "i0v",
        valued: "u",
        long: &["ignore-environment", "null", "debug"],
        long_valued: &["unset"],
    };
    // A dash alone empties the environment.
    let from = match words.get(1).and_then(Word::literal) {
        Some("-") => 2,
        _ => 1,
    };
    let at = ENV.end(words, from)?;
    Ok(with_assignments(Via::Runner("env".to_owned()), words, at))
}

fn xargs(words: &[Word]) -> Result<Runs, Lost> {
    // GNU takes the value of these only when it is attached, so the next word is the command.
    let mut at = 1;
    while let Some(text) = words.get(at).and_then(Word::literal)
        && (matches!(text, "-i" | "-e" | "-l") || text.starts_with("-i") || text.starts_with("-e"))
    {
        at += 1;
    }
    let at = XARGS.end(words, at)?;
    let mut inner = match words.get(at..).unwrap_or_default() {
        [] => vec![Word::plain("echo")],
        inner => inner.to_vec(),
    };
    if let Some(placeholder) = placeholder(words.get(..at).unwrap_or_default()) {
        for word in &mut inner {
            if word.text.contains(placeholder) {
                word.kind = Kind::Expansion;
            }
        }
    }
    Ok(Runs::Command {
        via: Via::Xargs,
        words: inner,
        assignments: Vec::new(),
        has_unknown_arguments: true,
    })
}

/// What `xargs` replaces by a line of its input.
fn placeholder(options: &[Word]) -> Option<&str> {
    let mut options = options.iter().map(|word| word.text.as_str());
    while let Some(option) = options.next() {
        let value = match option {
            "-I" | "-J" => options.next()?,
            "-i" | "--replace" => "{}",
            _ => option
                .strip_prefix("-I")
                .or_else(|| option.strip_prefix("-J"))
                .or_else(|| option.strip_prefix("-i"))
                .or_else(|| option.strip_prefix("--replace="))
                .unwrap_or_default(),
        };
        if !value.is_empty() {
            return Some(value);
        }
    }
    None
}

fn find(words: &[Word]) -> Runs {
    let mut inner = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut command: Vec<Word> = Vec::new();
        for word in rest.by_ref() {
            let ends = word.text == ";"
                || (word.text == "+" && command.last().is_some_and(|last| last.text == "{}"));
            if ends {
                break;
            }
            command.push(word.clone());
        }
        for word in &mut command {
            if word.text.contains("{}") {
                word.kind = Kind::Expansion;
            }
        }
        if !command.is_empty() {
            inner.push((Via::Find, command));
        }
    }
    match inner.as_slice() {
        [] => Runs::Itself,
        _ => Runs::Commands(inner),
    }
}

fn shell(command: &Command) -> Result<Runs, Lost> {
    let words = command.words.as_slice();
    let mut at = 1;
    let mut takes_code = false;
    let mut reads_input = false;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else {
            return Err((ConcernKind::DynamicCommand, word.text.clone()));
        };
        if matches!(text, "--" | "-") {
            at += 1;
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            match long {
                "login" | "norc" | "noprofile" | "posix" | "noediting" | "restricted" => at += 1,
                "version" | "help" => return Ok(Runs::Itself),
                _ => return Err((ConcernKind::UnknownOption, text.to_owned())),
            }
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else {
            break;
        };
        if let Some(unknown) = letters
            .chars()
            .find(|letter| !"abefhiklmnprstuvxBCEPocs".contains(*letter))
        {
            return Err((ConcernKind::UnknownOption, format!("-{unknown}")));
        }
        takes_code |= text.starts_with('-') && letters.contains('c');
        reads_input |= letters.contains('s');
        at += 1;
        at += letters.matches('o').count();
    }
    if takes_code {
        return match words.get(at) {
            Some(code) => Ok(Runs::shell(Via::Shell, std::slice::from_ref(code))),
            None => Err((ConcernKind::RunsInput, command.text())),
        };
    }
    if words.get(at).is_some() && !reads_input {
        // A script, which nobody has read.
        return Err((ConcernKind::DynamicCommand, command.text()));
    }
    match &command.input {
        Input::Text(Some(text)) => Ok(Runs::Text {
            via: Via::Shell,
            text: text.clone(),
            and: None,
        }),
        _ => Err((ConcernKind::RunsInput, command.text())),
    }
}

fn ssh(words: &[Word]) -> Result<Runs, Lost> {
    let host_at = SSH.end(words, 1)?;
    for (index, word) in words.get(..host_at).unwrap_or_default().iter().enumerate() {
        // Options may start programs here.
        let value = match word.text.strip_prefix("-o") {
            Some("") => words.get(index + 1).map_or("", |next| next.text.as_str()),
            Some(value) => value,
            None if word.text.starts_with("-F") || word.text.starts_with("-E") => {
                return Err((ConcernKind::UnknownOption, word.text.clone()));
            }
            None => continue,
        };
        let name = value
            .split(['=', ' '])
            .next()
            .unwrap_or(value)
            .to_ascii_lowercase();
        if !matches!(
            name.as_str(),
            "batchmode"
                | "connecttimeout"
                | "connectionattempts"
                | "port"
                | "user"
                | "loglevel"
                | "serveraliveinterval"
                | "serveralivecountmax"
                | "identitiesonly"
                | "requesttty"
        ) {
            return Err((ConcernKind::UnknownOption, value.to_owned()));
        }
    }
    let Some(host) = words.get(host_at) else {
        return Ok(Runs::Itself);
    };
    let Some(name) = host.literal() else {
        return Err((ConcernKind::DynamicCommand, host.text.clone()));
    };
    let via = Via::Ssh {
        host: name.to_owned(),
    };
    // Options may follow the host.
    let at = SSH.end(words, host_at + 1)?;
    match words.get(at..) {
        Some([]) | None => Err((ConcernKind::RunsInput, format!("ssh {name}"))),
        Some(rest) => Ok(Runs::shell(via, rest)),
    }
}

fn watch(words: &[Word]) -> Result<Runs, Lost> {
    let at = WATCH.end(words, 1)?;
    Ok(match words.get(at..) {
        Some([]) | None => Runs::Itself,
        Some(rest) => Runs::shell(Via::Runner("watch".to_owned()), rest),
    })
}

fn container(words: &[Word], name: &str) -> Result<Runs, Lost> {
    let mut at = CONTAINER.end(words, 1).unwrap_or(words.len());
    let is = |at: usize, text: &str| words.get(at).is_some_and(|word| word.text == text);
    if is(at, "container") || is(at, "compose") {
        at += 1;
    }
    if !is(at, "exec") {
        return Ok(Runs::Itself);
    }
    let at = CONTAINER_EXEC.end(words, at + 1)?;
    // The container's name, then the command.
    Ok(match words.get(at + 1..) {
        Some(inner) if !inner.is_empty() => {
            Runs::command(Via::Container(format!("{name} exec")), inner)
        }
        _ => Runs::Itself,
    })
}

fn kubectl(words: &[Word]) -> Runs {
    let is_exec = words.iter().skip(1).any(|word| word.text == "exec");
    if !is_exec {
        return Runs::Itself;
    }
    let inner = words.iter().position(|word| word.text == "--");
    match inner.and_then(|at| words.get(at + 1..)) {
        Some(inner) if !inner.is_empty() => {
            Runs::command(Via::Container("kubectl exec".to_owned()), inner)
        }
        // An old spelling puts the command behind the name of the pod.
        _ => Runs::Unknown(ConcernKind::DynamicCommand, "kubectl exec".to_owned()),
    }
}

/// Keys of git's configuration that only change how output looks.
const PLAIN_GIT_KEYS: [&str; 10] = [
    "color.",
    "advice.",
    "user.name",
    "user.email",
    "core.quotepath",
    "log.",
    "init.defaultbranch",
    "core.abbrev",
    "column.ui",
    "gc.auto",
];

fn git(words: &[Word]) -> Runs {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        let value = match text {
            "-c" => {
                at += 1;
                words.get(at)
            }
            "--exec-path" | "--config-env" => {
                return Runs::Unknown(ConcernKind::Configuration, text.to_owned());
            }
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => {
                at += 2;
                continue;
            }
            _ if text.starts_with("--exec-path=") || text.starts_with("--config-env=") => {
                return Runs::Unknown(ConcernKind::Configuration, text.to_owned());
            }
            _ if text.starts_with('-') => {
                at += 1;
                continue;
            }
            _ => break,
        };
        at += 1;
        let setting = value.map_or("", |word| word.text.as_str());
        let is_literal = value.is_some_and(|word| word.kind == Kind::Literal);
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let key = key.to_ascii_lowercase();
        let configuration = (ConcernKind::Configuration, setting.to_owned());
        if let (true, Some(text)) = (
            key.starts_with("alias.") && is_literal,
            value.strip_prefix('!'),
        ) {
            return Runs::Text {
                via: Via::GitAlias,
                text: text.to_owned(),
                and: Some(configuration),
            };
        }
        let is_plain = PLAIN_GIT_KEYS.iter().any(|plain| key.starts_with(plain));
        if !is_plain || !is_literal {
            return Runs::Unknown(configuration.0, configuration.1);
        }
    }
    Runs::Itself
}

fn switch_user(words: &[Word]) -> Runs {
    let code = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "-c" | "--command"));
    let name = words.first().map_or("", |word| word.text.as_str());
    match code.and_then(|at| words.get(at + 1)) {
        Some(code) => Runs::shell(Via::Elevation(name.to_owned()), std::slice::from_ref(code)),
        None => Runs::Unknown(ConcernKind::RunsInput, name.to_owned()),
    }
}

fn evaluation(words: &[Word], name: &str) -> Runs {
    match Runs::shell(Via::Evaluation(name.to_owned()), words) {
        Runs::Text { text, .. } if text.is_empty() => Runs::Itself,
        runs => runs,
    }
}

fn flock(words: &[Word]) -> Runs {
    let code = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "-c" | "--command"));
    match code.and_then(|at| words.get(at + 1)) {
        Some(code) => Runs::shell(Via::Runner("flock".to_owned()), std::slice::from_ref(code)),
        None => {
            let at = words
                .iter()
                .skip(1)
                .position(|word| !word.text.starts_with('-'));
            match at.and_then(|at| words.get(at + 2..)) {
                Some(inner) if !inner.is_empty() => {
                    Runs::command(Via::Runner("flock".to_owned()), inner)
                }
                _ => Runs::Itself,
            }
        }
    }
}
