//! Plain HTTP to this machine, for chapters that call what they have started.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use windlass_types::Problem;

/// How long a server of the tour may take to answer.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

/// The body of a page.
pub(crate) fn get(address: &str, path: &str) -> Result<String, Problem> {
    exchange(address, &format!("GET {path}"), "")
}

/// The answer to some JSON.
pub(crate) fn post(address: &str, path: &str, body: &str) -> Result<String, Problem> {
    exchange(address, &format!("POST {path}"), body)
}

fn exchange(address: &str, line: &str, body: &str) -> Result<String, Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour", format!("{line}: {error}"));
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).map_err(failed)?;
    stream.set_read_timeout(Some(WAIT_LIMIT)).map_err(failed)?;
    // An HTTP/1.0 answer ends with the connection and is never sent in chunks.
    let request = format!(
        "{line} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let Some((_, body)) = answer
        .split_once("\r\n\r\n")
        .filter(|_| status.starts_with('2'))
    else {
        return Err(Problem::internal(
            "tour",
            format!("{line} was answered {answer:?}"),
        ));
    };
    Ok(body.trim().to_owned())
}
