//! A server on loopback, asked by sockets: whom it lets in, and what it does to clients that misbehave.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use holdall_serve::{NamedFile, Options, Server};
use serde_json::Value as Json;

/// A server on a thread of its own.
struct Running {
    port: u16,
    token: String,
}

impl Running {
    fn new(files: &[&Path]) -> Self {
        let named = |path: &&Path| NamedFile { argument: path.to_path_buf(), path: path.to_path_buf() };
        Self::with(files.iter().map(named).collect(), Options::default())
    }

    fn with(files: Vec<NamedFile>, options: Options) -> Self {
        let server = Server::bind(files, options).unwrap();
        let (port, token) = server.port_and_token();
        let token = token.to_owned();
        std::thread::spawn(move || server.run());
        Self { port, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// A request with these lines of its header, without those that are always there.
    fn ask(&self, target: &str, lines: &str) -> Answer {
        let mut stream = self.connect();
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{lines}Connection: close\r\n\r\n",
            self.port
        );
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(stream)
    }

    /// A call with the token.
    fn call(&self, target: &str) -> Answer {
        self.ask(target, &format!("Authorization: Bearer {}\r\n", self.token))
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a header");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.head))
    }

    fn message(&self) -> String {
        self.json()["message"].as_str().unwrap().to_owned()
    }
}

/// A RawArray file of 1024 × `rows` `float32`, the first axis fastest: each is the number of its row.
fn rawarray(path: &Path, rows: u64) {
    let mut bytes = b"rawarray".to_vec();
    [0, 3, 4, rows * 4096, 2, 1024, rows].iter().for_each(|word: &u64| bytes.extend(word.to_le_bytes()));
    for row in 0..rows {
        let value = (row as f32).to_le_bytes();
        (0..1024).for_each(|_| bytes.extend(value));
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn the_page_needs_no_token_and_the_data_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 8);
    let server = Running::new(&[&file]);
    for page in ["/", "/app.js", "/app.css", "/licences.txt"] {
        let answer = server.ask(page, "");
        assert_eq!(answer.status, 200, "{page}");
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "frame-ancestors 'none'",
        ] {
            assert!(answer.head.contains(header), "{page}: {}", answer.head);
        }
    }
    for call in ["/api/files", "/api/open?file=a.ra", "/h5grove/meta?file=a.ra&path=/", "/api/colors"] {
        assert_eq!(server.ask(call, "").status, 401, "{call}");
        let other = format!("Authorization: Bearer {}\r\n", "0".repeat(32));
        assert_eq!(server.ask(call, &other).status, 401, "{call}");
        // In the address it would be in logs and histories.
        assert_eq!(server.ask(&format!("{call}?t={}", server.token), "").status, 401, "{call}");
        let answer = server.call(call);
        assert_eq!(answer.status, 200, "{call}: {}", String::from_utf8_lossy(&answer.body));
        assert!(!answer.head.to_ascii_lowercase().contains("access-control"), "{}", answer.head);
    }
    let opened = server.call("/api/open?file=a.ra").json();
    assert_eq!(
        (opened["format"].as_str(), opened["datasets"][0]["address"].as_str()),
        (Some("rawarray"), Some("data"))
    );
}

#[test]
fn files_are_those_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let (file, secret) = (folder.path().join("a.ra"), folder.path().join("secret.ra"));
    rawarray(&file, 8);
    rawarray(&secret, 8);
    let server = Running::new(&[&file]);
    let absolute = secret.to_str().unwrap().to_owned();
    for name in
        ["secret.ra", "../secret.ra", "a.ra/../secret.ra", "", "a.ra%00", "%2e%2e%2fsecret.ra", &absolute]
    {
        let answer = server.call(&format!("/api/open?file={name}"));
        assert_eq!(answer.status, 404, "{name}");
        assert!(answer.message().starts_with("File not found"), "{}", answer.message());
    }
    assert_eq!(server.call("/api/open").status, 422);
    for path in [
        "/../etc/passwd",
        "/api/../api/files",
        "//api/files",
        "/assets/index.html",
        "/api/open/x",
        "/%61pi/files",
    ] {
        assert_eq!(server.call(path).status, 404, "{path}");
    }
}

#[test]
fn a_link_that_is_turned_elsewhere_is_refused_at_its_next_opening() {
    if !cfg!(unix) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (shown, secret) = (folder.path().join("shown"), folder.path().join("secret.ra"));
    std::fs::create_dir(&shown).unwrap();
    rawarray(&shown.join("a.ra"), 8);
    rawarray(&secret, 16);
    let link = shown.join("l.ra");
    let turn = |target: &Path| {
        let _ = std::fs::remove_file(&link);
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, &link).unwrap();
    };
    turn(&shown.join("a.ra"));
    let files = vec![NamedFile { argument: shown.clone(), path: link.clone() }];
    let server = Running::with(files, Options::default());
    assert_eq!(server.call("/api/open?file=l.ra").status, 200);
    turn(&secret);
    let calls = [
        "/api/open?",
        "/api/changed?",
        "/api/verify?depth=quick&",
        "/api/tree?",
        "/h5grove/data?path=/data&format=bin&",
    ];
    for call in calls {
        let answer = server.call(&format!("{call}file=l.ra"));
        assert_eq!(answer.status, 403, "{call}");
        assert!(answer.message().contains("leads out"), "{}", answer.message());
    }
}

