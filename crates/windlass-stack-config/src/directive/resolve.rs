//! Directives replaced by what they stand for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;
use windlass_text::suggest;
use windlass_types::Problem;

use super::runtime::{as_text, fill, runtime, text_argument};
use super::syntax::{self, Argument, Directive, Part};
use super::{BUILT_IN, Context, CustomCall, files, git};
use crate::arguments::to_camel;
use crate::fault::{Fault, FaultKind};
use crate::tree::{Entry, Kind, Node, Path, Span};
use crate::value::{Runtime, Text};

/// How often a directive may lead to another.
const MAX_NESTING: usize = 16;
/// How much may come out: a byte of text counts 1, a value 16.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Why a directive has no value.
pub(super) struct Trouble {
    message: String,
    suggestion: Option<String>,
}

impl From<String> for Trouble {
    fn from(message: String) -> Self {
        Self {
            message,
            suggestion: None,
        }
    }
}

pub(super) type Resolved<T> = Result<T, Trouble>;

/// Replaces the directives of one config.
pub(crate) struct Resolver<'a> {
    root: &'a Node,
    context: &'a Context<'a>,
    custom: BTreeMap<String, String>,
    files: BTreeMap<String, Rc<Node>>,
    nesting: usize,
    output: usize,
    overflowed: bool,
    /// What was found wrong.
    pub faults: Vec<Fault>,
    /// The first lookup that failed.
    pub problem: Option<Problem>,
}

impl<'a> Resolver<'a> {
    pub fn new(root: &'a Node, context: &'a Context<'a>) -> Self {
        let custom = root
            .get("directives")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(|item| {
                let name = item.get("name")?.text()?;
                let file = item.get("filePath")?.text()?;
                Some((name.to_owned(), file.to_owned()))
            })
            .collect();
        Self {
            root,
            context,
            custom,
            files: BTreeMap::new(),
            nesting: 0,
            output: 0,
            overflowed: false,
            faults: Vec::new(),
            problem: None,
        }
    }

