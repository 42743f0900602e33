//! One GSD file, open for the Python module that stands in for `gsd.fl` in its own tests (`peers/gsd_fl.py`).
//!
//! ```text
//! gsd_fl_server PATH MODE APPLICATION SCHEMA VERSION atomic|reference
//! ```
//!
//! It takes lines of fields with tabs between, `write`'s with the bytes behind it, and answers each by a line: `ok` and fields,
//! `read`'s with the bytes behind it; or `error`, kind and message. The end of the input closes the file.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, Read as _, Write as _};

use anyhow::{Context as _, Result, bail, ensure};
use container_core::dtype::{ByteOrder, DType};
use gsd::{
    ChunkType, Commit, CommitScheme, Durability, Error, ErrorKind, File, IndexEntry, OpenOptions, Strictness,
    Version, WriteMode,
};
use gsd::{Writer, WriterOptions};

enum Open {
    Reading(Box<File>),
    /// With the frames and names that there were at the last flush, which are all that the reference shows.
    Writing(Box<Writer>, u64, Vec<String>),
}

fn open(args: &[String]) -> Result<Open> {
    let [path, mode, application, schema, version, scheme] = args else { bail!("six arguments") };
    let Some(mode) = WriteMode::from_name(mode) else {
        let options = OpenOptions::default().with_strictness(Strictness::Compatible);
        return Ok(Open::Reading(Box::new(File::open_with(path, &options)?)));
    };
    // The reference cuts names that are too long.
    let cut = |name: &str| name.chars().take(63).collect::<String>();
    let version = Version(version.parse()?);
    let scheme = if scheme == "reference" { CommitScheme::Reference } else { CommitScheme::Atomic };
    let options = WriterOptions::default()
        .with_schema(&cut(application), &cut(schema), version)
        .with_scheme(scheme)
        .with_commit(Commit::Manual)
        .with_durability(Durability::Cached);
    let writer = Box::new(Writer::open_mode(path, mode, &options)?);
    let (frames, names) =
        (writer.committed_frames(), writer.names().map(std::borrow::Cow::into_owned).collect());
    Ok(Open::Writing(writer, frames, names))
}

impl Open {
    fn nframes(&self) -> u64 {
        match self {
            Self::Reading(file) => file.nframes(),
            Self::Writing(_, frames, _) => *frames,
        }
    }

    fn find(&self, frame: &str, name: &str) -> Result<Option<IndexEntry>> {
        let Ok(frame) = frame.parse::<u64>() else { return Ok(None) };
        match self {
            Self::Reading(file) => Ok(file.find_chunk(frame, name)),
            Self::Writing(writer, frames, _) if frame < *frames => Ok(writer.find_chunk(frame, name)?),
            Self::Writing(..) => Ok(None),
        }
    }

    fn read(&self, entry: &IndexEntry) -> Result<Vec<u8>> {
        match self {
            Self::Reading(file) => Ok(file.read_chunk(entry)?.into_owned()),
            Self::Writing(writer, ..) => Ok(writer.read_chunk(entry)?),
        }
    }

    fn writer(&mut self) -> Result<&mut Writer> {
        match self {
            Self::Reading(_) => bail!("File must be writable"),
            Self::Writing(writer, ..) => Ok(writer),
        }
    }

    fn flushed(&mut self) {
        if let Self::Writing(writer, frames, names) = self {
            *frames = writer.nframes();
            *names = writer.names().map(std::borrow::Cow::into_owned).collect();
        }
    }

