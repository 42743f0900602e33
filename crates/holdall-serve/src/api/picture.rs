//! `/api/picture`: a plane as colours, a line, or particles, drawn as `holdall plot` draws them.

use container_core::Progress;
use container_core::region::Region;
use container_core::to_f64::ComplexPart;
use holdall::address::typed;
use holdall_plot::{
    Colors, Origin, Palette, Picture, PlotData, Range, Rgba, Snapshot, Stretch, Style, View, heatmap, lines,
    names, particles, png, raster, region_text, sliced,
};
use hyper::StatusCode;

use super::{header_text, selected};
use crate::opened::Opened;
use crate::query::Query;
use crate::reply::{Failure, Reply};
use crate::routes::Call;

/// Width and height in pixels that may be asked for.
const SIZES: std::ops::RangeInclusive<u32> = 16..=8192;

/// Colour of values that are not finite, as in the command.
const NAN: Rgba = Rgba(0xc8, 0xc8, 0xc8, 255);

/// The choices of a picture.
struct Choices {
    size: (u32, u32),
    range: Range,
    stretch: Stretch,
    map: String,
    origin: Origin,
}

/// Names of the colour maps.
pub(crate) fn maps() -> Vec<&'static str> {
    names().collect()
}

impl Choices {
    fn parse(query: &Query) -> Result<Self, Failure> {
        let unknown = |what: &str, text: &str| {
            Failure::new(StatusCode::UNPROCESSABLE_ENTITY, format!("unknown {what} {text:?}"))
        };
        let side = |name| Ok::<_, Failure>(query.number(name, 1024_u32)?.clamp(*SIZES.start(), *SIZES.end()));
        let stretch = match query.get("stretch") {
            None => Stretch::default(),
            Some(name) => {
                let found = Stretch::ALL.into_iter().find(|known| known.name() == name);
                found.ok_or_else(|| unknown("stretch", name))?
            }
        };
        let origin = match query.get("origin") {
            None | Some("upper") => Origin::Upper,
            Some("lower") => Origin::Lower,
            Some(other) => return Err(unknown("origin", other)),
        };
        Ok(Self {
            size: (side("width")?, side("height")?),
            range: query.get("range").map_or(Ok(Range::MinMax), str::parse)?,
            stretch,
            map: query.get("cmap").unwrap_or("viridis").to_owned(),
            origin,
        })
    }

    fn colors(&self) -> Result<Colors, Failure> {
        let palette = Palette::by_name(&self.map)?;
        Ok(Colors { range: self.range, stretch: self.stretch, palette, nan: NAN })
    }
}

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let choices = Choices::parse(call.query)?;
    if let Some(frame) = call.query.get("frame") {
        let frame =
            frame.parse().map_err(|_| Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid frame"))?;
        return of_particles(call, reply, &opened, frame, &choices);
    }
    let (index, region) = selected(&opened, call.query)?;
    let (container, read) = (opened.container(), call.job.read());
    let dataset = container.require(index)?;
    let wide = region.shape().iter().filter(|count| **count > 1).count();
    let (region, _) = sliced(&region, &dataset, &[], if wide <= 1 { 1 } else { 2 })?;
    let is_plane = region.shape().len() == 2;
    let (part, progress) = (ComplexPart::default(), Progress::none());
    let subject =
        PlotData { container, index, region: &region, name: &dataset.path, part, read: &read, progress };
    let style = Style { size: Some(choices.size), dpi: 100, title: None, bare: is_plane };
    let picture = if is_plane {
        heatmap(&subject, &choices.colors()?, choices.origin, "", &style)?
    } else {
        lines(&subject, choices.range, choices.stretch, &dataset.path, &style)?
    };
    let recipe = recipe(call, &dataset.path, &region, &dataset.shape, &picture, &choices, is_plane);
    let shape: Vec<String> = region.shape().iter().map(ToString::to_string).collect();
    reply.header("x-shape", &shape.join(","));
    if let [rows, columns] = region.shape()[..] {
        let block = |count: u64, pixels: u32| count.div_ceil(u64::from(pixels.max(1)));
        let (down, across) = (block(rows, picture.scene.height), block(columns, picture.scene.width));
        reply.header("x-block", &format!("{down},{across}"));
    }
    send(call, reply, &picture, &recipe)
}

/// The command that draws the same with axes. The ends of the colours are those of this picture, which is often smaller.
fn recipe(
    call: &Call<'_>,
    path: &str,
    region: &Region,
    shape: &[u64],
    picture: &Picture,
    choices: &Choices,
    is_plane: bool,
) -> String {
    let place = match region_text(region, shape).as_str() {
        "" => typed(path).to_owned(),
        selection => format!("{}[{selection}]", typed(path)),
    };
    let mut words = vec![command(call, &place)];
    if let Some(range) = picture.range {
        words.push(format!("--range={range}"));
    }
    words.push(format!("--stretch {}", choices.stretch.name()));
    if is_plane {
        let origin = if choices.origin == Origin::Upper { "upper" } else { "lower" };
        words.push(format!("--cmap {} --origin {origin}", choices.map));
    } else {
        words.push("--lines".to_owned());
    }
    words.push("-o picture.png".to_owned());
    words.join(" ")
}

/// `holdall plot FILE::PLACE`, in words of the user's shell.
fn command(call: &Call<'_>, place: &str) -> String {
    let state = call.job.state;
    let mut address = std::ffi::OsString::from(&call.entry.path);
    address.push("::");
    address.push(place);
    format!("holdall plot {}", (state.options.shell_word)(address.as_ref()))
}

fn of_particles(
    call: &Call<'_>,
    reply: &mut Reply,
    opened: &Opened,
    frame: u64,
    choices: &Choices,
) -> Result<(), Failure> {
    let snapshot = Snapshot::read(opened.container(), frame, call.query.get("field"), &call.job.read())?;
    let view = if snapshot.dimensions == 2 { View::Xy } else { View::Tilted };
    let style = Style { size: Some(choices.size), dpi: 100, title: None, bare: false };
    let picture = particles(&snapshot, view, &choices.colors()?, &style, &call.job.read().limits)?;
    let colors = call.query.get("field").map(|field| {
        let field = (call.job.state.options.shell_word)(field.as_ref());
        format!(" --color-by {field} --cmap {}", choices.map)
    });
    let command = command(call, &format!("frames/{frame}"));
    let recipe = format!("{command}{} -o picture.png", colors.unwrap_or_default());
    send(call, reply, &picture, &recipe)
}

fn send(call: &Call<'_>, reply: &mut Reply, picture: &Picture, recipe: &str) -> Result<(), Failure> {
    if let Some(Range::Fixed(low, high)) = picture.range {
        reply.header("x-low", &low.to_string());
        reply.header("x-high", &high.to_string());
    }
    reply.header("x-notes", &header_text(&picture.notes.join("\n")));
    reply.header("x-recipe", &header_text(recipe));
    let pixels = raster(&picture.scene, &call.job.read().limits)?;
    reply.whole("image/png", png(&pixels, picture.scene.dpi, Some(recipe))?)
}
