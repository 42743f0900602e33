//! A frame as owned or borrowed values, for writing.

use container_core::Result;

use crate::hoomd::configuration::ConfigurationData;
use crate::hoomd::groups::{ConstraintData, GroupData};
use crate::hoomd::log::Log;
use crate::hoomd::particles::ParticleData;
use crate::hoomd::read::FrameView;

/// One frame. A field that is `None` is not written, and is then read as frame 0's or as the default.
///
/// ```
/// use gsd::hoomd::Frame;
///
/// let mut frame = Frame::default();
/// frame.configuration.step = Some(100);
/// frame.particles.n = Some(2);
/// frame.particles.position = Some(vec![[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0]].into());
/// frame.log.insert("energy", -0.25);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame<'a> {
    /// Time step, dimensions and box.
    pub configuration: ConfigurationData<'a>,
    /// Particles.
    pub particles: ParticleData<'a>,
    /// Bonds.
    pub bonds: GroupData<'a, 2>,
    /// Angles.
    pub angles: GroupData<'a, 3>,
    /// Dihedrals.
    pub dihedrals: GroupData<'a, 4>,
    /// Impropers.
    pub impropers: GroupData<'a, 4>,
    /// Distance constraints.
    pub constraints: ConstraintData<'a>,
    /// Special pairs.
    pub pairs: GroupData<'a, 2>,
    /// State of HPMC integrators, by names without `state/`; schema 1.2 to 1.4.
    pub state: Log<'a>,
    /// Logged quantities, by names without `log/`.
    pub log: Log<'a>,
}

impl Frame<'_> {
    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Frame<'static> {
        Frame {
            configuration: self.configuration.into_owned(),
            particles: self.particles.into_owned(),
            bonds: self.bonds.into_owned(),
            angles: self.angles.into_owned(),
            dihedrals: self.dihedrals.into_owned(),
            impropers: self.impropers.into_owned(),
            constraints: self.constraints.into_owned(),
            pairs: self.pairs.into_owned(),
            state: self.state.into_owned(),
            log: self.log.into_owned(),
        }
    }
}

impl<'t> FrameView<'t> {
    /// Every field, read: fields that the frame does not store come from frame 0 or are the defaults.
    ///
    /// # Errors
    /// As the methods for the fields; `Limit` where the defaults together would be over the limits.
    pub fn to_frame(&self) -> Result<Frame<'t>> {
        self.check_defaults()?;
        Ok(Frame {
            configuration: self.configuration()?,
            particles: self.particles().read()?,
            bonds: self.bonds().read()?,
            angles: self.angles().read()?,
            dihedrals: self.dihedrals().read()?,
            impropers: self.impropers().read()?,
            constraints: self.constraints().read()?,
            pairs: self.pairs().read()?,
            state: self.state()?,
            log: self.logs()?,
        })
    }

    /// The fields that the frame itself stores; the others are `None`.
    ///
    /// # Errors
    /// As the methods for the fields.
    pub fn to_stored_frame(&self) -> Result<Frame<'t>> {
        Ok(Frame {
            configuration: self.stored_configuration()?,
            particles: self.particles().read_stored()?,
            bonds: self.bonds().read_stored()?,
            angles: self.angles().read_stored()?,
            dihedrals: self.dihedrals().read_stored()?,
            impropers: self.impropers().read_stored()?,
            constraints: self.constraints().read_stored()?,
            pairs: self.pairs().read_stored()?,
            state: self.state()?,
            log: self.stored_logs()?,
        })
    }
}
