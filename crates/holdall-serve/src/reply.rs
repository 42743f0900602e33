//! Answers: their heads, their bodies, and errors as JSON.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use container_core::{Error, ErrorKind, Result};
use http_body::{Frame, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::job::Client;
use crate::patient_stream::MAX_STALL;

/// Most bytes of the value of a header: browsers refuse heads of 256 KB.
const MAX_VALUE: usize = 16 << 10;

/// An answer other than what was asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn busy() -> Self {
        let message = "all readers have been busy for 30 seconds";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).with_hint("wait for them, or close other tabs")
    }

    /// An answer of `asked` bytes where `most` are allowed.
    pub(crate) fn too_large(asked: u64, most: u64) -> Self {
        let message = format!("{} asked for, the limit of one answer is {}", in_words(asked), in_words(most));
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message).with_hint("choose a slice, or the tab Picture")
    }
}

/// A number of bytes for people.
fn in_words(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("EiB", 60), ("TiB", 40), ("GiB", 30), ("MiB", 20)];
    let unit = UNITS.iter().find(|(_, power)| bytes >> power > 0);
    match unit {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        Some((name, power)) => format!("{:.1} {name}", bytes as f64 / 2_f64.powi(power.cast_signed())),
        None => format!("{bytes} bytes"),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Limit { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Absent(_) => StatusCode::NOT_FOUND,
            ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
            ErrorKind::Io(_) | ErrorKind::Cancelled => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        // The page of h5web looks for these words.
        let prefix = match (error.kind(), status) {
            (ErrorKind::Io(_), StatusCode::NOT_FOUND) => "File not found: ",
            (ErrorKind::Io(_), StatusCode::FORBIDDEN) => "Permission denied: ",
            _ => "",
        };
        let hint = error.hint().map(str::to_owned);
        Self { status, message: format!("{prefix}{error}"), hint }
    }
}

/// Status, type and length of an answer.
pub(crate) struct Head {
    content_type: &'static str,
    /// Length, where it is known before the answer is made.
    len: Option<u64>,
    headers: HeaderMap,
}

impl Head {
    pub(crate) fn response(self, body: Body) -> Response<Body> {
        let mut response = respond(StatusCode::OK, self.content_type, body);
        response.headers_mut().extend(self.headers);
        if let Some(len) = self.len {
            response.headers_mut().insert(header::CONTENT_LENGTH, len.into());
        }
        response
    }
}

/// A response with the headers that all have but for the policy.
pub(crate) fn respond(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

/// An error as JSON.
pub(crate) fn failed(failure: &Failure) -> Response<Body> {
    let mut body = json!({ "message": failure.message });
    if let (Some(hint), Some(fields)) = (&failure.hint, body.as_object_mut()) {
        fields.insert("hint".to_owned(), hint.clone().into());
    }
    respond(failure.status, "application/json", Body::whole(body.to_string().into()))
}

/// The answer of a read, in the making on its thread.
pub(crate) struct Reply {
    head: Option<oneshot::Sender<Result<Head, Failure>>>,
    pieces: mpsc::Sender<Bytes>,
    runtime: Handle,
    headers: HeaderMap,
    /// Bytes that the head announced and that have not been sent.
    due: Option<u64>,
}

impl Reply {
    pub(crate) fn new(
        head: oneshot::Sender<Result<Head, Failure>>,
        pieces: mpsc::Sender<Bytes>,
        runtime: Handle,
    ) -> Self {
        Self { head: Some(head), pieces, runtime, headers: HeaderMap::new(), due: None }
    }

    /// Adds a header to the head. Values with letters that a header cannot have, and long ones, are left out.
    pub(crate) fn header(&mut self, name: &'static str, value: &str) {
        if value.len() <= MAX_VALUE
            && let Ok(value) = HeaderValue::from_str(value)
        {
            self.headers.insert(HeaderName::from_static(name), value);
        }
    }

    /// Sends the head.
    pub(crate) fn begin(&mut self, content_type: &'static str, len: Option<u64>) {
        let headers = std::mem::take(&mut self.headers);
        self.due = len;
        if let Some(head) = self.head.take() {
            // The client may have left: the first piece shows it.
            let _ = head.send(Ok(Head { content_type, len, headers }));
        }
    }

    /// Sends a piece of the body, and waits for the client where it is behind.
    ///
    /// # Errors
    /// `Cancelled` where it has left, or takes nothing.
    pub(crate) fn send(&mut self, piece: Vec<u8>) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        if let Some(due) = &mut self.due {
            // A body that is longer than announced would break the connection.
            *due = due.checked_sub(piece.len() as u64).ok_or_else(Error::cancelled)?;
        }
        let sent = self.runtime.block_on(self.pieces.send_timeout(piece.into(), MAX_STALL));
        sent.map_err(|_| Error::cancelled())
    }

    /// Sends all of an answer.
    ///
    /// # Errors
    /// As [`Reply::send`].
    pub(crate) fn whole(&mut self, content_type: &'static str, body: Vec<u8>) -> Result<(), Failure> {
        self.begin(content_type, Some(body.len() as u64));
        Ok(self.send(body)?)
    }

    /// Sends a JSON value.
    ///
    /// # Errors
    /// As [`Reply::send`].
    pub(crate) fn json(&mut self, value: &Json) -> Result<(), Failure> {
        self.whole("application/json", value.to_string().into_bytes())
    }

    /// Ends the answer: an error before the head is the answer, one after it breaks the connection off.
    pub(crate) fn end(mut self, done: Result<(), Failure>) {
        let Err(failure) = done else { return };
        if let Some(head) = self.head.take() {
            let _ = head.send(Err(failure));
        }
    }
}

/// The body of an answer.
pub(crate) enum Body {
    /// All of it.
    Whole(Option<Bytes>),
    /// Pieces from a read, which ends with it.
    Streamed {
        /// The pieces.
        pieces: mpsc::Receiver<Bytes>,
        /// Ends the read.
        _client: Client,
    },
}

impl Body {
    pub(crate) const fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes))
    }

    pub(crate) const fn streamed(pieces: mpsc::Receiver<Bytes>, client: Client) -> Self {
        Self::Streamed { pieces, _client: client }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = match &mut *self {
            Self::Whole(bytes) => bytes.take(),
            Self::Streamed { pieces, .. } => ready!(pieces.poll_recv(context)),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Streamed { .. } => SizeHint::default(),
        }
    }
}
