//! Answers to the calls.

pub(crate) mod h5grove;
pub(crate) mod layout;
pub(crate) mod open;
pub(crate) mod particles;
pub(crate) mod picture;
pub(crate) mod stat;
pub(crate) mod tree;
pub(crate) mod verify;

use container_core::container::Container;
use container_core::region::Region;
use hyper::StatusCode;

use crate::opened::Opened;
use crate::query::Query;
use crate::reply::Failure;

/// The dataset that a call names, and its selected part.
fn selected(opened: &Opened, query: &Query) -> Result<(usize, Region), Failure> {
    let path = query.require("path")?;
    let container: &dyn Container = opened.container();
    let (index, part) = opened.entities.find(container, path).ok_or_else(|| {
        Failure::new(StatusCode::NOT_FOUND, format!("{path} is not a valid path of an array"))
    })?;
    let dataset = container.require(index)?;
    // A curve is a column of its dataset, of which a part is asked for by the values alone.
    let region = match part.or(query.get("selection").filter(|text| !text.is_empty())) {
        Some(text) => Region::parse(text, &dataset.shape)?,
        None => Region::whole(&dataset.shape),
    };
    Ok((index, region))
}

/// Text for a header, which has few letters: percent-encoded.
fn header_text(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
