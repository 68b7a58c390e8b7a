//! Reads the keys of rules about tools, as strictly as the others, and tries their examples.

use regex::RegexBuilder;
use serde::Deserialize;
use toml::Spanned;
use windlass_config::FileError;
use windlass_shell::{Script, parse};
use windlass_types::{Principal, Timestamp};

use crate::{
    decide::Answer,
    glob::Glob,
    parse::{RuleFile, Source},
    tools::{
        Attendance, Case, Extent, Guard, Mode, Place, Profile, Redirects, Sandbox,
        TOOL_OF_COMMANDS, Taint, ToolClass, ToolRequest, ToolRule,
    },
};

/// A compiled pattern larger than that is a mistake.
const MAX_PATTERN_SIZE: usize = 1 << 20;

/// One word of a prefix, or its alternatives.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "each element of a prefix is a word or a list of words"
)]
pub(crate) enum PrefixWord {
    One(String),
    Any(Vec<String>),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RedirectWord {
    None,
    Workspace,
}

/// A moment, with or without quotes.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expires is an RFC 3339 time")]
pub(crate) enum Expires {
    Text(String),
    Moment(toml::value::Datetime),
}

impl Source<'_> {
    /// The rule about tools that a rule of the file is, if it is one.
    pub(crate) fn tool_rule(
        &self,
        written: &Spanned<RuleFile>,
    ) -> Result<Option<ToolRule>, FileError> {
        let file = written.get_ref();
        let names_tools = file.tool.is_some()
            || file.prefix.is_some()
            || file.guard.is_some()
            || file.hosts.is_some();
        if !names_tools {
            self.no_keys_of_tools(file)?;
            return Ok(None);
        }
        if let Some(operation) = &file.operation {
            let hint = "split it into two rules";
            return Err(self
                .error(
                    operation,
                    "a rule is about operations or about tools, not both",
                )
                .hint(hint));
        }
        if let Some(example) = file.examples.first() {
            return Err(self
                .error(example, "examples are requests for operations")
                .hint("write match = [\"COMMAND\"] and not_match = [\"COMMAND\"]"));
        }
        let rule = self.read_tool_rule(written)?;
        self.fits_decision(file, &rule)?;
        self.needs_reason(written, &rule)?;
        self.try_examples(file, &rule)?;
        Ok(Some(rule))
    }

