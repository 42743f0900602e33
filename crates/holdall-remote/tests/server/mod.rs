//! A web server on loopback that answers as a script tells it, and records requests.
#![allow(missing_docs, dead_code, reason = "a part of several test programs, each of which uses some of it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request: its target, and its headers with names in lower case.
#[derive(Clone, Debug)]
pub struct Request {
    pub target: String,
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }

    /// First byte and end of `Range: bytes=a-b`.
    pub fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse::<usize>().ok()?.checked_add(1)?))
    }
}

/// An answer: head and body as they are sent, and how.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub head: String,
    pub body: Vec<u8>,
    /// Bytes of the body after which the connection ends.
    pub cut: Option<usize>,
    /// Time before the answer.
    pub delay: Duration,
    /// Time between two bytes of the body.
    pub drip: Duration,
}

impl Answer {
    pub fn status(line: &str, headers: &str) -> Self {
        Self { head: format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\n\r\n"), ..Self::default() }
    }

    /// The whole of `object`, as servers without ranges send it.
    pub fn whole(object: &[u8], headers: &str) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", object.len());
        Self { head, body: object.to_vec(), ..Self::default() }
    }

    /// The range of `object` that is requested.
    pub fn part(object: &[u8], request: &Request, headers: &str) -> Self {
        match request.range() {
            None => Self::whole(object, headers),
            Some(_) => Self::part_of(object.len(), request, headers, |range| object[range].to_vec()),
        }
    }

    /// The range that is requested of an object of `len` bytes, whose bytes `bytes` has.
    pub fn part_of(
        len: usize,
        request: &Request,
        headers: &str,
        bytes: impl Fn(Range<usize>) -> Vec<u8>,
    ) -> Self {
        let (start, end) = request.range().unwrap_or((0, len));
        let end = end.min(len);
        if start >= end {
            let range = format!("{headers}Content-Range: bytes */{len}\r\n");
            return Self::status("416 Range Not Satisfiable", &range);
        }
        let range = format!("bytes {start}-{}/{len}", end - 1);
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\n{headers}Content-Range: {range}\r\nContent-Length: {}\r\n\r\n",
            end - start
        );
        Self { head, body: bytes(start..end), ..Self::default() }
    }
}

type Script = dyn Fn(usize, &Request) -> Answer + Send + Sync;

/// A server on a free port of loopback until it is dropped.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    ends: Arc<AtomicBool>,
}

impl Server {
    /// A server that answers request number `n`, counted from 0, by `script(n, request)`.
    pub fn new(script: impl Fn(usize, &Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, ends) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let script: Arc<Script> = Arc::new(script);
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, ended, count) = (Arc::clone(&requests), Arc::clone(&ends), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                std::thread::spawn(move || serve(stream.unwrap(), &seen, &*script));
            }
        });
        Self { port, requests, connections, ends }
    }

    /// A server of one object with ranges and this `ETag`.
    pub fn of(object: Arc<[u8]>, etag: &'static str) -> Self {
        Self::new(move |_, request| Answer::part(&object, request, &format!("ETag: {etag}\r\n")))
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://127.0.0.1:{}{target}", self.port)
    }

    /// Connections that were made so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, script: &Script) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = parse(&mut reader) {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        let answer = script(number, &request);
        std::thread::sleep(answer.delay);
        let body = &answer.body[..answer.cut.unwrap_or(answer.body.len()).min(answer.body.len())];
        let mut sent = stream.write_all(answer.head.as_bytes());
        if answer.drip.is_zero() {
            sent = sent.and_then(|()| stream.write_all(body));
        } else {
            for byte in body {
                std::thread::sleep(answer.drip);
                sent = sent.and_then(|()| stream.write_all(&[*byte]));
            }
        }
        if sent.is_err() || answer.cut.is_some() {
            return;
        }
    }
}

fn parse(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some(Request { target, headers })
}
