//! The JSON value in a model's answer: plain, fenced, or with words around it.

use serde_json::Value;

/// Openings that are tried within prose; more means there is none worth finding.
const MAX_OPENINGS: usize = 64;

/// The value. In order: the whole text, the first fence that holds one, the first object or
/// array within the words. The error says where plain reading failed.
pub fn json_in(text: &str) -> Result<Value, String> {
    let text = without_thoughts(text).trim();
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    fenced(text)
        .or_else(|| within(text))
        .ok_or_else(|| error.to_string())
}

/// What follows the thoughts that some models write down first.
fn without_thoughts(text: &str) -> &str {
    let trimmed = text.trim_start();
    match trimmed.strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, rest)| rest),
        None => text,
    }
}

fn fenced(text: &str) -> Option<Value> {
    // Fences alternate: outside, inside, outside, …; the first line inside names the language.
    text.split("```").skip(1).step_by(2).find_map(|block| {
        let (_, inside) = block.split_once('\n')?;
        serde_json::from_str(inside.trim()).ok()
    })
}

fn within(text: &str) -> Option<Value> {
    for (start, _) in text.match_indices(['{', '[']).take(MAX_OPENINGS) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        match values.next()? {
            Ok(value) => return Some(value),
            // A value that is cut short: what is whole inside it is not the answer.
            Err(error) if error.is_eof() => return None,
            Err(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table() {
        let wanted = json!({ "a": [1, "```"] });
        for text in [
            r#"{"a":[1,"```"]}"#,
            "  \n{\"a\":[1,\"```\"]}\n",
            "Here it is:\n{\"a\":[1,\"```\"]} I hope it helps {you}.",
            "I think [so] {maybe}: {\"a\":[1,\"```\"]}",
            "<think>{\"a\": 2}</think>\n{\"a\":[1,\"```\"]}",
        ] {
            assert_eq!(json_in(text).as_ref(), Ok(&wanted), "{text}");
        }
        for text in [
            "```json\n{\"a\":1}\n```",
            "Sure!\n```\n{\"a\":1}\n```\nDone.",
            "```text\nnot this\n```\nbut\n```json\n{\"a\":1}\n```",
            "[See] ```json\n{\"a\":1}\n``` or {\"a\":2}",
        ] {
            assert_eq!(json_in(text), Ok(json!({ "a": 1 })), "{text}");
        }
    }

    #[test]
    fn what_holds_no_value_is_an_error_with_a_place() {
        for (text, error) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            (
                "{\"a\": [1, 2",
                "EOF while parsing a list at line 1 column 11",
            ),
            (
                "{\"a\": [], \"b\": {\"c\": \"d",
                "EOF while parsing a string at line 1 column 23",
            ),
            (
                "Here: {\"a\": [], \"b\": {}",
                "expected value at line 1 column 1",
            ),
            ("no idea", "expected ident at line 1 column 2"),
            (
                "<think>{\"a\":1}",
                "EOF while parsing a value at line 1 column 0",
            ),
        ] {
            assert_eq!(json_in(text), Err(error.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "(```|\\{|\\[|\\}|\\]|\"|<think>|[a-c\n:,1é])*") {
            let _ = json_in(&text);
        }

        #[test]
        fn a_value_among_words_is_found(before in "[a-z .]{0,20}", number: i64, after in "[a-z .{\\[]{0,20}") {
            let value = json!({ "n": number });
            prop_assert_eq!(json_in(&format!("{before}{value}{after}")), Ok(value));
        }
    }
}
