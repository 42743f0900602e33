//! Draws an array as a heat map: `cargo run -p holdall-plot --example heat_map`.
#![allow(clippy::print_stdout)]

use container_core::container::{OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::npy;
use container_core::{Limits, Progress, Region, Result};
use holdall_plot::{Colors, Origin, Palette, PlotData, Range, Rgba, Stretch, Style, heatmap, png, raster};

fn main() -> Result<()> {
    // A file of 3 by 4 bytes, as numpy.save writes it.
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }";
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").into_bytes());
    file.extend(0..12_u8);
    let container = (npy::FORMAT.open)(Input::bytes(Box::new(file)), &OpenOptions::default())?;

    let region = Region::whole(&container.require(0)?.shape);
    let read = ReadOptions::default();
    let data = PlotData {
        container: &*container,
        index: 0,
        region: &region,
        name: "data",
        part: Default::default(),
        read: &read,
        progress: Progress::none(),
    };
    let colors = Colors {
        range: Range::MinMax,
        stretch: Stretch::Linear,
        palette: Palette::by_name("viridis")?,
        nan: Rgba(200, 200, 200, 255),
    };
    let picture = heatmap(&data, &colors, Origin::Upper, "counts", &Style::default())?;
    let pixels = raster(&picture.scene, &Limits::default())?;
    let file = png(&pixels, picture.scene.dpi, None)?;
    println!("{} bytes of PNG", file.len());
    assert!(file.starts_with(b"\x89PNG"));
    Ok(())
}

#[test]
fn example_runs() -> Result<()> {
    main()
}
