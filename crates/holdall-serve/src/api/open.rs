//! `/api/files`, `/api/open` and `/api/changed`: the list, and what is in a file.

use container_core::container::{Container, Dataset, visible_datasets};
use container_core::to_f64::is_number;
use holdall::address::{is_url, typed};
use holdall::json::{dtype_json, info_json};
use holdall_plot::frames_of_particles;
use serde_json::{Value as Json, json};

use crate::files::Entry;
use crate::opened::{Opened, stamp};
use crate::reply::{Failure, Reply};
use crate::routes::Call;
use crate::server::State;

/// Most datasets of an answer.
const MAX_DATASETS: usize = 1000;

/// Elements of a plane from which the page shows it as a picture first: h5web would fetch all of it.
const LARGE_PLANE: u64 = 16 << 20;

/// The list of files.
pub(crate) fn files(state: &State) -> Json {
    let size = |entry: &Entry| {
        let here = entry.resolved().ok().filter(|path| !is_url(path))?;
        here.metadata().ok().map(|found| found.len())
    };
    let entries = state.files.entries.iter();
    let list: Vec<Json> = entries.map(|entry| json!({ "name": entry.name, "size": size(entry) })).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "files": list })
}

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let container = opened.container();
    let name = call.entry.name.as_str();
    let shown: Vec<(usize, Dataset)> = visible_datasets(container)
        .take(MAX_DATASETS)
        .map(|(index, dataset)| (index, dataset.into_owned()))
        .collect();
    let frames = frames_of_particles(container);
    let has_pictures = shown.iter().any(|(_, dataset)| is_drawable(dataset));
    let further = call.job.state.options.open.formats;
    let is_container = holdall::formats::containers(further).any(|one| one.name == opened.file.format.name);
    let tabs = [
        ("values", true),
        ("picture", has_pictures),
        ("particles", frames.is_some()),
        ("tree", true),
        ("bytes", true),
        // Files of one array have no checks.
        ("verify", is_container),
    ];
    let tabs: Vec<&str> = tabs.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    let list: Vec<Json> = shown.iter().map(|(index, dataset)| entry(&opened, *index, dataset)).collect();
    let mut body = info_json(name, container);
    if let Some(fields) = body.as_object_mut() {
        fields.remove("schema");
        fields.remove("path");
        let more = container.listed_count().saturating_sub(shown.len());
        let first = first(&opened, &shown, frames.is_some());
        let own = json!({
            "name": name, "title": opened.file.format.title, "stamp": opened.stamp, "tabs": tabs, "first": first,
            "datasets": list, "more": more, "frames": frames,
        });
        if let Json::Object(own) = own {
            fields.extend(own);
        }
    }
    reply.json(&body)
}

fn entry(opened: &Opened, index: usize, dataset: &Dataset) -> Json {
    json!({
        "path": opened.entities.path_of(opened.container(), index),
        "address": typed(&dataset.path),
        "shape": dataset.shape,
        "order": dataset.order.letter(),
        "dtype": dtype_json(&dataset.dtype),
        "codec": dataset.codec,
        "drawable": is_drawable(dataset),
    })
}

/// True for numbers along one axis or more.
fn is_drawable(dataset: &Dataset) -> bool {
    dataset.dtype.as_scalar().is_some_and(is_number)
        && !dataset.shape.is_empty()
        && !dataset.shape.contains(&0)
}

/// The tab and the array that are shown at first.
fn first(opened: &Opened, shown: &[(usize, Dataset)], has_particles: bool) -> Json {
    if has_particles {
        return json!({ "tab": "particles", "path": Json::Null });
    }
    let container: &dyn Container = opened.container();
    let plane = |dataset: &Dataset| match dataset.shape.as_slice() {
        [.., rows, columns] if *rows > 1 && *columns > 1 && is_drawable(dataset) => {
            Some(rows.saturating_mul(*columns))
        }
        _ => None,
    };
    let is_asdf = opened.file.format.name == "asdf";
    // The largest plane, and of several the first: that of an image has masks and errors of its size behind it.
    let largest = shown.iter().rev().max_by_key(|(_, dataset)| plane(dataset));
    let image =
        largest.filter(|(_, dataset)| plane(dataset).is_some_and(|len| is_asdf || len >= LARGE_PLANE));
    match image.or_else(|| shown.first()) {
        Some((index, _)) => {
            let tab = if image.is_some() { "picture" } else { "values" };
            json!({ "tab": tab, "path": opened.entities.path_of(container, *index) })
        }
        None => json!({ "tab": "tree", "path": Json::Null }),
    }
}

/// The stamp of a file as it is now.
pub(crate) fn changed(entry: &Entry) -> Result<Json, Failure> {
    Ok(json!({ "stamp": stamp(&entry.resolved()?)? }))
}
