//! Virtual time: milliseconds since 1970 that advance only on request, and how they are written.
//!
//! Not here: the pace at which a running server moves them (`server`).

/// Where the virtual clock starts: 2026-01-01T00:00:00Z.
pub const START: u64 = 1_767_225_600_000;

/// `2026-01-01T00:00:00.000Z`
pub fn iso(ms: u64) -> String {
    let stamp = i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .unwrap_or_default();
    format!("{stamp:.3}")
}

/// Seconds with a fraction, as the JSON protocols write times.
pub fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

/// `Thu, 01 Jan 2026 00:00:00 GMT`
pub fn http_date(ms: u64) -> String {
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(ms);
    httpdate::fmt_http_date(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_aws_writes_them() {
        assert_eq!(iso(START + 1_500), "2026-01-01T00:00:01.500Z");
        assert_eq!(http_date(START), "Thu, 01 Jan 2026 00:00:00 GMT");
    }
}
