//! Prints the length and the first bytes of a file at a URL: `cargo run --example first_bytes -- https://example.org/image.asdf`.
#![allow(clippy::print_stdout)]

use container_core::source::Source as _;
use container_core::{Error, Result};
use holdall_remote::{RemoteOptions, RemoteUrl, open};

fn main() -> Result<()> {
    let url = std::env::args().nth(1).ok_or_else(|| Error::usage("expected a URL"))?;
    println!("{}", describe(&url)?);
    Ok(())
}

fn describe(url: &str) -> Result<String> {
    let source = open(&RemoteUrl::parse(url)?, &RemoteOptions::default())?;
    let first = source.read(0..source.len().min(16))?;
    let traffic = source.traffic();
    Ok(format!("{} bytes: {} ({} requests)", source.len(), first.escape_ascii(), traffic.requests))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    #[test]
    fn a_small_file_takes_one_request() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a.asdf", server.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head =
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-11/12\r\nContent-Length: 12\r\n\r\n";
            stream.write_all(format!("{head}#ASDF 1.0.0\n").as_bytes()).unwrap();
        });
        assert_eq!(super::describe(&url).unwrap(), "12 bytes: #ASDF 1.0.0\\n (1 requests)");
        answering.join().unwrap();
    }
}
