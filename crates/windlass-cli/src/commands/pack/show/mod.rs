//! How pack's answers look to people. Text in, text out: nothing here calls an operation.

mod diff;
mod drift;
mod failure;
mod places;
mod plan;

use serde_json::Value;

pub(super) use diff::{DiffFile, diffs};
pub(super) use drift::{Drift, DriftSummary, drift_table};
pub(super) use failure::{advised, failure};
pub(super) use places::Places;
pub(super) use plan::{PlanView, changes_text, plan_text};

use crate::output::{Paint, Printer, Tone, one_line};

/// Who looks, and from where.
pub(super) struct View {
    pub(super) paint: Paint,
    pub(super) places: Places,
    pub(super) program: String,
}

impl View {
    /// A path the way a person would write it here.
    pub(super) fn path(&self, path: &str) -> String {
        one_line(&self.places.short(path))
    }

    /// A sign and a sentence.
    pub(super) fn line(&self, tone: Tone, sign: &str, text: &str) -> String {
        format!("{} {}\n", self.paint.text(tone, sign), one_line(text))
    }
}

/// A warning printed apart from the data.
pub(super) fn warning(printer: &Printer, text: &str) {
    let sign = printer.notice_paint().text(Tone::Warn, "warning:");
    printer.notice(&format!("{sign} {}", one_line(text)));
}

/// The texts of a list; nothing when it is none.
pub(super) fn texts(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// A moment of a record, to the minute.
pub(super) fn minute(timestamp: &str) -> String {
    timestamp
        .get(..16)
        .map_or_else(|| timestamp.to_owned(), |text| text.replace('T', " "))
}

#[cfg(test)]
pub(super) fn plain() -> View {
    use crate::output::{Captured, Mode};
    View {
        paint: Captured::new(Mode::Human).printer.paint(),
        places: Places::at(Some("/home/ada"), Some("/home/ada/src/shop")),
        program: "windlass pack".to_owned(),
    }
}
