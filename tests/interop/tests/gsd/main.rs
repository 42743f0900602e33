//! Files of GSD go back and forth between this workspace, gsd in its newest and an older release, gsd.pygsd, and hoomd-gsd. What
//! each of them reads is compared bit by bit.

mod appends;
mod arrays;
mod calls;
mod crashes;
mod fields;
mod follow;
mod listing;
mod logs;
mod outputs;
mod own_tests;
mod peers;
mod repeats;
mod schema;
