//! Reading: every dialect by hand-made bytes, variable-length items, and damage of every kind.

mod chunk_findings;
mod damaged;
mod details;
mod dialects;
mod files;
mod findings;
mod items;
mod manifest;
mod source_errors;
mod support;
