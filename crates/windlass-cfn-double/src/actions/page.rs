//! Pages of long answers, with opaque tokens.

use base64::Engine as _;

use crate::error::ApiError;

const TOKENS: base64::engine::GeneralPurpose = base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// One page and the token of the next.
pub fn page<T>(
    items: Vec<T>,
    token: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ApiError> {
    let start = match token {
        Some(token) => position(token)?,
        None => 0,
    };
    let total = items.len();
    let page: Vec<T> = items.into_iter().skip(start).take(size).collect();
    let end = start + page.len();
    Ok((page, (end < total).then(|| token_of(end))))
}

/// The token that stands for a position.
pub fn token_of(position: usize) -> String {
    TOKENS.encode(format!("from {position}"))
}

pub fn position(token: &str) -> Result<usize, ApiError> {
    TOKENS
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix("from ")?.parse().ok())
        .ok_or_else(|| ApiError::validation("Invalid NextToken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_everything_once() {
        let (mut seen, mut token) = (Vec::new(), None);
        loop {
            let (items, next) = page((0..7).collect(), token.as_deref(), 3).unwrap();
            seen.extend(items);
            token = next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6]);
        assert!(page(vec![1], Some("zzz"), 3).is_err());
    }
}
