//! From the syntax tree to the list of commands.

mod redirects;

use tree_sitter::Node;

use crate::{
    checks, interpreters,
    limits::{MAX_BYTES, MAX_COMMANDS, MAX_CONCERNS, MAX_LEVEL, MAX_NESTING},
    model::{
        Assignment, Command, Concern, ConcernKind, Input, Kind, Redirect, Role, Script, Via, Word,
    },
    tree,
    variables::is_risky_variable,
    wrappers::{self, Runs},
};

/// Words that are no commands to a shell.
const RESERVED: [&str; 20] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while",
    "until", "for", "select", "function", "in", "[[", "]]",
];

/// The description of a line.
pub(crate) fn script(line: &str) -> Script {
    let mut script = Script::default();
    text(&mut script, line, &Around::default());
    script
}

/// What holds for all commands of a part of a line.
#[derive(Clone, Default)]
struct Around {
    via: Vec<Via>,
    redirects: Vec<Redirect>,
    assignments: Vec<Assignment>,
    is_background: bool,
    input: Input,
}

/// Adds the commands of a text.
fn text(script: &mut Script, line: &str, around: &Around) {
    let level = around.via.len();
    let mut walker = Walker {
        line,
        script,
        nesting: 0,
        around: around.clone(),
    };
    if level > MAX_LEVEL || line.len() > MAX_BYTES {
        return walker.concern(ConcernKind::TooLarge, line);
    }
    if let Some(letter) = checks::odd_character(line) {
        walker.concern(
            ConcernKind::OddCharacter,
            &letter.escape_unicode().to_string(),
        );
    }
    let Some(tree) = tree::of(line) else {
        return walker.concern(ConcernKind::TooLarge, line);
    };
    let root = tree.root_node();
    if let Some((kind, place)) = checks::unaccounted(root, line) {
        let excerpt = line.get(place).unwrap_or(line).to_owned();
        walker.concern(kind, &excerpt);
    }
    walker.visit(root);
}

/// The walk over one text.
pub(crate) struct Walker<'a> {
    pub(crate) line: &'a str,
    script: &'a mut Script,
    nesting: usize,
    around: Around,
}

impl<'a> Walker<'a> {
    pub(crate) fn text(&self, node: Node<'_>) -> &'a str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }

    pub(crate) fn concern(&mut self, kind: ConcernKind, about: &str) {
        concern(self.script, kind, about);
    }

    /// Looks for commands below a node.
    pub(crate) fn inside(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        for part in parts {
            self.visit(part);
        }
    }

    /// Lists the commands of a node.
    pub(crate) fn visit(&mut self, node: Node<'_>) {
        if self.nesting >= MAX_NESTING {
            return self.concern(ConcernKind::TooLarge, self.text(node));
        }
        self.nesting += 1;
        match node.kind() {
            "comment" => {}
            "command" => self.command(node),
            "declaration_command" | "unset_command" => self.declaration(node),
            "variable_assignment" | "variable_assignments" => self.bare_assignment(node),
            "redirected_statement" | "function_definition" => self.redirected(node),
            "pipeline" => self.pipeline(node),
            "command_substitution" | "process_substitution" => self.substitution(node),
            "test_command" | "arithmetic_expansion" | "c_style_for_statement" => {
                self.arithmetic(node);
                self.sequence(node);
            }
            "compound_statement" if self.text(node).starts_with("((") => {
                self.arithmetic(node);
                self.sequence(node);
            }
            "subscript" => {
                self.subscript(node);
                self.inside(node);
            }
            "for_statement" => {
                self.loop_variable(node);
                self.sequence(node);
            }
            _ => self.sequence(node),
        }
        self.nesting -= 1;
    }

    /// Statements one after the other; the ones before a `&` run in the background.
    fn sequence(&mut self, node: Node<'_>) {
        let parts = tree::children(node);
        for (index, part) in parts.iter().enumerate() {
            if !part.is_named() {
                continue;
            }
            let is_background = parts.get(index + 1).is_some_and(|next| next.kind() == "&");
            let before = self.around.is_background;
            self.around.is_background |= is_background;
            self.visit(*part);
            self.around.is_background = before;
        }
    }

    fn pipeline(&mut self, node: Node<'_>) {
        let before = self.around.input.clone();
        for part in tree::children(node) {
            if part.is_named() {
                self.visit(part);
            } else {
                self.around.input = Input::Pipe;
            }
        }
        self.around.input = before;
    }

    /// What a substitution runs has its own input and output.
    fn substitution(&mut self, node: Node<'_>) {
        let text = self.text(node);
        // Backslashes inside backticks are read twice.
        if text.starts_with('`') && text.contains('\\') {
            self.concern(ConcernKind::Syntax, text);
        }
        let inner = Around {
            via: self.around.via.clone(),
            ..Around::default()
        };
        let outer = std::mem::replace(&mut self.around, inner);
        for part in tree::children(node) {
            if part.kind() == "file_redirect" {
                let mut command = self.started();
                self.redirect(part, &mut command);
                self.add(command);
            }
        }
        self.sequence(node);
        self.around = outer;
    }

