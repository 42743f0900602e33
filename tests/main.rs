//! The conformance suite: see each module's first line for what it proves.

mod asdf_conversions;
mod asdf_files;
mod blosc2_conversions;
mod blosc2_damage;
mod blosc2_files;
mod conformance_table;
mod conversions;
mod corpus;
mod counted;
mod damage;
mod decoded;
mod goldens;
mod gsd_conversions;
mod gsd_damage;
mod interrupted;
mod large;
mod manifest;
mod matrix;
mod messages;
mod nginx;
mod remote;
mod repairs;
mod stopped;
mod targets;
mod typed_reads;
