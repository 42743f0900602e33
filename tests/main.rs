//! The conformance suite: see each module's first line for what it proves.

mod corpus;
mod manifest;
mod repairs;
