//! The frame of particles that is drawn, and its view.

use container_core::Error;
use container_core::container::{Container, ReadOptions};
use container_core::region::Region;
use holdall::Address;
use holdall::address::file_name;
use holdall_plot::{Snapshot, Style, View, counted, frames_of_particles, particles};

use super::idle_options::PictureOf;
use super::recipe::Recipe;
use super::{Args, Drawn};

impl Args {
    /// The frame of particles that is asked for.
    pub(super) fn frame(
        &self,
        container: &dyn Container,
        address: &Address,
    ) -> container_core::Result<Option<u64>> {
        if self.hist || self.lines || self.kind.is_some() || !self.slice.is_empty() || self.field.is_some() {
            return Ok(None);
        }
        let Some(frames) = frames_of_particles(container) else { return Ok(None) };
        let last = frames.saturating_sub(1);
        match (address.dataset.as_deref(), address.selection.as_deref()) {
            (None, None) | (Some("particles/position"), None) => Ok(Some(last)),
            (Some("particles/position"), Some(selection)) => match selection.trim().parse::<i64>() {
                Ok(index) => {
                    let region = Region::parse(&index.to_string(), &[frames])?;
                    Ok(region.axes().first().map(|axis| axis.start))
                }
                Err(_) => Ok(None),
            },
            (Some(path), None) if container.find(path).is_none() => {
                let number = path.strip_prefix("frames/").and_then(|number| number.parse::<u64>().ok());
                Ok(number)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn draw_particles(
        &self,
        container: &dyn Container,
        address: &Address,
        frame: u64,
        style: &Style,
        read: &ReadOptions,
    ) -> container_core::Result<Drawn> {
        let is_by_field = self.color_by.is_some();
        self.refuse_idle(if is_by_field { PictureOf::ParticlesByField } else { PictureOf::Particles })?;
        let snapshot = Snapshot::read(container, frame, self.color_by.as_deref(), read)?;
        if snapshot.positions.is_empty() {
            return Err(Error::usage(format!("no particles in frame {frame}")));
        }
        let file = file_name(&address.file).unwrap_or_default().to_string_lossy().into_owned();
        let step = snapshot.step.map(|step| format!(", step {step}")).unwrap_or_default();
        let default = format!(
            "{file}: frame {frame} of {}{step}, {}",
            snapshot.frames,
            counted(snapshot.positions.len() as u64)
        );
        let title = self.title.clone().unwrap_or(default);
        let style = Style { title: Some(title.clone()).filter(|title| !title.is_empty()), ..style.clone() };
        let view = self.view.unwrap_or(if snapshot.dimensions == 2 { View::Xy } else { View::Tilted });
        let picture = particles(&snapshot, view, &self.colors(false)?, &style, &read.limits)?;
        let mut recipe = Recipe::new(&address.file, &format!("frames/{frame}"), self.open.path());
        recipe.add("--view", view.name());
        if let Some(field) = &self.color_by {
            recipe.add("--color-by", field);
            self.add_colors(&mut recipe, false);
        }
        let stretch = is_by_field.then(|| self.stretch.unwrap_or_default());
        self.finish(recipe, stretch, picture, title)
    }
}
