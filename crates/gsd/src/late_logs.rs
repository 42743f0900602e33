//! Logs that frame 0 lacks. `gsd.hoomd` raises a `KeyError` for each later frame without one of them, once any frame has it.

use std::collections::BTreeSet;

use container_core::report::Loss;
use container_core::{Error, Result};

use crate::import::NEW_LOGS_OPTION;
use crate::import::same_format::entries_of;
use crate::writer::Writer;
use crate::{File, IndexEntry};

/// Prefix of the names of logs.
pub(crate) const PREFIX: &str = "log/";

/// Maximum number of frames and names that a message lists.
const MAX_LISTED: usize = 8;

/// The treatment of logs that frame 0 of the result lacks, where `gsd.hoomd` would not read some frames any more because of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NewLogs {
    /// The file is not written.
    #[default]
    Refuse,
    /// They are left out.
    Drop,
    /// They are written nevertheless.
    Keep,
}

/// Logs of the extended file, or of the first of several that become one.
pub(crate) struct Logs {
    /// Listed names of logs.
    listed: BTreeSet<String>,
    /// Names that are listed with the added frames, whether or not a frame stores them.
    others: BTreeSet<String>,
    /// Those of frame 0.
    initial: BTreeSet<String>,
    frames: u64,
}

/// Logs of an added frame.
pub(crate) struct FrameLogs {
    /// Those that it will store.
    pub(crate) logs: BTreeSet<String>,
    /// Whether `gsd.hoomd` reads the frame in its own file.
    pub(crate) is_read: bool,
}

/// Frames that `gsd.hoomd` reads now and could no longer read, and the logs that they lack.
struct Unread {
    frames: Vec<u64>,
    logs: BTreeSet<String>,
}

impl Logs {
    pub(crate) fn of(writer: &Writer) -> Result<Self> {
        let names = writer.names().filter(|name| name.starts_with(PREFIX));
        let listed: BTreeSet<String> = names.map(std::borrow::Cow::into_owned).collect();
        let mut initial = BTreeSet::new();
        for name in &listed {
            if writer.find_chunk(0, name)?.is_some() {
                initial.insert(name.clone());
            }
        }
        Ok(Self { listed, others: BTreeSet::new(), initial, frames: writer.nframes() })
    }

    /// Returns those of a new file made from several; the frames of all files count as added ([`FrameLogs`]).
    pub(crate) fn of_files(first: &File, others: &[&File]) -> Self {
        let others = others.iter().flat_map(|file| names(file)).collect();
        Self { listed: names(first).collect(), others, initial: BTreeSet::new(), frames: 0 }
    }

    /// Maximum number of names.
    pub(crate) fn len(&self) -> u64 {
        (self.listed.len() as u64).saturating_add(self.others.len() as u64)
    }

    /// Whether frame 0 of `file` has every log, so that no frame lacks any.
    pub(crate) fn are_all_in(&self, file: &File) -> bool {
        self.listed.iter().chain(&self.others).all(|name| file.find_chunk(0, name).is_some())
    }

    /// The logs to leave out of the added frames, and the losses to report.
    ///
    /// # Errors
    /// `Usage`, naming the frames that `gsd.hoomd` would not read any more.
    pub(crate) fn check(
        &self,
        added: &[FrameLogs],
        choice: NewLogs,
    ) -> Result<(BTreeSet<String>, Vec<Loss>)> {
        let Some(unread) = self.unread(added, &BTreeSet::new()) else {
            return Ok((BTreeSet::new(), Vec::new()));
        };
        let initial = self.initial(added);
        let all = added.iter().flat_map(|frame| &frame.logs).chain(&self.others);
        let new = all.filter(|name| !self.listed.contains(*name) && !initial.contains(*name));
        let new: BTreeSet<String> = new.cloned().collect();
        let left = self.unread(added, &new);
        match choice {
            NewLogs::Keep => {
                Ok((BTreeSet::new(), vec![Loss { dataset: None, what: unread.sentence("does not") }]))
            }
            NewLogs::Drop if left.is_none() => {
                let what = "left out, since gsd.hoomd would not read all frames with it: frame 0 lacks it";
                let loss = |name: &String| Loss { dataset: Some(name.clone()), what: what.to_owned() };
                let losses = new.iter().map(loss).collect();
                Ok((new, losses))
            }
            _ => {
                let error = Error::usage(unread.sentence("would not"));
                let keep = format!("-O {NEW_LOGS_OPTION}=keep to add all as it is");
                Err(match left {
                    None => {
                        error.with_hint(format!("-O {NEW_LOGS_OPTION}=drop to leave these logs out, {keep}"))
                    }
                    Some(_) => error.with_hint(keep),
                })
            }
        }
    }

