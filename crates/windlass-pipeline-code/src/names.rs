//! Names that are taken once: of types, files, columns, pages.
//!
//! What a spec calls a thing is shown as it is; what code calls it is plain ASCII, not reserved and
//! different from everything else in the same place, also on case-insensitive disks.

use std::collections::BTreeSet;

use windlass_pipeline_design::model::naming;

/// Longer names are cut; PostgreSQL takes 63 bytes.
const LONGEST: usize = 48;

/// Letters with marks and what they are without.
const FOLDED: &[(&str, &str)] = &[
    ("àáâãåāăą", "a"),
    ("ä", "ae"),
    ("æ", "ae"),
    ("çćč", "c"),
    ("ďđð", "d"),
    ("èéêëēėęě", "e"),
    ("ğģ", "g"),
    ("ìíîïīįı", "i"),
    ("łľĺ", "l"),
    ("ñńňņ", "n"),
    ("òóôõøōő", "o"),
    ("ö", "oe"),
    ("œ", "oe"),
    ("řŕ", "r"),
    ("śšşș", "s"),
    ("ß", "ss"),
    ("ťțţ", "t"),
    ("ùúûūůű", "u"),
    ("ü", "ue"),
    ("ýÿ", "y"),
    ("źżž", "z"),
    ("þ", "th"),
];

/// Types and components that generated files import; nothing else may be called like them.
const RESERVED_TYPES: &[&str] = &[
    "Alert",
    "App",
    "AppError",
    "AppLink",
    "AppShell",
    "Array",
    "Badge",
    "Button",
    "Card",
    "CardTitle",
    "Checkbox",
    "Client",
    "Context",
    "Database",
    "Date",
    "EmptyState",
    "Error",
    "ErrorState",
    "Field",
    "FieldErrors",
    "FormData",
    "FormEvent",
    "Infinity",
    "Input",
    "Json",
    "Label",
    "Layout",
    "Metadata",
    "NaN",
    "Navigate",
    "NotFoundPage",
    "Number",
    "Object",
    "Page",
    "PageLayout",
    "Partial",
    "Promise",
    "ReactNode",
    "Record",
    "Request",
    "Resource",
    "Response",
    "Route",
    "Routes",
    "Select",
    "Skeleton",
    "String",
    "Table",
    "TableCell",
    "TableHead",
    "TableRow",
    "Textarea",
    "Titled",
    "URL",
];

/// Words that cannot name a variable.
const RESERVED_WORDS: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "id",
    "initial",
    "onsaved",
];

fn fold(word: &str) -> String {
    let mut out = String::new();
    for c in word.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if let Some((_, plain)) = FOLDED.iter().find(|(marked, _)| marked.contains(c)) {
            out.push_str(plain);
        }
    }
    out
}

/// The words of a name in ASCII, as many as fit; words in other scripts are left out.
fn ascii_words(text: &str) -> Vec<String> {
    let mut length = 0;
    naming::words(text)
        .iter()
        .map(|word| fold(word))
        .filter(|word| !word.is_empty())
        .map(|mut word| {
            word.truncate(LONGEST);
            word
        })
        .take_while(|word| {
            length += word.len() + 1;
            length <= LONGEST + 1
        })
        .collect()
}

/// `QuizAttempt`; `fallback` when no letter of the name is ASCII.
pub(crate) fn pascal(text: &str, fallback: &str) -> String {
    let name: String = ascii_words(text)
        .iter()
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect();
    match name.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("N{name}"),
        Some(_) => name,
    }
}

/// `quiz-attempt`; `fallback` when no letter of the name is ASCII.
pub(crate) fn kebab(text: &str, fallback: &str) -> String {
    let name = ascii_words(text).join("-");
    if name.is_empty() {
        fallback.to_owned()
    } else {
        name
    }
}

/// The same with a small first letter.
pub(crate) fn uncapitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// Whether a column can be the name of a variable in a component.
pub(crate) fn is_variable(name: &str) -> bool {
    crate::escape::is_identifier(name) && !RESERVED_WORDS.contains(&name.to_lowercase().as_str())
}

/// A column: the name as the model has it, no longer than PostgreSQL takes.
pub(crate) fn column(text: &str, fallback: &str) -> String {
    let mut name = naming::snake(text);
    if name.is_empty() {
        return fallback.to_owned();
    }
    while name.len() > LONGEST {
        name.pop();
    }
    name
}

/// Names that are taken in one place.
#[derive(Debug, Default)]
pub(crate) struct Taken(BTreeSet<String>);

impl Taken {
    /// Nothing is taken but the types that every project has.
    pub(crate) fn types() -> Self {
        Self(
            RESERVED_TYPES
                .iter()
                .map(|name| name.to_lowercase())
                .collect(),
        )
    }

    /// The name, or the first of `name2`, `name3`, … that is free. A reserved type becomes `…Item`.
    pub(crate) fn claim(&mut self, name: &str, separator: &str) -> String {
        if self.0.insert(name.to_lowercase()) {
            return name.to_owned();
        }
        let item = format!("{name}Item");
        if separator.is_empty()
            && RESERVED_TYPES.contains(&name)
            && self.0.insert(item.to_lowercase())
        {
            return item;
        }
        let mut number = 2;
        loop {
            let next = format!("{name}{separator}{number}");
            if self.0.insert(next.to_lowercase()) {
                return next;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_different() {
        assert_eq!(pascal("quiz attempt", "X"), "QuizAttempt");
        assert_eq!(pascal("\"; drop table", "X"), "DropTable");
        assert_eq!(pascal("Größe", "X"), "Groesse");
        assert_eq!(pascal("اختبار", "Entity3"), "Entity3");
        assert_eq!(pascal("2FA code", "X"), "N2faCode");
        assert_eq!(kebab("Quiz Attempt!", "x"), "quiz-attempt");
        assert!(pascal(&"long ".repeat(100), "X").len() <= LONGEST);
        assert!(pascal(&"long".repeat(100), "X").len() <= LONGEST);
        let mut types = Taken::types();
        assert_eq!(types.claim("Quiz", ""), "Quiz");
        assert_eq!(types.claim("QUIZ", ""), "QUIZ2");
        assert_eq!(types.claim("Table", ""), "TableItem");
        assert_eq!(types.claim("Table", ""), "Table2");
        assert!(is_variable("quiz_id") && !is_variable("class") && !is_variable("größe"));
    }
}