    /// Keys that mean nothing without a tool must not be taken for a restriction.
    fn no_keys_of_tools(&self, file: &RuleFile) -> Result<(), FileError> {
        let place = |given: Option<std::ops::Range<usize>>, key: &'static str| {
            given.map(|span| (span.start, key))
        };
        let found = [
            place(file.args_deny.as_ref().map(Spanned::span), "args_deny"),
            place(
                file.dynamic_args.as_ref().map(Spanned::span),
                "dynamic_args",
            ),
            place(file.env_allow.as_ref().map(Spanned::span), "env_allow"),
            place(file.redirect.as_ref().map(Spanned::span), "redirect"),
            place(file.project.as_ref().map(Spanned::span), "project"),
            place(file.expires.as_ref().map(Spanned::span), "expires"),
            place(
                file.always_human.as_ref().map(Spanned::span),
                "always_human",
            ),
            place(file.matching.first().map(Spanned::span), "match"),
            place(file.not_matching.first().map(Spanned::span), "not_match"),
        ];
        match found.into_iter().flatten().next() {
            Some((start, key)) => {
                let message = format!("{key} belongs to a rule about tools");
                Err(FileError::at(self.file_name, self.text, start, message)
                    .hint("name a tool, a prefix, hosts or a guard"))
            }
            None => Ok(()),
        }
    }

    fn read_tool_rule(&self, written: &Spanned<RuleFile>) -> Result<ToolRule, FileError> {
        let file = written.get_ref();
        let guard = match &file.guard {
            Some(name) => Some(self.guard(name)?),
            None => None,
        };
        let tool = match &file.tool {
            Some(name) => Some(self.tool(name)?),
            None => None,
        };
        Ok(ToolRule {
            id: self.id(file)?,
            place: self.place(written),
            tool,
            prefix: self.prefix(file)?,
            args_deny: self.args_deny(file)?,
            dynamic_args: file
                .dynamic_args
                .as_ref()
                .is_some_and(|given| *given.get_ref()),
            env_allow: self.globs(file.env_allow.as_ref(), Glob::name)?,
            redirect: match file.redirect.as_ref().map(|given| *given.get_ref()) {
                Some(RedirectWord::Workspace) => Redirects::Workspace,
                _ => Redirects::None,
            },
            hosts: self.globs(file.hosts.as_ref(), Glob::name)?,
            project: self.project(file)?,
            expires: self.expires(file)?,
            guard,
            principal: self.glob(file.principal.as_ref(), Glob::principal)?,
            target: self.glob(file.target.as_ref(), Glob::path)?,
            effect: file.effect,
            answer: file.decision,
            approvers: match &file.approvers {
                Some(approvers) => Some(self.approvers(approvers)?),
                None => None,
            },
            quorum: file.quorum.as_ref().map_or(1, |quorum| *quorum.get_ref()),
            distinct_approver: file
                .distinct_approver
                .as_ref()
                .is_some_and(|distinct| *distinct.get_ref()),
            is_always_human: file
                .always_human
                .as_ref()
                .is_some_and(|given| *given.get_ref()),
            reason: self.reason(file),
        })
    }

    fn id(&self, file: &RuleFile) -> Result<Option<String>, FileError> {
        let Some(id) = &file.id else {
            return Ok(None);
        };
        let text = id.get_ref();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if text.is_empty() || text.len() > 64 || !text.chars().all(is_name) {
            return Err(self.error(
                id,
                "an id has 1 to 64 letters, digits, dots, dashes and underscores",
            ));
        }
        Ok(Some(text.clone()))
    }

    fn guard(&self, name: &Spanned<String>) -> Result<Guard, FileError> {
        let found = Guard::ALL
            .into_iter()
            .find(|guard| guard.as_str() == name.get_ref());
        found.ok_or_else(|| {
            let known = Guard::ALL.map(Guard::as_str).join(", ");
            self.error(name, format!("`{}` is not a guard", name.get_ref()))
                .hint(format!("guards are {known}"))
        })
    }

    /// Older names of Windlass's own tools carry the name of a server.
    fn tool(&self, name: &Spanned<String>) -> Result<Glob, FileError> {
        let text = name.get_ref();
        let own = ["windlass__", "stakpak__"]
            .iter()
            .find_map(|server| text.strip_prefix(server))
            .unwrap_or(text);
        Glob::name(own).map_err(|message| self.error(name, message))
    }

    fn prefix(&self, file: &RuleFile) -> Result<Option<Vec<Vec<String>>>, FileError> {
        let Some(written) = &file.prefix else {
            return Ok(None);
        };
        let mut prefix = Vec::new();
        for word in written.get_ref() {
            let words = match word {
                PrefixWord::One(word) => vec![word.clone()],
                PrefixWord::Any(words) => words.clone(),
            };
            let is_bad = |word: &String| word.is_empty() || word.contains(char::is_whitespace);
            if words.is_empty() || words.iter().any(is_bad) {
                return Err(self
                    .error(
                        written,
                        "each element of a prefix is one word or a list of words",
                    )
                    .hint("write prefix = [\"kubectl\", [\"get\", \"describe\"]]"));
            }
            prefix.push(words);
        }
        if prefix.is_empty() {
            return Err(self
                .error(written, "the prefix is empty")
                .hint("leave the key out to match every command"));
        }
        Ok(Some(prefix))
    }

    fn args_deny(&self, file: &RuleFile) -> Result<Option<regex::Regex>, FileError> {
        let Some(pattern) = &file.args_deny else {
            return Ok(None);
        };
        RegexBuilder::new(pattern.get_ref())
            .size_limit(MAX_PATTERN_SIZE)
            .build()
            .map(Some)
            .map_err(|error| {
                let text = error.to_string();
                let cause = text.lines().last().unwrap_or_default().trim().to_owned();
                self.error(
                    pattern,
                    format!("args_deny is not a regular expression: {cause}"),
                )
            })
    }

    fn globs(
        &self,
        written: Option<&Spanned<Vec<String>>>,
        read: fn(&str) -> Result<Glob, String>,
    ) -> Result<Vec<Glob>, FileError> {
        let Some(written) = written else {
            return Ok(Vec::new());
        };
        if written.get_ref().is_empty() {
            return Err(self
                .error(written, "the list is empty")
                .hint("leave the key out"));
        }
        let globs = written.get_ref().iter().map(|text| read(text));
        globs
            .collect::<Result<_, _>>()
            .map_err(|message| self.error(written, message))
    }

    fn project(&self, file: &RuleFile) -> Result<Option<String>, FileError> {
        let Some(project) = &file.project else {
            return Ok(None);
        };
        if !project.get_ref().starts_with('/') || project.get_ref().contains('*') {
            return Err(self.error(project, "project is the absolute path of a directory"));
        }
        Ok(Some(project.get_ref().clone()))
    }

    fn expires(&self, file: &RuleFile) -> Result<Option<Timestamp>, FileError> {
        let Some(written) = &file.expires else {
            return Ok(None);
        };
        let text = match written.get_ref() {
            Expires::Text(text) => text.clone(),
            Expires::Moment(moment) => moment.to_string(),
        };
        text.parse().map(Some).map_err(|_| {
            self.error(written, format!("`{text}` is not an RFC 3339 time"))
                .hint("write expires = \"2027-01-31T00:00:00Z\"")
        })
    }

    /// Keys that widen belong to rules that allow, the ones about approvers to rules that ask.
    fn fits_decision(&self, file: &RuleFile, rule: &ToolRule) -> Result<(), FileError> {
        let only_allow = |start: usize, key: &str| {
            let message = format!("{key} matters only where the decision is \"allow\"");
            Err(FileError::at(self.file_name, self.text, start, message)
                .hint("remove the key or change the decision"))
        };
        if rule.answer != Answer::Allow {
            if let Some(given) = &file.env_allow {
                return only_allow(given.span().start, "env_allow");
            }
            if let Some(given) = &file.redirect {
                return only_allow(given.span().start, "redirect");
            }
            if let Some(given) = &file.dynamic_args {
                return only_allow(given.span().start, "dynamic_args");
            }
        }
        match &file.always_human {
            Some(given) if rule.answer != Answer::Ask => Err(self
                .error(
                    given,
                    "always_human matters only where the decision is \"ask\"",
                )
                .hint("remove the key or change the decision")),
            _ => Ok(()),
        }
    }

    fn needs_reason(&self, written: &Spanned<RuleFile>, rule: &ToolRule) -> Result<(), FileError> {
        let is_wide = rule.prefix.is_none()
            && rule
                .tool
                .as_ref()
                .is_none_or(|tool| tool.matches(TOOL_OF_COMMANDS));
        let needs = rule.answer == Answer::Allow && (rule.guard.is_some() || is_wide);
        if needs && rule.reason.is_none() {
            let what = match rule.guard {
                Some(guard) => format!("a rule that lifts the guard {}", guard.as_str()),
                None => "a rule that allows every command".to_owned(),
            };
            return Err(self
                .error(written, format!("{what} needs a reason"))
                .hint("add reason = \"…\""));
        }
        Ok(())
    }

    fn try_examples(&self, file: &RuleFile, rule: &ToolRule) -> Result<(), FileError> {
        for example in &file.matching {
            if let Err(cause) = fits_example(rule, example.get_ref()) {
                let message = format!(
                    "the rule does not match its own example `{}`: {cause}",
                    example.get_ref()
                );
                return Err(self
                    .error(example, message)
                    .hint("correct the rule or the example"));
            }
        }
        for example in &file.not_matching {
            if fits_example(rule, example.get_ref()).is_ok() {
                let message = format!(
                    "the rule matches `{}`, which its not_match excludes",
                    example.get_ref()
                );
                return Err(self
                    .error(example, message)
                    .hint("correct the rule or the example"));
            }
        }
        Ok(())
    }
}

