//! A pseudo-terminal, on which commands answer as to a person.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The two ends of a terminal: the one for a command, and the one that reads what it shows.
pub fn pseudo_terminal() -> (OwnedFd, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&master).expect("a pseudo-terminal");
    unlockpt(&master).expect("a pseudo-terminal");
    let name = ptsname(&master, Vec::new()).expect("its name");
    let slave: OwnedFd =
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
    (slave, File::from(master))
}

/// Runs a command with both streams on a terminal, and returns what it showed.
pub fn shown(command: &mut Command) -> String {
    let (slave, mut master) = pseudo_terminal();
    command.stdin(Stdio::null()).stdout(slave.try_clone().expect("a copy")).stderr(slave);
    let mut child = command.spawn().expect("the command starts");
    // The copies of the other end have to be closed, or reading has no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    // Reading gives an error, and no end, once the command has ended.
    while let Ok(len @ 1..) = master.read(&mut piece) {
        text.extend_from_slice(&piece[..len]);
    }
    child.wait().expect("the command ends");
    String::from_utf8(text).expect("text").replace("\r\n", "\n")
}
