//! Reading: every dialect by hand-made bytes, variable-length items, and damage of every kind.

mod damaged;
mod dialects;
mod items;
mod support;
