//! Crash tests of what changes files in place.
//!
//! A writer writes to a [`RecordingStorage`]. Its operations are replayed up to every state that the end of the process or a power
//! cut can leave ([`process_kill_states`], [`power_loss_states`]). A writer is correct if each state opens as something that it promised:
//!
//! ```
//! use container_core::write::storage::Storage;
//! use crash_test::{Crash, RecordingStorage, crash_states};
//!
//! // Two bytes at the end of a file, and then how many bytes there are, at its start.
//! let start = vec![1, b'a'];
//! let mut file = RecordingStorage::new(start.clone());
//! file.write_at(2, b"bc")?;
//! file.sync()?;
//! file.write_at(0, &[3])?;
//! file.sync()?;
//! crash_states(&start, &file.operations(), 1, |crash: &Crash<'_>| match crash.image {
//!     [1, b'a', ..] => assert!(crash.done < 4, "{} lost what was promised", crash.what),
//!     [3, b'a', b'b', b'c'] => {}
//!     other => panic!("{}: {other:?}", crash.what),
//! });
//! # Ok::<(), container_core::Error>(())
//! ```
//!
//! The tests of a format implement [`Format`], and record changes in a [`Script`], which compares the states with what each commit promised.

mod random;
mod script;
mod states;
mod storage;

pub use random::random_bytes;
pub use script::{Format, Opener, Script};
pub use states::{Crash, crash_states, power_loss_states, process_kill_states, torn_write_states};
pub use storage::{Operation, RecordingStorage};
