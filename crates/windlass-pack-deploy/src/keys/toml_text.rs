//! Edits of a TOML text: one key or element is set or removed; comments, order and spacing of
//! the rest stay.

use serde_json::{Map, Number, Value};
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, Formatted, InlineTable, Item, Table, TableLike, TomlError,
    Value as TomlValue,
};

use super::{KeyError, pointer};

/// A TOML text.
#[derive(Clone, Debug)]
pub struct TomlText {
    document: DocumentMut,
    byte_order_mark: bool,
    carriage_returns: bool,
}

impl TomlText {
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (byte_order_mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let lines = text.matches('\n').count();
        Ok(Self {
            document: text.parse().map_err(|error| syntax(text, &error))?,
            byte_order_mark,
            // Line ends are rewritten; a file that has only CRLF keeps it.
            carriage_returns: lines > 0 && text.matches("\r\n").count() == lines,
        })
    }

    pub fn text(&self) -> String {
        let mut text = self.document.to_string();
        if self.carriage_returns {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if self.byte_order_mark {
            text.insert(0, '\u{feff}');
        }
        text
    }

    pub fn is_blank(&self) -> bool {
        self.document.to_string().trim().is_empty()
    }

    pub fn get(&self, keys: &[String]) -> Option<Value> {
        let mut item = self.document.as_item();
        for key in keys {
            item = item.as_table_like()?.get(key)?;
        }
        (!item.is_none()).then(|| item_value(item))
    }

    pub fn set(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        let Some((name, parents)) = keys.split_last() else {
            return Ok(());
        };
        let fresh_line = !self.is_blank();
        let parent = self.table(parents)?;
        let mut item = match value {
            Value::Object(map) if !parent.inline => Item::Table(table(map)),
            other => Item::Value(toml_value(other)),
        };
        match parent.table.get_mut(name) {
            // The place in the file and the comments before it stay.
            Some(existing) => {
                match (&mut item, &*existing) {
                    (Item::Table(new), Item::Table(old)) => {
                        *new.decor_mut() = old.decor().clone();
                        new.set_position(old.position());
                    }
                    (Item::Value(new), Item::Value(old)) => *new.decor_mut() = old.decor().clone(),
                    _ => {}
                }
                *existing = item;
            }
            None => {
                if let Item::Table(new) = &mut item
                    && fresh_line
                {
                    new.decor_mut().set_prefix("\n");
                }
                parent.table.insert(name, item);
            }
        }
        Ok(())
    }

    pub fn append(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        let Some((name, parents)) = keys.split_last() else {
            return Ok(());
        };
        let fresh_line = !self.is_blank();
        let parent = self.table(parents)?;
        if parent.table.get(name).is_none_or(Item::is_none) {
            let empty = match value {
                Value::Object(_) if !parent.inline => Item::ArrayOfTables(ArrayOfTables::new()),
                _ => Item::Value(TomlValue::Array(Array::new())),
            };
            parent.table.insert(name, empty);
        }
        match (parent.table.get_mut(name), value) {
            (Some(Item::ArrayOfTables(tables)), Value::Object(map)) => {
                let mut added = table(map);
                if fresh_line {
                    added.decor_mut().set_prefix("\n");
                }
                tables.push(added);
                Ok(())
            }
            (Some(Item::Value(TomlValue::Array(array))), _) => {
                array.push(toml_value(value));
                Ok(())
            }
            _ => Err(KeyError::Shape {
                pointer: pointer::render(keys),
                expected: "an array of that kind of value",
            }),
        }
    }

    pub fn remove(&mut self, keys: &[String]) {
        let Some((name, parents)) = keys.split_last() else {
            return;
        };
        if let Some(parent) = existing_table(self.document.as_item_mut(), parents)
            && parent.remove(name).is_some()
        {
            self.prune(parents);
        }
    }

    pub fn remove_element(&mut self, keys: &[String], index: usize) {
        let Some((name, parents)) = keys.split_last() else {
            return;
        };
        let Some(parent) = existing_table(self.document.as_item_mut(), parents) else {
            return;
        };
        let empty = match parent.get_mut(name) {
            Some(Item::ArrayOfTables(tables)) if index < tables.len() => {
                tables.remove(index);
                tables.is_empty()
            }
            Some(Item::Value(TomlValue::Array(array))) if index < array.len() => {
                array.remove(index);
                array.is_empty()
            }
            _ => false,
        };
        if empty {
            self.remove(keys);
        }
    }

    /// Removes what is empty now, from the inside out.
    fn prune(&mut self, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        let empty =
            existing_table(self.document.as_item_mut(), keys).is_some_and(|table| table.is_empty());
        let commented = self.document_table_has_comment(keys);
        if empty && !commented {
            self.remove(keys);
        }
    }

    fn document_table_has_comment(&self, keys: &[String]) -> bool {
        let mut item = self.document.as_item();
        for key in keys {
            match item.as_table_like().and_then(|table| table.get(key)) {
                Some(found) => item = found,
                None => return false,
            }
        }
        item.as_table().is_some_and(|table| {
            let decor = table.decor();
            [decor.prefix(), decor.suffix()]
                .into_iter()
                .flatten()
                .filter_map(|raw| raw.as_str())
                .any(|text| text.contains('#'))
        })
    }

    /// The table at some keys; missing ones are made, without headers of their own.
    fn table(&mut self, keys: &[String]) -> Result<Parent<'_>, KeyError> {
        let mut parent = Parent {
            table: self.document.as_table_mut(),
            inline: false,
        };
        for (depth, key) in keys.iter().enumerate() {
            if parent.table.get(key).is_none_or(Item::is_none) {
                let empty = if parent.inline {
                    Item::Value(TomlValue::InlineTable(InlineTable::new()))
                } else {
                    let mut table = Table::new();
                    table.set_implicit(true);
                    Item::Table(table)
                };
                parent.table.insert(key, empty);
            }
            let inline = parent.inline
                || parent
                    .table
                    .get(key)
                    .is_some_and(|item| item.is_inline_table());
            let Some(table) = parent.table.get_mut(key).and_then(Item::as_table_like_mut) else {
                return Err(KeyError::Shape {
                    pointer: pointer::render(&keys[..=depth]),
                    expected: "a table",
                });
            };
            parent = Parent { table, inline };
        }
        Ok(parent)
    }
}

