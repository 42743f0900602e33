//! Files as the reference lays them out, byte by byte, and what a repair makes of them.

use std::collections::BTreeMap;

use container_core::Progress;
use container_core::dtype::ByteOrder;
use container_core::report::RepairReport;

use crate::header::{Header, Version};
use crate::index::IndexEntry;
use crate::repair::{RepairOptions, UncommittedFrames, repair_source};
use crate::{ChunkType, File, OpenOptions, Result, Strictness};

/// Chunks of a frame by name: type, rows, columns, bytes.
pub(in crate::repair) type Frame = BTreeMap<String, (ChunkType, u64, u32, Vec<u8>)>;

/// Writes as the reference does: data at the end, the index doubled at the end when it is full.
pub(in crate::repair) struct Builder {
    pub(in crate::repair) file: Vec<u8>,
    pub(in crate::repair) header: Header,
    names: Vec<String>,
    used: u64,
    frame: u64,
    buffered: Vec<IndexEntry>,
}

impl Builder {
    pub(in crate::repair) fn new(schema: &str, version: Version, byte_order: ByteOrder) -> Self {
        let header = Header {
            byte_order,
            index_location: 256,
            index_allocated_entries: 128,
            namelist_location: 4352,
            namelist_allocated_entries: if version.major() < 2 { 128 } else { 16 },
            schema_version: Version::new(1, 4),
            gsd_version: version,
            application: crate::header::name_field("application", "test").unwrap(),
            schema: crate::header::name_field("schema", schema).unwrap(),
            reserved: [0; 80],
        };
        let len = 4352 + 64 * header.namelist_allocated_entries as usize;
        let mut file = vec![0; len];
        file[..256].copy_from_slice(&header.to_bytes());
        Self { file, header, names: Vec::new(), used: 0, frame: 0, buffered: Vec::new() }
    }

    pub(in crate::repair) fn hoomd() -> Self {
        Self::new("hoomd", Version::new(2, 1), ByteOrder::Little)
    }

