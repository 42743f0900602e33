//! The server of the viewer, as a shell starts and ends it. Its answers are tested in its own crate.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use crate::support::{files, holdall, run};

/// A server, and the address that it has printed.
fn started(directory: &std::path::Path, args: &[&str]) -> (Child, String) {
    let mut command = holdall(directory);
    command.arg("serve").args(args).env("HOLDALL_SERVE_TOKEN", "0".repeat(32));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (child, address.trim().to_owned())
}

#[test]
fn it_prints_its_address_and_ends_with_standard_input() {
    let directory = files();
    let (mut child, address) = started(directory.path(), &["--until-stdin-ends", "."]);
    let (host, token) = address.strip_prefix("http://").and_then(|rest| rest.split_once("/#t=")).unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{address}");
    assert_eq!(token, "0".repeat(32));
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET /api/files HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(".ra\""), "{answer}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_shown_is_said_at_the_start() {
    let directory = files();
    std::fs::create_dir(directory.path().join("none")).unwrap();
    for (args, said) in [
        (&["serve", "gone.ra"][..], "gone.ra"),
        (&["serve", "none"], "no file to show"),
        (&["serve", "--idle", "soon", "."], "write 90s, 30m, 8h or never"),
        (&["serve", "--frame", "a b", "."], "no source of a page"),
    ] {
        let run = run(directory.path(), args);
        run.expect(2);
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = run(directory.path(), &["serve", "--port", &port, "."]);
    run.expect(2);
    assert!(run.err.contains("--port"), "{}", run.err);
    // A token that is short could be guessed.
    let short =
        holdall(directory.path()).args(["serve", "."]).env("HOLDALL_SERVE_TOKEN", "abc").output().unwrap();
    assert_eq!(short.status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn a_broken_link_in_a_folder_does_not_hide_the_others() {
    let directory = files();
    std::os::unix::fs::symlink("nowhere", directory.path().join("old.gsd")).unwrap();
    let (mut child, address) = started(directory.path(), &["."]);
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    child.kill().unwrap();
    child.wait().unwrap();
}
