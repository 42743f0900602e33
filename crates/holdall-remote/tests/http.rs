//! Objects on web servers that answer as they should, and otherwise.

mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use container_core::source::Source as _;
use container_core::{Error, ErrorKind};
use holdall_remote::{CachedSource, RemoteOptions, RemoteUrl, open};
use server::{Answer, Server};

/// An object of `len` bytes in which no two ranges of eight bytes are equal.
fn object(len: usize) -> Arc<[u8]> {
    (0..len.div_ceil(8) as u64)
        .flat_map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes())
        .take(len)
        .collect()
}

const LEN: usize = 4 << 20;

fn quick() -> RemoteOptions {
    let mut options = RemoteOptions::default();
    options.stall = Duration::from_millis(400);
    options.deadline = Duration::from_secs(3);
    options
}

fn open_at(url: &str, options: &RemoteOptions) -> container_core::Result<CachedSource> {
    open(&RemoteUrl::parse(url)?, options)
}

fn io_kind(error: &Error) -> Option<std::io::ErrorKind> {
    match error.kind() {
        ErrorKind::Io(error) => Some(error.kind()),
        _ => None,
    }
}

/// Reads all of the object in pieces, and compares.
fn reads(source: &CachedSource, object: &[u8]) -> container_core::Result<()> {
    assert_eq!(source.len(), object.len() as u64);
    for (at, piece) in (0..).step_by(300_000).zip(object.chunks(300_000)) {
        assert!(*source.read(at..at + piece.len() as u64)? == *piece, "bytes from {at} on");
    }
    Ok(())
}

#[test]
fn an_object_is_read_by_ranges_of_one_version() {
    let object = object(LEN);
    for etag in ["\"strong\"", "W/\"weak\""] {
        let server = Server::of(Arc::clone(&object), etag);
        let source = open_at(&server.url("/a%20b.asdf?x=1"), &RemoteOptions::default()).unwrap();
        reads(&source, &object).unwrap();
        let requests = server.requests();
        assert_eq!(requests.len() as u64, source.traffic().requests);
        assert_eq!(source.traffic().bytes, LEN as u64);
        for (number, request) in requests.iter().enumerate() {
            assert_eq!(request.target, "/a%20b.asdf?x=1");
            assert_eq!(request.header("accept-encoding"), Some("identity"));
            // RFC 9110, 13.1.1: weak tags never match in If-Match.
            let condition = (number > 0 && etag.starts_with('"')).then_some(etag);
            assert_eq!(request.header("if-match"), condition);
        }
    }
}

#[test]
fn objects_of_any_length_are_read() {
    for len in [0, 1, 8, 65_535, 65_536, 65_537, 2 << 20, (2 << 20) + 1] {
        let object = object(len);
        let server = Server::of(Arc::clone(&object), "\"a\"");
        let source = open_at(&server.url("/"), &RemoteOptions::default()).unwrap();
        reads(&source, &object).unwrap();
    }
}

#[test]
fn transient_failures_are_retried() {
    let object = object(LEN);
    let of = Arc::clone(&object);
    let server = Server::new(move |number, request| {
        let part = Answer::part(&of, request, "ETag: \"a\"\r\n");
        match number % 7 {
            0 => Answer::status("503 Service Unavailable", ""),
            1 => Answer::status("429 Too Many Requests", "Retry-After: 0\r\n"),
            2 => Answer { cut: Some(0), ..part },
            3 => Answer { cut: Some(part.body.len() / 2), ..part },
            4 => Answer { delay: Duration::from_millis(50), ..part },
            _ => part,
        }
    });
    let mut options = quick();
    options.deadline = Duration::from_secs(60);
    let source = open_at(&server.url("/"), &options).unwrap();
    reads(&source, &object).unwrap();
    assert_eq!(server.requests().len() as u64, source.traffic().requests);
}

