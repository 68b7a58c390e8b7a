//! Redirections, heredocs, and the statements they belong to.

use tree_sitter::Node;

use super::Walker;
use crate::{
    checks,
    limits::MAX_REDIRECTS,
    model::{Command, ConcernKind, Input, Redirect, RedirectKind, Word},
    tree,
};

impl Walker<'_> {
    /// A statement with redirections; they hold for every command in it.
    pub(super) fn redirected(&mut self, node: Node<'_>) {
        let mut held = Command::default();
        let mut bodies = Vec::new();
        let mut later = Vec::new();
        let is_function = node.kind() == "function_definition";
        for part in tree::children(node) {
            match part.kind() {
                "file_redirect" | "herestring_redirect" => self.redirect(part, &mut held),
                "heredoc_redirect" => {
                    self.redirect(part, &mut held);
                    later.extend(self.after_heredoc(part, &mut held));
                }
                "comment" => {}
                // The name of a function.
                "word" if is_function => {}
                _ if part.is_named() => bodies.push(part),
                _ => {}
            }
        }
        let outer = self.around.clone();
        let before = self.script.commands.len();
        let has_redirects = !held.redirects.is_empty();
        self.around.redirects.extend(held.redirects);
        self.few_redirects(node);
        if held.input != Input::Inherited {
            self.around.input = held.input;
        }
        let extra = held.words;
        match bodies.as_slice() {
            [] => {
                let mut command = self.started();
                command.words = extra;
                self.add(command);
            }
            // The tree takes arguments after a redirection for more targets.
            [body] if body.kind() == "command" => {
                let mut command = self.started();
                self.parts(*body, &mut command);
                command.words.extend(extra);
                self.add(command);
            }
            bodies => {
                if !extra.is_empty() {
                    self.concern(ConcernKind::Syntax, self.text(node));
                }
                for body in bodies {
                    self.visit(*body);
                }
            }
        }
        // Something without a command, such as `[[ x ]] > file`, still opens the file.
        if has_redirects && self.script.commands.len() == before {
            let command = self.started();
            self.add(command);
        }
        self.around = outer;
        // What follows on the line of a heredoc is part of it in the tree.
        for (part, is_piped) in later {
            let before = self.around.input.clone();
            if is_piped {
                self.around.input = Input::Pipe;
            }
            self.visit(part);
            self.around.input = before;
        }
    }

    /// Redirections of groups are repeated for each command, so there may not be many.
    pub(super) fn few_redirects(&mut self, node: Node<'_>) {
        if self.around.redirects.len() > MAX_REDIRECTS {
            self.around.redirects.truncate(MAX_REDIRECTS);
            self.concern(ConcernKind::TooLarge, self.text(node));
        }
    }

    /// The statements on the line of a heredoc, and whether they read its command's output.
    pub(super) fn after_heredoc<'t>(
        &mut self,
        node: Node<'t>,
        held: &mut Command,
    ) -> Vec<(Node<'t>, bool)> {
        let mut found = Vec::new();
        let mut is_piped = false;
        for part in tree::children(node) {
            match part.kind() {
                "file_redirect" | "herestring_redirect" => self.redirect(part, held),
                "|" | "|&" => is_piped = true,
                "&&" | "||" | ";" | "&" => is_piped = false,
                "pipeline" => {
                    let starts_with_pipe = self.text(part).trim_start().starts_with('|');
                    for step in tree::children(part) {
                        if step.is_named() {
                            found.push((step, true));
                        }
                    }
                    if !starts_with_pipe {
                        self.concern(ConcernKind::Syntax, self.text(part));
                    }
                }
                "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_descriptor"
                | "comment" => {}
                "word" | "string" | "raw_string" | "concatenation" | "number"
                | "simple_expansion" | "expansion" | "ansi_c_string" => {
                    let word = self.word(part);
                    held.words.push(word);
                }
                _ if part.is_named() => found.push((part, is_piped)),
                _ => {}
            }
        }
        found
    }

    pub(super) fn redirect(&mut self, node: Node<'_>, command: &mut Command) {
        match node.kind() {
            "herestring_redirect" => {
                let mut text = Word::default();
                for part in tree::children(node) {
                    if part.is_named() && part.kind() != "file_descriptor" {
                        text = self.word(part);
                    }
                }
                command.input = Input::Text(text.literal().map(str::to_owned));
            }
            "heredoc_redirect" => self.heredoc(node, command),
            _ => self.file_redirect(node, command),
        }
    }

    pub(super) fn heredoc(&mut self, node: Node<'_>, command: &mut Command) {
        let parts = tree::children(node);
        let find = |kind: &str| parts.iter().find(|part| part.kind() == kind);
        let is_literal =
            find("heredoc_start").is_some_and(|start| checks::is_quoted(self.text(*start)));
        let body = find("heredoc_body").copied();
        let mut has_expansion = false;
        if let (Some(body), false) = (body, is_literal) {
            has_expansion = self.text(body).contains(['$', '`', '\\']);
            let outer = std::mem::take(&mut self.around);
            self.around.via.clone_from(&outer.via);
            self.inside(body);
            self.around = outer;
        }
        let text = body.map(|body| self.text(body)).unwrap_or_default();
        command.input = Input::Text((!has_expansion).then(|| text.to_owned()));
    }

    pub(super) fn file_redirect(&mut self, node: Node<'_>, command: &mut Command) {
        let mut operator = "";
        let mut target = None;
        for part in tree::children(node) {
            match part.kind() {
                "file_descriptor" => {}
                "process_substitution" if target.is_none() => {
                    self.visit(part);
                    target = Some((Word::default(), true));
                }
                _ if !part.is_named() && target.is_none() => operator = part.kind(),
                _ => {
                    let word = self.word(part);
                    if target.is_none() {
                        target = Some((word, false));
                    } else {
                        command.words.push(word);
                    }
                }
            }
        }
        let (target, is_pipe) = target.unwrap_or_default();
        let is_descriptor = target.literal().is_some_and(|text| {
            text == "-"
                || text
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit())
        });
        let kind = match operator {
            _ if is_pipe => RedirectKind::Duplicate,
            ">&" | "<&" if is_descriptor => RedirectKind::Duplicate,
            "<&-" | ">&-" => RedirectKind::Duplicate,
            "<" | "<&" => RedirectKind::Read,
            ">>" | "&>>" => RedirectKind::Append,
            _ => RedirectKind::Write,
        };
        if kind != RedirectKind::Duplicate && target.text.is_empty() {
            self.concern(ConcernKind::Syntax, self.text(node));
        }
        command.redirects.push(Redirect { kind, target });
    }
}
