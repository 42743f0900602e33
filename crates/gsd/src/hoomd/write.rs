//! Writing frames of schema `hoomd`.
//!
//! A field is left out where reading gives its value without the chunk: where it equals frame 0's, or where it is the default and frame 0
//! has no such chunk. Logs and state are always written. Order of chunks and rules are those of `gsd.hoomd`, with these differences:
//! * `configuration/step` is written in every frame (see [`StepRule`]), so that no frame is without a chunk;
//! * reals keep the precision in which they are given, but for defaults that frame 0 does not store: these are left out in either
//!   precision, as `gsd.hoomd` does, and are read back in single precision;
//! * values count as equal when their bytes are: −0 is not 0, and the same NaN is;
//! * an N that is `None` is frame 0's, where `gsd.hoomd` has 0.

use std::path::Path;

use container_core::write::storage::{FileStorage, Storage};
use container_core::{Error, Result};

use crate::hoomd::read::field_index;
use crate::hoomd::schema::{Fit, V2_0, field};
use crate::hoomd::validate::Grade;
use crate::hoomd::write::fields::{Counts, FrameField, Value, to_little_endian};
use crate::hoomd::write::frame0::Frame0;
use crate::hoomd::{Frame, Log, Problem, SCHEMA};
use crate::{ChunkType, Version, WriteMode, Writer, WriterOptions};

pub(super) mod fields;
pub(super) mod frame0;
pub(super) mod validate;

/// Extent of the checks of a frame before it is written. Numbers of rows are always checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Validation {
    /// Contradictions are refused ([`Grade::Error`]: ids and tags out of range, names twice); unphysical values are written, and reported.
    #[default]
    Errors,
    /// Both are refused.
    Strict,
    /// Neither is checked.
    Off,
}

/// The frames in which `configuration/step` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepRule {
    /// In every frame. Readers do not see a last frame without a chunk.
    #[default]
    Always,
    /// As any other field, like `gsd.hoomd`: not where it equals frame 0's, nor where it is 0 and frame 0 has none.
    IfDifferent,
}

/// Options of writing a trajectory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrajectoryOptions {
    /// Options of the file's writer. The schema is `hoomd`; its version, of new files, is that of [`WriterOptions::schema_version`]: 2.0 by default,
    /// 1.x for readers older than gsd 5.
    pub writer: WriterOptions,
    /// Extent of the checks of frames.
    pub validation: Validation,
    /// The frames in which steps are written.
    pub step: StepRule,
}

impl Default for TrajectoryOptions {
    fn default() -> Self {
        let mut writer = WriterOptions::default();
        SCHEMA.clone_into(&mut writer.schema);
        writer.schema_version = V2_0;
        Self { writer, validation: Validation::default(), step: StepRule::default() }
    }
}

impl TrajectoryOptions {
    /// The same with other checks.
    #[must_use]
    pub const fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// The same with another rule for steps.
    #[must_use]
    pub const fn with_step_rule(mut self, step: StepRule) -> Self {
        self.step = step;
        self
    }

    /// The same with other options for the file. Its schema is set to `hoomd`; the version is kept where it is one of that schema, which
    /// starts at 1.0, so use 2.0 for f64.
    #[must_use]
    pub fn with_writer(mut self, writer: WriterOptions) -> Self {
        self.writer = writer;
        SCHEMA.clone_into(&mut self.writer.schema);
        self
    }
}

/// A file of schema `hoomd` to which frames are added. Frame 0 is kept in memory: of later ones only the differences are written.
pub struct TrajectoryWriter<S: Storage = FileStorage> {
    writer: Writer<S>,
    validation: Validation,
    step_rule: StepRule,
    initial: Option<Frame0>,
    /// Step of the last frame.
    last_step: Option<u64>,
}

impl TrajectoryWriter<FileStorage> {
    /// Creates a file, replacing an existing one.
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn create(path: impl AsRef<Path>, options: &TrajectoryOptions) -> Result<Self> {
        Self::open_mode(path, WriteMode::Write, options)
    }

    /// Opens a file to add frames to it.
    ///
    /// # Errors
    /// As [`Writer::open`] and [`TrajectoryWriter::from_writer`].
    pub fn open(path: impl AsRef<Path>, options: &TrajectoryOptions) -> Result<Self> {
        Self::open_mode(path, WriteMode::ReadWrite, options)
    }

