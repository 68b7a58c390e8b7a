//! `Deprecation` (RFC 9745) and `Sunset` (RFC 8594): versions of the API on their way out.

use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use http::{HeaderMap, HeaderName, HeaderValue, header::LINK};
use windlass_types::Timestamp;

use crate::Deprecation;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// Says since when the version a path is of is deprecated, when it ends, and where to read on.
pub(crate) fn write_headers(
    headers: &mut HeaderMap,
    deprecations: &BTreeMap<String, Deprecation>,
    path: &str,
) {
    let version = path.split('/').nth(1).unwrap_or_default();
    let Some(deprecation) = deprecations.get(version) else {
        return;
    };
    let written = [
        (
            DEPRECATION,
            Some(format!("@{}", deprecation.since.as_seconds())),
        ),
        (SUNSET, Some(http_date(deprecation.sunset))),
        (
            LINK,
            deprecation
                .link
                .as_ref()
                .map(|link| format!("<{link}>; rel=\"deprecation\"")),
        ),
    ];
    for (name, value) in written {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            headers.insert(name, value);
        }
    }
}

fn http_date(moment: Timestamp) -> String {
    let seconds = u64::try_from(moment.as_seconds()).unwrap_or_default();
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}