    /// The value with every directive in it replaced.
    pub fn resolve(&mut self, node: &Node, path: &Path) -> Node {
        self.output += 16;
        if self.overflows(node.span, path) {
            return Node::new(node.span, Kind::Broken);
        }
        match &node.kind {
            Kind::String(text) if text.contains('$') => match self.text(text, node.span, path) {
                Ok(resolved) => resolved,
                Err(trouble) => {
                    self.faults.push(
                        Fault::new(FaultKind::Directive, node.span, path, trouble.message)
                            .suggest(trouble.suggestion),
                    );
                    Node::new(node.span, Kind::Broken)
                }
            },
            Kind::String(text) => {
                self.output += text.len();
                node.clone()
            }
            Kind::List(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.resolve(item, &path.index(index)))
                    .collect();
                Node::new(node.span, Kind::List(items))
            }
            Kind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|entry| Entry {
                        key: entry.key.clone(),
                        key_span: entry.key_span,
                        value: self.resolve(&entry.value, &path.key(&entry.key)),
                    })
                    .collect();
                Node::new(node.span, Kind::Map(entries))
            }
            _ => node.clone(),
        }
    }

    /// Whether too much came out already. It is said once.
    fn overflows(&mut self, span: Option<Span>, path: &Path) -> bool {
        if self.output <= MAX_OUTPUT {
            return false;
        }
        if !std::mem::replace(&mut self.overflowed, true) {
            let message = format!("directives expand to more than {MAX_OUTPUT} bytes");
            self.faults
                .push(Fault::new(FaultKind::Directive, span, path, message));
        }
        true
    }

    fn text(&mut self, text: &str, span: Option<Span>, path: &Path) -> Resolved<Node> {
        let custom = &self.custom;
        let is_known = |name: &str| {
            custom.contains_key(name) || BUILT_IN.iter().any(|(known, _)| *known == name)
        };
        let parts = syntax::parse(text, &is_known).map_err(|error| Trouble {
            message: error.message,
            suggestion: error.suggestion,
        })?;
        if let [Part::Directive(directive)] = parts.as_slice() {
            return Ok(self.evaluate(directive, span, path)?.moved(span));
        }
        let mut pieces = Vec::new();
        for part in &parts {
            match part {
                Part::Text(text) => pieces.push(Text::Literal(text.clone())),
                Part::Directive(directive) => {
                    let value = self.evaluate(directive, span, path)?;
                    if value.is_broken() {
                        return Ok(Node::new(span, Kind::Broken));
                    }
                    pieces.push(as_text(&value, &format!("${}", directive.name))?);
                }
            }
        }
        Ok(self.joined(pieces, span))
    }

    /// A text, or a runtime value when one of its pieces is.
    fn joined(&mut self, pieces: Vec<Text>, span: Option<Span>) -> Node {
        let mut parts: Vec<Text> = Vec::new();
        for piece in pieces {
            let flat = match piece {
                Text::Runtime(runtime) => match *runtime {
                    Runtime::CfFormat { parts } => parts,
                    other => vec![other.into()],
                },
                literal @ Text::Literal(_) => vec![literal],
            };
            for piece in flat {
                match (parts.last_mut(), piece) {
                    (Some(Text::Literal(last)), Text::Literal(text)) => last.push_str(&text),
                    (_, Text::Literal(text)) if text.is_empty() => {}
                    (_, piece) => parts.push(piece),
                }
            }
        }
        let kind = match parts.as_slice() {
            [] => Kind::String(String::new()),
            [Text::Literal(text)] => {
                self.output += text.len();
                Kind::String(text.clone())
            }
            [Text::Runtime(runtime)] => Kind::Runtime(runtime.clone()),
            _ => Kind::Runtime(Box::new(Runtime::CfFormat { parts })),
        };
        Node::new(span, kind)
    }

    fn evaluate(
        &mut self,
        directive: &Directive,
        span: Option<Span>,
        path: &Path,
    ) -> Resolved<Node> {
        if self.nesting == MAX_NESTING {
            return Err(format!(
                "{directive} leads to itself, or through more than {MAX_NESTING} directives"
            )
            .into());
        }
        if self.overflows(span, path) {
            return Ok(Node::new(span, Kind::Broken));
        }
        self.nesting += 1;
        let value = self.answer(directive, span, path);
        self.nesting -= 1;
        value
    }

    fn answer(&mut self, directive: &Directive, span: Option<Span>, path: &Path) -> Resolved<Node> {
        let name = directive.name.as_str();
        if !self.custom.contains_key(name) {
            self.check_count(directive)?;
        }
        let mut arguments = Vec::new();
        for argument in &directive.arguments {
            arguments.push(match argument {
                Argument::Text(text) => Node::new(span, Kind::String(text.clone())),
                Argument::Number(number) => Node::new(span, Kind::Number(number.clone())),
                Argument::Bool(flag) => Node::new(span, Kind::Bool(*flag)),
                Argument::Directive(inner) => self.evaluate(inner, span, path)?,
            });
        }
        if arguments.iter().any(Node::is_broken) {
            return Ok(Node::new(span, Kind::Broken));
        }
        if name == "CfFormat" {
            let pieces = fill(name, &arguments)?;
            return Ok(self.joined(pieces, span));
        }
        if let Some(runtime) = arguments.iter().find_map(|argument| match &argument.kind {
            Kind::Runtime(runtime) => Some(runtime),
            _ => None,
        }) {
            return Err(Trouble {
                message: format!(
                    "${} is known only after the deploy, so ${name} cannot use it",
                    runtime.directive()
                ),
                suggestion: (name == "Format").then(|| "use $CfFormat".to_owned()),
            });
        }
        let context = self.context;
        match name {
            "Stage" => known(&context.stage, "stage", span),
            "Region" => known(&context.region, "region", span),
            "Profile" => known(&context.profile, "profile", span),
            "AwsAccountId" => {
                let answer = context.lookups.account_id().map(Value::String);
                Ok(self.asked(answer, span))
            }
            "Format" => {
                let pieces = fill(name, &arguments)?;
                Ok(self.joined(pieces, span))
            }
            "CliArgs" => {
                let key = text_argument(directive, &arguments, 0)?;
                let value = context
                    .arguments
                    .get(&to_camel(&key))
                    .or_else(|| context.arguments.get(&key));
                let value = match (value, arguments.get(1)) {
                    (Some(value), _) => Node::from_json(value.clone(), span),
                    (None, Some(default)) => default.clone(),
                    (None, None) => {
                        return Err(Trouble {
                            message: format!("the argument {key} was not given"),
                            suggestion: Some(format!(
                                "give it, or a default: $CliArgs('{key}', …)"
                            )),
                        });
                    }
                };
                self.walk(&value, directive, path)
            }
            "File" => {
                let file = text_argument(directive, &arguments, 0)?;
                let node = match self.files.get(&file) {
                    Some(node) => Rc::clone(node),
                    None => {
                        let node = Rc::new(files::parse(&file, &self.read(&file)?)?);
                        self.files.insert(file, Rc::clone(&node));
                        node
                    }
                };
                self.walk(&node, directive, path)
            }
            "FileRaw" => {
                let text = self.read(&text_argument(directive, &arguments, 0)?)?;
                self.output += text.len();
                Ok(Node::new(span, Kind::String(text)))
            }
            "Var" => match self.root.get("variables") {
                Some(variables) => self.walk(variables, directive, path),
                None => Err("the config has no variables".to_owned().into()),
            },
            "This" => self.walk(self.root, directive, path),
            "GitInfo" => self.git_info(directive, &arguments, span),
            "StackOutput" => {
                let stack = text_argument(directive, &arguments, 0)?;
                let output = text_argument(directive, &arguments, 1)?;
                let region = match arguments.len() {
                    3 => Some(text_argument(directive, &arguments, 2)?),
                    _ => None,
                };
                let answer = context
                    .lookups
                    .stack_output(&stack, &output, region.as_deref());
                Ok(self.asked(answer, span))
            }
            _ => match runtime(directive, &arguments)? {
                Some(runtime) => Ok(Node::new(span, Kind::Runtime(Box::new(runtime)))),
                None => self.custom(directive, &arguments, span, path),
            },
        }
    }

    /// How many arguments a built-in directive takes.
    fn check_count(&self, directive: &Directive) -> Resolved<()> {
        let name = directive.name.as_str();
        let Some((_, signature)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            let known = BUILT_IN
                .iter()
                .map(|(known, _)| *known)
                .chain(self.custom.keys().map(String::as_str));
            return Err(Trouble {
                message: format!("there is no directive ${name}"),
                suggestion: suggest::nearest(name, known)
                    .map(|known| format!("did you mean ${known}?")),
            });
        };
        let (least, most) = match name {
            "CfFormat" | "Format" => (1, usize::MAX),
            "CliArgs" => (1, 2),
            "SsmParam" => (1, 2),
            "StackOutput" => (2, 3),
            "GitInfo" => (0, 1),
            _ => {
                let count = signature.split_terminator(", ").count();
                (count, count)
            }
        };
        let count = directive.arguments.len();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let given = match count {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        Err(Trouble {
            message: if most == 0 {
                format!("${name} takes no arguments, {given} given")
            } else {
                format!("${name} takes other arguments, {given} given")
            },
            suggestion: Some(format!("write ${name}({signature})")),
        })
    }

    fn read(&self, file: &str) -> Resolved<String> {
        Ok(files::read(
            &self.context.config_directory,
            &self.context.project_root,
            file,
            self.context.allowed.files_outside_project,
        )?)
    }

    /// Follows a directive's path into a value, replacing directives on the way.
    fn walk(&mut self, value: &Node, directive: &Directive, path: &Path) -> Resolved<Node> {
        let mut node = Cow::Borrowed(value);
        for key in &directive.path {
            if matches!(node.kind, Kind::String(_)) {
                node = Cow::Owned(self.resolve(&node, path));
            }
            if matches!(node.kind, Kind::Broken) {
                return Ok(node.into_owned());
            }
            node = match node {
                Cow::Borrowed(node) => Cow::Borrowed(step(node, key, directive)?),
                Cow::Owned(node) => Cow::Owned(step(&node, key, directive)?.clone()),
            };
        }
        Ok(self.resolve(&node, path))
    }

    fn git_info(
        &mut self,
        directive: &Directive,
        arguments: &[Node],
        span: Option<Span>,
    ) -> Resolved<Node> {
        let property = match (arguments, directive.path.as_slice()) {
            ([argument], []) => argument.text().unwrap_or_default().to_owned(),
            ([], [key]) => key.clone(),
            _ => {
                return Err(
                    format!("{directive}: name one of {}", git::PROPERTIES.join(", ")).into(),
                );
            }
        };
        if !git::PROPERTIES.contains(&property.as_str()) {
            return Err(Trouble {
                message: format!(
                    "$GitInfo has no \"{property}\"; it has {}",
                    git::PROPERTIES.join(", ")
                ),
                suggestion: suggest::question(&property, git::PROPERTIES),
            });
        }
        let answer = self
            .context
            .lookups
            .git()
            .map(|info| info.get(&property).unwrap_or_default());
        Ok(self.asked(answer, span))
    }

    fn custom(
        &mut self,
        directive: &Directive,
        arguments: &[Node],
        span: Option<Span>,
        path: &Path,
    ) -> Resolved<Node> {
        let Some(written) = self.custom.get(&directive.name) else {
            return Err(format!("there is no directive ${}", directive.name).into());
        };
        let (file, function) = match written.rsplit_once(':') {
            Some((file, function)) => (file, Some(function.to_owned())),
            None => (written.as_str(), None),
        };
        let call = CustomCall {
            name: directive.name.clone(),
            file: files::beneath(
                &self.context.config_directory,
                &self.context.project_root,
                file,
                self.context.allowed.files_outside_project,
            )?,
            function,
            arguments: arguments.iter().map(Node::to_json).collect(),
        };
        let what = format!("the directive ${}", directive.name);
        let allowed = self.context.require_code(&what);
        let answer = allowed.and_then(|()| self.context.lookups.custom_directive(&call));
        let value = self.asked(answer, span);
        self.walk(&value, directive, path)
    }

    /// What a lookup answered; the first failure is kept.
    fn asked(&mut self, answer: Result<Value, Problem>, span: Option<Span>) -> Node {
        match answer {
            Ok(value) => Node::from_json(value, span),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                Node::new(span, Kind::Broken)
            }
        }
    }
}

fn step<'n>(node: &'n Node, key: &str, directive: &Directive) -> Resolved<&'n Node> {
    let next = match &node.kind {
        Kind::Map(_) => node.get(key),
        Kind::List(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
        _ => {
            return Err(format!("{directive}: \"{key}\" is asked of {}", node.describe()).into());
        }
    };
    next.ok_or_else(|| Trouble {
        message: format!("{directive}: there is no \"{key}\""),
        suggestion: suggest::question(key, node.entries().iter().map(|entry| entry.key.as_str())),
    })
}

fn known(value: &Option<String>, argument: &str, span: Option<Span>) -> Resolved<Node> {
    match value {
        Some(value) => Ok(Node::new(span, Kind::String(value.clone()))),
        None => Err(Trouble {
            message: format!("the {argument} is not known"),
            suggestion: Some(format!("give the argument {argument}")),
        }),
    }
}
