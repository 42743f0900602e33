//! Text in rows, as `numpy.savetxt` lays it out, for any number of axes. Missing scalars are `--`.

use std::io::Write;

use container_core::Result;

use super::iterate::{Gathered, Odometer, Walk};
use crate::repr::write_masked;

pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let ndim = walk.shape.len();
    let mut odometer = Odometer::new(&walk.shape);
    let mut gathered = Gathered::new(out);
    let mut separator = "";
    walk.items(|item, mask| {
        gathered.text.push_str(separator);
        write_masked(&walk.dataset.dtype, item, mask, &mut gathered.text);
        separator = match odometer.step() {
            ended if ended == ndim => "\n",
            0 if ndim > 1 => " ",
            0 | 1 => "\n",
            _ => "\n\n",
        };
        gathered.pass()
    })?;
    gathered.text.push_str(separator);
    gathered.finish()
}
