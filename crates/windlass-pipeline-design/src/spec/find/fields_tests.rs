//! Lists of attributes and what is read from them.

use super::*;

fn shown(text: &str) -> String {
    items(text)
        .into_iter()
        .map(|item| {
            let kind = serde_json::to_string(&item.kind).unwrap();
            let mut line = format!("{} {}", item.name, kind.trim_matches('"'));
            if !item.values.is_empty() {
                line = format!("{line}[{}]", item.values.join("|"));
            }
            for (flag, mark) in [
                (item.unique, " unique"),
                (item.optional, " optional"),
                (item.many, " many"),
            ] {
                if flag {
                    line.push_str(mark);
                }
            }
            line
        })
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn attributes_have_names_types_and_values() {
    for (text, expected) in [
        (
            "a title, a description and a price",
            "title string; description text; price decimal",
        ),
        ("a time limit in minutes", "time_limit_minutes integer"),
        ("lead time in days", "lead_time_days integer"),
        (
            "a status (draft, published or archived)",
            "status enum[draft|published|archived]",
        ),
        (
            "a start time and a status: requested, confirmed or cancelled",
            "start_time datetime; status enum[requested|confirmed|cancelled]",
        ),
        (
            "unit (piece, box, pallet), unit price",
            "unit enum[piece|box|pallet]; unit_price decimal",
        ),
        (
            "a text and whether it is correct",
            "text text; is_correct boolean",
        ),
        (
            "a slug that is unique and a code (unique)",
            "slug string unique; code string unique",
        ),
        (
            "an email address and, optionally, an insurance number",
            "email_address string; insurance_number string optional",
        ),
        (
            "points and an optional image",
            "points integer many; image string optional",
        ),
        (
            "the full name, the date of birth and a phone number (unique)",
            "full_name string; date_of_birth date; phone_number string unique",
        ),
        (
            "quantity, reason, moved at",
            "quantity integer; reason text; moved_at datetime",
        ),
        (
            "a birthday, an age and a number of seats",
            "birthday date; age integer; number_of_seats integer",
        ),
        (
            "a type (single choice, multiple choice or true/false)",
            "type enum[single choice|multiple choice|true/false]",
        ),
        (
            "a state which can be open or closed",
            "state enum[open|closed]",
        ),
        (
            "a size (in cm) and a reason for the visit",
            "size integer; reason text",
        ),
        ("many order lines", "order_lines string many"),
        (
            "a rating (number) and notes (e.g. allergies, habits)",
            "rating decimal; notes text many",
        ),
        ("", ""),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}
