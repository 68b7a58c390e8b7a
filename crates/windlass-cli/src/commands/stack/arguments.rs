//! Arguments that many commands share, and the input of an operation made from them.
//!
//! Flags are written in kebab case; their camel-case spelling works too. What was not given is
//! left out of the input, so that the operation's own defaults apply.

use clap::Args;
use serde_json::{Map, Value, json};
use windlass_text::shell_word;
use windlass_types::Problem;

// Which stack, where, as whom, for how long.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Stack options")]
pub(super) struct Target {
    /// The project. Default: `serviceName` of the config.
    #[arg(long, alias = "projectName", value_name = "NAME")]
    pub(super) project_name: Option<String>,
    /// The stage, at most 12 characters.
    #[arg(long, value_name = "STAGE")]
    pub(super) stage: Option<String>,
    /// The AWS region. Default: the profile's, or what the environment says.
    #[arg(long, value_name = "REGION")]
    pub(super) region: Option<String>,
    /// The AWS profile.
    #[arg(long, value_name = "PROFILE")]
    pub(super) profile: Option<String>,
    /// The config. Default: the first of stacktape.ts, .yml, .yaml, .js in the directory.
    #[arg(long, alias = "configPath", value_name = "FILE")]
    pub(super) config_path: Option<String>,
    /// The directory to work in. Default: this one.
    #[arg(long, alias = "currentWorkingDirectory", value_name = "DIR")]
    pub(super) current_working_directory: Option<String>,
    /// How long to wait at most.
    #[arg(long, alias = "timeoutSeconds", value_name = "SECONDS")]
    pub(super) timeout_seconds: Option<u64>,
}

impl Target {
    /// The stack's name, if the arguments determine it.
    pub(super) fn stack_name(&self) -> Option<String> {
        let (project, stage) = (self.project_name.as_ref()?, self.stage.as_ref()?);
        Some(format!("{project}-{stage}"))
    }
}

// A deployed stack, which its name alone identifies too.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Deployed {
    #[command(flatten)]
    pub(super) target: Target,
    /// The stack's name in CloudFormation, instead of project and stage.
    #[arg(
        long,
        alias = "stackName",
        value_name = "NAME",
        help_heading = "Stack options"
    )]
    pub(super) stack_name: Option<String>,
}

impl Deployed {
    pub(super) fn input(&self) -> Input {
        Input::new(&self.target).text("stackName", self.stack_name.as_deref())
    }

    /// What is typed to confirm something about the stack.
    pub(super) fn name(&self) -> Option<String> {
        self.stack_name.clone().or_else(|| self.target.stack_name())
    }
}

// The yes that destructive things need.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct Yes {
    /// Do it without asking. Nothing else implies this, `--agent` included.
    #[arg(long, short, alias = "confirm")]
    pub(super) yes: bool,
}

/// An operation and its input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) operation: &'static str,
    pub(super) input: Value,
}

/// The input of an operation in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Input(Map<String, Value>);

impl Input {
    pub(super) fn new(target: &Target) -> Self {
        Self::default()
            .text("projectName", target.project_name.as_deref())
            .text("stage", target.stage.as_deref())
            .text("region", target.region.as_deref())
            .text("profile", target.profile.as_deref())
            .text("configPath", target.config_path.as_deref())
            .text(
                "currentWorkingDirectory",
                target.current_working_directory.as_deref(),
            )
            .number("timeoutSeconds", target.timeout_seconds)
    }

    pub(super) fn text(self, key: &str, text: Option<&str>) -> Self {
        self.value(key, text.map(Value::from))
    }

    pub(super) fn number(self, key: &str, number: Option<u64>) -> Self {
        self.value(key, number.map(Value::from))
    }

    /// A flag; one that was not given is left out.
    pub(super) fn flag(self, key: &str, flag: bool) -> Self {
        self.value(key, flag.then_some(Value::Bool(true)))
    }

    pub(super) fn list(self, key: &str, items: &[String]) -> Self {
        self.value(key, (!items.is_empty()).then(|| json!(items)))
    }

    pub(super) fn value(mut self, key: &str, value: Option<Value>) -> Self {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value);
        }
        self
    }

    pub(super) fn request(self, operation: &'static str) -> Request {
        Request {
            operation,
            input: Value::Object(self.0),
        }
    }
}

/// Things that may be given by flag or by position: words fill what no flag has named, in order.
pub(super) fn filled<const COUNT: usize>(
    flags: [Option<&str>; COUNT],
    words: &[&Option<String>],
) -> Result<[Option<String>; COUNT], Problem> {
    let mut words = words.iter().filter_map(|word| word.as_deref());
    let filled = flags.map(|flag| flag.or_else(|| words.next()).map(str::to_owned));
    match words.next() {
        None => Ok(filled),
        Some(word) => Err(usage(format!(
            "unexpected argument '{word}': everything is already given"
        ))),
    }
}

/// Words of a command as one text for a shell that takes it apart again.
pub(super) fn joined(words: &[String]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

/// Arguments that make no sense together.
pub(super) fn usage(message: impl Into<String>) -> Problem {
    Problem::invalid("arguments", "usage", message)
        .with("reason", "usage")
        .next("repeat the command with --help")
}

/// JSON of a flag: as it is, `@FILE` to read a file, `-` to read standard input.
pub(super) fn json_flag(flag: &str, text: Option<&str>) -> Result<Option<Value>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let (origin, text) = match text.strip_prefix('@') {
        Some(path) => {
            let read = fs_err::read_to_string(path)
                .map_err(|error| usage(format!("{flag} cannot be read: {error}")))?;
            (path.to_owned(), read)
        }
        None if text == "-" => {
            let read = crate::commands::ops::read_stdin()?;
            ("standard input".to_owned(), read)
        }
        None => (flag.to_owned(), text.to_owned()),
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| usage(format!("{origin} is not JSON: {error}")))
}
