//! Links of every kind, asked of a server on this machine.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    sync::Barrier,
};
use windlass_net::{HttpOutbound, Lookup, OutboundPolicy};
use windlass_ports::{BoxFuture, LinkAnswer, LinkProbe as _};
use windlass_toolchain::HttpLinkProbe;

const LONG: Duration = Duration::from_secs(60);

/// A server and what it was asked, as `HOST METHOD PATH`.
struct Server {
    runtime: Runtime,
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    busy: Arc<Mutex<Busy>>,
}

/// Which hosts were being asked at the same time.
#[derive(Default)]
struct Busy {
    now: BTreeMap<String, usize>,
    most_hosts: usize,
    most_of_one: usize,
}

impl Server {
    /// Starts it; the path `/together` is answered once `together` requests for it are there.
    fn start(together: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, busy) = (Arc::default(), Arc::default());
        let barrier = Arc::new(Barrier::new(together));
        let notes = (Arc::clone(&asked), Arc::clone(&busy));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, busy) = notes.clone();
                let barrier = Arc::clone(&barrier);
                tokio::spawn(async move { answer(stream, port, &asked, &busy, &barrier).await });
            }
        });
        Self {
            runtime,
            port,
            asked,
            busy,
        }
    }

    fn probe(&self) -> HttpLinkProbe {
        let policy = OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        };
        HttpLinkProbe::new(
            Arc::new(HttpOutbound::with_lookup(policy, Here)),
            Arc::new(|host| host.ends_with(".test") || host == "169.254.169.254"),
            self.runtime.handle().clone(),
        )
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// The answers, by path.
    fn ask(&self, probe: &HttpLinkProbe, paths: &[&str], limit: Duration) -> Vec<LinkAnswer> {
        let urls: Vec<String> = paths.iter().map(|path| self.url("a.test", path)).collect();
        let mut answers = probe.probe(&urls, limit);
        urls.iter()
            .map(|url| answers.remove(url).unwrap())
            .collect()
    }
}

/// Every name is this machine.
struct Here;

