//! How texts with directives are taken apart.

use super::*;

fn printed(text: &str) -> String {
    match parse(text, &|name| name == "lower") {
        Ok(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => format!("text {text:?}"),
                Part::Directive(directive) => format!("directive {directive}"),
            })
            .collect::<Vec<_>>()
            .join(" | "),
        Err(error) => format!(
            "error {error}{}",
            error
                .suggestion
                .as_ref()
                .map(|help| format!(" ({help})"))
                .unwrap_or_default()
        ),
    }
}

#[test]
fn texts_are_parsed() {
    for (text, expected) in [
        ("", "text \"\""),
        ("plain", "text \"plain\""),
        ("$Stage()", "directive $Stage()"),
        ("$Stage( )", "directive $Stage()"),
        ("a$Stage()b", "text \"a\" | directive $Stage() | text \"b\""),
        (
            "$Stage()$Region()",
            "directive $Stage() | directive $Region()",
        ),
        ("$Stage().dev", "directive $Stage() | text \".dev\""),
        ("$Var().a.b", "directive $Var().a.b"),
        ("$Var().a-b", "directive $Var()['a-b']"),
        ("$Var().a-b!", "directive $Var().a | text \"-b!\""),
        (
            "x$Var().a-b",
            "text \"x\" | directive $Var().a | text \"-b\"",
        ),
        (
            "see $Var().a.",
            "text \"see \" | directive $Var().a | text \".\"",
        ),
        ("$Var()[\"a b\"].c", "directive $Var()['a b'].c"),
        ("$Custom(1).x", "directive $Custom(1).x"),
        ("$Secret('it\\'s')", "directive $Secret('it\\'s')"),
        ("$Secret(\"a'b\")", "directive $Secret('a\\'b')"),
        (
            "$Format( '{}' , $Stage(), -1.5, true )",
            "directive $Format('{}', $Stage(), -1.5, true)",
        ),
        ("$lower()", "directive $lower()"),
        ("$other()", "text \"$other()\""),
        ("$5 $ $$ ${a} $(b) $A", "text \"$5 $ $$ ${a} $(b) $A\""),
        (
            "$Secret(a)",
            "error $Secret: a is not a number; text needs quotes (write 'a')",
        ),
        ("$Secret(", "error $Secret( is not closed by \")\""),
        ("$Secret('a'", "error $Secret( is not closed by \")\""),
        (
            "$Secret('a",
            "error $Secret: a text is not closed by its quote",
        ),
        (
            "$Secret('a' 'b')",
            "error $Secret: expected \",\" or \")\" before '\\''",
        ),
        ("$Secret(,)", "error $Secret: an argument is missing"),
        (
            "$Secret($Stage)",
            "error $Stage needs parentheses: $Stage()",
        ),
        (
            "$Secret($)",
            "error a directive's name is missing after \"$\"",
        ),
        ("$Var()['a'", "error $Var: a key in \"[…]\" is not closed"),
    ] {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    let text = "$A(".repeat(40);
    assert_eq!(
        printed(&text),
        "error directives are nested more than 16 deep"
    );
}
