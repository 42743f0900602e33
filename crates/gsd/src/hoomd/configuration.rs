//! Time step, dimensions and box: `configuration/`.

use container_core::{Error, Result};

use crate::hoomd::read::{FrameView, field_index};
use crate::hoomd::{Scalars, SimulationBox};

/// Time step, dimensions and box of a frame. `None` means frame 0's value, in frame 0 the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigurationData<'a> {
    /// Time step. Default 0.
    pub step: Option<u64>,
    /// 2 or 3. Default 3. Where it is `None` and there is a box, the writer uses 2 for an Lz of 0, else 3.
    pub dimensions: Option<u8>,
    /// Lx, Ly, Lz in units of length, xy, xz, yz: six numbers. Default 1, 1, 1, 0, 0, 0.
    pub simulation_box: Option<Scalars<'a>>,
}

impl ConfigurationData<'_> {
    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> ConfigurationData<'static> {
        let Self { step, dimensions, simulation_box } = self;
        ConfigurationData { step, dimensions, simulation_box: simulation_box.map(Scalars::into_owned) }
    }
}

impl<'t> FrameView<'t> {
    /// Time step.
    ///
    /// # Errors
    /// `Malformed` where the chunk is not one number from 0 on; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn step(&self) -> Result<u64> {
        self.scalar(const { field_index("configuration/step") })
    }

    /// 2 or 3 by the schema; the stored number is not checked.
    ///
    /// # Errors
    /// As [`FrameView::step`].
    pub fn dimensions(&self) -> Result<u8> {
        self.scalar(const { field_index("configuration/dimensions") })
    }

    /// The six numbers of the box in the precision in which they are stored: Lx, Ly, Lz, xy, xz, yz.
    ///
    /// # Errors
    /// `Malformed` where the chunk is not six reals; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn box_values(&self) -> Result<Scalars<'t>> {
        self.reals(const { field_index("configuration/box") })
    }

    /// The box in f64, with its geometry.
    ///
    /// # Errors
    /// As [`FrameView::box_values`] and [`FrameView::dimensions`].
    pub fn simulation_box(&self) -> Result<SimulationBox> {
        let values = self.box_values()?.into_f64();
        let values =
            values.first_chunk().ok_or_else(|| Error::malformed("invalid box (expected six numbers)"))?;
        Ok(SimulationBox::new(*values, self.dimensions()?))
    }

    /// The configuration, every field read.
    ///
    /// # Errors
    /// As the methods for its fields.
    pub fn configuration(&self) -> Result<ConfigurationData<'t>> {
        Ok(ConfigurationData {
            step: Some(self.step()?),
            dimensions: Some(self.dimensions()?),
            simulation_box: Some(self.box_values()?),
        })
    }

    /// The fields of the configuration that the frame itself stores; the others are `None`.
    ///
    /// # Errors
    /// As the methods for its fields.
    pub fn stored_configuration(&self) -> Result<ConfigurationData<'t>> {
        let stored = |at| self.is_stored(at);
        Ok(ConfigurationData {
            step: if stored(const { field_index("configuration/step") }) { Some(self.step()?) } else { None },
            dimensions: if stored(const { field_index("configuration/dimensions") }) {
                Some(self.dimensions()?)
            } else {
                None
            },
            simulation_box: if stored(const { field_index("configuration/box") }) {
                Some(self.box_values()?)
            } else {
                None
            },
        })
    }
}
