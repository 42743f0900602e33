//! The command as programs and people meet it: exit codes, output, files left behind.

mod absent;
mod addresses;
mod append;
mod asdf;
mod beside;
mod blosc2;
mod bloscpack;
mod buckets;
#[cfg(target_os = "linux")]
mod campaign;
mod catalog;
mod codes;
mod csv;
mod damage;
mod digest;
mod generated;
mod gsd;
mod items;
mod journals;
mod json;
mod limits;
mod partly;
mod pdf;
mod pipes;
mod plot;
mod plugins;
mod remote;
mod samples;
mod serve;
mod several;
mod signed;
mod sparse;
mod support;
mod tables;
mod terminal;
mod writing;