#[test]
fn a_server_that_stalls_is_left_by_the_deadline() {
    let object = object(LEN);
    for (delay, drip) in [(10_000, 0), (0, 100)] {
        let of = Arc::clone(&object);
        let server = Server::new(move |number, request| {
            let part = Answer::part(&of, request, "");
            let (delay, drip) = if number == 0 { (0, 0) } else { (delay, drip) };
            Answer { delay: Duration::from_millis(delay), drip: Duration::from_millis(drip), ..part }
        });
        let source = open_at(&server.url("/"), &quick()).unwrap();
        let begin = Instant::now();
        let error = source.read(1 << 20..(1 << 20) + 100_000).unwrap_err();
        assert_eq!(io_kind(&error), Some(std::io::ErrorKind::TimedOut), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_changed_object_is_an_error() {
    let object = object(LEN);
    type Change = fn(&[u8], &server::Request) -> Answer;
    let changes: [(&str, Change); 5] = [
        ("another tag", |object, request| Answer::part(object, request, "ETag: \"b\"\r\n")),
        ("412", |_, _| Answer::status("412 Precondition Failed", "")),
        ("another length", |object, request| Answer::part(&object[..LEN - 1], request, "ETag: \"a\"\r\n")),
        ("416", |_, _| Answer::status("416 Range Not Satisfiable", "Content-Range: bytes */10\r\n")),
        ("another whole object", |object, _| Answer::whole(&object[..LEN - 9], "ETag: \"a\"\r\n")),
    ];
    for (name, change) in changes {
        let of = Arc::clone(&object);
        let server = Server::new(move |number, request| match number {
            0 => Answer::part(&of, request, "ETag: \"a\"\r\n"),
            _ => change(&of, request),
        });
        let source = open_at(&server.url("/"), &quick()).unwrap();
        let error = source.read(1 << 20..(1 << 20) + 9).unwrap_err();
        assert_eq!(io_kind(&error), Some(std::io::ErrorKind::StaleNetworkFileHandle), "{name}: {error}");
        assert_eq!(server.requests().len(), 2, "{name}: no retry");
    }
}

#[test]
fn an_answer_with_another_range_is_refused() {
    let object = object(LEN);
    let lies = [
        "bytes 0-8/4194304",
        "bytes 1048577-1114112/4194304",
        "bytes 1048576-1114112/4194304",
        "bytes 1048576-1048575/4194304",
        "bytes 1048576-1114111/*",
        "bytes */4194304",
        "pages 1-2/3",
    ];
    for lie in lies {
        let of = Arc::clone(&object);
        let server = Server::new(move |number, request| {
            let part = Answer::part(&of, request, "");
            if number == 0 {
                return part;
            }
            let head = format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: {lie}\r\nContent-Length: {}\r\n\r\n",
                part.body.len()
            );
            Answer { head, ..part }
        });
        let source = open_at(&server.url("/"), &quick()).unwrap();
        let error = source.read(1 << 20..(1 << 20) + 65_536).unwrap_err();
        assert_eq!(io_kind(&error), Some(std::io::ErrorKind::InvalidData), "{lie}: {error}");
    }
    // A body longer than its range.
    let of = Arc::clone(&object);
    let server = Server::new(move |number, request| {
        let mut part = Answer::part(&of, request, "");
        if number > 0 {
            part.head = part.head.replace("Content-Length: 65536", "Content-Length: 65537");
            part.body.push(0);
        }
        part
    });
    let source = open_at(&server.url("/"), &quick()).unwrap();
    let error = source.read(1 << 20..(1 << 20) + 65_536).unwrap_err();
    assert_eq!(io_kind(&error), Some(std::io::ErrorKind::InvalidData), "{error}");
}

#[test]
fn servers_without_ranges_are_read_whole_or_refused() {
    let object = object(LEN);
    let of = Arc::clone(&object);
    let server = Server::new(move |_, _| Answer::whole(&of, ""));
    let source = open_at(&server.url("/"), &quick()).unwrap();
    reads(&source, &object).unwrap();
    assert_eq!(server.requests().len(), 1);
    let limits = container_core::Limits::default().with_memory(8 << 20);
    let url = RemoteUrl::parse(&server.url("/")).unwrap();
    let error = holdall_remote::open_with(&url, &quick(), &limits).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    // A server that answers one range of several with all of the object.
    let of = Arc::clone(&object);
    let server = Server::new(move |number, request| match number {
        1 => Answer::whole(&of, ""),
        _ => Answer::part(&of, request, ""),
    });
    let source = open_at(&server.url("/"), &quick()).unwrap();
    reads(&source, &object).unwrap();
}

#[test]
fn encoded_answers_are_refused() {
    let object = object(100);
    let server = Server::new(move |_, request| Answer::part(&object, request, "Content-Encoding: gzip\r\n"));
    let error = open_at(&server.url("/"), &quick()).err().unwrap();
    assert!(
        matches!(error.kind(), ErrorKind::Unsupported(_)) && error.to_string().contains("gzip"),
        "{error}"
    );
}

#[test]
fn headers_go_to_the_origin_of_the_address_alone() {
    let object = object(LEN);
    let other = Arc::new(Server::of(Arc::clone(&object), "\"a\""));
    let target = other.url("/elsewhere?token=1");
    let server = Server::new(move |_, request| match request.target.as_str() {
        "/start" => Answer::status("302 Found", "Location: /same\r\n"),
        _ => Answer::status("307 Temporary Redirect", &format!("Location: {target}\r\n")),
    });
    let mut options = quick();
    options.headers =
        vec![("Authorization".into(), "Bearer SECRET".into()), ("X-Key".into(), "SECRET".into())];
    let source = open_at(&server.url("/start"), &options).unwrap();
    reads(&source, &object).unwrap();
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some("Bearer SECRET")));
    let there = other.requests();
    assert!(!there.is_empty());
    for request in &there {
        assert_eq!((request.header("authorization"), request.header("x-key")), (None, None));
        assert!(request.header("range").is_some());
    }
    // Signed targets expire: each request begins at the address that was typed.
    assert_eq!(server.requests().iter().filter(|request| request.target == "/start").count(), there.len());
}

