//! Arrays of colours as pictures.

use container_core::chunked_read::require_present;
use container_core::container::{Container, ReadOptions};
use container_core::region::Region;
use container_core::to_f64::ComplexPart;
use container_core::{Error, Progress};
use holdall::Address;
use holdall::address::{file_name, typed};
use holdall_plot::{PlotData, Style, is_colored, region_text, rgb, sliced};

use super::options::{self, PictureKind};
use super::recipe::Recipe;
use super::{Args, Drawn};

impl Args {
    /// The cuts that are asked for. A heat map of a colour picture is a plane of it: the last axis is cut in its middle.
    ///
    /// # Errors
    /// `Usage` for a dataset that does not exist.
    pub(super) fn slices(
        &self,
        container: &dyn Container,
        index: usize,
        region: &Region,
        is_plane: bool,
    ) -> container_core::Result<Vec<(usize, i64)>> {
        let mut slices = self.slice.clone();
        if is_plane && slices.is_empty() && is_colored(container, index, region)? {
            slices.push((2, 1));
        }
        Ok(slices)
    }

    /// Draws a region as a colour picture, where it is one or is asked to be one.
    ///
    /// # Errors
    /// `Usage` for `--as rgb` of other data; those of reading.
    #[expect(clippy::too_many_arguments, reason = "those of drawing, which are parted there")]
    pub(super) fn draw_rgb(
        &self,
        container: &dyn Container,
        index: usize,
        region: &Region,
        address: &Address,
        style: &Style,
        read: &ReadOptions,
        progress: Progress<'_>,
    ) -> container_core::Result<Option<Drawn>> {
        let is_asked = self.kind == Some(PictureKind::Rgb);
        // Choices of colours are for values.
        let has_choices = self.range.is_some() || self.stretch.is_some() || self.cmap.is_some();
        let is_other =
            self.kind == Some(PictureKind::Heatmap) || self.hist || self.lines || self.part.is_some();
        if !is_asked && (has_choices || is_other) {
            return Ok(None);
        }
        let dataset = container.require(index)?;
        let (region, _) = sliced(region, &dataset, &self.slice, 3)?;
        if !is_asked && !is_colored(container, index, &region)? {
            return Ok(None);
        }
        if has_choices {
            return Err(Error::usage(
                "--range, --stretch and --cmap are for values, not for a colour picture",
            )
            .with_hint("--as heatmap"));
        }
        require_present(container, index, &region)?;
        let selection = region_text(&region, &dataset.shape);
        let place = match selection.as_str() {
            "" => typed(&dataset.path).to_owned(),
            selection => format!("{}[{selection}]", typed(&dataset.path)),
        };
        let file = file_name(&address.file).unwrap_or_default().to_string_lossy().into_owned();
        let title = self.title.clone().unwrap_or_else(|| format!("{file}::{place}"));
        let style = Style { title: Some(title.clone()).filter(|title| !title.is_empty()), ..style.clone() };
        let (name, part) = (dataset.path.as_str(), ComplexPart::default());
        let subject = PlotData { container, index, region: &region, name, part, read, progress };
        let origin = self.origin.unwrap_or_default();
        let Some(picture) = rgb(&subject, is_asked, origin, self.nan(), &style)? else { return Ok(None) };
        let mut recipe = Recipe::new(&address.file, &place, self.open.path());
        if let Some(field) = &self.field {
            recipe.add("--field", field);
        }
        recipe.add("--as", "rgb");
        recipe.add("--nan", &options::color_text(self.nan()));
        recipe.add("--origin", options::origin_name(origin));
        self.finish(recipe, None, picture, title).map(Some)
    }
}