    /// Arithmetic runs what is inside the brackets of an array's index, also from a variable.
    fn arithmetic(&mut self, node: Node<'_>) {
        let text = self.text(node);
        let is_test = node.kind() == "test_command";
        let inner = text.trim_matches(['[', ']', '(', ')']);
        // `[x` is the name of a command.
        if is_test
            && !(inner.starts_with(char::is_whitespace) && inner.ends_with(char::is_whitespace))
        {
            self.concern(ConcernKind::Syntax, text);
        }
        let mut has_variable = false;
        let mut has_comparison = false;
        let mut has_hidden = false;
        tree::every(node, |part| {
            let text = self.line.get(part.byte_range()).unwrap_or_default();
            match part.kind() {
                "variable_name" | "simple_expansion" | "expansion" | "command_substitution" => {
                    has_variable = true;
                }
                "word" if !is_test => has_variable = true,
                "raw_string" | "ansi_c_string" => has_hidden |= text.contains(['$', '`', '[']),
                "test_operator" => {
                    has_comparison |= matches!(
                        text,
                        "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R"
                    );
                }
                _ => {}
            }
            true
        });
        let is_simple_test = is_test && text.starts_with('[') && !text.starts_with("[[");
        let evaluates = if is_test {
            !is_simple_test && has_comparison || text.contains(" -v ")
        } else {
            true
        };
        if (evaluates && has_variable) || (has_hidden && (evaluates || has_comparison)) {
            self.concern(ConcernKind::Arithmetic, text);
        }
    }

    fn subscript(&mut self, node: Node<'_>) {
        let text = self.text(node);
        let index = text.split_once('[').map_or("", |(_, index)| index);
        let index = index.strip_suffix(']').unwrap_or(index);
        let is_plain =
            matches!(index, "@" | "*") || index.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain {
            self.concern(ConcernKind::Arithmetic, text);
        }
    }

    fn loop_variable(&mut self, node: Node<'_>) {
        for part in tree::children(node) {
            if part.kind() == "variable_name" && is_risky_variable(self.text(part)) {
                self.concern(ConcernKind::Variable, self.text(part));
            }
        }
    }

    /// A command that has what holds around it.
    fn started(&self) -> Command {
        Command {
            assignments: self.around.assignments.clone(),
            redirects: self.around.redirects.clone(),
            via: self.around.via.clone(),
            is_background: self.around.is_background,
            input: self.around.input.clone(),
            ..Command::default()
        }
    }

    fn command(&mut self, node: Node<'_>) {
        let mut command = self.started();
        self.parts(node, &mut command);
        // The grammar reads some keywords as commands: `! ! rm x`.
        if RESERVED.contains(&self.first_word(node)) {
            self.concern(ConcernKind::Syntax, self.text(node));
        }
        self.add(command);
    }