struct Parent<'a> {
    table: &'a mut dyn TableLike,
    /// Whether it is written inside braces, where no header can follow.
    inline: bool,
}

fn existing_table<'a>(item: &'a mut Item, keys: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut item = item;
    for key in keys {
        item = item.as_table_like_mut()?.get_mut(key)?;
    }
    item.as_table_like_mut()
}

fn syntax(text: &str, error: &TomlError) -> KeyError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    KeyError::Syntax {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: error.message().to_owned(),
    }
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| table_value(table)).collect())
        }
    }
}

fn table_value(table: &dyn TableLike) -> Value {
    Value::Object(
        table
            .iter()
            .map(|(name, item)| (name.to_owned(), item_value(item)))
            .collect::<Map<_, _>>(),
    )
}

fn json_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::String(text.value().clone()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        TomlValue::Float(number) => Number::from_f64(*number.value())
            .map_or_else(|| Value::String(number.value().to_string()), Value::Number),
        TomlValue::Boolean(flag) => Value::Bool(*flag.value()),
        TomlValue::Datetime(moment) => Value::String(moment.value().to_string()),
        TomlValue::Array(items) => Value::Array(items.iter().map(json_value).collect()),
        TomlValue::InlineTable(table) => table_value(table),
    }
}

/// The entries in their byte order; TOML has no null, so a null is no entry.
fn entries(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().filter(|(_, value)| !value.is_null()).collect();
    entries.sort_unstable_by(|left, right| left.0.cmp(right.0));
    entries
}

/// A table with a header of its own; tables inside it get headers too.
fn table(map: &Map<String, Value>) -> Table {
    let mut table = Table::new();
    for (name, value) in entries(map) {
        let item = match value {
            Value::Object(inner) => Item::Table(self::table(inner)),
            other => Item::Value(toml_value(other)),
        };
        table.insert(name, item);
    }
    table
}

fn toml_value(value: &Value) -> TomlValue {
    match value {
        Value::Null => TomlValue::String(Formatted::new(String::new())),
        Value::Bool(flag) => TomlValue::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => TomlValue::from(whole),
            None => TomlValue::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => TomlValue::from(text.as_str()),
        Value::Array(items) => TomlValue::Array(items.iter().map(toml_value).collect()),
        Value::Object(map) => TomlValue::InlineTable(
            entries(map)
                .into_iter()
                .map(|(name, value)| (name.as_str(), toml_value(value)))
                .collect(),
        ),
    }
}
