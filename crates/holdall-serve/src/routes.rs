//! Calls by their paths.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, header};
use serde_json::{Value as Json, json};

use crate::api;
use crate::files::Entry;
use crate::job::{Job, run};
use crate::opened::{Opened, open};
use crate::query::Query;
use crate::reply::{Body, Failure, Reply, failed, respond};
use crate::server::State;
use crate::{assets, gate};

/// A call about one file, on a reader's thread.
pub(crate) struct Call<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) query: &'a Query,
    /// The file in the list, and its number.
    pub(crate) entry: &'a Entry,
    number: usize,
}

impl Call<'_> {
    /// The file, open.
    pub(crate) fn opened(&self) -> Result<Arc<Opened>, Failure> {
        Ok(open(self.job.state, self.entry, self.number, self.job.flag)?)
    }
}

/// An answer for a call.
type Handler = fn(&Call<'_>, &mut Reply) -> Result<(), Failure>;

/// The calls about one file.
const CALLS: [(&str, Handler); 11] = [
    ("/api/open", api::open::answer),
    ("/api/picture", api::picture::answer),
    ("/api/particles", api::particles::answer),
    ("/api/tree", api::tree::answer),
    ("/api/layout", api::layout::answer),
    ("/api/verify", api::verify::answer),
    ("/api/stat", api::stat::answer),
    ("/h5grove/meta", api::h5grove::meta),
    ("/h5grove/attr", api::h5grove::attributes),
    ("/h5grove/paths", api::h5grove::paths),
    ("/h5grove/data", api::h5grove::data),
];

fn no_file() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "File not found: it is not in the list")
        .with_hint("/api/files has the list")
}

/// The answer of a look at the file system, on a thread of its own: two at a time.
async fn looked(
    state: &Arc<State>,
    look: impl FnOnce(&State) -> Result<Json, Failure> + Send + 'static,
) -> Response<Body> {
    let Ok(_look) = state.looks.acquire().await else { return failed(&Failure::busy()) };
    let own = Arc::clone(state);
    match tokio::task::spawn_blocking(move || look(&own)).await {
        Ok(Ok(body)) => as_json(&body),
        Ok(Err(failure)) => failed(&failure),
        Err(_) => failed(&Failure::busy()),
    }
}

fn as_json(body: &Json) -> Response<Body> {
    respond(StatusCode::OK, "application/json", Body::whole(body.to_string().into()))
}

/// Answers a request.
pub(crate) async fn answer(state: Arc<State>, request: Request<Incoming>) -> Response<Body> {
    let policy = state.policy.clone();
    let mut response = respond_to(state, request).await;
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

async fn respond_to(state: Arc<State>, request: Request<Incoming>) -> Response<Body> {
    if let Err(refused) = gate::check(&request, !state.options.frames.is_empty(), &state.options.hosts) {
        return failed(&refused);
    }
    let path = request.uri().path();
    if let Some(asset) = assets::find(path) {
        return asset;
    }
    let call = CALLS.iter().find(|(name, _)| *name == path);
    if call.is_none() && !["/api/files", "/api/colors", "/api/changed"].contains(&path) {
        return failed(&Failure::new(StatusCode::NOT_FOUND, "no such call or page"));
    }
    if let Err(refused) = gate::check_token(request.headers(), &state.token) {
        return failed(&refused);
    }
    state.touch();
    let query = Query::parse(request.uri().query());
    // These read no file, and wait for no reader; a file system may still take its time.
    match path {
        "/api/files" => return looked(&state, |state| Ok(api::open::files(state))).await,
        "/api/colors" => return as_json(&json!({ "maps": api::picture::maps() })),
        _ => {}
    }
    let number = match query.require("file").map(|name| state.files.find(name)) {
        Ok(Some(number)) => number,
        Ok(None) => return failed(&no_file()),
        Err(missing) => return failed(&missing),
    };
    let Some((_, handler)) = call else {
        let look = move |state: &State| {
            state.files.entries.get(number).ok_or_else(no_file).and_then(api::open::changed)
        };
        return looked(&state, look).await;
    };
    run(state, move |job, reply| {
        let entry = job.state.files.entries.get(number).ok_or_else(no_file)?;
        handler(&Call { job, query: &query, entry, number }, reply)
    })
    .await
}