    /// Opens or creates a file: the modes `r+`, `w`, `x` and `a` of the reference.
    ///
    /// # Errors
    /// As [`Writer::open_mode`] and [`TrajectoryWriter::from_writer`].
    pub fn open_mode(path: impl AsRef<Path>, mode: WriteMode, options: &TrajectoryOptions) -> Result<Self> {
        let mut file = options.writer.clone();
        SCHEMA.clone_into(&mut file.schema);
        Self::from_writer(Writer::open_mode(path, mode, &file)?, options)
    }
}

impl<S: Storage> TrajectoryWriter<S> {
    /// Adds frames to the file of a writer without an unended frame.
    ///
    /// # Errors
    /// `Usage` for another schema, `Unsupported` for a version of it that is not 1.x or 2.x, `Malformed` for chunks of frame 0
    /// that are not the schema's; as [`Writer::read_chunk`].
    pub fn from_writer(writer: Writer<S>, options: &TrajectoryOptions) -> Result<Self> {
        let header = writer.header();
        if header.schema_name() != SCHEMA {
            return Err(Error::usage(format!(
                "a file of schema {:?} (expected hoomd)",
                header.schema_name()
            )));
        }
        let version = header.schema_version;
        if !(Version::new(1, 0)..Version::new(3, 0)).contains(&version) {
            return Err(Error::unsupported(format!(
                "unsupported version {version} of the schema hoomd (expected 1.x or 2.x)"
            )));
        }
        let (mut initial, mut last_step) = (None, None);
        if let Some(last) = writer.nframes().checked_sub(1) {
            let loaded = Frame0::load(&writer)?;
            let step = match writer.find_chunk(last, "configuration/step")? {
                Some(entry) => first_word(&writer.read_chunk(&entry)?),
                None => loaded.step(),
            };
            (initial, last_step) = (Some(loaded), Some(step));
        }
        let (validation, step_rule) = (options.validation, options.step);
        Ok(Self { writer, validation, step_rule, initial, last_step })
    }

    /// The file's writer.
    #[must_use]
    pub fn writer(&self) -> &Writer<S> {
        &self.writer
    }