    fn answer(&mut self, fields: &[&str], payload: &[u8]) -> Result<(String, Vec<u8>)> {
        let mut bytes = Vec::new();
        let mut said = String::new();
        match *fields {
            ["write", name, dtype, n, m, _] => {
                let chunk_type = if dtype == "text" {
                    Some(ChunkType::Character)
                } else {
                    ChunkType::from_dtype(&DType::parse(dtype)?)
                };
                let chunk_type = chunk_type.context("invalid type")?;
                self.writer()?.write_chunk_bytes(name, chunk_type, n.parse()?, m.parse()?, payload)?;
            }
            ["end_frame"] => self.writer()?.end_frame()?,
            ["flush"] => {
                self.writer()?.flush()?;
                self.flushed();
            }
            ["truncate"] => {
                self.writer()?.truncate()?;
                self.flushed();
            }
            ["upgrade"] => self.writer()?.upgrade()?,
            ["buffer", size] => self.writer()?.set_maximum_write_buffer_size(size.parse()?)?,
            ["exists", frame, name] => said = u8::from(self.find(frame, name)?.is_some()).to_string(),
            ["read", frame, name] => {
                if let Some(entry) = self.find(frame, name)? {
                    let chunk_type = entry.chunk_type().context("invalid type")?;
                    let dtype = chunk_type.dtype(ByteOrder::Little);
                    let dtype =
                        if chunk_type == ChunkType::Character { "text".into() } else { dtype.to_string() };
                    bytes = self.read(&entry)?;
                    said = format!("{dtype}\t{}\t{}\t{}", entry.n, entry.m, bytes.len());
                }
            }
            ["names"] => {
                let names: Vec<String> = match self {
                    Self::Reading(file) => file.names().iter().map(std::borrow::Cow::into_owned).collect(),
                    Self::Writing(_, _, names) => names.clone(),
                };
                bytes = names.join("\0").into_bytes();
                said = bytes.len().to_string();
            }
            ["nframes"] => said = self.nframes().to_string(),
            ["about"] => {
                let header = match self {
                    Self::Reading(file) => file.header(),
                    Self::Writing(writer, ..) => writer.header(),
                };
                let versions = (header.gsd_version.0, header.schema_version.0);
                let names = (header.application_name(), header.schema_name());
                said = format!("{}\t{}\t{}\t{}", versions.0, versions.1, names.0, names.1);
            }
            ["close"] => {}
            _ => bail!("not understood: {fields:?}"),
        }
        Ok((said, bytes))
    }
}

/// The kind by which the module chooses an exception.
fn kind(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Error>().map(Error::kind) {
        Some(ErrorKind::Io(error)) => format!("io {}", error.raw_os_error().unwrap_or(0)),
        Some(ErrorKind::Usage(text)) if text.contains("exists") => "io 17".to_owned(),
        _ => "other".to_owned(),
    }
}

fn serve() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let refuse = |error: &anyhow::Error| {
        let text = format!("{error:#}").replace(['\n', '\t'], " ");
        format!("error\t{}\t{text}\n", kind(error))
    };
    let mut file = match open(&args) {
        Ok(file) => file,
        Err(error) => return Ok(output.write_all(refuse(&error).as_bytes())?),
    };
    output.write_all(b"ok\n")?;
    output.flush()?;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line == "close\n" {
            break;
        }
        let fields: Vec<&str> = line.trim_end_matches('\n').split('\t').collect();
        let mut payload = Vec::new();
        if let ["write", .., len] = fields[..] {
            let len: u64 = len.parse()?;
            (&mut input).take(len).read_to_end(&mut payload)?;
            ensure!(payload.len() as u64 == len, "the bytes end early");
        }
        match file.answer(&fields, &payload) {
            Ok((said, bytes)) => {
                output.write_all(format!("ok\t{said}\n").as_bytes())?;
                output.write_all(&bytes)?;
            }
            Err(error) => output.write_all(refuse(&error).as_bytes())?,
        }
        output.flush()?;
    }
    let closed = match file {
        Open::Writing(writer, ..) => writer.close(),
        Open::Reading(_) => Ok(()),
    };
    let said = closed.map_or_else(|error| refuse(&error.into()), |()| "ok\n".to_owned());
    // A process that ended without closing does not listen.
    let _ = output.write_all(said.as_bytes());
    Ok(())
}

fn main() -> Result<()> {
    serve()
}