impl Lookup for Here {
    fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

async fn answer(
    stream: TcpStream,
    port: u16,
    asked: &Mutex<Vec<String>>,
    busy: &Mutex<Busy>,
    barrier: &Barrier,
) {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    while let Ok(1..) = stream.read_until(b'\n', &mut head).await {
        if head.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap_or_default());
    let host = head.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.unwrap().split(':').next().unwrap().to_owned();
    asked
        .lock()
        .unwrap()
        .push(format!("{host} {method} {path}"));
    {
        let mut busy = busy.lock().unwrap();
        let of_one = busy.now.entry(host.clone()).or_default();
        *of_one += 1;
        busy.most_of_one = busy.most_of_one.max(busy.now[&host]);
        busy.most_hosts = busy.most_hosts.max(busy.now.len());
    }
    let location = |target: &str| format!("302 Found\r\nlocation: {target}");
    let status = match (method, path) {
        (_, "/ok") | ("GET", "/no-head" | "/forbidden-head" | "/not-implemented") => {
            "200 OK".to_owned()
        }
        (_, "/together") => {
            barrier.wait().await;
            "200 OK".to_owned()
        }
        ("HEAD", "/no-head") => "405 Method Not Allowed".to_owned(),
        ("HEAD", "/not-implemented") => "501 Not Implemented".to_owned(),
        ("HEAD", "/forbidden-head") | (_, "/forbidden") => "403 Forbidden".to_owned(),
        (_, "/unchanged") => "304 Not Modified".to_owned(),
        (_, "/down") => "503 Service Unavailable".to_owned(),
        (_, "/chain/0") => "204 No Content".to_owned(),
        (_, "/to-no-head") => location("no-head"),
        (_, "/loop") => location("/loop"),
        (_, "/elsewhere") => location("http://other.example/"),
        (_, "/metadata") => location("http://169.254.169.254/latest/"),
        (_, "/file") => location("file:///etc/passwd"),
        (_, "/nonsense") => location("http://["),
        (_, "/slow") => return std::future::pending().await,
        (_, "/cut") => {
            let _ = stream.write_all(b"HTTP/1.1 200 O").await;
            return;
        }
        (_, path) => match path.strip_prefix("/chain/") {
            Some(left) => {
                let next = left.parse::<u32>().unwrap() - 1;
                format!("301 Moved\r\nlocation: http://b.test:{port}/chain/{next}")
            }
            None => "404 Not Found".to_owned(),
        },
    };
    // Before the answer: its reader may be here again at once.
    {
        let mut busy = busy.lock().unwrap();
        let of_one = busy.now.get_mut(&host).unwrap();
        *of_one -= 1;
        if *of_one == 0 {
            busy.now.remove(&host);
        }
    }
    let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(reply.as_bytes()).await;
}

#[test]
fn every_kind_of_answer() {
    let server = Server::start(1);
    let paths = [
        "/ok",
        "/missing",
        "/down",
        "/unchanged",
        "/no-head",
        "/not-implemented",
        "/forbidden-head",
        "/forbidden",
        "/to-no-head",
        "/chain/1",
        "/chain/5",
        "/chain/6",
        "/loop",
        "/elsewhere",
        "/metadata",
        "/file",
        "/nonsense",
    ];
    let answers = server.ask(&server.probe(), &paths, LONG);
    let table: String = paths
        .iter()
        .zip(&answers)
        .map(|(path, answer)| format!("{path:<17} {answer:?}\n"))
        .collect();
    insta::assert_snapshot!(table, @r#"
    /ok               Status(200)
    /missing          Status(404)
    /down             Status(503)
    /unchanged        Status(304)
    /no-head          Status(200)
    /not-implemented  Status(200)
    /forbidden-head   Status(200)
    /forbidden        Status(403)
    /to-no-head       Status(200)
    /chain/1          Status(204)
    /chain/5          Status(204)
    /chain/6          Unreachable("it redirects more than 5 times")
    /loop             Unreachable("it redirects more than 5 times")
    /elsewhere        NotAllowed
    /metadata         NotAllowed
    /file             NotAllowed
    /nonsense         Unreachable("it redirects to \"http://[\": invalid IPv6 address")
    "#);
    // Nobody was asked twice, and a refused HEAD is asked again as GET.
    let asked = server.asked.lock().unwrap();
    let count = |line: &str| asked.iter().filter(|asked| *asked == line).count();
    for (line, expected) in [
        ("a.test HEAD /ok", 1),
        ("a.test GET /ok", 0),
        ("a.test HEAD /no-head", 2),
        ("a.test GET /no-head", 2),
        ("a.test HEAD /loop", 6),
        ("b.test HEAD /chain/0", 2),
    ] {
        assert_eq!(count(line), expected, "{line}: {asked:?}");
    }
}

#[test]
fn slow_and_broken_servers() {
    let server = Server::start(1);
    let quick = server.probe().with_request_limit(Duration::from_secs(1));
    assert_eq!(
        server.ask(&quick, &["/slow", "/ok"], LONG),
        [LinkAnswer::TimedOut, LinkAnswer::Status(200)]
    );
    // The limit of all ends those that are on their way, and what was answered stays.
    assert_eq!(
        server.ask(
            &server.probe(),
            &["/ok", "/slow", "/z"],
            Duration::from_secs(3)
        ),
        [
            LinkAnswer::Status(200),
            LinkAnswer::TimedOut,
            LinkAnswer::TimedOut
        ]
    );
    let answers = server.ask(&server.probe(), &["/cut"], LONG);
    assert!(
        matches!(answers[0], LinkAnswer::Unreachable(_)),
        "{answers:?}"
    );
}

#[test]
fn what_may_not_or_cannot_be_checked() {
    let server = Server::start(1);
    let urls = [
        server.url("other.example", "/ok"),
        "https://[".to_owned(),
        "mailto:someone@a.test".to_owned(),
        server.url("a.test", "/ok"),
        server.url("a.test", "/ok"),
    ];
    let answers = server.probe().probe(&urls, LONG);
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[&urls[0]], LinkAnswer::NotAllowed);
    assert!(matches!(answers[&urls[1]], LinkAnswer::Unreachable(_)));
    assert_eq!(answers[&urls[2]], LinkAnswer::NotAllowed);
    assert_eq!(answers[&urls[3]], LinkAnswer::Status(200));
    assert_eq!(*server.asked.lock().unwrap(), ["a.test HEAD /ok"]);
    assert_eq!(server.probe().probe(&[], LONG), BTreeMap::new());
}

#[test]
fn eight_hosts_at_once_and_one_address_of_each() {
    let server = Server::start(8);
    let mut urls = Vec::new();
    for host in 0..16 {
        for path in ["/together", "/ok", "/ok?again"] {
            urls.push(server.url(&format!("h{host}.test"), path));
        }
    }
    let answers = server.probe().probe(&urls, LONG);
    let together = answers.iter().filter(|(url, _)| url.ends_with("/together"));
    assert!(
        together.clone().count() == 16
            && together
                .clone()
                .all(|(_, answer)| *answer == LinkAnswer::Status(200)),
        "{answers:?}"
    );
    let busy = server.busy.lock().unwrap();
    assert_eq!((busy.most_hosts, busy.most_of_one), (8, 1));
}
