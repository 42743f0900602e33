//! `/api/stat`: counts, extremes, moments and a histogram.

use container_core::Progress;
use holdall::stat::{stat, stat_json};
use serde_json::json;

use super::selected;
use crate::reply::{Failure, Reply};
use crate::routes::Call;

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let (index, region) = selected(&opened, call.query)?;
    let container = opened.container();
    let dataset = container.require(index)?;
    let found = stat(container, index, &region, &call.job.read(), Progress::none())?;
    let name = call.entry.shown();
    let selection = call.query.get("selection");
    let lines: Vec<_> = found.iter().map(|stat| stat_json(&name, &dataset.path, selection, stat)).collect();
    reply.json(&json!({ "stats": lines }))
}
