//! Files of every dialect, damaged ones, and what once went wrong.

mod damaged;
mod dialects;
mod regressions;
mod typed;
