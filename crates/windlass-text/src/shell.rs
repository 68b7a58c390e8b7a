//! A word as a POSIX shell takes it back.

/// The word as it is where a shell reads it as one, else in quotes.
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        for (word, expected) in [
            ("ls", "ls"),
            ("./a-b_c=d:e,f@g%h+1", "./a-b_c=d:e,f@g%h+1"),
            ("echo $HOME", "'echo $HOME'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
