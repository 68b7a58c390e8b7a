//! A command of several words as one text for a shell that takes it apart again.

/// The words, quoted where a shell would read them differently.
pub(super) fn joined(words: &[String]) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Some(quoted.join(" "))
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        for (words, expected) in [
            (vec![], None),
            (vec!["ls", "-la", "/app"], Some("ls -la /app")),
            (vec!["sh", "-c", "echo $HOME"], Some("sh -c 'echo $HOME'")),
            (vec!["echo", "it's", ""], Some(r"echo 'it'\''s' ''")),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(joined(&words).as_deref(), expected);
        }
    }
}
