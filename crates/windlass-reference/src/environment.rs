//! `docs/reference/environment.md`.

use std::path::PathBuf;

use windlass_config::env;

use super::{BANNER, Document};

pub(super) fn document() -> Document {
    (
        PathBuf::from("docs/reference/environment.md"),
        format!("{BANNER}{}", env::reference()),
    )
}
