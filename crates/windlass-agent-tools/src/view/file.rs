//! One file, shown.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufReader, Read as _, Seek as _},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_ports::{Media, Part};

use super::{LINES, MOST_TEXT, lines};
use crate::{Code, Failure, Outcome};

/// Larger pictures are refused by providers.
const MOST_IMAGE: u64 = 5 << 20;
const MOST_DOCUMENT: u64 = 20 << 20;
/// As much of a line as is told.
const MOST_LINE: usize = 2_000;
/// After the last line that is told, lines are counted up to here.
const MOST_COUNTED: u64 = 64 << 20;

/// What the first bytes say it is.
pub(super) enum Kind {
    Text,
    Image(&'static str),
    Document(&'static str),
    Binary,
}

pub(super) fn kind(start: &[u8]) -> Kind {
    let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
    match start {
        _ if start.starts_with(b"\x89PNG\r\n\x1a\n") => Kind::Image("image/png"),
        _ if start.starts_with(b"\xff\xd8\xff") => Kind::Image("image/jpeg"),
        _ if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") => {
            Kind::Image("image/gif")
        }
        _ if is_webp => Kind::Image("image/webp"),
        _ if start.starts_with(b"%PDF-") => Kind::Document("application/pdf"),
        _ if start.contains(&0) => Kind::Binary,
        _ => Kind::Text,
    }
}

/// The first bytes of a file; it is read from its beginning afterwards.
pub(super) fn start(mut file: &File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(8 * 1024).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start)
}

pub(super) fn show(
    file: &File,
    shown: &str,
    range: Option<(i64, i64)>,
) -> Result<Outcome, Failure> {
    let failed = |error: io::Error| Failure::new(Code::ReadError, format!("{shown}: {error}."));
    let size = file.metadata().map_err(failed)?.len();
    let start = start(file).map_err(failed)?;
    match kind(&start) {
        Kind::Text => text(file, shown, range, size).map_err(failed)?,
        Kind::Image(media_type) if size <= MOST_IMAGE => {
            let media = media(file, media_type, shown).map_err(failed)?;
            Ok(with_media(shown, size, Part::Image(media)))
        }
        Kind::Document(media_type) if size <= MOST_DOCUMENT => {
            let media = media(file, media_type, shown).map_err(failed)?;
            Ok(with_media(shown, size, Part::Document(media)))
        }
        Kind::Image(media_type) | Kind::Document(media_type) => Ok(Outcome::text(format!(
            "{shown} is {media_type} of {size} bytes, too large to be shown."
        ))),
        Kind::Binary => Ok(Outcome::text(format!(
            "{shown} is a binary file of {size} bytes. Use a command such as `file` or `xxd` to \
             look into it."
        ))),
    }
}

fn with_media(shown: &str, size: u64, part: Part) -> Outcome {
    let mut outcome = Outcome::text(format!("{shown} ({size} bytes):"));
    outcome.parts.push(part);
    outcome
}

fn media(file: &File, media_type: &str, shown: &str) -> io::Result<Media> {
    let mut bytes = Vec::new();
    file.take(MOST_DOCUMENT).read_to_end(&mut bytes)?;
    let name = shown.rsplit('/').next().map(str::to_owned);
    Ok(Media {
        media_type: media_type.to_owned(),
        data: STANDARD.encode(bytes),
        name,
    })
}

fn text(
    file: &File,
    shown: &str,
    range: Option<(i64, i64)>,
    size: u64,
) -> io::Result<Result<Outcome, Failure>> {
    let first = range.map_or(1, |(first, _)| first.max(1).unsigned_abs());
    let last = match range {
        None => LINES,
        Some((_, -1)) => u64::MAX,
        Some((_, last)) => last.unsigned_abs(),
    };
    let mut told = String::new();
    let (mut count, mut passed, mut last_told) = (0, 0, 0);
    let reader = BufReader::with_capacity(64 * 1024, file);
    let is_whole = lines::each(reader, |number, line| {
        count = number;
        passed += line.length + 1;
        if number >= first && number <= last && told.len() < MOST_TEXT {
            last_told = number;
            let text = String::from_utf8_lossy(&line.bytes);
            let cut = text.floor_char_boundary(MOST_LINE);
            let _ = write!(told, "{number:>6}\t{}", text.get(..cut).unwrap_or_default());
            if line.bytes.len() >= lines::LONGEST || cut < text.len() {
                let _ = write!(told, " [cut: the line has {} bytes]", line.length);
            }
            told.push('\n');
        }
        passed < MOST_COUNTED || (told.len() < MOST_TEXT && number < last)
    })?;
    if size == 0 {
        return Ok(Ok(Outcome::text(format!("{shown} is empty."))));
    }
    if last_told == 0 {
        let message = format!("{shown} has only {count} lines.");
        return Ok(Err(Failure::new(Code::InvalidArguments, message)));
    }
    let total = match is_whole {
        true => format!("{count}"),
        false => format!("more than {count}"),
    };
    if !is_whole || last_told < count {
        let _ = writeln!(
            told,
            "[lines {first} to {last_told} of {total}; view_range [{}, -1] shows the next]",
            last_told + 1
        );
    }
    Ok(Ok(Outcome::text(format!("{shown}\n{told}"))))
}
