//! The description of a command line: owned, comparable, without any trace of the parser.

/// A whole command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command that would run, outer before inner, in order of appearance.
    pub commands: Vec<Command>,
    /// Why the list may be incomplete or one of its members may do something else.
    pub concerns: Vec<Concern>,
}

impl Script {
    /// Whether the listed commands are certainly all that runs.
    pub fn is_understood(&self) -> bool {
        self.concerns.is_empty()
    }
}

/// One command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The name and the arguments; empty where a line only assigns or only redirects.
    pub words: Vec<Word>,
    /// `NAME=value` before the name.
    pub assignments: Vec<Assignment>,
    /// Its redirections, those of the groups around it included.
    pub redirects: Vec<Redirect>,
    /// How it is reached, outermost first; empty for a command of the line itself.
    pub via: Vec<Via>,
    /// Whether it does something by itself.
    pub role: Role,
    /// Whether nobody waits for it.
    pub is_background: bool,
    /// What it reads.
    pub input: Input,
    /// Whether arguments are added that nobody knows yet, as by `xargs`.
    pub has_unknown_arguments: bool,
}

impl Command {
    /// The name without its directory; none where it is not known or there is no command.
    pub fn name(&self) -> Option<&str> {
        let name = self.words.first()?.literal()?;
        name.rsplit('/').next()
    }

    /// The arguments.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The command as it could be typed, quoted where needed.
    pub fn text(&self) -> String {
        let words = self.words.iter().map(Word::quoted);
        let assignments = self
            .assignments
            .iter()
            .map(|assignment| format!("{}={}", assignment.name, assignment.value.quoted()));
        assignments.chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a command does something by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It does what its name says.
    #[default]
    Plain,
    /// It runs the commands that follow it in the list.
    Wrapper(Via),
}

/// How a command is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// With the rights of another user: `sudo`, `doas`, `su`.
    Elevation(String),
    /// Through a program that only runs it: `env`, `timeout`, `nice`, `nohup`, `time`, …
    Runner(String),
    /// With arguments from its input.
    Xargs,
    /// For the files that `find` finds.
    Find,
    /// By a shell: `sh -c`, a heredoc of a shell.
    Shell,
    /// By the shell itself, from text: `eval`, `trap`.
    Evaluation(String),
    /// On another machine.
    Ssh {
        /// The host as it was written, with the user.
        host: String,
    },
    /// In a container: `docker exec`, `kubectl exec`.
    Container(String),
    /// By git, for an alias.
    GitAlias,
}

impl Via {
    /// One word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Elevation(name) | Self::Runner(name) | Self::Evaluation(name) => name,
            Self::Container(name) => name,
            Self::Xargs => "xargs",
            Self::Find => "find",
            Self::Shell => "sh",
            Self::Ssh { .. } => "ssh",
            Self::GitAlias => "git alias",
        }
    }

    /// Whether it runs the command here, with the same rights and the arguments that are written.
    pub fn is_transparent(&self) -> bool {
        match self {
            // It creates the file that it locks.
            Self::Runner(name) => name != "flock",
            other => matches!(other, Self::Shell | Self::Xargs),
        }
    }
}

/// What a command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// What the line reads.
    #[default]
    Inherited,
    /// The output of the command before it.
    Pipe,
    /// This text, from a heredoc; none where it has expansions.
    Text(Option<String>),
}

/// How certain a word is, from certain to unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The text is the argument.
    #[default]
    Literal,
    /// The text starts with a home directory.
    Tilde,
    /// A pattern; it may become any number of names.
    Glob,
    /// Only known when it runs: variables, substitutions, arithmetic.
    Expansion,
}

/// A name or an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text after quotes are removed. Where it is not literal: its shape, with `$NAME` and
    /// `$()` in place of what is only known later.
    pub text: String,
    /// How certain it is.
    pub kind: Kind,
}

impl Word {
    /// A certain word.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: Kind::Literal,
        }
    }

    /// The argument, where it is certain.
    pub fn literal(&self) -> Option<&str> {
        (self.kind == Kind::Literal).then_some(self.text.as_str())
    }

    /// The word as it could be typed.
    pub fn quoted(&self) -> String {
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%".contains(letter);
        let needs_none = !self.text.is_empty() && self.text.chars().all(is_plain);
        if self.kind != Kind::Literal || needs_none {
            return self.text.clone();
        }
        format!("'{}'", self.text.replace('\'', "'\\''"))
    }
}

/// `NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// What a redirection does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// Reads the file.
    Read,
    /// Overwrites the file.
    Write,
    /// Adds to the file.
    Append,
    /// Copies or closes a descriptor; no file.
    Duplicate,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file.
    pub target: Word,
}

/// A reason to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// What kind.
    pub kind: ConcernKind,
    /// The words it is about.
    pub text: String,
}

/// What is not certain about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConcernKind {
    /// The line is too long, has too many commands, or nests too deep.
    TooLarge,
    /// It does not parse, or shells read it in different ways.
    Syntax,
    /// It has control characters, invisible characters or blanks that are none to a shell.
    OddCharacter,
    /// A command's name is not ASCII, so that it may only look like another.
    Lookalike,
    /// A command's name is only known when it runs.
    DynamicName,
    /// A program runs another one, and which one is not certain.
    DynamicCommand,
    /// Text or a file is run by the shell: `eval`, `source`, `trap`, `alias`.
    Evaluates,
    /// A variable that changes what other programs do.
    Variable,
    /// Arithmetic on variables, whose content a shell may run.
    Arithmetic,
    /// Code for an interpreter.
    InlineCode,
    /// A shell or an interpreter runs what it reads.
    RunsInput,
    /// An option of a program that runs another one, and it is not known.
    UnknownOption,
    /// Configuration of git that may start programs.
    Configuration,
}

impl ConcernKind {
    /// What an approver is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too large to be checked",
            Self::Syntax => "not understood",
            Self::OddCharacter => "invisible or control characters",
            Self::Lookalike => "a name that is not ASCII",
            Self::DynamicName => "the command is only known when it runs",
            Self::DynamicCommand => "what it runs is not certain",
            Self::Evaluates => "runs text or a file in the shell",
            Self::Variable => "sets a variable that changes what programs do",
            Self::Arithmetic => "arithmetic on variables",
            Self::InlineCode => "code for an interpreter",
            Self::RunsInput => "runs what it reads",
            Self::UnknownOption => "an unknown option of a program that runs others",
            Self::Configuration => "configuration that may start programs",
        }
    }
}
