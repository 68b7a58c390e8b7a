//! Bad and odd bodies, and bytes that are hardly HTTP, to the real HTTP API: exact status and
//! code for each, and the same process still answers after each.

use super::support::{
    http::{Ask, send_raw},
    keyed::Server,
};

fn nested(depth: usize) -> String {
    format!(r#"{{"cursor":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn bodies() {
    let server = Server::start();
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("an opening brace", b"{".to_vec()),
        ("an unended string", br#"{"kind":"demo"#.to_vec()),
        ("an unended object", br#"{"limit":1"#.to_vec()),
        ("a trailing comma", br#"{"limit":1,}"#.to_vec()),
        ("a leading comma", br#"{,"limit":1}"#.to_vec()),
        ("a comment", br#"{"limit":1} // all"#.to_vec()),
        ("a comment inside", br#"{/* all */"limit":1}"#.to_vec()),
        ("bare words", b"{limit:1}".to_vec()),
        ("single quotes", b"{'limit':1}".to_vec()),
        ("NaN", br#"{"limit":NaN}"#.to_vec()),
        ("Infinity", br#"{"limit":Infinity}"#.to_vec()),
        ("a leading zero", br#"{"limit":01}"#.to_vec()),
        ("a leading plus", br#"{"limit":+1}"#.to_vec()),
        ("hexadecimal", br#"{"limit":0x10}"#.to_vec()),
        ("a bare point", br#"{"limit":1.}"#.to_vec()),
        ("a number beyond all", br#"{"limit":1e400}"#.to_vec()),
        ("a lone high surrogate", br#"{"kind":"\ud800"}"#.to_vec()),
        ("a lone low surrogate", br#"{"kind":"\udc00x"}"#.to_vec()),
        ("a short escape", br#"{"kind":"\u12"}"#.to_vec()),
        ("an unknown escape", br#"{"kind":"\x41"}"#.to_vec()),
        ("a raw control character", b"{\"kind\":\"a\x01b\"}".to_vec()),
        ("a raw line break", b"{\"kind\":\"a\nb\"}".to_vec()),
        ("a NUL byte", b"{\"kind\":\"a\0b\"}".to_vec()),
        ("only NUL bytes", vec![0; 32]),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("a stray byte", b"{\"kind\":\"\xff\"}".to_vec()),
        ("an overlong encoding", b"{\"kind\":\"\xc0\x80\"}".to_vec()),
        (
            "an encoded surrogate",
            b"{\"kind\":\"\xed\xa0\x80\"}".to_vec(),
        ),
        ("two documents", b"{}{}".to_vec()),
        ("something behind", b"{} x".to_vec()),
        ("nested too deeply", nested(10_000).into_bytes()),
        ("nested far too deeply", nested(400_000).into_bytes()),
        ("opened and never closed", vec![b'['; 500_000]),
        ("a list", b"[]".to_vec()),
        ("a list of inputs", b"[{},{}]".to_vec()),
        ("null", b"null".to_vec()),
        ("a number", b"7".to_vec()),
        ("a text", br#""{}""#.to_vec()),
        ("a field that is unknown", br#"{"limits":1}"#.to_vec()),
        ("a field in another case", br#"{"Limit":1}"#.to_vec()),
        ("a text for a number", br#"{"limit":"1"}"#.to_vec()),
        ("a list for a number", br#"{"limit":[1]}"#.to_vec()),
        ("null for a number", br#"{"limit":null}"#.to_vec()),
        ("a truth for a number", br#"{"limit":true}"#.to_vec()),
        ("less than nothing", br#"{"limit":-1}"#.to_vec()),
        ("a fraction", br#"{"limit":1.5}"#.to_vec()),
        ("an exponent", br#"{"limit":1e1}"#.to_vec()),
        ("more than allowed", br#"{"limit":1000000}"#.to_vec()),
        (
            "more than a word holds",
            br#"{"limit":18446744073709551616}"#.to_vec(),
        ),
        ("an unknown state", br#"{"states":["asleep"]}"#.to_vec()),
        ("a text for a list", br#"{"states":"queued"}"#.to_vec()),
        ("a form", b"limit=1".to_vec()),
        ("XML", b"<limit>1</limit>".to_vec()),
    ];
    let mut table: Vec<(&str, Ask, u16, &str)> = bad
        .into_iter()
        .map(|(title, body)| {
            let ask = Ask::post("/v1/operations/runs.list", body);
            (title, server.with_key(ask), 400, "INVALID_INPUT")
        })
        .collect();
    let good: [(&str, &[u8]); 5] = [
        ("nothing at all", b""),
        ("an empty object", b"{}"),
        ("blanks around", b" \r\n\t{ } \n"),
        ("an escaped name", br#"{"\u006cimit":1}"#),
        ("a name twice: the last counts", br#"{"limit":0,"limit":1}"#),
    ];
    table.extend(good.into_iter().map(|(title, body)| {
        let ask = Ask::post("/v1/operations/runs.list", body);
        (title, server.with_key(ask), 200, "")
    }));
    server.check(&table);
}

/// Bytes that are hardly HTTP. Whatever the answer, it is a refusal, and others are served.
#[test]
fn bytes() {
    let server = Server::start();
    let table: [(&str, Vec<u8>, &[u16]); 17] = [
        ("nonsense", b"hello\r\n\r\n".to_vec(), &[400]),
        ("empty lines first", b"\r\n\r\nhello\r\n\r\n".to_vec(), &[400]),
        ("no version", b"GET /v1/health\r\n\r\n".to_vec(), &[400]),
        ("an old version", b"GET /v1/health HTTP/0.9\r\n\r\n".to_vec(), &[400]),
        ("a later version", b"GET /v1/health HTTP/3.0\r\n\r\n".to_vec(), &[400]),
        ("no host", b"GET /v1/health HTTP/1.1\r\n\r\n".to_vec(), &[400]),
        ("a header without a colon", b"GET /v1/health HTTP/1.1\r\nhost\r\n\r\n".to_vec(), &[400]),
        ("a header with a NUL", b"GET /v1/health HTTP/1.1\r\nhost: local\0host\r\n\r\n".to_vec(), &[400]),
        ("a folded header", b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n more\r\n\r\n".to_vec(), &[400]),
        ("a blank before the colon", b"GET /v1/health HTTP/1.1\r\nhost : localhost\r\n\r\n".to_vec(), &[400]),
        ("a path with a blank", b"GET /v1/he alth HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(), &[400]),
        ("a length that is no number", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ncontent-length: ten\r\n\r\n{}".to_vec(), &[400]),
        ("two lengths", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x".to_vec(), &[400]),
        ("an unknown encoding", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: cow\r\n\r\n{}".to_vec(), &[400]),
        ("too many headers", many_headers(500), &[400, 431]),
        ("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20), &[400]),
        ("a path of all bytes", (0..=255_u8).collect(), &[400]),
    ];
    for (title, bytes, statuses) in table {
        let status = send_raw(server.daemon.address, &bytes).map(|reply| reply.status);
        let fits = status
            .as_ref()
            .is_ok_and(|status| statuses.contains(status));
        assert!(fits, "{title}: {status:?}");
        server.assert_up(title);
    }
}

fn many_headers(count: usize) -> Vec<u8> {
    let mut bytes = b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n".to_vec();
    for number in 0..count {
        bytes.extend(format!("x-{number}: {number}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes
}
