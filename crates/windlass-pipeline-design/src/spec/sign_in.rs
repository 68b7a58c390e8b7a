//! Whether a text says that people sign in.

use crate::spec::lexicon::line::{Line, Phrases, phrases};

/// Phrases with which a text mentions signing in.
static SIGN_IN: Phrases = phrases!(
    "sign in; signs in; signing in; sign-in; log in; logs in; logging in; login; logged in; \
    signed in; authentication; authenticated"
);

/// Whether a line says that people sign in.
pub fn is_stated(line: &Line) -> bool {
    let free = line.has_any(&[
        "without signing in",
        "without logging in",
        "without login",
        "no login",
    ]);
    let forbidden = line.has_any(&["nobody", "no one", "cannot", "can't", "not"]);
    (!free || forbidden) && line.mentions(&SIGN_IN)
}