#[test]
fn redirects_to_private_addresses_are_refused_where_it_is_asked() {
    let object = object(1000);
    let other = Server::of(Arc::clone(&object), "\"a\"");
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
        let target = format!("http://{host}:{}/", other.port);
        let server = Server::new(move |_, _| Answer::status("302 Found", &format!("Location: {target}\r\n")));
        let mut options = quick();
        options.refuse_private_redirects = true;
        let error = open_at(&server.url("/"), &options).unwrap_err();
        assert!(error.to_string().contains("private address") && server.requests().len() == 1, "{error}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn redirects_without_end_or_to_other_protocols_are_refused() {
    for location in
        ["/again", "ftp://127.0.0.1/x", "file:///etc/passwd", "http://[", "http://user:SECRET@localhost:1/"]
    {
        let server = Server::new(move |_, _| {
            Answer::status("301 Moved Permanently", &format!("Location: {location}\r\n"))
        });
        let error = open_at(&server.url("/"), &quick()).err().unwrap();
        assert!(error.to_string().contains("redirect") && !error.to_string().contains("SECRET"), "{error}");
        assert!(server.requests().len() <= 6, "{location}");
    }
    let server = Server::new(|_, _| Answer::status("302 Found", ""));
    assert!(open_at(&server.url("/"), &quick()).err().unwrap().to_string().contains("without an address"));
}

#[test]
fn refusals_are_errors_by_kind_without_secrets() {
    use std::io::ErrorKind::{NotFound, Other, PermissionDenied};
    for (status, kind) in [
        ("401 Unauthorized", PermissionDenied),
        ("403 Forbidden", PermissionDenied),
        ("404 Not Found", NotFound),
        ("410 Gone", NotFound),
        ("418 I'm a teapot", Other),
    ] {
        let server = Server::new(move |_, _| Answer::status(status, "X-Echo: SECRET\r\n"));
        let url = server.url("/f.asdf?sig=SECRET").replace("http://", "http://user:SECRET@");
        let mut options = quick();
        options.headers = vec![("Authorization".into(), "SECRET".into())];
        let error = open_at(&url, &options).err().unwrap();
        assert_eq!(io_kind(&error), Some(kind), "{status}");
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(shown.contains(&status[..3]) && shown.contains("/f.asdf?…"), "{shown}");
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    // No server, and no host.
    let mut options = quick();
    options.max_retries = 1;
    for url in ["http://127.0.0.1:9/x?sig=SECRET", "http://no-such-host.invalid/?sig=SECRET"] {
        let shown = format!("{:?}", open_at(url, &options).err().unwrap());
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    options.headers = vec![("no header".into(), "SECRET".into())];
    let error = open_at("http://127.0.0.1:9/", &options).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && !error.to_string().contains("SECRET"), "{error}");
}
