//! Arrays of tests, as files of numpy in memory.

use container_core::Progress;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::format::Input;
use container_core::npy;
use container_core::region::Region;
use container_core::to_f64::ComplexPart;

use crate::values::PlotData;

/// Calls `draw` with all of an array of these bytes, in the order of the file.
pub(crate) fn with_plot_data<R>(
    descr: &str,
    shape: &[u64],
    order: Order,
    bytes: &[u8],
    draw: impl FnOnce(&PlotData<'_>) -> R,
) -> R {
    let mut file = npy::Writer::new(Vec::new(), &DType::parse(descr).unwrap(), shape, order).unwrap();
    file.write(bytes).unwrap();
    let input = Input::bytes(Box::new(file.finish().unwrap()));
    let container = (npy::FORMAT.open)(input, &Default::default()).unwrap();
    draw(&PlotData {
        container: &*container,
        index: 0,
        region: &Region::whole(shape),
        name: "",
        part: ComplexPart::default(),
        read: &ReadOptions::default(),
        progress: Progress::none(),
    })
}
