//! Whether a value looks random: letters and digits in no order that words and names have.
//!
//! Looks at a bounded prefix, so that a long value costs no more than a short one.

use crate::scan::LOOK;

/// What a value is made of.
struct Makeup {
    length: usize,
    digits: usize,
    lowers: usize,
    uppers: usize,
    /// How often a digit follows a letter or a letter a digit.
    changes: usize,
    /// How often a capital follows a small letter, or a small letter follows two capitals.
    case_changes: usize,
    /// Letters that stand in runs of at least three small ones.
    in_words: usize,
    vowels: usize,
    /// How many different bytes there are.
    distinct: u32,
    is_hex: bool,
}

fn makeup(value: &[u8]) -> Makeup {
    let mut seen = [false; 256];
    let mut made = Makeup {
        length: value.len(),
        digits: 0,
        lowers: 0,
        uppers: 0,
        changes: 0,
        case_changes: 0,
        in_words: 0,
        vowels: 0,
        distinct: 0,
        is_hex: true,
    };
    let mut before = b'-';
    let mut small = 0;
    for byte in value.iter().copied() {
        made.digits += usize::from(byte.is_ascii_digit());
        made.lowers += usize::from(byte.is_ascii_lowercase());
        made.uppers += usize::from(byte.is_ascii_uppercase());
        made.vowels += usize::from(matches!(
            byte.to_ascii_lowercase(),
            b'a' | b'e' | b'i' | b'o' | b'u'
        ));
        made.is_hex &= byte.is_ascii_hexdigit();
        let both = before.is_ascii_alphanumeric() && byte.is_ascii_alphanumeric();
        made.changes += usize::from(both && before.is_ascii_digit() != byte.is_ascii_digit());
        let both = before.is_ascii_alphabetic() && byte.is_ascii_alphabetic();
        made.case_changes +=
            usize::from(both && before.is_ascii_lowercase() != byte.is_ascii_lowercase());
        small = if byte.is_ascii_lowercase() {
            small + 1
        } else {
            0
        };
        made.in_words += match small {
            0..=2 => 0,
            3 => 3,
            _ => 1,
        };
        if !seen[usize::from(byte)] {
            seen[usize::from(byte)] = true;
            made.distinct += 1;
        }
        before = byte;
    }
    made
}

/// Groups of 8, 4, 4, 4 and 12 letters and digits.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_alphanumeric(),
        })
        && value.iter().any(u8::is_ascii_digit)
}

/// Three groups or more, joined by dashes, most of them with digits.
fn is_grouped(value: &[u8]) -> bool {
    let parts = || value.split(|byte| *byte == b'-');
    let fits =
        |part: &[u8]| (4..=12).contains(&part.len()) && part.iter().all(u8::is_ascii_alphanumeric);
    let with_digits = parts()
        .filter(|part| part.iter().any(u8::is_ascii_digit))
        .count();
    let count = parts().count();
    count >= 3 && with_digits * 3 >= count * 2 && parts().all(fits)
}

/// Whether nobody would write this by hand: enough for a value that stands beside a word such as
/// `key`.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOK)];
    if is_uuid(value) {
        return true;
    }
    let made = makeup(value);
    let letters = made.lowers + made.uppers;
    if value.len() < 14 || made.distinct < 8 || made.digits < 2 || letters < 3 {
        return false;
    }
    if made.is_hex {
        return made.length >= 20 && made.changes >= 3;
    }
    // Words and names have few places where letters and digits meet: count the parts that are not.
    let random: usize = value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| is_random_part(part))
        .map(<[u8]>::len)
        .sum();
    random >= 12 && random * 5 >= value.len() * 3
}

fn is_random_part(part: &[u8]) -> bool {
    let made = makeup(part);
    let letters = made.lowers + made.uppers;
    if made.length < 6 || made.digits == 0 || letters < 2 || is_camel_case(&made) {
        return false;
    }
    let mixed = made.lowers > 0 && made.uppers > 0;
    made.changes >= 3
        || mixed && made.changes + made.case_changes >= 5
        || made.length >= 24 && made.digits >= 3
}

/// `Ed25519PrivateKey`: most letters stand in words, and words have vowels.
fn is_camel_case(made: &Makeup) -> bool {
    let letters = made.lowers + made.uppers;
    made.uppers > 0 && made.in_words * 5 >= letters * 2 && made.vowels * 5 >= letters
}

/// Whether a value may be a key where a service's name and a word such as `key` announce one.
pub(crate) fn is_plausible(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOK)];
    if is_random(value) {
        return true;
    }
    let made = makeup(value);
    let letters = made.lowers + made.uppers;
    let solid = value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    if is_grouped(value) {
        return true;
    }
    let changes = made.changes + made.case_changes;
    if made.length >= 16 && made.digits >= 2 && made.uppers >= 3 && changes >= 6 {
        return true;
    }
    if solid < 10 || made.distinct < 5 || is_camel_case(&made) && made.digits < 4 {
        return false;
    }
    let one_case = made.digits == 0 && (made.lowers == 0 || made.uppers == 0);
    made.length >= 12 && made.digits >= 2 && letters >= 2
        || made.length >= 16 && letters == 0 && solid == made.length
        || made.length >= 20 && one_case && solid == made.length
        || made.length >= 20 && made.case_changes >= 5
}
