//! Files of every dialect, damaged ones, and past faults.

mod container;
mod damaged;
mod dialects;
mod regressions;
mod typed;