    /// Adds a chunk of elements that are given little-endian.
    pub(in crate::repair) fn chunk(
        &mut self,
        name: &str,
        of: ChunkType,
        n: u64,
        m: u32,
        bytes: &[u8],
    ) -> &mut Self {
        assert_eq!(bytes.len() as u64, n * u64::from(m) * of.size());
        let id = self.names.iter().position(|other| other == name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        self.buffered.push(IndexEntry {
            frame: self.frame,
            n,
            location: self.file.len() as i64,
            m,
            id: id as u16,
            type_code: of.code(),
            flags: 0,
        });
        let mut bytes = bytes.to_vec();
        if self.header.byte_order == ByteOrder::Big {
            bytes.chunks_exact_mut(of.size() as usize).for_each(<[u8]>::reverse);
        }
        self.file.extend(bytes);
        self
    }

    pub(in crate::repair) fn end_frame(&mut self) -> &mut Self {
        self.frame += 1;
        self
    }

    /// Writes names and index.
    pub(in crate::repair) fn flush(&mut self) -> &mut Self {
        let v1 = self.header.is_v1();
        let mut at = self.header.namelist_location as usize;
        for name in &self.names {
            self.file[at..at + name.len()].copy_from_slice(name.as_bytes());
            at += if v1 { 64 } else { name.len() + 1 };
        }
        let mut entries = std::mem::take(&mut self.buffered);
        if !v1 {
            entries.sort_by_key(|entry| (entry.frame, entry.id));
        }
        let needed = self.used + entries.len() as u64;
        if needed > self.header.index_allocated_entries {
            let old = self.header.index_range().unwrap();
            let mut allocated = self.header.index_allocated_entries;
            while allocated <= needed {
                allocated *= 2;
            }
            self.header.index_location = self.file.len() as u64;
            self.header.index_allocated_entries = allocated;
            let copy = self.file[old.start as usize..old.end as usize].to_vec();
            self.file.extend(copy);
            self.file.resize((self.header.index_location + 32 * allocated) as usize, 0);
            self.file[..256].copy_from_slice(&self.header.to_bytes());
        }
        for entry in entries {
            let at = (self.header.index_location + 32 * self.used) as usize;
            self.file[at..at + 32].copy_from_slice(&entry.to_bytes(self.header.byte_order));
            self.used += 1;
        }
        self
    }

    /// A frame of the schema: step, positions in a box of 10, an energy.
    pub(in crate::repair) fn hoomd_frame(&mut self, step: u64, particles: usize) -> &mut Self {
        if self.frame == 0 {
            let lattice = [10.0_f32, 10.0, 10.0, 0.0, 0.0, 0.0];
            self.chunk("configuration/box", ChunkType::Float, 6, 1, bytemuck::cast_slice(&lattice));
            self.chunk("particles/N", ChunkType::Uint32, 1, 1, &(particles as u32).to_le_bytes());
        }
        self.chunk("configuration/step", ChunkType::Uint64, 1, 1, &step.to_le_bytes());
        let positions: Vec<u8> = (0..3 * particles)
            .flat_map(|at| (((step as usize * 31 + at * 17) % 97) as f32 / 10.0 - 4.8).to_le_bytes())
            .collect();
        self.chunk("particles/position", ChunkType::Float, particles as u64, 3, &positions);
        self.chunk("log/energy", ChunkType::Double, 1, 1, &(step as f64 * 0.5 - 7.25).to_le_bytes());
        self.end_frame()
    }
}

/// The frames of a file as the reference reads them, values little-endian.
pub(in crate::repair) fn frames(file: &[u8]) -> Result<Vec<Frame>> {
    let options = OpenOptions::default().with_strictness(Strictness::Lenient);
    let file = File::from_source(Box::new(file.to_vec()), &options)?;
    let errors = |fault: &&crate::Fault| fault.severity() == container_core::report::Severity::Error;
    if let Some(fault) = file.layout().faults().iter().find(errors) {
        return Err(fault.error());
    }
    let mut frames = vec![Frame::new(); file.nframes() as usize];
    for (_, entry) in file.found_entries() {
        let mut bytes = file.read_chunk(&entry)?.into_owned();
        let of = entry.chunk_type().unwrap();
        if file.header().byte_order == ByteOrder::Big {
            bytes.chunks_exact_mut(of.size() as usize).for_each(<[u8]>::reverse);
        }
        let name = file.names().get(entry.id).unwrap().into_owned();
        let double = frames[entry.frame as usize].insert(name, (of, entry.n, entry.m, bytes));
        assert!(double.is_none());
    }
    Ok(frames)
}

pub(in crate::repair) fn repaired_with(
    file: &[u8],
    options: &RepairOptions,
) -> Result<(Vec<Frame>, RepairReport)> {
    let mut out = Vec::new();
    let report = repair_source(&file, options, Some(&mut out), Progress::none())?;
    assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
    let strict = OpenOptions::default().with_strictness(Strictness::Strict);
    assert!(File::from_source(Box::new(out.clone()), &strict).is_ok(), "{report:?}");
    Ok((frames(&out).unwrap(), report))
}

pub(in crate::repair) fn repaired(file: &[u8]) -> Result<(Vec<Frame>, RepairReport)> {
    repaired_with(file, &RepairOptions::default())
}

pub(in crate::repair) fn committed(file: &[u8]) -> Result<(Vec<Frame>, RepairReport)> {
    repaired_with(file, &RepairOptions::default().with_uncommitted_frames(UncommittedFrames::Off))
}

/// A file of `frames` frames flushed every so often, and its frames.
pub(in crate::repair) fn sample(count: u64, particles: usize, every: u64) -> (Builder, Vec<Frame>) {
    let mut builder = Builder::hoomd();
    for frame in 0..count {
        builder.hoomd_frame(1000 * (frame + 1), particles);
        if (frame + 1) % every == 0 {
            builder.flush();
        }
    }
    builder.flush();
    let frames = frames(&builder.file).unwrap();
    assert_eq!(frames.len() as u64, count);
    (builder, frames)
}

/// The frames of a file that is sound though it was damaged.
pub(in crate::repair) fn sound(file: &[u8]) -> Option<Vec<Frame>> {
    let listed = frames(file).ok().filter(|frames| !frames.is_empty())?;
    let source: Box<dyn container_core::source::Source> = Box::new(file.to_vec());
    let options = OpenOptions::default().with_strictness(Strictness::Strict);
    let faults = crate::byte_map::faults(&File::from_source(source, &options).ok()?, &options.limits);
    let errors = |fault: &crate::Fault| fault.severity() == container_core::report::Severity::Error;
    (!faults.ok()?.iter().any(errors)).then_some(listed)
}
