//! Objects in buckets of a store that answers as Amazon S3 does, and otherwise.
#![cfg(feature = "cloud")]

mod server;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use container_core::source::Source as _;
use container_core::{Error, ErrorKind, Limits};
use holdall_remote::{CachedSource, Client, RemoteOptions, RemoteUrl};
use server::{Answer, Request, Server};

const LEN: usize = 3 << 20;

/// An object of `len` bytes in which no two ranges of eight bytes are equal.
fn object(len: usize) -> Arc<[u8]> {
    (0..len as u64 / 8).flat_map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes()).collect()
}

fn options(server: &Server) -> RemoteOptions {
    let mut options = RemoteOptions::default();
    options.stall = Duration::from_secs(5);
    options.deadline = Duration::from_secs(20);
    options.endpoint_url = Some(format!("http://127.0.0.1:{}", server.port));
    options.settings =
        [("AWS_ACCESS_KEY_ID", "KEY"), ("AWS_SECRET_ACCESS_KEY", "SECRET"), ("AWS_SESSION_TOKEN", "TOKEN")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    options
}

fn open(url: &str, options: RemoteOptions) -> container_core::Result<CachedSource> {
    Client::new(options).open(&RemoteUrl::parse(url)?, &Limits::default())
}

fn list(url: &str, options: RemoteOptions) -> container_core::Result<Vec<String>> {
    let listed = Client::new(options).list(&RemoteUrl::parse(url)?, &["asdf", "gsd"], &Limits::default());
    Ok(listed.expect("a pattern")?.iter().map(ToString::to_string).collect())
}

fn io_kind(error: &Error) -> Option<std::io::ErrorKind> {
    match error.kind() {
        ErrorKind::Io(error) => Some(error.kind()),
        _ => None,
    }
}

fn error_of_s3(line: &str, code: &str, headers: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>SECRET</Message></Error>");
    let head = format!(
        "HTTP/1.1 {line}\r\n{headers}Content-Type: application/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Answer { head, body: body.into_bytes(), ..Answer::default() }
}

/// Asserts that no secret is in anything that is shown of an error.
fn without_secrets(error: &Error) {
    let shown = format!("{error} {error:?} {:?} {:?}", error.hint(), error.file_name());
    assert!(!shown.contains("SECRET") && !shown.contains("TOKEN") && !shown.contains("Signature"), "{shown}");
}

#[test]
fn an_object_is_requested_with_a_signature_and_of_one_version() {
    let object = object(LEN);
    let server = Server::of(Arc::clone(&object), "\"v1\"");
    let source = open("s3://box/run 1/a+b%41.asdf", options(&server)).unwrap();
    assert_eq!(source.len(), LEN as u64);
    assert!(*source.read(2_000_000..2_100_000).unwrap() == object[2_000_000..2_100_000]);
    let requests = server.requests();
    assert_eq!(source.traffic().requests, requests.len() as u64);
    for (number, request) in requests.iter().enumerate() {
        // Each letter of a key but a few is encoded (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
        assert_eq!(request.target, "/box/run%201/a%2Bb%2541.asdf");
        let signature = request.header("authorization").unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=KEY/"), "{signature}");
        assert_eq!(request.header("x-amz-security-token"), Some("TOKEN"));
        assert_eq!(request.header("accept-encoding"), Some("identity"));
        assert_eq!(request.header("if-match"), (number > 0).then_some("\"v1\""));
    }
}

#[test]
fn requests_without_credentials_have_no_signature() {
    let server = Server::of(object(LEN), "\"v1\"");
    let mut anon = options(&server);
    anon.anon = true;
    open("s3://box/a.asdf", anon).unwrap();
    // Nothing is set, and no metadata service answers here.
    let mut none = options(&server);
    none.settings.clear();
    open("s3://box/a.asdf", none).unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn answers_of_a_store_are_checked_as_those_of_a_web_server_are() {
    type Case = (&'static str, fn(&[u8], &Request) -> Answer);
    let cases: [Case; 5] = [
        ("another range", |object, _| {
            let head = format!(
                "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 8-15/{LEN}\r\nContent-Length: 8\r\n\r\n"
            );
            Answer { head, body: object[8..16].to_vec(), ..Answer::default() }
        }),
        ("an end beyond all numbers", |_, _| {
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-18446744073709551615/18446744073709551615\r\nContent-Length: 0\r\n\r\n";
            Answer { head: head.to_owned(), ..Answer::default() }
        }),
        ("another version", |object, request| Answer::part(object, request, "ETag: \"v2\"\r\n")),
        ("encoded", |object, request| Answer::part(object, request, "Content-Encoding: gzip\r\n")),
        ("changed meanwhile", |_, _| error_of_s3("412 Precondition Failed", "PreconditionFailed", "")),
    ];
    for (name, answer) in cases {
        let object = object(LEN);
        let server = Server::new(move |number, request| match number {
            0 => Answer::part(&object, request, "ETag: \"v1\"\r\n"),
            _ => answer(&object, request),
        });
        let error = open("s3://box/a.asdf", options(&server))
            .and_then(|source| source.read(2 << 20..3 << 20).map(|_| ()))
            .unwrap_err();
        without_secrets(&error);
        assert!(server.requests().len() < 4, "{name}: {error}");
    }
}

#[test]
fn refusals_are_explained_without_a_secret() {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    let cases = [
        ("404 Not Found", "NoSuchKey", NotFound, "NoSuchKey"),
        ("404 Not Found", "<a href=\"https://box?X-Amz-Signature=SECRET\">", NotFound, "404"),
        ("403 Forbidden", "AccessDenied", PermissionDenied, "AccessDenied"),
    ];
    for (line, code, kind, shown) in cases {
        let server = Server::new(move |_, _| error_of_s3(line, code, ""));
        let error = open("s3://box/a.asdf", options(&server)).unwrap_err();
        without_secrets(&error);
        assert_eq!(io_kind(&error), Some(kind));
        assert!(error.to_string().contains(shown), "{error}");
        assert_eq!(error.hint().is_some_and(|hint| hint.contains("--anon")), kind == PermissionDenied);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_store_that_is_busy_is_asked_again() {
    let object = object(LEN);
    let server = Server::new(move |number, request| match number % 2 {
        0 => error_of_s3("503 Slow Down", "SlowDown", ""),
        _ => Answer::part(&object, request, "ETag: \"v1\"\r\n"),
    });
    let source = open("s3://box/a.asdf", options(&server)).unwrap();
    source.read(0..LEN as u64).unwrap();
}

#[test]
fn a_bucket_in_another_region_is_found_by_its_refusal() {
    let object = object(LEN);
    let server = Server::new(move |_, request| {
        if request.header("authorization").is_some_and(|signature| signature.contains("/eu-north-1/s3/")) {
            return Answer::part(&object, request, "ETag: \"v1\"\r\n");
        }
        error_of_s3("400 Bad Request", "AuthorizationHeaderMalformed", "x-amz-bucket-region: eu-north-1\r\n")
    });
    let source = open("s3://box/a.asdf", options(&server)).unwrap();
    source.read(0..1000).unwrap();
    assert_eq!(
        server
            .requests()
            .iter()
            .filter(|request| !request.header("authorization").unwrap().contains("eu-north-1"))
            .count(),
        1
    );
    // Regions without end.
    let server = Server::new(|number, _| {
        error_of_s3(
            "301 Moved Permanently",
            "PermanentRedirect",
            &format!("x-amz-bucket-region: r-{number}\r\n"),
        )
    });
    let error = open("s3://box/a.asdf", options(&server)).unwrap_err();
    assert!(server.requests().len() < 5, "{error}");
}

#[test]
fn an_object_without_bytes_is_empty() {
    let server = Server::new(|_, request| Answer::part(&[], request, "ETag: \"v1\"\r\n"));
    assert_eq!(open("s3://box/a.asdf", options(&server)).unwrap().len(), 0);
}

#[test]
fn keys_that_cannot_be_requested_are_refused() {
    let server = Server::of(object(LEN), "\"v1\"");
    for key in ["", "a/", "a//b", "/a", "a/../b", "./a"] {
        let error = open(&format!("s3://box/{key}"), options(&server)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{key}: {error}");
    }
    assert!(server.requests().is_empty());
}

/// Pages of a listing by `ListObjectsV2`, three keys each
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
fn page(keys: &[String], request: &Request) -> Answer {
    let url = url::Url::parse(&format!("http://h{}", request.target)).unwrap();
    let asked =
        |name: &str| url.query_pairs().find(|(have, _)| have == name).map(|(_, value)| value.into_owned());
    let prefix = asked("prefix").unwrap_or_default();
    let after = asked("continuation-token").or_else(|| asked("start-after")).unwrap_or_default();
    let fitting: Vec<_> = keys.iter().filter(|key| key.starts_with(&prefix) && **key > after).collect();
    let page = &fitting[..fitting.len().min(3)];
    let mut body =
        format!("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{}</IsTruncated>", fitting.len() > 3);
    if fitting.len() > 3 {
        write!(body, "<NextContinuationToken>{}</NextContinuationToken>", page[2]).unwrap();
    }
    for key in page {
        write!(body, "<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>\"e\"</ETag><Size>5</Size></Contents>").unwrap();
    }
    body.push_str("</ListBucketResult>");
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {}\r\n\r\n", body.len());
    Answer { head, body: body.into_bytes(), ..Answer::default() }
}

fn keys() -> Vec<String> {
    [
        "a.asdf",
        "run/1/a.gsd",
        "run/1/b.gsd",
        "run/1/c.txt",
        "run/2/a.gsd",
        "run/b.GSD",
        "run/x.gsd",
        "run/y[1].gsd",
        "z.gsd",
    ]
    .map(str::to_owned)
    .into()
}

#[test]
fn patterns_and_folders_are_listed_over_pages() {
    let server = Server::new(|_, request| page(&keys(), request));
    let cases: [(&str, &[&str]); 7] = [
        ("s3://box/run/*.gsd", &["s3://box/run/x.gsd", "s3://box/run/y[1].gsd"]),
        ("s3://box/run/*/?.gsd", &["s3://box/run/1/a.gsd", "s3://box/run/1/b.gsd", "s3://box/run/2/a.gsd"]),
        ("s3://box/run/[12]/a.gsd", &["s3://box/run/1/a.gsd", "s3://box/run/2/a.gsd"]),
        ("s3://box/**/a.*", &["s3://box/a.asdf", "s3://box/run/1/a.gsd", "s3://box/run/2/a.gsd"]),
        ("s3://box/run/1/", &["s3://box/run/1/a.gsd", "s3://box/run/1/b.gsd"]),
        ("s3://box/run/y[1].gsd", &["s3://box/run/y[1].gsd"]),
        (
            "s3://box",
            &[
                "s3://box/a.asdf",
                "s3://box/run/1/a.gsd",
                "s3://box/run/1/b.gsd",
                "s3://box/run/2/a.gsd",
                "s3://box/run/b.GSD",
                "s3://box/run/x.gsd",
                "s3://box/run/y[1].gsd",
                "s3://box/z.gsd",
            ],
        ),
    ];
    for (pattern, expected) in cases {
        assert_eq!(list(pattern, options(&server)).unwrap(), expected, "{pattern}");
    }
    let error = list("s3://box/none/*.gsd", options(&server)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let client = Client::new(options(&server));
    for one in ["s3://box/a.asdf", "http://h/*.asdf"] {
        assert!(client.list(&RemoteUrl::parse(one).unwrap(), &[], &Limits::default()).is_none(), "{one}");
    }
}

#[test]
fn a_listing_goes_on_after_a_failure() {
    let server = Server::new(|number, request| match number % 3 {
        1 => error_of_s3("503 Slow Down", "SlowDown", ""),
        _ => page(&keys(), request),
    });
    assert_eq!(list("s3://box/**/*.gsd", options(&server)).unwrap().len(), 6);
}

#[test]
fn a_listing_that_is_refused_or_invalid_is_an_error() {
    let server = Server::new(|_, _| error_of_s3("403 Forbidden", "AccessDenied", ""));
    let error = list("s3://box/*.gsd", options(&server)).unwrap_err();
    without_secrets(&error);
    assert_eq!(io_kind(&error), Some(std::io::ErrorKind::PermissionDenied), "{error}");
    let server = Server::new(|_, _| Answer::whole(b"<html>SECRET", ""));
    let error = list("s3://box/*.gsd", options(&server)).unwrap_err();
    without_secrets(&error);
    assert!(server.requests().len() < 3, "{error}");
}

#[test]
fn a_listing_is_bounded() {
    // 100,001 keys, from a server that ignores the pages.
    let server = Server::new(|_, _| {
        let mut body = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
        for number in 0..100_001 {
            write!(body, "<Contents><Key>{number}.gsd</Key><LastModified>2026-01-02T03:04:05Z</LastModified><Size>5</Size></Contents>").unwrap();
        }
        body.push_str("</ListBucketResult>");
        Answer::whole(body.as_bytes(), "")
    });
    let error = list("s3://box/*.gsd", options(&server)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

#[test]
fn files_of_one_bucket_share_a_connection() {
    let server = Server::of(object(64), "\"v1\"");
    let client = Client::new(options(&server));
    for name in ["a", "b", "c"] {
        client.open(&RemoteUrl::parse(&format!("s3://box/{name}.ra")).unwrap(), &Limits::default()).unwrap();
    }
    assert_eq!(server.connections(), 1);
}
