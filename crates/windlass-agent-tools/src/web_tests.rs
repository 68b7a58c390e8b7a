//! Pages, redirects, and addresses that are not fetched.

use std::{collections::BTreeMap, sync::Arc};

use futures::stream;
use serde_json::json;
use windlass_ports::OutboundResponse;

use super::*;
use crate::test_support::{Session, code, text};

/// Answers by address: status, header, body.
struct Web(BTreeMap<&'static str, Page>);

type Page = (u16, (&'static str, &'static str), Vec<u8>);

impl Outbound for Web {
    fn send(&self, _: OutboundRequest) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>> {
        Box::pin(async { Err(OutboundError::Unreachable("not used".to_owned())) })
    }

    fn send_streaming(
        &self,
        request: OutboundRequest,
        _: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>> {
        Box::pin(async move {
            let (status, header, body) = self
                .0
                .get(request.url.as_str())
                .ok_or_else(|| OutboundError::Unreachable("no such page".to_owned()))?;
            let pieces: Vec<_> = body
                .chunks(1 << 16)
                .map(|piece| Ok(piece.to_vec()))
                .collect();
            Ok(OutboundStream {
                status: *status,
                headers: vec![(header.0.to_owned(), header.1.to_owned())],
                body: stream::iter(pieces).boxed(),
            })
        })
    }

    fn check(&self, url: &str) -> Result<(), OutboundError> {
        match url.contains("rebind") {
            true => Err(OutboundError::Forbidden(
                "10.0.0.1 is not a public address".to_owned(),
            )),
            false => Ok(()),
        }
    }
}

fn session() -> Session {
    let html = ("content-type", "text/html; charset=utf-8");
    let to = |target| (302, ("location", target), Vec::new());
    let mut session = Session::new();
    session.context.outbound = Some(Arc::new(Web(BTreeMap::from([
        (
            "https://a.example/",
            (200, html, b"<h1>Hi</h1><p>a &amp; b".to_vec()),
        ),
        ("https://a.example/same", to("/")),
        ("https://a.example/away", to("https://b.example/")),
        (
            "https://a.example/private",
            to("https://169.254.169.254/latest"),
        ),
        ("https://a.example/local", to("https://localhost/")),
        ("https://a.example/plain", to("http://a.example/")),
        ("https://a.example/loop", to("/loop")),
        ("https://a.example/gone", (404, html, b"<p>Gone".to_vec())),
        (
            "https://a.example/pdf",
            (200, ("content-type", "application/pdf"), b"%PDF".to_vec()),
        ),
        (
            "https://a.example/long",
            (200, ("content-type", "text/plain"), vec![b'x'; 6 << 20]),
        ),
    ]))));
    session
}

#[tokio::test]
async fn pages_and_refusals() {
    let session = session();
    for (url, expected, told) in [
        (
            "https://a.example/",
            "",
            "https://a.example/\n\n# Hi\n\na & b\n",
        ),
        ("https://a.example/same", "", "https://a.example/\n\n# Hi"),
        (
            "https://a.example/away",
            "",
            "call view_web_page with https://b.example/",
        ),
        ("https://a.example/private", "INVALID_URL", "public"),
        ("https://a.example/local", "INVALID_URL", "public"),
        ("https://a.example/plain", "INSECURE_URL", "https"),
        ("https://a.example/loop", "HTTP_ERROR", "more than 5 times"),
        (
            "https://a.example/gone",
            "HTTP_ERROR",
            "answered 404.\nGone",
        ),
        ("https://a.example/pdf", "HTTP_ERROR", "application/pdf"),
        ("https://rebind.example/", "INVALID_URL", "10.0.0.1"),
        ("https://nowhere.example/", "HTTP_ERROR", "no such page"),
        ("http://a.example/", "INSECURE_URL", "https"),
        ("file:///etc/passwd", "INVALID_URL", "file"),
        ("https://10.0.0.1/", "INVALID_URL", "public"),
        ("https://0x7f.1/", "INVALID_URL", "public"),
        ("https://2130706433/", "INVALID_URL", "public"),
        ("https://[::1]/", "INVALID_URL", "public"),
        ("https://[::ffff:10.0.0.1]/", "INVALID_URL", "public"),
        ("https://printer/", "INVALID_URL", "public"),
        ("https://db.internal/", "INVALID_URL", "public"),
        ("https://user:pw@a.example/", "INVALID_URL", "user name"),
    ] {
        let outcome = session.call("view_web_page", json!({ "url": url })).await;
        assert_eq!(code(&outcome), expected, "{url}: {}", text(&outcome));
        assert!(text(&outcome).contains(told), "{url}: {}", text(&outcome));
    }
    let long = session
        .text("view_web_page", json!({ "url": "https://a.example/long" }))
        .await;
    assert!(long.len() < 70_000 && long.contains("[the page is longer"));
}

fn markdown(html: &str) -> String {
    html::markdown(html, &Url::parse("https://a.example/dir/page").unwrap())
}

#[test]
fn what_a_reader_sees() {
    let page = r#"<!doctype html><html><head><title>T</title><style>x{}</style></head><body>
<script>alert("<p>no</p>")</script><h2>Title <em>here</em></h2>
<p>One&nbsp;two<br>three <a href="../x?a=1&amp;b=2">link <b>bold</b></a> <a href="javascript:x">js</a></p>
<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></li></ul>
<pre><code>if a &lt; b {
    c
}</code></pre>
<p style="display: NONE">hidden</p><div hidden>hidden <div>deep</div> still</div><!-- comment > -->
<span aria-hidden="true">hidden</span><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
<img alt="a cat" src="x"> 1 < 2 &unknown; &#x41;&#66; z&#8203;w<blockquote>said</blockquote><hr>end"#;
    insta::assert_snapshot!(markdown(page), @"
    ## Title *here*

    One two
    three [link **bold**](https://a.example/x?a=1&b=2) js

    - a
    - b
      1. c
      2. d

    ```
    if a < b {
        c
    }
    ```

    |k |v |
    |1 |2 |

    [image: a cat] 1 < 2 &unknown; AB zw

    > said

    ---

    end
    ");
}

#[test]
fn any_bytes_are_a_page() {
    for html in [
        "<",
        "</",
        "<a",
        "<a href=",
        "<a href='",
        "<!--",
        "<script>",
        "&",
        "&#",
        "&#x110000;",
        "<p <p>",
        "</p></p>",
        "<é>",
        "a<b>c</b",
        "<li></ul>",
        "<a =x>",
        "<a ='>'>y",
    ] {
        markdown(html);
    }
    // Linear: a page of unfinished tags is read once.
    let began = std::time::Instant::now();
    for piece in [
        "<a ", "<", "<!--", "<div>", "<script>", "&", "<a b='", "</x>",
    ] {
        markdown(&piece.repeat(100_000));
    }
    markdown(&format!(
        "{}{}",
        "<div>".repeat(200_000),
        "</x>".repeat(200_000)
    ));
    markdown(&format!(
        "{}{}",
        "<a href=x>".repeat(200_000),
        "</a>".repeat(200_000)
    ));
    markdown(&format!("<a {}", "'".repeat(1_000_000)));
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
}
