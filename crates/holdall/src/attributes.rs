//! The metadata of a file, for targets that keep them beside arrays.

use container_core::container::Container;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Result, Value};

/// Entries by name, and what cannot be told as one.
pub(crate) type Entries = (Vec<(String, Value)>, Vec<Loss>);

/// What the file says beside its arrays.
///
/// # Errors
/// Those of [`Container::meta`].
pub(crate) fn of(container: &dyn Container, _selection: &[(usize, Region)]) -> Result<Entries> {
    const CARRIED: [&str; 5] = ["metadata", "metalayers", "user metadata", "application", "trailer"];
    let entries = match container.logical_meta()? {
        Value::Map(entries) => entries,
        Value::Null => Vec::new(),
        other => vec![("metadata".to_owned(), other)],
    };
    let mut losses = container.losses();
    losses.retain(|loss| !CARRIED.iter().any(|word| loss.what.starts_with(word)));
    Ok((entries, losses))
}