/// Whether a rule is about a command line, in a work tree of its project.
fn fits_example(rule: &ToolRule, line: &str) -> Result<(), String> {
    let script = parse(line);
    let principal = Principal::local("example");
    let tree = rule.project.as_deref().unwrap_or("/work");
    let request = example_request(&script, &principal, tree);
    let case = Case::of(&request);
    if rule.answer != Answer::Allow {
        let touched = case
            .sites
            .iter()
            .enumerate()
            .any(|(index, site)| rule.touches(site, &case.findings, index));
        return touched
            .then_some(())
            .ok_or_else(|| "no command of it is meant".to_owned());
    }
    if let Some(concern) = script.concerns.first() {
        return Err(format!("{}: {}", concern.kind.as_str(), concern.text));
    }
    if case.sites.is_empty() {
        return Err("it has no command".to_owned());
    }
    for (index, site) in case.judged() {
        let is_guarded = rule.guard.is_none_or(|guard| {
            case.findings
                .iter()
                .any(|finding| finding.guard == guard && finding.is_about(index))
        });
        if !is_guarded {
            return Err("the guard finds nothing in it".to_owned());
        }
        rule.gap(site)
            .map_err(|cause| format!("{cause}: {}", site.command.text()))?;
    }
    Ok(())
}

fn example_request<'a>(
    script: &'a Script,
    principal: &'a Principal,
    tree: &'a str,
) -> ToolRequest<'a> {
    ToolRequest {
        tool: TOOL_OF_COMMANDS,
        class: ToolClass::Exec,
        script: Some(script),
        paths: &[],
        hosts: &[],
        principal,
        mode: Mode::Ask,
        profile: Profile::Default,
        attendance: Attendance::Attended,
        taint: Taint::Clean,
        sandbox: Sandbox::Off,
        place: Place {
            work_tree: tree,
            directory: tree,
            home: "/home/example",
            own_home: "/home/example/.windlass",
            scratch: &[],
        },
        extent: Extent::default(),
        grants: &[],
        now: Timestamp::EPOCH,
    }
}
