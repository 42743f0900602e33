//! `/api/verify`: a check of the file, line by line as it goes on.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use container_core::Progress;
use container_core::container::CheckDepth;
use holdall::json::verify_json;
use holdall::verify::{VerifyStatus, verify_with};
use hyper::StatusCode;
use serde_json::{Value as Json, json};

use crate::opened::options;
use crate::reply::{Failure, Reply};
use crate::routes::Call;

/// Most findings of an answer.
const MAX_FINDINGS: usize = 10_000;

/// Time between two lines of progress.
const BEAT: Duration = Duration::from_millis(100);

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let depth = match call.query.get("depth").unwrap_or("quick") {
        "quick" => CheckDepth::Quick,
        "full" => CheckDepth::Full,
        other => {
            let message = format!("unknown depth {other:?} (expected quick or full)");
            return Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, message));
        }
    };
    let state = call.job.state;
    let path = call.entry.resolved()?;
    reply.begin("application/x-ndjson", None);
    let line = |value: &Json| format!("{value}\n").into_bytes();
    let told = Mutex::new((Instant::now(), &mut *reply));
    let tick = |done: u64, total: u64| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.0.elapsed() >= BEAT;
        if is_due {
            told.0 = Instant::now();
        }
        let is_gone = is_due && told.1.send(line(&json!({ "progress": [done, total] }))).is_err();
        if is_gone || call.job.flag.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut found = verify_with(&path, depth, &options(state), &call.job.read(), Progress::new(&tick));
    found.path = call.entry.shown();
    let more = found.findings.len().saturating_sub(MAX_FINDINGS);
    found.findings.truncate(MAX_FINDINGS);
    let repair = (found.verdict == VerifyStatus::Damaged).then(|| repair_command(call, &path)).flatten();
    Ok(reply.send(line(&json!({ "report": verify_json(&found), "more": more, "repair": repair })))?)
}

/// The command that repairs the file, where its format has a repair.
fn repair_command(call: &Call<'_>, path: &std::path::Path) -> Option<String> {
    let state = call.job.state;
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let format = holdall::formats::containers(state.options.open.formats)
        .find(|format| format.extensions.contains(&extension.as_str()) && format.repair.is_some())?;
    let target = format!("NEW.{}", format.extensions.first()?);
    Some(format!("holdall repair {} -o {target}", (state.options.shell_word)(&call.entry.path)))
}
