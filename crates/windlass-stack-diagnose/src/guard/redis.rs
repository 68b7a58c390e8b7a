//! Redis commands that read; everything else is refused, known or not, unless settings allow it.
//! What they allow is still sent only if the server itself calls it harmless (windlass-database).

use crate::guard::{Refusal, Rule};

/// Commands that read whatever their arguments.
const COMMANDS: &[&str] = &[
    "DBSIZE",
    "EXISTS",
    "GET",
    "GETRANGE",
    "HGET",
    "HGETALL",
    "HKEYS",
    "HLEN",
    "HMGET",
    "HSCAN",
    "INFO",
    "LINDEX",
    "LLEN",
    "LRANGE",
    "MGET",
    "PING",
    "PTTL",
    "SCAN",
    "SCARD",
    "SISMEMBER",
    "SMEMBERS",
    "SSCAN",
    "STRLEN",
    "TIME",
    "TTL",
    "TYPE",
    "XLEN",
    "XRANGE",
    "ZCARD",
    "ZCOUNT",
    "ZRANGE",
    "ZSCAN",
    "ZSCORE",
];

/// Commands that read with these sub-commands.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("CLUSTER", &["INFO", "NODES"]),
    ("MEMORY", &["USAGE"]),
    ("OBJECT", &["ENCODING", "FREQ", "IDLETIME"]),
    ("SLOWLOG", &["GET", "LEN"]),
    ("XINFO", &["CONSUMERS", "GROUPS", "STREAM"]),
];

/// Lets a command through that only reads, or that is allowed: `HVALS`, `CLIENT INFO`. The words
/// are sent as they are.
pub fn check(words: &[Vec<u8>], allowed: &[String]) -> Result<(), Refusal> {
    let upper = |index: usize| {
        words
            .get(index)
            .map(|word| String::from_utf8_lossy(word).to_ascii_uppercase())
    };
    let Some(name) = upper(0) else {
        return Err(Refusal::new(
            Rule::RedisCommand,
            "there is no command; give one, for example GET name",
        ));
    };
    let both = upper(1).map(|second| format!("{name} {second}"));
    if allowed.iter().any(|entry| {
        entry.eq_ignore_ascii_case(&name)
            || both
                .as_ref()
                .is_some_and(|both| entry.eq_ignore_ascii_case(both))
    }) {
        return Ok(());
    }
    if let Some((_, allowed)) = SUBCOMMANDS.iter().find(|(command, _)| *command == name) {
        return match upper(1) {
            Some(second) if allowed.contains(&second.as_str()) => Ok(()),
            second => Err(Refusal::new(
                Rule::RedisSubcommand,
                format!(
                    "{name} {} is not a command that only reads; allowed: {name} {}{}",
                    second.unwrap_or_default(),
                    allowed.join(", "),
                    to_allow(both.as_deref().unwrap_or(&name))
                ),
            )),
        };
    }
    if !COMMANDS.contains(&name.as_str()) {
        let instead = match name.as_str() {
            "KEYS" => "; KEYS blocks the server, list keys with SCAN",
            "HVALS" => "; HGETALL reads the values with their fields",
            "LPOP" | "RPOP" => "; LRANGE reads without taking",
            "ZREVRANGE" | "ZRANGEBYSCORE" => "; ZRANGE takes REV and BYSCORE",
            _ => "",
        };
        return Err(Refusal::new(
            Rule::RedisCommand,
            format!(
                "{name} is not among the commands that only read{instead}{}",
                to_allow(&name)
            ),
        ));
    }
    // ZRANGE writes nowhere today; a destination would come as a word like this.
    let stores = words
        .iter()
        .skip(2)
        .any(|word| word.eq_ignore_ascii_case(b"STORE") || word.eq_ignore_ascii_case(b"STOREDIST"));
    if name == "ZRANGE" && stores {
        return Err(Refusal::new(
            Rule::RedisCommand,
            "ZRANGE with a destination writes",
        ));
    }
    Ok(())
}

fn to_allow(command: &str) -> String {
    format!(
        "; if the server calls it read-only, allow it in config.toml: [stack] \
         allowed_redis_commands = [\"{command}\"]"
    )
}

/// Splits a command line: words at spaces, `"…"` with `\n`, `\r`, `\t`, `\xHH`, `\"`, `\\`, and
/// `'…'` with `\'`.
pub fn words(line: &str) -> Result<Vec<Vec<u8>>, Refusal> {
    let bytes = line.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if at >= bytes.len() {
            return Ok(words);
        }
        let mut word = Vec::new();
        while let Some(&byte) = bytes.get(at).filter(|byte| !byte.is_ascii_whitespace()) {
            at += 1;
            match byte {
                b'"' | b'\'' => {
                    at = quoted(bytes, at, byte, &mut word)?;
                    if bytes
                        .get(at)
                        .is_some_and(|next| !next.is_ascii_whitespace())
                    {
                        return Err(unreadable("something follows a closing quote at once"));
                    }
                }
                plain => word.push(plain),
            }
        }
        words.push(word);
    }
}

fn quoted(bytes: &[u8], mut at: usize, quote: u8, word: &mut Vec<u8>) -> Result<usize, Refusal> {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == quote {
            return Ok(at);
        }
        if byte != b'\\' {
            word.push(byte);
            continue;
        }
        let Some(&escaped) = bytes.get(at) else {
            break;
        };
        at += 1;
        if quote == b'\'' {
            if escaped != b'\'' {
                word.push(b'\\');
            }
            word.push(escaped);
            continue;
        }
        let hexadecimal = (escaped == b'x')
            .then(|| bytes.get(at..at + 2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (hexadecimal, escaped) {
            (Some(value), _) => {
                word.push(value);
                at += 2;
            }
            (None, b'n') => word.push(b'\n'),
            (None, b'r') => word.push(b'\r'),
            (None, b't') => word.push(b'\t'),
            (None, other) => word.push(other),
        }
    }
    Err(unreadable("a quote is not closed"))
}

fn unreadable(what: &str) -> Refusal {
    Refusal::new(
        Rule::RedisUnreadable,
        format!("the command line cannot be read: {what}"),
    )
}

#[cfg(test)]
#[path = "redis_tests.rs"]
mod tests;
