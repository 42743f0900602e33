//! The server: a socket on the loopback interface, and connections to it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use container_core::{Error, Limits, Result};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::files::{Files, MAX_OPEN};
use crate::job::Flags;
use crate::named_file::NamedFile;
use crate::options::Options;
use crate::patient_stream::PatientStream;
use crate::routes;

/// Connections at a time. A browser makes six; others wait in the queue of the system.
const MAX_CONNECTIONS: usize = 16;

/// Reads at a time. Others wait, and are refused after [`crate::job::MAX_WAIT`].
const MAX_READERS: usize = 4;

/// Looks at the file system at a time, which take no reader.
const MAX_LOOKS: usize = 2;

/// Longest time from the start of a connection, or the end of an answer, to the end of the next request's header.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Letters of the shortest token.
const MIN_TOKEN: usize = 32;

/// Most bytes of a request's header.
const MAX_HEADER: usize = 16 << 10;

/// The policy of the page, by which it loads what this server sends and nothing else.
fn policy(frames: &[String]) -> Result<HeaderValue> {
    let is_source = |frame: &String| {
        !frame.is_empty() && frame.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';' && byte != b',')
    };
    if let Some(frame) = frames.iter().find(|frame| !is_source(frame)) {
        return Err(Error::usage(format!(
            "{frame:?} is no source of a page (expected one such as http://localhost:8888)"
        )));
    }
    let frames = if frames.is_empty() { "'none'".to_owned() } else { frames.join(" ") };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {frames}"
    );
    HeaderValue::from_str(&policy).map_err(|_| Error::usage("invalid source of a page"))
}

/// The parts of a server that its answers need.
pub(crate) struct State {
    pub(crate) files: Files,
    pub(crate) options: Options,
    pub(crate) token: String,
    /// The policy of the page: the sources that it may load, and the pages that may show it.
    pub(crate) policy: HeaderValue,
    pub(crate) readers: Arc<Semaphore>,
    /// Looks at the file system beside the readers.
    pub(crate) looks: Semaphore,
    pub(crate) flags: Arc<Flags>,
    /// Seconds from `started` to the last request.
    last_request: AtomicU64,
    started: Instant,
}

impl State {
    /// Limits of one read: half of the memory is for reads.
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.options.open.limits;
        limits.with_memory(limits.memory / (2 * MAX_READERS as u64))
    }

    /// Limits of an open file: the other half is for those that stay open.
    pub(crate) fn limits_of_a_file(&self) -> Limits {
        let limits = self.options.open.limits;
        limits.with_memory(limits.memory / (2 * MAX_OPEN as u64))
    }

    /// Notes that a request has come.
    pub(crate) fn touch(&self) {
        self.last_request.store(self.started.elapsed().as_secs(), Ordering::Relaxed);
    }

    fn idle(&self) -> Duration {
        let last = Duration::from_secs(self.last_request.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last)
    }
}

/// A server that listens.
pub struct Server {
    state: Arc<State>,
    /// Taken by [`Server::run`].
    listener: std::net::TcpListener,
    local: SocketAddr,
}

impl Server {
    /// Listens on a port of the loopback interface, 127.0.0.1. Files are opened when they are asked for.
    ///
    /// # Errors
    /// `Io` where the port is taken, or the system gives no random numbers; `Usage` for a short token, and for frames that are no sources.
    pub fn bind(files: Vec<NamedFile>, options: Options) -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port));
        let in_use = |error: std::io::Error| {
            let is_taken = error.kind() == std::io::ErrorKind::AddrInUse;
            let error = Error::from(error).with_context(format!("port {}", options.port));
            if is_taken { error.with_hint("another --port, or none for one that is free") } else { error }
        };
        let listener = listener.map_err(in_use)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        let token = match &options.token {
            Some(token)
                if token.len() >= MIN_TOKEN && token.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                token.clone()
            }
            Some(_) => {
                return Err(Error::usage(format!("a token has {MIN_TOKEN} letters and digits or more")));
            }
            None => {
                let mut random = [0; 16];
                getrandom::fill(&mut random).map_err(|error| Error::from(std::io::Error::other(error)))?;
                random.iter().map(|byte| format!("{byte:02x}")).collect()
            }
        };
        let policy = policy(&options.frames)?;
        let state = State {
            files: Files::new(files),
            options,
            token,
            policy,
            readers: Arc::new(Semaphore::new(MAX_READERS)),
            looks: Semaphore::new(MAX_LOOKS),
            flags: Arc::new(Flags(Mutex::default())),
            last_request: AtomicU64::new(0),
            started: Instant::now(),
        };
        Ok(Self { state: Arc::new(state), listener, local })
    }

    /// The address for a browser, with the token in its fragment: whoever has it reads the files.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}/#t={}", self.local, self.state.token)
    }

    /// The port and the token, for programs.
    #[must_use]
    pub fn port_and_token(&self) -> (u16, &str) {
        (self.local.port(), &self.state.token)
    }

    /// Answers requests until nobody has asked for anything in [`Options::idle`], on this thread and up to four for reads.
    ///
    /// # Errors
    /// `Io` where the system gives no sockets or threads.
    pub fn run(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAX_READERS + MAX_LOOKS)
            .build()?;
        let ended = runtime.block_on(self.serve());
        // Reads that nobody waits for have been told to stop.
        runtime.shutdown_background();
        ended
    }

    async fn serve(self) -> Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let accepted = accept(&listener, &places);
            let Some(idle) = self.state.options.idle else {
                let (stream, place) = accepted.await?;
                connect(Arc::clone(&self.state), stream, place);
                continue;
            };
            // Woken to look whether the time is over.
            let rest = idle.saturating_sub(self.state.idle()).max(Duration::from_millis(100));
            if let Ok(accepted) = tokio::time::timeout(rest, accepted).await {
                let (stream, place) = accepted?;
                connect(Arc::clone(&self.state), stream, place);
            } else if self.state.idle() >= idle && self.state.readers.available_permits() == MAX_READERS {
                return Ok(());
            }
        }
    }
}

/// Waits for a free place and a client.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(|_| Error::cancelled())?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, place)),
            // Out of descriptors, or the client has left: not the end of the server.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers the requests of one connection, which ends when the client leaves: the future of an answer is dropped then.
fn connect(state: Arc<State>, stream: TcpStream, place: OwnedSemaphorePermit) {
    tokio::spawn(async move {
        let _place = place;
        // Head and body of a small answer are two writes, of which the second would wait for the client's word of the first.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| {
            let state = Arc::clone(&state);
            async move { Ok::<_, std::convert::Infallible>(routes::answer(state, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(MAX_HEADER)
            .serve_connection(TokioIo::new(PatientStream::new(stream)), service);
        // A client that leaves within an answer is no failure of the server.
        let _ = connection.await;
    });
}
