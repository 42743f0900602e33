//! Reading: the fixtures as independent scripts describe them, and files made by hand, with all findings and their ranges.

mod details;
mod findings;
mod fixtures;
mod manifest;
mod source_errors;
mod support;
