//! The pages of `docs/`, as they were when the binary was built.

use std::sync::LazyLock;

use crate::page::{Page, PageError};

/// Path from `docs/` and text, sorted by path.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

static PAGES: LazyLock<Result<Vec<Page>, PageError>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|(path, text)| Page::read(path, text))
        .collect()
});

/// Every page, read once.
pub(crate) fn pages() -> Result<&'static [Page], &'static PageError> {
    PAGES.as_deref()
}
