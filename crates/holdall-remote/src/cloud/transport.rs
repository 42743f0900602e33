//! HTTP for `object_store`, over the connections of a client.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use ureq::http::header::RANGE;
use ureq::http::{HeaderMap, Request, StatusCode};

use crate::answer::Response;
use crate::connections::{Connections, explain, is_transient};
use crate::http::failure;
use crate::store::Failure;

/// Longest answer that is not an object: a page of a listing has a thousand names.
const MAX_ANSWER: u64 = 16 << 20;

/// Time for an answer of the machine's own metadata service. Elsewhere nothing answers at its address, and a request would wait for long.
const METADATA: Duration = Duration::from_secs(1);

/// Hosts of metadata services: of Amazon (also of its containers), Azure and Google.
const METADATA_HOSTS: [&str; 5] =
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata", "metadata.google.internal"];

/// Answers to the requests that `object_store` makes for a thread.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// To the last request for a range of an object, as it came.
    pub object: Option<Result<Response, Failure>>,
    /// The status and the fields of the last other one, if it was not to a metadata service.
    pub other: Option<Result<(StatusCode, HeaderMap), Failure>>,
}

/// Sends requests on the calling thread, which waits for the answer.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    connections: Arc<Connections>,
    /// Of the threads that are within [`Transport::answers_of`].
    answers: Arc<Mutex<HashMap<ThreadId, Answers>>>,
}

impl Transport {
    pub(super) fn new(connections: Arc<Connections>) -> Self {
        Self { connections, answers: Arc::default() }
    }

    pub(super) const fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// The answers to the requests of `work`, which are those of this thread, and what it returns.
    pub(super) fn answers_of<T>(&self, work: impl FnOnce() -> T) -> (Answers, T) {
        let done = work();
        (self.answers().remove(&thread::current().id()).unwrap_or_default(), done)
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<ThreadId, Answers>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, set: impl FnOnce(&mut Answers)) {
        set(self.answers().entry(thread::current().id()).or_default());
    }
}

impl HttpConnector for Transport {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let agent = self.connections.agent().map_err(|_| unsent(HttpErrorKind::Unknown))?;
        let (parts, body) = request.into_parts();
        let is_object = parts.headers.contains_key(RANGE);
        let is_metadata = parts.uri.host().is_some_and(|host| METADATA_HOSTS.contains(&host));
        let body = body.as_bytes().map(|bytes| bytes.to_vec()).unwrap_or_default();
        let request = Request::from_parts(parts, body);
        let sent = if is_metadata {
            let request = agent.configure_request(request).timeout_global(Some(METADATA)).proxy(None).build();
            agent.run(request)
        } else {
            agent.run(request)
        };
        if is_object {
            let answer = sent.map_err(|error| failure(&error));
            self.answered(|answers| answers.object = Some(answer));
            return Err(unsent(HttpErrorKind::Unknown));
        }
        if !is_metadata {
            let other = match &sent {
                Ok(response) => Ok((response.status(), response.headers().clone())),
                Err(error) => Err(failure(error)),
            };
            self.answered(|answers| answers.other = Some(other));
        }
        let kind = |error: &ureq::Error| match is_transient(error) {
            true => HttpErrorKind::Interrupted,
            false => HttpErrorKind::Unknown,
        };
        let described = |error: ureq::Error| HttpError::new(kind(&error), Unsent(explain(&error).1));
        let (parts, mut body) = sent.map_err(described)?.into_parts();
        let bytes = body.with_config().limit(MAX_ANSWER).read_to_vec().map_err(described)?;
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
    }
}

/// An error in place of an answer.
#[derive(Debug)]
struct Unsent(&'static str);

fn unsent(kind: HttpErrorKind) -> HttpError {
    HttpError::new(kind, Unsent("no answer"))
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unsent {}
