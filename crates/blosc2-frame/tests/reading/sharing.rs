//! One frame read by several threads at once, frames that grow, codecs of the caller's, and frames that are not alone in their file.

use blosc2_frame::blosc_chunk::{CodecPlugin, PluginContext, Plugins};
use blosc2_frame::{
    Durability, EditOptions, Editor, Error, ErrorKind, Frame, FrameOptions, OpenOptions, Writer,
};
use container_core::container::ReadOptions;

fn data(len: u32) -> Vec<u8> {
    (0..len).flat_map(|number| (number / 3).to_le_bytes()).collect()
}

/// Writes `data` as a frame of chunks of `chunk` bytes.
fn frame(data: &[u8], chunk: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, FrameOptions::default()).unwrap();
    for piece in data.chunks(chunk) {
        writer.append(piece).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn threads_share_a_frame() {
    let data = data(300_000);
    let frame = Frame::from_bytes(frame(&data, 50_000)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let (frame, data) = (&frame, &data);
            scope.spawn(move || {
                let options = ReadOptions::default().with_threads(1 + thread % 2);
                for step in 0..60 {
                    let start = (thread * 7919 + step * 104_729) % (data.len() - 1000);
                    let end = start + [1, 1000, data.len() - start][step % 3];
                    let bytes = frame.read_range(start as u64..end as u64, &options).unwrap();
                    assert!(bytes == data[start..end], "{start}..{end}");
                }
            });
        }
    });
}

#[test]
fn refresh_finds_committed_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.b2frame");
    let data = data(3000);
    std::fs::write(&path, frame(&data, 1000)).unwrap();
    let options = ReadOptions::default();
    let mut frame = Frame::open(&path).unwrap();
    assert!(!frame.refresh().unwrap());
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    editor.append(&[9; 1000]).unwrap();
    // Nothing is changed before it is committed.
    assert!(!frame.refresh().unwrap());
    editor.commit(Durability::Cached).unwrap();
    assert_eq!(frame.chunk_count(), 12);
    assert!(frame.read_range(0..12_000, &options).unwrap() == data);
    assert!(frame.refresh().unwrap());
    assert_eq!(frame.chunk_count(), 13);
    assert_eq!(frame.read_chunk(12, &options).unwrap(), [9; 1000]);
    assert!(!frame.refresh().unwrap());
    // No length changes, but the order does.
    editor.reorder(&[12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert!(frame.refresh().unwrap());
    assert_eq!(frame.read_chunk(0, &options).unwrap(), [9; 1000]);
}

#[test]
fn frame_inside_a_larger_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("larger");
    let data = data(1000);
    let own = frame(&data, 1500);
    std::fs::write(&path, [b"in front".as_slice(), &own, b"behind"].concat()).unwrap();
    let frame = Frame::open_at(&path, 8, &OpenOptions::default()).unwrap();
    assert_eq!(frame.layout().start(), 8);
    assert_eq!(frame.layout().end(), 8 + own.len() as u64);
    assert_eq!(frame.to_cframe().unwrap(), own);
    assert!(frame.read_range(0..4000, &ReadOptions::default()).unwrap() == data);
    // Ranges of errors are the file's.
    let mut broken = std::fs::read(&path).unwrap();
    let place = frame.chunk_entry(1).unwrap();
    let at = container_core::block::Block::range(&place).start;
    broken[usize::try_from(at).unwrap()] = 99;
    std::fs::write(&path, broken).unwrap();
    let frame = Frame::open_at(&path, 8, &OpenOptions::default()).unwrap();
    let error = frame.read_chunk(1, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.range(), Some(at..at + 1), "{error}");
    assert!(Frame::open_at(&path, 9, &OpenOptions::default()).is_err());
    assert!(Frame::open_at(&path, 1 << 40, &OpenOptions::default()).is_err());
}

/// Each byte is stored as its complement, and the last half not at all: it is as the first.
struct Half;

impl CodecPlugin for Half {
    fn id(&self) -> u8 {
        200
    }

    fn name(&self) -> &str {
        "half"
    }

    fn decode(&self, src: &[u8], _cx: &PluginContext<'_>, dst: &mut [u8]) -> blosc2_frame::Result<()> {
        if dst.len() != 2 * src.len() {
            return Err(Error::malformed("another length"));
        }
        let bytes = src.iter().chain(src).map(|byte| !byte);
        dst.iter_mut().zip(bytes).for_each(|(dst, byte)| *dst = byte);
        Ok(())
    }

    fn encode(
        &self,
        src: &[u8],
        _cx: &PluginContext<'_>,
        _level: u8,
        dst: &mut [u8],
    ) -> blosc2_frame::Result<Option<usize>> {
        let half = src.len() / 2;
        let fits = src.len() == 2 * half && src[..half] == src[half..] && dst.len() >= half;
        src[..half].iter().zip(dst).for_each(|(byte, dst)| *dst = !byte);
        Ok(fits.then_some(half))
    }
}

/// A chunk by hand: one block of one stream by codec 200.
#[test]
fn codecs_of_the_caller_decode_chunks() {
    let mut chunk = vec![5, 1, 0xd5, 1];
    for word in [64_u32, 64, 32 + 4 + 4 + 32] {
        chunk.extend(word.to_le_bytes());
    }
    chunk.extend([0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chunk.extend(36_u32.to_le_bytes());
    chunk.extend(32_u32.to_le_bytes());
    chunk.extend((0..32_u8).map(|byte| !byte));
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, FrameOptions::default()).unwrap();
    writer.append_chunk(&chunk).unwrap();
    writer.finish().unwrap();

    let options = ReadOptions::default();
    let error = Frame::from_bytes(bytes.clone()).unwrap().read_chunk(0, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("200"), "{error}");

    let mut open = OpenOptions::default();
    let mut plugins = Plugins::new();
    plugins.register_codec(Half).unwrap();
    open.plugins = plugins;
    let frame = Frame::from_source(Box::new(bytes), 0, &open).unwrap();
    let expected: Vec<u8> = (0..32).chain(0..32).collect();
    assert_eq!(frame.read_chunk(0, &options).unwrap(), expected);
    assert_eq!(frame.read_items(30..40, &options).unwrap(), expected[30..40]);
    let entry = frame.chunk_entry(0).unwrap();
    let block = container_core::block::read_block(frame.source(), &entry, frame.codecs(), &options.limits, 1);
    assert_eq!(*block.unwrap(), *expected);
}
