//! Redaction: any text, no panic, and redacting twice is redacting once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_secrets::Redactor;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let redactor = Redactor::new();
    let once = redactor.redact(&text).into_owned();
    assert_eq!(redactor.redact(&once), once);
});