    /// The logs of frame 0 once the frames are added.
    fn initial<'a>(&'a self, added: &'a [FrameLogs]) -> &'a BTreeSet<String> {
        match added.first() {
            Some(first) if self.frames == 0 => &first.logs,
            _ => &self.initial,
        }
    }

    fn unread(&self, added: &[FrameLogs], dropped: &BTreeSet<String>) -> Option<Unread> {
        let initial = self.initial(added);
        let stored = added.iter().flat_map(|frame| &frame.logs).chain(&self.others);
        let stored = stored.filter(|name| !dropped.contains(*name));
        let late: BTreeSet<&String> =
            self.listed.iter().chain(stored).filter(|name| !initial.contains(*name)).collect();
        let mut unread = Unread { frames: Vec::new(), logs: BTreeSet::new() };
        // Frames that lack an already listed log are not read now either.
        let is_read_now = self.listed.iter().all(|name| self.initial.contains(name));
        let new: Vec<&&String> = late.iter().filter(|name| !self.listed.contains(**name)).collect();
        if self.frames > 1 && is_read_now && !new.is_empty() {
            unread.frames.extend(1..self.frames);
            unread.logs.extend(new.into_iter().map(|name| (*name).clone()));
        }
        for (frame, number) in added.iter().zip(self.frames..).filter(|(_, number)| *number > 0) {
            let mut lacks = late.iter().filter(|name| !frame.logs.contains(**name)).peekable();
            if frame.is_read && lacks.peek().is_some() {
                unread.frames.push(number);
                unread.logs.extend(lacks.map(|name| (*name).clone()));
            }
        }
        (!unread.frames.is_empty()).then_some(unread)
    }
}

impl Unread {
    fn sentence(&self, does_not: &str) -> String {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for frame in &self.frames {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(*frame) => *last = *frame,
                _ => runs.push((*frame, *frame)),
            }
        }
        let listed: Vec<String> = runs
            .iter()
            .take(MAX_LISTED)
            .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
            .collect();
        let frames = if self.frames.len() == 1 { "frame" } else { "frames" };
        let more = if runs.len() > MAX_LISTED { " and others" } else { "" };
        let names: Vec<&str> = self.logs.iter().take(MAX_LISTED).map(String::as_str).collect();
        let others = self.logs.len().saturating_sub(MAX_LISTED);
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        format!(
            "gsd.hoomd {does_not} read {frames} {}{more} any more: they and frame 0 lack {}{others}, which a later frame has",
            listed.join(", "),
            names.join(", ")
        )
    }
}

/// Listed names of logs.
fn names(file: &File) -> impl Iterator<Item = String> {
    file.names().iter().filter(|name| name.starts_with(PREFIX)).map(std::borrow::Cow::into_owned)
}

