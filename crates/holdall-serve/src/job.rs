//! Reads on threads of their own, and their end when the client leaves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use container_core::container::ReadOptions;
use container_core::{Error, Result, Stop};
use hyper::Response;
use tokio::sync::{mpsc, oneshot};

use crate::reply::{Body, Failure, Head, Reply, failed};
use crate::server::State;

/// Longest wait for one of the readers.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

/// Pieces of an answer that wait for the client.
const MAX_PIECES: usize = 2;

/// Flags that no read looks at. They are leaked, a few for each reader, because options that hold them are plain values.
pub(crate) struct Flags(pub(crate) Mutex<Vec<&'static AtomicBool>>);

/// A flag for as long as a read, or somebody who may end it, has it.
pub(crate) struct Flag {
    raised: &'static AtomicBool,
    free: Arc<Flags>,
}

impl Flag {
    fn take(free: &Arc<Flags>) -> Arc<Self> {
        let raised = free.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let raised = raised.unwrap_or_else(|| Box::leak(Box::default()));
        Arc::new(Self { raised, free: Arc::clone(free) })
    }

    pub(crate) fn stop(&self) -> Stop {
        Stop::when(self.raised)
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        self.raised.store(false, Ordering::Relaxed);
        self.free.0.lock().unwrap_or_else(PoisonError::into_inner).push(self.raised);
    }
}

/// The client's side of a read: when it goes, the read ends.
pub(crate) struct Client(Arc<Flag>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.raised.store(true, Ordering::Relaxed);
    }
}

/// A read, as its thread has it.
pub(crate) struct Job<'a> {
    pub(crate) state: &'a State,
    pub(crate) flag: &'a Flag,
}

impl Job<'_> {
    /// Options for reading, with the share of the memory and the end of the client.
    pub(crate) fn read(&self) -> ReadOptions {
        let mut limits = self.state.limits();
        limits.stop = self.flag.stop();
        ReadOptions::default().with_threads(self.state.options.threads).with_limits(limits)
    }

    /// Most bytes of an answer.
    pub(crate) fn max_answer(&self) -> u64 {
        (256 << 20).min(self.state.options.open.limits.memory / 8)
    }
}

/// Runs `work` on one of the reader threads, and answers with what it replies.
pub(crate) async fn run(
    state: Arc<State>,
    work: impl FnOnce(&Job<'_>, &mut Reply) -> Result<(), Failure> + Send + 'static,
) -> Response<Body> {
    let waited = tokio::time::timeout(MAX_WAIT, Arc::clone(&state.readers).acquire_owned()).await;
    let Ok(Ok(reader)) = waited else {
        return failed(&Failure::busy());
    };
    let flag = Flag::take(&state.flags);
    let client = Client(Arc::clone(&flag));
    let (head, answered) = oneshot::channel::<Result<Head, Failure>>();
    let (pieces, body) = mpsc::channel::<Bytes>(MAX_PIECES);
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let mut reply = Reply::new(head, pieces, runtime);
        let done = work(&Job { state: &state, flag: &flag }, &mut reply);
        reply.end(done);
        drop(reader);
    });
    match answered.await {
        Ok(Ok(head)) => head.response(Body::streamed(body, client)),
        Ok(Err(failure)) => failed(&failure),
        // The thread panicked.
        Err(_) => failed(&Failure::from(Error::from(std::io::Error::other("an internal error")))),
    }
}
