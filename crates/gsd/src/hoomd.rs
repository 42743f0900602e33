//! The `hoomd` schema: particles, topology, boxes and logs, as HOOMD-blue writes them.

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod columns;
mod configuration;
pub mod csv;
mod found;
mod frame;
mod given;
mod given_check;
mod groups;
mod initial;
mod log;
mod particles;
mod read;
mod reals;
pub mod schema;
mod shapes;
mod simulation_box;
mod table;
mod tensor;
mod trajectory;
mod validate;
mod write;

pub use configuration::ConfigurationData;
pub use frame::Frame;
pub use groups::{ConstraintData, ConstraintsView, GroupData, GroupsView};
pub use log::{Log, Logged};
pub use particles::{ParticleData, ParticlesView};
pub use read::FrameView;
pub use reals::{Quaternions, Reals, Scalars, Single, Vectors};
pub use shapes::Shape;
pub use simulation_box::SimulationBox;
pub use tensor::Tensor;
pub use trajectory::Trajectory;
pub use validate::{Grade, Problem, check_file, check_frame, check_trajectory};
pub use write::{StepRule, TrajectoryOptions, TrajectoryWriter, Validation};

/// The name of the schema in the header.
pub const SCHEMA: &str = "hoomd";