#[test]
fn a_file_that_changes_is_read_anew_and_one_that_vanishes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 8);
    let server = Running::new(&[&file]);
    let first = server.call("/api/open?file=a.ra").json();
    assert_eq!(server.call("/api/changed?file=a.ra").json()["stamp"], first["stamp"]);
    rawarray(&file, 16);
    assert_ne!(server.call("/api/changed?file=a.ra").json()["stamp"], first["stamp"]);
    let second = server.call("/api/open?file=a.ra").json();
    assert_eq!(
        (&first["datasets"][0]["shape"], &second["datasets"][0]["shape"]),
        (&[1024, 8].into(), &[1024, 16].into())
    );
    // Cut while it is open: an error of the read, not the end of the server.
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..200]).unwrap();
    let cut = server.call("/h5grove/data?file=a.ra&path=/data&format=bin&selection=:,15");
    assert!(cut.status >= 400, "{}", cut.head);
    std::fs::remove_file(&file).unwrap();
    let gone = server.call("/api/open?file=a.ra");
    assert_eq!(gone.status, 404, "{}", gone.message());
    assert_eq!(server.call("/api/files").status, 200);
}

#[test]
fn a_client_that_leaves_frees_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 16 << 10);
    let server = Running::new(&[&file]);
    let target = "/h5grove/data?file=a.ra&path=/data&format=bin&dtype=safe";
    // More than there are readers, one after the other: each leaves with its answer of 64 MiB hardly begun. Readers that went on would leave none, and
    // the last call would be refused after its wait.
    for _ in 0..12 {
        let mut stream = server.connect();
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            server.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut some = [0; 4096];
        assert!(stream.read(&mut some).unwrap() > 0);
        stream.shutdown(Shutdown::Both).unwrap();
    }
    let answer = server.call(target);
    assert_eq!((answer.status, answer.body.len()), (200, 64 << 20));
}

#[test]
fn many_connections_and_long_headers_do_not_end_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 8);
    let server = Running::new(&[&file]);
    // Idle ones are in the queue of the system behind the first sixteen, and go with their clients.
    let idle: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
    drop(idle);
    assert_eq!(server.call("/api/files").status, 200);
    let long = server.ask("/api/files", &format!("X-Long: {}\r\n", "x".repeat(64 << 10)));
    assert_eq!(long.status, 431);
    for request in
        ["GET\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    assert_eq!(server.call("/api/files").status, 200);
}

#[test]
fn other_methods_hosts_and_sites_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 8);
    let server = Running::new(&[&file]);
    let token = format!("Authorization: Bearer {}\r\n", server.token);
    assert_eq!(server.ask("/api/files", &format!("{token}Sec-Fetch-Site: cross-site\r\n")).status, 403);
    assert_eq!(server.ask("/", "Sec-Fetch-Site: same-site\r\n").status, 403);
    for (line, status) in [
        ("POST /api/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0", 405),
        ("GET /api/files HTTP/1.1\r\nHost: rebound.example", 421),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1.rebound.example", 421),
        ("HEAD / HTTP/1.1\r\nHost: localhost:1", 200),
    ] {
        let mut stream = server.connect();
        stream.write_all(format!("{line}\r\n{token}Connection: close\r\n\r\n").as_bytes()).unwrap();
        assert_eq!(Answer::read(stream).status, status, "{line}");
    }
}

#[test]
fn answers_beyond_the_limit_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 16 << 10);
    let mut options = Options::default();
    options.open.limits.memory = 256 << 20;
    let named = NamedFile { argument: file.clone(), path: file.clone() };
    let server = Running::with(vec![named], options);
    let answer = server.call("/h5grove/data?file=a.ra&path=/data&format=bin");
    assert_eq!(answer.status, 413);
    assert_eq!(answer.message(), "64.0 MiB asked for, the limit of one answer is 32.0 MiB");
    assert!(answer.json()["hint"].as_str().unwrap().contains("Picture"));
    assert_eq!(
        server.call("/h5grove/data?file=a.ra&path=/data&format=bin&selection=:,0:10").body.len(),
        40960
    );
    let picture = server.call("/api/picture?file=a.ra&path=/data&width=64&height=64");
    assert_eq!(picture.status, 200);
    assert!(picture.body.starts_with(b"\x89PNG"));
}

#[test]
fn it_ends_when_nobody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ra");
    rawarray(&file, 8);
    let options = Options { idle: Some(Duration::from_millis(300)), ..Options::default() };
    let server = Server::bind(vec![NamedFile { argument: file.clone(), path: file }], options).unwrap();
    let start = Instant::now();
    server.run().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(300));
}
