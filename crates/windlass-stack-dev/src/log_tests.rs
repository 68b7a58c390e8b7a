//! Pages: none twice, none missing, filter before paging.

use proptest::prelude::*;

use super::*;

fn line(seq: u64, source: &str) -> Line {
    Line {
        seq,
        ts: "2026-01-02T10:00:01Z".parse().unwrap(),
        source: source.to_owned(),
        level: Level::Info,
        msg: format!("line {seq}"),
    }
}

#[test]
fn a_line_as_text() {
    assert_eq!(line(7, "api").render(), "10:00:01 [api] line 7");
}

#[test]
fn without_a_cursor_the_newest_lines_in_order() {
    let lines: Vec<Line> = (1..=9)
        .map(|seq| line(seq, if seq % 2 == 0 { "even" } else { "odd" }))
        .collect();
    let newest = page(
        lines.clone(),
        &LogQuery {
            limit: Some(2),
            workload: Some("even".to_owned()),
            ..LogQuery::default()
        },
    );
    let numbers: Vec<u64> = newest.lines.iter().map(|line| line.seq).collect();
    assert_eq!((numbers, newest.next_cursor), (vec![6, 8], 10));
    let nothing_new = page(
        lines,
        &LogQuery {
            cursor: Some(10),
            ..LogQuery::default()
        },
    );
    assert_eq!((nothing_new.lines.len(), nothing_new.next_cursor), (0, 10));
}

#[test]
fn lines_of_an_earlier_session_are_shown_only_to_a_cursor() {
    let lines: Vec<Line> = (1..=9).map(|seq| line(seq, "api")).collect();
    let shown = |cursor, since, limit| {
        let query = LogQuery {
            cursor,
            since,
            limit: Some(limit),
            ..LogQuery::default()
        };
        let page = page(lines.clone(), &query);
        let numbers: Vec<u64> = page.lines.iter().map(|line| line.seq).collect();
        (numbers, page.next_cursor)
    };
    assert_eq!(shown(None, 7, 50), (vec![7, 8, 9], 10));
    assert_eq!(shown(None, 7, 2), (vec![8, 9], 10));
    assert_eq!(shown(Some(2), 7, 2), (vec![2, 3], 4));
    // A session that has written nothing yet.
    assert_eq!(shown(None, 10, 50), (vec![], 10));
}

proptest! {
    /// During writes, a reader with any page size and filter sees each line once.
    #[test]
    fn following_the_cursor_shows_every_line_once(
        sources in prop::collection::vec(0_u8..3, 0..200),
        limit in 1_usize..20,
        growth in 1_usize..30,
        filter in prop::option::of(0_u8..3),
    ) {
        let all: Vec<Line> = sources
            .iter()
            .zip(1..)
            .map(|(source, seq)| line(seq, &source.to_string()))
            .collect();
        let workload = filter.map(|source| source.to_string());
        let (mut seen, mut cursor, mut written) = (Vec::new(), 0, 0);
        loop {
            written = (written + growth).min(all.len());
            let answer = page(
                all[..written].to_vec(),
                &LogQuery { workload: workload.clone(), cursor: Some(cursor), limit: Some(limit), since: 0 },
            );
            prop_assert!(answer.lines.len() <= limit);
            prop_assert!(answer.next_cursor >= cursor);
            let is_idle = answer.lines.is_empty() && written == all.len();
            cursor = answer.next_cursor;
            seen.extend(answer.lines);
            if is_idle {
                break;
            }
        }
        let expected: Vec<Line> = all
            .into_iter()
            .filter(|line| workload.as_ref().is_none_or(|wanted| line.source == *wanted))
            .collect();
        prop_assert_eq!(seen, expected);
    }
}

#[test]
fn variables_are_hidden_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = Log::open(path, std::sync::Arc::new(windlass_system::SystemClock)).unwrap();
    for (name, value) in [
        ("MAIL_PASSWORD", "correct-horse-battery"),
        ("GREETING", "good-morning"),
    ] {
        log.hide_named(name, &Secret::new(value.to_owned()));
    }
    let shown = log.redact("correct-horse-battery says good-morning");
    assert_eq!(shown, "[redacted:secret-value] says good-morning");
}

#[test]
fn a_second_session_continues_and_half_a_line_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let clock: std::sync::Arc<dyn windlass_ports::Clock> =
        std::sync::Arc::new(windlass_system::SystemClock);
    let log = Log::open(path.clone(), clock.clone()).unwrap();
    log.hide(&Secret::new("correct-horse-battery".to_owned()));
    log.write(
        "api",
        Level::Info,
        "the password is correct-horse-battery\n",
    );
    log.info("two");
    drop(log);
    let mut file = fs_err::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"seq\":3,\"ts\":\"20").unwrap();
    drop(file);
    let log = Log::open(path.clone(), clock).unwrap();
    log.info("three");
    let lines = read_page(&path, &LogQuery::default()).unwrap().lines;
    let shown: Vec<(u64, &str)> = lines
        .iter()
        .map(|line| (line.seq, line.msg.as_str()))
        .collect();
    assert_eq!(shown.len(), 3);
    assert_eq!(&shown[1..], [(2, "two"), (3, "three")]);
    assert!(!shown[0].1.contains("correct-horse"), "{shown:?}");
}
