//! MySQL's text output → JSON, by type.

use serde_json::Value;
use windlass_ports::database::DatabaseFailure;

use super::packet::Reader;
use crate::rows;

/// The character set that means "bytes".
const BINARY: u64 = 63;

/// A column of a result.
pub struct Column {
    pub name: String,
    kind: u8,
    binary: bool,
}

impl Column {
    /// Reads a column's definition.
    pub fn read(packet: &[u8]) -> Result<Self, DatabaseFailure> {
        let mut reader = Reader(packet);
        for _ in 0..4 {
            reader.field()?;
        }
        let name = String::from_utf8_lossy(reader.field()?.unwrap_or_default()).into_owned();
        reader.field()?;
        reader.take(1)?;
        let binary = reader.number(2)? == BINARY;
        reader.take(4)?;
        Ok(Self {
            name,
            kind: reader.byte()?,
            binary,
        })
    }

    /// The type's name.
    pub fn kind_name(&self) -> String {
        let name = match self.kind {
            0 | 246 => "decimal",
            1 => "tinyint",
            2 => "smallint",
            3 => "int",
            4 => "float",
            5 => "double",
            6 => "null",
            7 => "timestamp",
            8 => "bigint",
            9 => "mediumint",
            10 => "date",
            11 => "time",
            12 => "datetime",
            13 => "year",
            16 => "bit",
            245 => "json",
            247 => "enum",
            248 => "set",
            249..=252 if self.binary => "blob",
            249..=252 => "text",
            253 | 15 if self.binary => "varbinary",
            253 | 15 => "varchar",
            254 if self.binary => "binary",
            254 => "char",
            255 => "geometry",
            other => return other.to_string(),
        };
        name.to_owned()
    }
}

/// A value.
pub fn value(column: &Column, bytes: Option<&[u8]>) -> Value {
    let Some(bytes) = bytes else {
        return Value::Null;
    };
    let text = || String::from_utf8_lossy(bytes).into_owned();
    match column.kind {
        1..=3 | 8 | 9 | 13 => rows::integer(&text()),
        4 | 5 => rows::float(&text()),
        7 => rows::moment(&text(), "Z"),
        12 => rows::moment(&text(), ""),
        16 => {
            let bits = bytes
                .iter()
                .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            rows::integer(&bits.to_string())
        }
        245 => rows::document(&text()),
        255 => rows::bytes(bytes),
        15 | 249..=254 if column.binary => rows::bytes(bytes),
        _ => Value::String(text()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_the_types_they_should() {
        for (kind, binary, bytes, expected) in [
            (3, true, &b"7"[..], json!(7)),
            (
                8,
                true,
                b"18446744073709551615",
                json!("18446744073709551615"),
            ),
            (246, true, b"1.10", json!("1.10")),
            (5, true, b"1.5", json!(1.5)),
            (
                12,
                true,
                b"2024-01-02 03:04:05",
                json!("2024-01-02T03:04:05"),
            ),
            (
                7,
                true,
                b"2024-01-02 03:04:05",
                json!("2024-01-02T03:04:05Z"),
            ),
            (16, true, &[1, 0], json!(256)),
            (245, true, b"{\"a\":1}", json!({ "a": 1 })),
            (252, true, &[0, 255], json!("AP8=")),
            (252, false, b"text", json!("text")),
            (253, false, "ß".as_bytes(), json!("ß")),
        ] {
            let column = Column {
                name: String::new(),
                kind,
                binary,
            };
            assert_eq!(
                value(&column, Some(bytes)),
                expected,
                "{}",
                column.kind_name()
            );
            assert_eq!(value(&column, None), Value::Null);
        }
    }
}
