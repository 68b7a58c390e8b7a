//! The marked forms of instructions: what is taken apart is put together again as the same.

use windlass_pack_deploy::render::{
    aggregate, split_aggregate, unwrap_cursor_rule, wrap_cursor_rule,
};

fn ended(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(sections) = split_aggregate(text)
        && sections.len() > 1
    {
        let parts: Vec<(&str, &str)> = sections
            .iter()
            .map(|(id, section)| (id.as_str(), section.as_str()))
            .collect();
        let again = split_aggregate(&aggregate(&parts)).expect("the markers are intact");
        let expected: Vec<(String, String)> = sections
            .iter()
            .map(|(id, section)| (id.clone(), ended(section)))
            .collect();
        assert_eq!(again, expected);
    }
    if let Some(body) = unwrap_cursor_rule(text) {
        assert!(text.ends_with(body));
    }
    let rule = wrap_cursor_rule("instructions:\"a\"", text);
    let body = unwrap_cursor_rule(&rule).expect("a rule that was just made");
    assert!(body == text || body == ended(text));
}
