//! Rows collected up to the limits of a request, and values every engine has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use windlass_ports::database::{Field, Rows};

/// The largest integer that every reader of JSON keeps exact.
const EXACT: i128 = 1 << 53;

/// Rows on their way.
pub struct Collector {
    rows: Rows,
    row_limit: usize,
    bytes_left: usize,
}

impl Collector {
    /// Nothing yet.
    pub fn new(row_limit: usize, byte_limit: usize) -> Self {
        Self {
            rows: Rows::default(),
            row_limit,
            bytes_left: byte_limit,
        }
    }

    /// The columns; names that stand twice are numbered.
    pub fn columns(&mut self, columns: impl IntoIterator<Item = (String, String)>) {
        self.rows.fields.clear();
        for (name, kind) in columns {
            let taken =
                |candidate: &str| self.rows.fields.iter().any(|field| field.name == candidate);
            let mut unique = name.clone();
            let mut count = 1;
            while taken(&unique) {
                count += 1;
                unique = format!("{name}_{count}");
            }
            self.rows.fields.push(Field { name: unique, kind });
        }
    }

    /// Whether a row with this many bytes of values is still wanted; if not, there is more than
    /// is returned.
    pub fn takes(&mut self, bytes: usize) -> bool {
        if self.rows.rows.len() >= self.row_limit || bytes > self.bytes_left {
            self.rows.truncated = true;
            return false;
        }
        self.bytes_left -= bytes;
        true
    }

    /// A row, in the order of the columns.
    pub fn push(&mut self, values: Vec<Value>) {
        let row: Map<String, Value> = self
            .rows
            .fields
            .iter()
            .map(|field| field.name.clone())
            .zip(values)
            .collect();
        self.rows.rows.push(row);
    }

    /// How many rows the statement changed.
    pub fn affected(&mut self, count: u64) {
        self.rows.affected = Some(count);
    }

    /// What was collected.
    pub fn finish(self) -> Rows {
        self.rows
    }
}

/// An integer, as text where a reader might round it.
pub fn integer(text: &str) -> Value {
    match text.parse::<i128>() {
        Ok(value) if (-EXACT..=EXACT).contains(&value) => i64::try_from(value).map_or_else(
            |_| Value::String(text.to_owned()),
            |exact| Value::Number(exact.into()),
        ),
        _ => Value::String(text.to_owned()),
    }
}

/// A floating-point number; the special ones are text.
pub fn float(text: &str) -> Value {
    text.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// A JSON document; text where it cannot be read, or where a number would be rounded.
pub fn document(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => exact(value),
        Err(_) => Value::String(text.to_owned()),
    }
}

fn exact(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => integer(&number.to_string()),
        Value::Array(items) => items.into_iter().map(exact).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| (name, exact(member)))
            .collect(),
        other => other,
    }
}

/// Bytes.
pub fn bytes(bytes: &[u8]) -> Value {
    Value::String(STANDARD.encode(bytes))
}

/// `2024-01-02 03:04:05` → `2024-01-02T03:04:05`, with the end that says where it counts.
pub fn moment(text: &str, zone: &str) -> Value {
    let iso = text.strip_suffix("+00").unwrap_or(text);
    let is_plain = iso.len() >= 19
        && iso.as_bytes()[10] == b' '
        && iso[..10]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
        && iso[11..]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    if !is_plain {
        return Value::String(text.to_owned());
    }
    Value::String(format!("{}T{}{zone}", &iso[..10], &iso[11..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_never_rounded() {
        for (text, value) in [
            ("0", json!(0)),
            ("-7", json!(-7)),
            ("9007199254740992", json!(9_007_199_254_740_992_i64)),
            ("9007199254740993", json!("9007199254740993")),
            ("-9223372036854775808", json!("-9223372036854775808")),
            ("18446744073709551615", json!("18446744073709551615")),
        ] {
            assert_eq!(integer(text), value);
        }
        assert_eq!(float("1.5"), json!(1.5));
        assert_eq!(float("NaN"), json!("NaN"));
        assert_eq!(float("Infinity"), json!("Infinity"));
        assert_eq!(
            document(r#"{"a": [9007199254740993, 1]}"#),
            json!({ "a": ["9007199254740993", 1] })
        );
    }

    #[test]
    fn moments_are_iso() {
        for (text, zone, value) in [
            ("2024-01-02 03:04:05", "", "2024-01-02T03:04:05"),
            ("2024-01-02 03:04:05.25+00", "Z", "2024-01-02T03:04:05.25Z"),
            ("infinity", "Z", "infinity"),
            ("0044-03-15 00:00:00 BC", "", "0044-03-15 00:00:00 BC"),
            ("äääää äääää äääää", "", "äääää äääää äääää"),
        ] {
            assert_eq!(moment(text, zone), json!(value));
        }
    }

    #[test]
    fn columns_are_unique_and_limits_apply() {
        let mut collector = Collector::new(2, 10);
        let column = |name: &str| (name.to_owned(), "int4".to_owned());
        collector.columns([column("id"), column("id"), column("id_2"), column("id")]);
        assert!(collector.takes(4));
        collector.push(vec![json!(1), json!(2), json!(3), json!(4)]);
        assert!(!collector.takes(7));
        assert!(collector.takes(6));
        collector.push(vec![json!(1), json!(2), json!(3), json!(4)]);
        assert!(!collector.takes(0));
        let rows = collector.finish();
        assert_eq!(
            json!(rows.rows[0]),
            json!({ "id": 1, "id_2": 2, "id_2_2": 3, "id_3": 4 })
        );
        assert!(rows.truncated);
    }
}
