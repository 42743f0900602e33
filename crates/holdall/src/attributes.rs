//! The metadata of a file, for targets that store them next to arrays.

use container_core::container::Container;
use container_core::interchange::entries;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Result, Value};

/// Entries by name, and losses of those that cannot be entries.
pub(crate) type Entries = (Vec<(String, Value)>, Vec<Loss>);

/// Attributes of the file in addition to the selected arrays.
///
/// # Errors
/// Those of [`Interchange::export_metadata`](container_core::container::Interchange::export_metadata).
pub(crate) fn of(container: &dyn Container, selection: &[(usize, Region)]) -> Result<Entries> {
    Ok((entries(&container.export_metadata(selection)?).to_vec(), container.unexported_metadata(selection)))
}
