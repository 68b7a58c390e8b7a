//! Paths in patch headers: what git quotes, what follows a tab, `/dev/null`.

/// What stands for "no file" in a header.
pub const NO_FILE: &str = "/dev/null";

/// A label as it is written after `--- ` or `+++ `.
pub fn write(label: &str) -> String {
    let special = |c: char| c.is_control() || c == '"' || c == '\\';
    if label.contains(special) {
        let mut quoted = String::from("\"");
        for c in label.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                '\r' => quoted.push_str("\\r"),
                c if c.is_control() => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        quoted.push_str(&format!("\\{byte:03o}"));
                    }
                }
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        quoted
    } else if label.contains(' ') {
        // Readers end a path at the first tab, or else at the first blank.
        format!("{label}\t")
    } else {
        label.to_owned()
    }
}

/// The path after `--- ` or `+++ ` without its `a/` or `b/`; the inner `None` is `/dev/null`.
/// The outer `None` means that the quoting is broken or there is no path.
pub fn read(header: &str) -> Option<Option<String>> {
    let header = header.trim_end_matches(['\n', '\r']);
    let path = match header.strip_prefix('"') {
        Some(quoted) => unquote(quoted)?,
        // Anything after a tab is a time stamp.
        None => header.split('\t').next().unwrap_or_default().to_owned(),
    };
    if path == NO_FILE {
        return Some(None);
    }
    let path = path
        .strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(&path);
    (!path.is_empty()).then(|| Some(path.to_owned()))
}

/// Reads up to the closing quote. Octal escapes are bytes, as git writes them.
fn unquote(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.bytes();
    loop {
        match rest.next()? {
            b'"' => return String::from_utf8(bytes).ok(),
            b'\\' => bytes.push(match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'a' => 0x07,
                b'b' => 0x08,
                b'v' => 0x0b,
                b'f' => 0x0c,
                c @ (b'"' | b'\\') => c,
                first @ b'0'..=b'3' => {
                    let digit = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
                    let (second, third) = (digit(rest.next()?)?, digit(rest.next()?)?);
                    (first - b'0') << 6 | second << 3 | third
                }
                _ => return None,
            }),
            byte => bytes.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_written_so_that_it_reads_back() {
        for (label, written) in [
            ("b/SKILL.md", "b/SKILL.md"),
            ("b/two words.md", "b/two words.md\t"),
            ("b/ä.md", "b/ä.md"),
            ("b/say \"hi\".md", r#""b/say \"hi\".md""#),
            ("b/back\\slash", r#""b/back\\slash""#),
            ("b/tab\there", r#""b/tab\there""#),
            ("b/bell\u{7}", r#""b/bell\007""#),
        ] {
            assert_eq!(write(label), written);
            let path = label.strip_prefix("b/").unwrap().to_owned();
            assert_eq!(read(&format!("{written}\n")), Some(Some(path)));
        }
    }

    #[test]
    fn headers_of_other_tools_are_read() {
        let path = |text: &str| Some(Some(text.to_owned()));
        for (header, expected) in [
            ("a/x.md", path("x.md")),
            ("a/a/x.md\n", path("a/x.md")),
            ("x.md\r\n", path("x.md")),
            ("x y.md\t2024-01-01 00:00:00.0 +0100\n", path("x y.md")),
            (r#""b/\303\244.md""#, path("ä.md")),
            ("/dev/null\n", Some(None)),
            ("/dev/null\t1970-01-01\n", Some(None)),
            ("\n", None),
            ("a/\n", None),
            ("\"a/open\n", None),
            (r#""a/\q""#, None),
            (r#""a/\39""#, None),
        ] {
            assert_eq!(read(header), expected, "{header:?}");
        }
    }
}
