//! Whether letters follow each other as they do in words and names.
//!
//! A random value takes the next letter from all; a word takes it from the few that follow in
//! its language. Two fifths of all pairs of letters make nine tenths of the pairs in program text.

/// For each letter, which letters often follow it in the words of programs.
const FOLLOW: [&str; 26] = [
    "bcdgiklmnprstuvy",
    "aeilorsuy",
    "acehiklmorstuy",
    "adeilorsu",
    "abcdefgilmnopqrstvwxy",
    "adefilorstu",
    "aehilnorsu",
    "aeiort",
    "abcdefglmnoprstvz",
    "aosu",
    "eis",
    "adeiloptsuy",
    "abeimopsu",
    "acdefgiklnostuv",
    "abcdfgiklmnoprstuvw",
    "acehiloprstu",
    "u",
    "acdefgiklmnoprstuvy",
    "acehiklmopqrstuwy",
    "acdefhilmoprstuwy",
    "abcefilmnprst",
    "aei",
    "aeinors",
    "aept",
    "eops",
    "e",
];

const fn bits(letters: &str) -> u32 {
    let (letters, mut bits, mut at) = (letters.as_bytes(), 0, 0);
    while at < letters.len() {
        bits |= 1 << (letters[at] - b'a');
        at += 1;
    }
    bits
}

static OFTEN: [u32; 26] = {
    let (mut often, mut at) = ([0; 26], 0);
    while at < 26 {
        often[at] = bits(FOLLOW[at]);
        at += 1;
    }
    often
};

/// The pairs of neighbouring letters of one word, and how many of them words often have.
struct Pairs {
    all: usize,
    often: usize,
}

fn pairs(value: &[u8]) -> Pairs {
    let mut pairs = Pairs { all: 0, often: 0 };
    let is_upper = !value.iter().any(u8::is_ascii_lowercase);
    for pair in value.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        // A capital begins a word, unless there are only capitals.
        let joined = if is_upper {
            first.is_ascii_uppercase() && second.is_ascii_uppercase()
        } else {
            first.is_ascii_alphabetic() && second.is_ascii_lowercase()
        };
        if joined {
            let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
            pairs.all += 1;
            pairs.often +=
                usize::from(OFTEN[usize::from(first - b'a')] >> (second - b'a') & 1 == 1);
        }
    }
    pairs
}

/// Whether the letters are those of words: a name, a sentence, a path.
pub(crate) fn is_wordy(value: &[u8]) -> bool {
    let pairs = pairs(value);
    pairs.all >= 5 && pairs.often * 20 >= pairs.all * 17
}

/// Whether the letters are those of no word: many pairs, and few that words have.
pub(crate) fn is_no_word(value: &[u8]) -> bool {
    let pairs = pairs(value);
    pairs.all >= 9 && pairs.often * 10 <= pairs.all * 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sentences_are_wordy_and_random_letters_are_not() {
        for name in [
            "EcPublicKeyUncompressedBin",
            "PublicKeyX509Der",
            "kPBKDF2Password1",
            "kExampleMLDSA65KeyDER",
            "MAX_RETRY_TOKEN_SIZE2",
            "insufficient_permissions",
            "the post quantum key exchange",
        ] {
            assert!(is_wordy(name.as_bytes()), "{name}");
            assert!(!is_no_word(name.as_bytes()), "{name}");
        }
        for random in [
            "zkqjxo96wmdirdcvohnpu",
            "VJXQWZKPBTMRGHLF",
            "xkcdqpwzmvbnrtgh",
        ] {
            assert!(!is_wordy(random.as_bytes()), "{random}");
            assert!(is_no_word(random.as_bytes()), "{random}");
        }
    }
}
