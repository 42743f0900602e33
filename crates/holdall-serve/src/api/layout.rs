//! `/api/layout`: the byte map, a part at a time.

use holdall::json::layout_json;
use serde_json::json;

use crate::reply::{Failure, Reply};
use crate::routes::Call;

/// Most ranges of an answer.
const MAX_SEGMENTS: u64 = 10_000;

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let from: u64 = call.query.number("from", 0)?;
    let most = call.query.number("n", MAX_SEGMENTS)?.min(MAX_SEGMENTS);
    let container = opened.container();
    container.read_structure()?;
    let (mut total, mut segments) = (0_u64, Vec::new());
    let stop = call.job.flag.stop();
    container.for_each_segment(&mut |segment| {
        if (from..from.saturating_add(most)).contains(&total) {
            segments.push(layout_json(&segment));
        }
        total = total.saturating_add(1);
        stop.check()
    })?;
    reply.json(&json!({ "size": container.about().size, "total": total, "from": from, "segments": segments }))
}
