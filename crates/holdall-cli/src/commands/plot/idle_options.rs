//! Options that have no effect on a kind of picture.

use container_core::{Error, Result};

use super::Args;

/// Kinds of picture that differ in the options that act on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureOf {
    /// A heat map.
    Plane,
    /// A histogram.
    Counts,
    Lines,
    /// Particles in the colours of their types.
    Particles,
    /// Particles in the colours of a field's values.
    ParticlesByField,
}

impl PictureOf {
    /// Its name in messages, and what to type for a picture that the option acts on.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Plane => ("a heat map", ""),
            Self::Counts => ("a histogram", "without --hist"),
            Self::Lines => ("lines", "--as heatmap, for two axes"),
            Self::Particles => ("particles in the colours of their types", "--color-by FIELD"),
            Self::ParticlesByField => ("particles", ""),
        }
    }
}

impl Args {
    /// Refuses options that would change nothing.
    ///
    /// # Errors
    /// `Usage`, for the first of them.
    pub(super) fn refuse_idle(&self, picture: PictureOf) -> Result<()> {
        use PictureOf::{Counts, Lines, ParticlesByField, Plane};
        let options: [(&str, bool, &[PictureOf]); 5] = [
            ("--range", self.range.is_some(), &[Plane, Counts, Lines, ParticlesByField]),
            ("--stretch", self.stretch.is_some(), &[Plane, Counts, Lines, ParticlesByField]),
            ("--cmap", self.cmap.is_some(), &[Plane, ParticlesByField]),
            ("--nan", self.nan.is_some(), &[Plane, ParticlesByField]),
            ("--origin", self.origin.is_some(), &[Plane]),
        ];
        let idle =
            options.into_iter().find(|(_, is_given, acts_on)| *is_given && !acts_on.contains(&picture));
        let Some((option, ..)) = idle else { return Ok(()) };
        let (name, hint) = picture.words();
        let error = Error::usage(format!("{option} has no effect on {name}"));
        Err(if hint.is_empty() || option == "--origin" { error } else { error.with_hint(hint) })
    }
}
