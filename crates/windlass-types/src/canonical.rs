//! Canonical JSON text, so that equal values have equal bytes: RFC 8785.
//!
//! Keys are ordered by UTF-16 code units, fractions are shown the way ECMAScript shows them, so
//! that `0`, `0.0` and `-0` are one value. Integers that no double can hold, which the RFC leaves
//! to the writer, keep their digits: two journals that differ in one must differ in their hash.
//!
//! Whether `serde_json` keeps or sorts keys depends on a feature any dependency may switch on, so
//! the order is made here and not left to it.

use std::{cmp::Ordering, fmt::Write as _};

use serde_json::{Number, Value};

/// The canonical text of a value.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if !entries.is_sorted_by(|left, right| key_order(left.0, right.0).is_le()) {
                entries.sort_unstable_by(|left, right| key_order(left.0, right.0));
            }
            text.push('{');
            for (index, (key, entry)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write_value(entry, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::String(string) => write_string(string, text),
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(number, text),
    }
}

fn key_order(left: &str, right: &str) -> Ordering {
    // The two orders differ only beyond the basic plane, and nearly every key is ASCII.
    if left.is_ascii() || right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

/// A string with its quotes and escapes. Most need none, and those are copied as they are.
fn write_string(string: &str, text: &mut String) {
    let is_plain = string
        .bytes()
        .all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if is_plain {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&Value::from(string).to_string());
    }
}

fn write_number(number: &Number, text: &mut String) {
    match number.as_f64() {
        Some(double) if number.is_f64() => write_double(double, text),
        _ => {
            let _ = write!(text, "{number}");
        }
    }
}

/// ECMAScript's `Number::toString`: the shortest digits that read back, plain between 1e-6 and
/// 1e21, with an exponent outside.
fn write_double(double: f64, text: &mut String) {
    if double == 0.0 {
        text.push('0');
        return;
    }
    if double < 0.0 {
        text.push('-');
    }
    // Rust's `e` form has the shortest digits too; only the layout differs.
    let shown = format!("{:e}", double.abs());
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let digits: String = mantissa.chars().filter(|part| *part != '.').collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The decimal point stands after this many digits.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    if count <= point && point <= 21 {
        text.push_str(&digits);
        text.extend((count..point).map(|_| '0'));
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or(0));
        let _ = write!(text, "{whole}.{rest}");
    } else if -6 < point && point <= 0 {
        text.push_str("0.");
        text.extend((point..0).map(|_| '0'));
        text.push_str(&digits);
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let sign = if point > 0 { "+" } else { "-" };
        let _ = write!(text, "{first}{dot}{rest}e{sign}{}", (point - 1).abs());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn sorts_at_every_depth() {
        let value: Value =
            serde_json::from_str(r#"{"b":{"z":1,"a":[{"y":2,"x":"é\n"}]},"a":null}"#).unwrap();
        insta::assert_snapshot!(canonical_json(&value), @r#"{"a":null,"b":{"a":[{"x":"é\n","y":2}],"z":1}}"#);
    }

    #[test]
    fn integers_keep_their_digits() {
        for number in [i64::MIN, -9_007_199_254_740_993, i64::MAX] {
            assert_eq!(canonical_json(&json!(number)), number.to_string());
        }
        assert_eq!(canonical_json(&json!(u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn numbers_are_doubles_as_ecmascript_shows_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.002, "0.002"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (1.25e-9, "1.25e-9"),
            (5e-324, "5e-324"),
            (-5e-324, "-5e-324"),
            (4.5, "4.5"),
            (100.0, "100"),
            (123_456.789, "123456.789"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (999_999_999_999_999_700_000.0, "999999999999999700000"),
            (1.5e300, "1.5e+300"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (333_333_333.333_333_3, "333333333.3333333"),
        ] {
            assert_eq!(canonical_json(&json!(number)), text, "{number:e}");
        }
    }

    #[test]
    fn zero_hashes_as_zero_however_it_is_written() {
        for text in ["0", "0.0", "-0.0", "0e5"] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(canonical_json(&value), "0", "{text}");
        }
    }

    #[test]
    fn keys_are_ordered_by_utf16_and_controls_escaped() {
        let value = json!({
            "\u{20ac}": "euro", "\r": "return", "\u{fb33}": "dalet", "1": "one",
            "\u{1f600}": "smile", "\u{80}": "control", "\u{f6}": "o",
            "nested": {"b": [true, null], "a": "\u{1f}\"\\\u{7f}"},
        });
        insta::assert_snapshot!(
            canonical_json(&value).replace('\u{7f}', "<del>").replace('\u{80}', "<80>"),
            @r#"{"\r":"return","1":"one","nested":{"a":"\u001f\"\\<del>","b":[true,null]},"<80>":"control","ö":"o","€":"euro","😀":"smile","דּ":"dalet"}"#
        );
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            "[ -~\n\t\u{1}\u{e9}\u{20ac}]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[ -~\u{e9}\u{20ac}]{0,6}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        // Reading it back gives the same value and the same text.
        #[test]
        fn reads_back(value in values()) {
            let text = canonical_json(&value);
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&again, &value);
            prop_assert_eq!(canonical_json(&again), text);
        }

        // Astral characters come before the last of the basic plane, as UTF-16 has them.
        #[test]
        fn orders_keys_by_utf16(left in "[a\u{e9}\u{fb33}\u{1f600}]{0,3}", right in "[a\u{e9}\u{fb33}\u{1f600}]{0,3}") {
            prop_assert_eq!(key_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
        }

        #[test]
        fn every_double_reads_back(bits in any::<u64>()) {
            let double = f64::from_bits(bits);
            prop_assume!(double.is_finite());
            let text = canonical_json(&json!(double));
            prop_assert_eq!(text.parse::<f64>().unwrap(), double);
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical_json(&again), text);
        }
    }
}
