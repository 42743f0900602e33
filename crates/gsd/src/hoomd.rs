//! The `hoomd` schema: particles, topology, boxes and logs, as HOOMD-blue writes them.

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod columns;
mod configuration;
pub mod csv;
pub(crate) mod defaults;
mod float_array;
mod frame;
mod groups;
mod log;
pub(crate) mod log_records;
mod particles;
mod read;
pub mod schema;
mod simulation_box;
mod string_table;
mod time_series;
mod trajectory;
mod type_shapes;
mod validate;
mod write;

pub use configuration::ConfigurationData;
pub use float_array::{FloatArray, Quaternions, Scalars, SinglePrecision, Vectors};
pub use frame::Frame;
pub use groups::{ConstraintData, ConstraintsView, GroupData, GroupsView};
pub use log::{Log, LoggedValue};
pub use particles::{ParticleData, ParticlesView};
pub use read::FrameView;
pub use simulation_box::SimulationBox;
pub use time_series::TimeSeries;
pub use trajectory::Trajectory;
pub use type_shapes::Shape;
pub use validate::{Grade, Problem, check_file, check_frame, check_trajectory};
pub use write::{StepRule, TrajectoryOptions, TrajectoryWriter, Validation};

/// The name of the schema in the header.
pub const SCHEMA: &str = "hoomd";