    /// The command's name as it is written.
    fn first_word(&self, node: Node<'_>) -> &'a str {
        node.child_by_field_name("name")
            .map_or("", |name| self.text(name))
    }

    fn parts(&mut self, node: Node<'_>, command: &mut Command) {
        for part in tree::children(node) {
            match part.kind() {
                "variable_assignment" => {
                    let assignment = self.assignment(part);
                    command.assignments.push(assignment);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(part, command);
                }
                "comment" => {}
                _ => {
                    let word = self.word(part);
                    command.words.push(word);
                }
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Assignment {
        let mut assignment = Assignment {
            name: String::new(),
            value: Word::default(),
        };
        for part in tree::children(node) {
            match part.kind() {
                "variable_name" => assignment.name = self.text(part).to_owned(),
                "subscript" => {
                    let text = self.text(part);
                    assignment.name = text.split('[').next().unwrap_or(text).to_owned();
                    self.visit(part);
                }
                "array" => {
                    self.inside(part);
                    assignment.value = Word {
                        text: "()".to_owned(),
                        kind: Kind::Expansion,
                    };
                }
                "=" | "+=" => {}
                _ => assignment.value = self.word(part),
            }
        }
        // Anything else is a command to a shell.
        let name = assignment.name.as_str();
        let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        if name.is_empty()
            || name.starts_with(|c: char| c.is_ascii_digit())
            || !name.chars().all(is_letter)
        {
            self.concern(ConcernKind::Syntax, self.text(node));
        }
        assignment
    }

    /// `NAME=value` without a command: it stays in the shell.
    fn bare_assignment(&mut self, node: Node<'_>) {
        let mut command = self.started();
        let parts = match node.kind() {
            "variable_assignments" => tree::children(node),
            _ => vec![node],
        };
        for part in parts {
            let assignment = self.assignment(part);
            if is_risky_variable(&assignment.name) {
                self.concern(ConcernKind::Variable, &assignment.name);
            }
            command.assignments.push(assignment);
        }
        self.add(command);
    }

    fn declaration(&mut self, node: Node<'_>) {
        let mut command = self.started();
        for part in tree::children(node) {
            match part.kind() {
                "variable_assignment" => {
                    let assignment = self.assignment(part);
                    if is_risky_variable(&assignment.name) {
                        self.concern(ConcernKind::Variable, &assignment.name);
                    }
                    command.words.push(Word {
                        text: format!("{}={}", assignment.name, assignment.value.text),
                        kind: assignment.value.kind,
                    });
                }
                "comment" => {}
                _ => {
                    let word = self.word(part);
                    self.declared(&word, command.words.first());
                    command.words.push(word);
                }
            }
        }
        self.add(command);
    }

    /// `export "PATH=/x"`, `declare -n`, `unset PATH`.
    fn declared(&mut self, word: &Word, keyword: Option<&Word>) {
        let Some(keyword) = keyword else { return };
        let removes = matches!(keyword.text.as_str(), "unset" | "unsetenv");
        let Some(text) = word.literal() else {
            return self.concern(ConcernKind::Variable, &word.text);
        };
        if let Some(options) = text.strip_prefix(['-', '+']) {
            // Attributes that make arithmetic or another name of a value.
            if options.contains(['i', 'n', 'u', 'l', 'c'])
                && !matches!(keyword.text.as_str(), "export" | "unset")
            {
                self.concern(ConcernKind::Arithmetic, text);
            }
            return;
        }
        let name = text.split(['=', '+']).next().unwrap_or(text);
        if (removes || text.contains('=')) && is_risky_variable(name) {
            self.concern(ConcernKind::Variable, name);
        }
    }

    fn add(&mut self, command: Command) {
        add(self.script, command);
    }
}

fn concern(script: &mut Script, kind: ConcernKind, about: &str) {
    if script.concerns.len() >= MAX_CONCERNS {
        return;
    }
    let text: String = about.chars().take(80).collect();
    let concern = Concern { kind, text };
    if !script.concerns.contains(&concern) {
        script.concerns.push(concern);
    }
}

/// Lists a command and what it runs.
fn add(script: &mut Script, mut command: Command) {
    if script.commands.len() >= MAX_COMMANDS {
        return concern(script, ConcernKind::TooLarge, "too many commands");
    }
    if command.via.len() > MAX_LEVEL {
        concern(script, ConcernKind::TooLarge, "commands inside commands");
        return script.commands.push(command);
    }
    if let Some(first) = command.words.first() {
        match first.literal() {
            None => concern(script, ConcernKind::DynamicName, &first.text),
            Some("") => concern(script, ConcernKind::DynamicName, "''"),
            // After `time` and `coproc` the shell's grammar starts again.
            Some(name) if RESERVED.contains(&name) && !command.via.is_empty() => {
                concern(script, ConcernKind::Syntax, name);
            }
            Some(name) if !name.is_ascii() => concern(script, ConcernKind::Lookalike, name),
            Some(_) => {}
        }
    }
    for (kind, about) in interpreters::concerns(&command) {
        concern(script, kind, &about);
    }
    let runs = wrappers::of(&command);
    if let Some(via) = runs.via() {
        command.role = Role::Wrapper(via.clone());
    }
    let outer = command.clone();
    script.commands.push(command);
    let reached = |via: &Via| {
        let mut reached = outer.via.clone();
        reached.push(via.clone());
        reached
    };
    match runs {
        // The program that it runs comes from the input.
        Runs::Itself if outer.has_unknown_arguments && wrappers::is_wrapper(&outer) => {
            concern(script, ConcernKind::DynamicCommand, &outer.text());
        }
        Runs::Itself => {}
        Runs::Unknown(kind, about) => concern(script, kind, &about),
        Runs::Command {
            via,
            words,
            assignments,
            has_unknown_arguments,
        } => {
            let mut inner = Command {
                words,
                via: reached(&via),
                role: Role::Plain,
                has_unknown_arguments: outer.has_unknown_arguments || has_unknown_arguments,
                ..outer
            };
            inner.assignments.extend(assignments);
            if via == Via::Xargs {
                inner.input = Input::Inherited;
            }
            add(script, inner);
        }
        Runs::Commands(inner) => {
            for (via, words) in inner {
                let command = Command {
                    words,
                    via: reached(&via),
                    role: Role::Plain,
                    ..outer.clone()
                };
                add(script, command);
            }
        }
        Runs::Text {
            via,
            text: inner,
            and,
        } => {
            if let Some((kind, about)) = and {
                concern(script, kind, &about);
            }
            let around = Around {
                via: reached(&via),
                redirects: outer.redirects,
                assignments: outer.assignments,
                is_background: outer.is_background,
                input: Input::Inherited,
            };
            text(script, &inner, &around);
        }
    }
}
