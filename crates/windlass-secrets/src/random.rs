//! Whether a value looks random: letters and digits in no order that words and names have.
//!
//! Looks at a bounded prefix, so that a long value costs no more than a short one.

use crate::{scan::LOOK, words};

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
    let is_long = |part: &[u8]| part.len() >= 7 && part.iter().all(u8::is_ascii_alphanumeric);
    let is_upper = |part: &[u8]| {
        !part.iter().any(u8::is_ascii_lowercase) && words::is_no_word(value) && part.len() >= 6
    };
    count >= 3 && with_digits * 3 >= count * 2 && parts().all(fits)
        || count == 2 && with_digits == 2 && parts().all(is_long) && value.len() <= 24
        || count >= 4 && parts().all(fits) && parts().all(is_upper)
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
    if words::is_wordy(value) {
        return false;
    }
    if made.length >= 20 && words::is_no_word(value) {
        return true;
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

/// Whether hexadecimal digits count up, as in the keys of examples: `000102…`, `0123456789ab…`.
pub(crate) fn counts_up(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOK)];
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let Some(digits) = value.iter().map(digit).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let steps = |numbers: &[u32]| {
        let ups = numbers.windows(2).filter(|pair| pair[1] == pair[0] + 1);
        numbers.len() > 4 && ups.count() * 10 >= (numbers.len() - 1) * 9
    };
    let byte = |pair: &[u32]| pair[0] * 16 + pair.get(1).unwrap_or(&0);
    let bytes: Vec<_> = digits.chunks(2).map(byte).collect();
    steps(&digits) || steps(&bytes)
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
    if words::is_wordy(value) && made.digits < 4 {
        return false;
    }
    if made.length >= 14 && solid == made.length && words::is_no_word(value) {
        return true;
    }
    let changes = made.changes + made.case_changes;
    if made.length >= 16 && solid == made.length && made.lowers > 0 && changes >= 7 {
        return true;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_examples_count_up_and_random_ones_do_not() {
        for example in [
            "000102030405060708090a0b0c0d0e0f",
            "0123456789abcdef0123456789abcdef",
            "101112131415161718191A1B1C1D1E1F",
        ] {
            assert!(counts_up(example.as_bytes()), "{example}");
        }
        for random in ["9f86d081884c7d659a2feaa0c55ad015", "q7ZpX2vLr9TnB4wKs8Yd"] {
            assert!(!counts_up(random.as_bytes()), "{random}");
        }
    }

    #[test]
    fn names_with_numbers_are_not_random() {
        for name in [
            "EcPublicKeyUncompressedX962Bin",
            "pbeWithSHA1And40BitRC2CBC",
            "ERROR_LOG_FILE_2_SIZE_64",
        ] {
            assert!(!is_random(name.as_bytes()), "{name}");
        }
    }
}
