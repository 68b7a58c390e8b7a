//! Programming languages: what fences call them, and whether a text parses as one.
//!
//! Code is parsed and never run. A parse is bounded in work, not in time, so that the same text
//! gets the same answer on every machine.

use std::ops::ControlFlow;

use tree_sitter::{Language, ParseOptions, Parser, Tree};

/// How often a parser may report before it is stopped: about a hundred operations each.
const MAX_REPORTS: u32 = 400_000;

/// What a fence may say, and the one name it means.
const ALIASES: [(&str, &str); 26] = [
    ("py", "python"),
    ("python3", "python"),
    ("pycon", "python"),
    ("js", "javascript"),
    ("node", "javascript"),
    ("mjs", "javascript"),
    ("cjs", "javascript"),
    ("jsx", "javascript"),
    ("ts", "typescript"),
    ("rs", "rust"),
    ("golang", "go"),
    ("cs", "csharp"),
    ("c#", "csharp"),
    ("dotnet", "csharp"),
    ("sh", "bash"),
    ("shell", "bash"),
    ("zsh", "bash"),
    ("console", "bash"),
    ("shell-session", "bash"),
    ("yml", "yaml"),
    ("c++", "cpp"),
    ("rb", "ruby"),
    ("kt", "kotlin"),
    ("txt", "text"),
    ("plaintext", "text"),
    ("plain", "text"),
];

/// The one name of a language.
pub fn canonical(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    let known = ALIASES.iter().find(|(alias, _)| *alias == lower);
    known.map_or(lower.clone(), |(_, name)| (*name).to_owned())
}

/// Whether a text is well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// It is.
    Good,
    /// It is not; the line of the first fault, from 1.
    Bad(u64),
    /// Unknown.
    NoParser,
}

/// Parses a text; fragments count as what they would be inside a function or a class.
pub fn check(language: &str, code: &str) -> Syntax {
    let name = canonical(language);
    match name.as_str() {
        "text" | "" => return Syntax::Good,
        "json" => {
            return native(serde_json::from_str::<serde_json::Value>(code).map_err(|e| e.line()));
        }
        "toml" => {
            let line = |error: toml::de::Error| {
                error.span().map_or(1, |span| {
                    code[..span.start.min(code.len())].lines().count().max(1)
                })
            };
            return native(toml::from_str::<toml::Table>(code).map_err(line));
        }
        "yaml" => return native(serde_saphyr::from_str::<serde_json::Value>(code).map_err(|_| 1)),
        _ => {}
    }
    let Some((grammar, frames)) = grammar(&name) else {
        return Syntax::NoParser;
    };
    let mut first = None;
    for (before, after) in [("", "")].iter().chain(frames) {
        match fault(&grammar, &format!("{before}{code}\n{after}")) {
            None => return Syntax::Good,
            Some(line) => {
                first.get_or_insert(line);
            }
        }
    }
    Syntax::Bad(first.unwrap_or(1))
}

fn native<T>(parsed: Result<T, usize>) -> Syntax {
    match parsed {
        Ok(_) => Syntax::Good,
        Err(line) => Syntax::Bad(line.max(1) as u64),
    }
}

/// What may stand around a fragment.
type Frames = &'static [(&'static str, &'static str)];

fn grammar(name: &str) -> Option<(Language, Frames)> {
    Some(match name {
        "python" => (tree_sitter_python::LANGUAGE.into(), &[]),
        "javascript" => (
            tree_sitter_javascript::LANGUAGE.into(),
            &[("async function f() {", "}")],
        ),
        "typescript" => (
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            &[("async function f() {", "}")],
        ),
        "tsx" => (tree_sitter_typescript::LANGUAGE_TSX.into(), &[]),
        "rust" => (
            tree_sitter_rust::LANGUAGE.into(),
            &[("async fn f() {", "}")],
        ),
        "go" => (
            tree_sitter_go::LANGUAGE.into(),
            &[("package p; ", ""), ("package p; func f() {", "}")],
        ),
        "java" => (
            tree_sitter_java::LANGUAGE.into(),
            &[("class C { void f() {", "} }"), ("class C {", "}")],
        ),
        "csharp" => (
            tree_sitter_c_sharp::LANGUAGE.into(),
            &[("class C { void F() {", "} }"), ("class C {", "}")],
        ),
        _ => return None,
    })
}

/// A text as the syntax tree of a language; none without a parser, or when it takes too much work.
pub fn parse(language: &str, text: &str) -> Option<Tree> {
    let (grammar, _) = grammar(&canonical(language))?;
    bounded(&grammar, text)
}

fn bounded(grammar: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let bytes = text.as_bytes();
    let mut reports = 0_u32;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(
        &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(options),
    )
}

/// The line of the first fault; the first line for what takes too much work.
fn fault(grammar: &Language, code: &str) -> Option<u64> {
    let Some(tree) = bounded(grammar, code) else {
        return Some(1);
    };
    if !tree.root_node().has_error() {
        return None;
    }
    let mut node = tree.root_node();
    loop {
        if node.is_error() || node.is_missing() {
            return Some(node.start_position().row as u64 + 1);
        }
        let mut cursor = node.walk();
        let next = node
            .children(&mut cursor)
            .find(|child| child.has_error() || child.is_missing());
        match next {
            Some(child) => node = child,
            None => return Some(node.start_position().row as u64 + 1),
        }
    }
}

impl Syntax {
    /// Whether it is well formed; none when unknown.
    pub const fn ok(self) -> Option<bool> {
        match self {
            Self::Good => Some(true),
            Self::Bad(_) => Some(false),
            Self::NoParser => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_distinguishes_good_from_bad() {
        let cases = [
            ("py", "def f(x):\n    return x\n", "def f(:\n"),
            ("js", "const a = await f();\n", "const = ;\n"),
            ("ts", "let a: number = 1;\n", "let a: = ;\n"),
            ("rust", "let a = 1;\n", "let = 1;\n"),
            ("go", "x := 1\n_ = x\n", "x := := 1\n"),
            ("java", "int a = 1;\n", "int a = = ;\n"),
            ("c#", "var a = 1;\n", "var a = = ;\n"),
            ("json", "{\"a\": 1}", "{\"a\": }"),
            ("yaml", "a: 1\n", "a: [1\n"),
            ("toml", "a = 1\n", "a = \n"),
        ];
        for (language, good, bad) in cases {
            assert_eq!(check(language, good), Syntax::Good, "{language}");
            assert!(matches!(check(language, bad), Syntax::Bad(_)), "{language}");
        }
        assert_eq!(check("cobol", "MOVE A TO B."), Syntax::NoParser);
        assert_eq!(check("", "anything ("), Syntax::Good);
        assert_eq!(canonical("Golang"), "go");
    }

    #[test]
    fn pieces_of_code_count_as_code() {
        for (language, code, ok) in [
            ("java", "var doc = new Doc();\ndoc.save();", Some(true)),
            ("csharp", "var doc = new Doc();\ndoc.Save();", Some(true)),
            ("go", "doc := pdf.Open(\"a\")\ndoc.Save()", Some(true)),
            ("rust", "let doc = open()?;\ndoc.save().await?;", Some(true)),
            ("typescript", "const a: number = 1;", Some(true)),
            ("rust", "let = ;", Some(false)),
            ("python", "def broken(:", Some(false)),
            ("cobol", "x", None),
        ] {
            assert_eq!(check(language, code).ok(), ok, "{language}: {code}");
        }
    }

    #[test]
    fn the_line_of_the_fault_is_reported() {
        assert_eq!(check("python", "a = 1\nb = (\n"), Syntax::Bad(2));
    }
}
