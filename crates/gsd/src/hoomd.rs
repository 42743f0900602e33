//! The `hoomd` schema: particles, topology, boxes and logs, as HOOMD-blue writes them.

pub mod schema;

/// The name of the schema in the header.
pub const SCHEMA: &str = "hoomd";
