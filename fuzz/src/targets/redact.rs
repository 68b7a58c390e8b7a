//! Redaction: any text, no panic, and redacting twice is redacting once.

use windlass_secrets::Redactor;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let redactor = Redactor::new();
    let once = redactor.redact(&text).into_owned();
    assert_eq!(redactor.redact(&once), once);
}
