use super::*;
use std::io::{BufRead, BufReader, Write};
fn unpercent(t: &str) -> String {
    let b = t.replace('+', " ");
    let b = b.as_bytes();
    let mut o = Vec::new();
    let mut i = 0;
    while i < b.len() {
        if b[i] == b'%' {
            o.push(u8::from_str_radix(std::str::from_utf8(&b[i + 1..i + 3]).unwrap(), 16).unwrap());
            i += 3
        } else {
            o.push(b[i]);
            i += 1
        }
    }
    String::from_utf8(o).unwrap()
}
#[test]
#[ignore]
fn try_server() {
    let l = std::net::TcpListener::bind("127.0.0.1:8765").unwrap();
    for s in l.incoming() {
        let mut s = s.unwrap();
        let mut line = String::new();
        let mut r = BufReader::new(s.try_clone().unwrap());
        r.read_line(&mut line).unwrap();
        loop {
            let mut h = String::new();
            r.read_line(&mut h).unwrap();
            if h.trim().is_empty() {
                break;
            }
        }
        let target = line.split(' ').nth(1).unwrap_or("/").to_owned();
        let (p, q) = target.split_once('?').unwrap_or((&target, ""));
        let q: std::collections::HashMap<String, String> = q
            .split('&')
            .filter_map(|x| x.split_once('='))
            .map(|(a, b)| (unpercent(a), unpercent(b)))
            .collect();
        let (code, kind, body) = if let Some(verb) = p.strip_prefix("/h5grove/") {
            let o = Opened::path(Path::new(&format!("/tmp/h5t/files/{}", q["file"])));
            let path = q.get("path").map_or("/", |p| p.as_str());
            let c = o.container.as_ref();
            let r = match verb {
                "meta" => o.entities.meta(c, path).map(|j| j.to_string().into_bytes()),
                "attr" => o.entities.attributes(c, path).map(|j| j.to_string().into_bytes()),
                "paths" => o.entities.paths(c, path, &Limits::default()).map(|j| j.to_string().into_bytes()),
                _ => o.try_data(
                    path,
                    q.get("selection").map(|x| x.as_str()),
                    (
                        Format::parse(q.get("format").map_or("json", |f| f.as_str())).unwrap(),
                        q.get("flatten").is_some_and(|x| x == "true"),
                        q.get("dtype").is_some_and(|x| x == "safe"),
                    ),
                ),
            };
            eprintln!("{target} {}", r.as_ref().map_or_else(|e| e.to_string(), |b| b.len().to_string()));
            match r {
                Ok(b) => (200, "application/json", b),
                Err(e) => {
                    (404, "application/json", json!({"message": e.to_string()}).to_string().into_bytes())
                }
            }
        } else {
            let f = if p == "/" { "/index.html" } else { p };
            match std::fs::read(format!("/tmp/h5page/dist{f}")) {
                Ok(b) => (
                    200,
                    if f.ends_with(".js") {
                        "text/javascript"
                    } else if f.ends_with(".css") {
                        "text/css"
                    } else {
                        "text/html"
                    },
                    b,
                ),
                Err(_) => (404, "text/plain", vec![]),
            }
        };
        let _ = write!(
            s,
            "HTTP/1.1 {code} x\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = s.write_all(&body);
    }
}