/// The logs of added frames: those that each stores, and those of frame 0, which are written out where necessary.
///
/// # Errors
/// `Limit`.
pub(crate) fn added(source: &File, frames: impl Iterator<Item = Result<u64>>) -> Result<Vec<FrameLogs>> {
    let names = || source.names().iter().zip(0_u16..).filter(|(name, _)| name.starts_with(PREFIX));
    let initial: BTreeSet<String> = names()
        .filter(|(name, _)| source.find_chunk(0, name).is_some())
        .map(|(name, _)| name.into_owned())
        .collect();
    let late: BTreeSet<String> =
        names().map(|(name, _)| name.into_owned()).filter(|name| !initial.contains(name)).collect();
    let mut entries: Vec<IndexEntry> = Vec::new();
    let frame = |frame: Result<u64>| {
        let frame = frame?;
        let mut logs = initial.clone();
        if !late.is_empty() {
            entries_of(source, frame, &mut entries);
            let own = entries.iter().filter_map(|entry| source.names().get(entry.id));
            logs.extend(own.filter(|name| late.contains(&**name)).map(std::borrow::Cow::into_owned));
        }
        let is_read = frame == 0 || late.iter().all(|name| logs.contains(name));
        Ok(FrameLogs { logs, is_read })
    };
    frames.map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn frames_that_would_not_be_read_are_listed_in_runs() {
        let sentence = |frames: &[u64], logs: &[&str]| {
            Unread { frames: frames.to_vec(), logs: set(logs) }.sentence("does not")
        };
        let told = |frames: &str, logs: &str| {
            format!(
                "gsd.hoomd does not read {frames} any more: they and frame 0 lack {logs}, which a later frame has"
            )
        };
        assert_eq!(sentence(&[7], &["log/a"]), told("frame 7", "log/a"));
        assert_eq!(sentence(&[1, 2], &["log/a", "log/b"]), told("frames 1 to 2", "log/a, log/b"));
        assert_eq!(sentence(&[1, 3, 4, 5, 9], &["log/a"]), told("frames 1, 3 to 5, 9", "log/a"));
        // Eight runs and eight names are listed.
        let apart: Vec<u64> = (0..9).map(|at| 2 * at).collect();
        let eight = "frames 0, 2, 4, 6, 8, 10, 12, 14";
        assert_eq!(sentence(&apart[..8], &["log/a"]), told(eight, "log/a"));
        assert_eq!(sentence(&apart, &["log/a"]), told(&format!("{eight} and others"), "log/a"));
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        assert_eq!(sentence(&[1], &names[..8]), told("frame 1", "a, b, c, d, e, f, g, h"));
        assert_eq!(sentence(&[1], &names), told("frame 1", "a, b, c, d, e, f, g, h and 1 more"));
    }

    /// Logs of a file of `frames` frames that all have those of frame 0, and added frames.
    fn check(
        listed: &[&str],
        initial: &[&str],
        frames: u64,
        added: &[(&[&str], bool)],
        choice: NewLogs,
    ) -> Result<(BTreeSet<String>, Vec<Loss>)> {
        let logs = Logs { listed: set(listed), others: BTreeSet::new(), initial: set(initial), frames };
        let frame = |(logs, is_read): &(&[&str], bool)| FrameLogs { logs: set(logs), is_read: *is_read };
        let added: Vec<FrameLogs> = added.iter().map(frame).collect();
        logs.check(&added, choice)
    }

    #[test]
    fn logs_of_frame_0_may_be_missing_in_any_frame() {
        let none = (BTreeSet::new(), Vec::new());
        let added: [(&[&str], bool); 2] = [(&[], true), (&["a"], true)];
        assert_eq!(check(&["a"], &["a"], 3, &added, NewLogs::Refuse).unwrap(), none);
        // The first frame of a new file.
        let added: [(&[&str], bool); 2] = [(&["a"], true), (&[], true)];
        assert_eq!(check(&[], &[], 0, &added, NewLogs::Refuse).unwrap(), none);
        // One frame that has no other beside it.
        assert_eq!(check(&[], &[], 1, &[(&["a"], true)], NewLogs::Refuse).unwrap(), none);
        // Frames that are not read in their own file either.
        assert_eq!(check(&["a"], &[], 1, &[(&[], false)], NewLogs::Refuse).unwrap(), none);
    }

    #[test]
    fn new_logs_are_refused_left_out_or_kept() {
        let new = |choice| check(&["a"], &["a"], 3, &[(&["a", "b"], true)], choice);
        let error = new(NewLogs::Refuse).unwrap_err();
        assert!(
            error.to_string().contains("would not read frames 1 to 2 any more: they and frame 0 lack b,"),
            "{error}"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("new-logs=drop") && hint.contains("new-logs=keep"), "{hint}");
        let (dropped, losses) = new(NewLogs::Drop).unwrap();
        assert_eq!(dropped, set(&["b"]));
        let [loss] = losses.as_slice() else { panic!("{losses:?}") };
        assert_eq!(loss.dataset.as_deref(), Some("b"));
        assert!(
            loss.what.starts_with("left out, since gsd.hoomd would not read all frames"),
            "{}",
            loss.what
        );
        let (dropped, losses) = new(NewLogs::Keep).unwrap();
        assert!(
            dropped.is_empty()
                && losses[0].dataset.is_none()
                && losses[0].what.contains("does not read frames 1 to 2")
        );
        // An added frame lacks a log that the file lists and frame 0 lacks: to leave out others does not help.
        let old = |choice| check(&["a"], &[], 2, &[(&["b"], true)], choice);
        for choice in [NewLogs::Refuse, NewLogs::Drop] {
            let error = old(choice).unwrap_err();
            assert!(
                error.to_string().contains("would not read frame 2 any more: they and frame 0 lack a,"),
                "{error}"
            );
            assert!(!error.hint().unwrap().contains("new-logs=drop"), "{error:?}");
        }
    }
}
