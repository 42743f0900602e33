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
mod completions;
mod csv;
mod damage;
mod digest;
mod fault;
mod findings;
mod generated;
mod gsd;
mod items;
mod journals;
mod json;
mod limits;
mod manners;
mod partly;
mod pdf;
mod pipes;
mod places;
mod plot;
mod plot_kinds;
mod plugins;
#[cfg(target_os = "linux")]
#[path = "../common/pseudo_terminal.rs"]
mod pseudo_terminal;
mod remote;
mod samples;
mod serve;
mod several;
mod signed;
mod sparse;
mod suggestions;
mod support;
mod tables;
mod terminal;
mod writing;