    /// Number of frames, committed or not.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.writer.nframes()
    }

    /// True without frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Version of the schema.
    #[must_use]
    pub fn schema_version(&self) -> Version {
        self.writer.header().schema_version
    }

    /// Adds a frame, and returns the doubtful values in it. The frame is written as a whole or not at all.
    ///
    /// # Errors
    /// `Usage` for rows that are not N, for f64 and schema 1.x, for state and schema 2.x or not of the schema, for names of logs
    /// that the file layer refuses, and for what [`Validation`] refuses; as [`Writer::end_frame`].
    pub fn append(&mut self, frame: &Frame<'_>) -> Result<Vec<Problem>> {
        let index = self.writer.nframes();
        let none = Counts::default();
        let counts = fields::counts(frame, self.initial.as_ref().map_or(&none, |initial| &initial.counts));
        let mut fields = fields::fields(frame, &counts)?;
        self.check_versions(frame, &fields)?;
        let passed = self.check(frame, &fields, &counts, index)?;
        let step = frame.configuration.step.or(self.initial.as_ref().map(Frame0::step)).unwrap_or(0);
        if self.step_rule == StepRule::Always && frame.configuration.step.is_none() {
            let (chunk_type, bytes) = (ChunkType::Uint64, step.to_le_bytes().to_vec().into());
            let value = Value::Numbers { chunk_type, n: 1, m: 1, bytes };
            fields.insert(0, FrameField { at: const { field_index("configuration/step") }, value });
        }
        fields.retain(|given| self.is_needed(given));
        if let Err(error) = self.put(&fields, frame) {
            // The first error is returned; a writer that cannot continue reports that in the next call.
            let _ = self.writer.discard_frame();
            return Err(error);
        }
        self.last_step = Some(step);
        if self.initial.is_none() {
            self.initial = Some(Frame0::of_frame(fields, counts));
        }
        self.writer.end_frame()?;
        Ok(passed)
    }

    /// Adds frames, and returns the doubtful values in them.
    ///
    /// # Errors
    /// As [`TrajectoryWriter::append`]; frames before the refused one are added.
    pub fn extend<'f>(&mut self, frames: impl IntoIterator<Item = Frame<'f>>) -> Result<Vec<Problem>> {
        let mut passed = Vec::new();
        for frame in frames {
            passed.extend(self.append(&frame)?);
        }
        Ok(passed)
    }

    /// Commits the added frames: see [`Writer::flush`].
    ///
    /// # Errors
    /// As [`Writer::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.writer.flush()
    }

    /// Commits and closes the file.
    ///
    /// # Errors
    /// As [`Writer::close`].
    pub fn close(self) -> Result<()> {
        self.writer.close()
    }

    /// True where reading without the chunk would not give the value.
    fn is_needed(&self, given: &FrameField<'_>) -> bool {
        let is_step = given.at == const { field_index("configuration/step") };
        if is_step && self.step_rule == StepRule::Always {
            return true;
        }
        let initial = self.initial.as_ref().and_then(|initial| initial.value(given.at));
        match initial {
            Some(initial) => *initial != given.value,
            None => !given.value.is_default(given.field()),
        }
    }

    fn put(&mut self, fields: &[FrameField<'_>], frame: &Frame<'_>) -> Result<()> {
        for given in fields {
            let name = given.field().name;
            let (chunk_type, n, m, bytes) = given.value.chunk().map_err(|error| error.with_context(name))?;
            self.writer.write_chunk_bytes(name, chunk_type, n, m, &bytes)?;
        }
        self.put_log("state/", &frame.state)?;
        self.put_log("log/", &frame.log)
    }

    fn put_log(&mut self, prefix: &str, log: &Log<'_>) -> Result<()> {
        for (name, value) in log.iter() {
            let (n, m) = value.shape();
            let bytes = to_little_endian(value.bytes(), value.chunk_type());
            self.writer.write_chunk_bytes(&format!("{prefix}{name}"), value.chunk_type(), n, m, &bytes)?;
        }
        Ok(())
    }

    /// Refuses fields that the version of the schema lacks.
    fn check_versions(&self, frame: &Frame<'_>, fields: &[FrameField<'_>]) -> Result<()> {
        let schema = self.schema_version();
        for given in fields {
            if let Value::Numbers { chunk_type, .. } = given.value
                && given.field().fit(chunk_type, schema) != Fit::Exact
            {
                let problem = format!("{} in a file of schema {schema}", chunk_type.name());
                let hint = "make a file of schema 2.0 for double precision";
                return Err(Error::usage(problem).with_context(given.field().name).with_hint(hint));
            }
        }
        for (name, value) in frame.state.iter() {
            let problem =
                |what: &str| Err(Error::usage(what.to_owned()).with_context(format!("state/{name}")));
            if schema >= V2_0 {
                return problem("schema 2.0 has no state");
            }
            let Some(field) = field(&format!("state/{name}")) else {
                return problem("not a state of the schema");
            };
            if field.fit(value.chunk_type(), schema) != Fit::Exact || value.shape().1 != field.columns {
                return problem("of another type or with other columns than in the schema");
            }
        }
        Ok(())
    }

    /// Lists the problems of a frame that is written nevertheless.
    fn check(
        &self,
        frame: &Frame<'_>,
        fields: &[FrameField<'_>],
        counts: &Counts,
        index: u64,
    ) -> Result<Vec<Problem>> {
        if self.validation == Validation::Off {
            return Ok(Vec::new());
        }
        let mut problems = validate::check(frame, fields, counts, self.initial.as_ref(), self.last_step);
        problems.iter_mut().for_each(|problem| problem.frame = index);
        let least = if self.validation == Validation::Strict { Grade::Warning } else { Grade::Error };
        match problems.iter().find(|problem| problem.grade >= least) {
            Some(problem) => {
                let what = format!("gsd frame {index} {}", problem.chunk);
                Err(Error::usage(problem.message.clone()).with_context(what))
            }
            None => Ok(problems),
        }
    }
}

/// The number in the first eight bytes, little-endian; fewer are padded with zeros.
fn first_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    u64::from_le_bytes(word)
}
