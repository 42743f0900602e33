//! Writes a frame, changes it in place, and reads a slice of an array.

use blosc2_frame::b2nd::{NdArray, NdOptions, write_array_to};
use blosc2_frame::container_core::array::Array;
use blosc2_frame::container_core::container::ReadOptions;
use blosc2_frame::container_core::dtype::{DType, Order};
use blosc2_frame::container_core::region::Region;
use blosc2_frame::{Durability, EditOptions, Editor, Frame, FrameOptions, default_params};

fn main() -> Result<(), blosc2_frame::Error> {
    let path = std::env::temp_dir().join(format!("blosc2-frame-only-{}.b2frame", std::process::id()));
    let mut options = FrameOptions::default();
    options.params = default_params(2);
    let mut editor = Editor::create(&path, options, &EditOptions::default())?;
    editor.append(&[1; 1000])?;
    editor.commit(Durability::Synced)?;
    editor.append(&[2; 1000])?;
    editor.set_vlmetalayer("unit", b"\xa1m")?;
    editor.commit(Durability::Synced)?;
    drop(editor);
    let frame = Frame::open(&path)?;
    assert_eq!(frame.read_range(999..1001, &ReadOptions::default())?, [1, 2]);
    assert_eq!(frame.vlmetalayer("unit")?.as_deref(), Some(&b"\xa1m"[..]));
    drop(frame);
    std::fs::remove_file(&path)?;

    let bytes: Vec<u8> = (0..60).collect();
    let array = Array::new(DType::parse("|u1")?, vec![5, 12], Order::C, bytes.into())?;
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &NdOptions::default())?;
    let array = NdArray::from_frame(Frame::from_bytes(file)?)?;
    let column = array.read(&Region::parse("::2, 3", array.shape())?, &ReadOptions::default())?;
    assert_eq!(*column.elements::<u8>(Order::C, &Default::default())?, [3, 27, 51]);
    Ok(())
}
