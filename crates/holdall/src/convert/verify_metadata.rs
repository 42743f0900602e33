//! Check that a target that was read back carries the metadata of its source.

use container_core::Result;
use container_core::container::Container;
use container_core::format::{Format, WriteRequest};
use container_core::interchange::{limit_depth, with_dataset_name};
use container_core::region::Region;
use container_core::report::Loss;

use crate::diff::{Difference, compare_trees};

/// First words of losses after which no metadata are expected in the target.
const LOST: [&str; 2] = ["metadata", "trailer"];

/// Differences between the carried metadata of source and target. Between files of the same format, the format's own import carries more,
/// which its tests cover.
pub(super) fn compare(
    task: &WriteRequest<'_>,
    format: &Format,
    target: &dyn Container,
    target_selection: &[(usize, Region)],
    losses: &[Loss],
) -> Result<Vec<Difference>> {
    let is_lost = losses.iter().any(|loss| LOST.iter().any(|lost| loss.what.starts_with(lost)));
    let comparable = format.comparable_metadata;
    let comparable = comparable.filter(|_| !is_lost && format.name != task.container.about().format);
    let Some(comparable) = comparable else { return Ok(Vec::new()) };
    let (source, _) = task.metadata()?;
    let (mut written, _) = limit_depth(target.export_metadata(target_selection)?);
    if let [(index, _)] = target_selection {
        written = with_dataset_name(written, &target.require(*index)?.path);
    }
    let (source, written) = comparable(source, written);
    let mut found = Vec::new();
    compare_trees("metadata", &source, &written, &[], &mut |what| {
        found.push(Difference { dataset: None, what });
    });
    Ok(found)
}
