//! `holdall plot`: pictures.

use std::f64::consts::PI;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use container_core::chunked_read::require_present;
use container_core::container::{Container, ReadOptions, require};
use container_core::dtype::Kind;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::to_f64::ComplexPart;
use container_core::write::{AtomicFile, Durability};
use container_core::{Error, Limits, Progress};
use holdall::Address;
use holdall::address::{file_name, typed};
use holdall::open::{Accept, is_stream};
use holdall::output_file::refuse_source;
use holdall::views::field::OneField;
use holdall_plot::{
    Colors, MAX_LINES, Origin, Palette, Picture, PlotData, Range, Rgba, Stretch, Style, View, heatmap,
    histogram, lines, raster, region_text, sequences, sliced, svg, unit,
};

use super::{open, shown};
use crate::errors::{ErrorContext, Outcome, Result, shell_word_of};
use crate::options::{DigestsArgs, ForceArgs, JobsArgs, OpenAnywhereArgs, address, local_path};
use crate::output::{Console, printable, to_stderr};
use crate::progress::{ProgressReporter, ShowProgress};

mod idle_options;
mod options;
mod particles;
mod picture_file;
mod recipe;
mod rgb;
mod terminal;

use idle_options::PictureOf;
use options::Size;
use picture_file::PictureFile;
use recipe::Recipe;

/// Draw a dataset as PNG, SVG, PDF or on the terminal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Two axes are a heat map, the shape (H, W, 3) or (H, W, 4) is a colour picture, one axis is a line, a table of at most 8 columns that has at least 16 rows for each is a line for each column; of more axes, the leading ones (of column-major \
data the last) are cut in their middle, unless [SEL] or --slice says where. Particles of GSD files are drawn in their box: FILE (the last frame), \
FILE::frames/N or FILE::particles/position[N].

Larger planes than the picture are drawn by the means of blocks, longer lines by the least and greatest value in each column of pixels. \
Without --range, the colours of floating-point numbers are for the middle 99 % of them where outliers would leave less than a tenth of the colours to those, and \
for all values otherwise. minmax is of the data, other --range rules look at what is drawn. The command that makes the same picture again, every choice spelled out, is told on standard error and \
stored in the picture (PNG: Comment; SVG: desc; PDF: Subject).

Examples:
  holdall plot scan.ra -o scan.png
  holdall plot 'image.asdf::roman/data' --range zscale --stretch asinh --cmap gray --origin lower -o image.svg
  holdall plot 'scan.ra::data[0]' --hist --bins 50
  holdall plot catalogue.asdf::sources --field magnitude --hist
  holdall plot model.gsd::frames/3 --color-by velocity -o frame3.png
  holdall plot scan.ra --term")]
pub struct Args {
    /// The file, FILE::PATH or FILE::PATH[SEL]
    #[arg(value_name = "FILE")]
    file: OsString,

    /// The picture, .png, .svg or .pdf
    ///
    /// Default: the name of the file with .png, in this directory.
    #[arg(short, long, value_name = "FILE", value_parser = local_path())]
    output: Option<PathBuf>,

    /// Show it on the terminal
    ///
    /// By kitty, sixel or blocks; default: what the terminal is known to show.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    term: Option<terminal::Term>,

    /// Colours or planes of an (H, W, 3) array
    ///
    /// Of the shape (H, W, 4), too. The default is rgb for u1, u2 and floating-point numbers from 0 to 1, without --range, --stretch and --cmap.
    #[arg(long = "as", value_name = "KIND", conflicts_with_all = ["hist", "lines", "part"], value_parser = options::picture_kind())]
    kind: Option<options::PictureKind>,

    /// A histogram of the values
    #[arg(long, conflicts_with = "lines")]
    hist: bool,

    /// Intervals of the histogram; default: by the number of values
    #[arg(long, value_name = "N", requires = "hist")]
    bins: Option<usize>,

    /// Lines, one for each column, of which there are 8 at most
    #[arg(long)]
    lines: bool,

    /// Index at which an axis is cut, several with commas
    ///
    /// AXIS=INDEX; axes count from 0 in what is selected.
    #[arg(long, value_name = "AXIS=INDEX", value_delimiter = ',', value_parser = options::slice)]
    slice: Vec<(usize, i64)>,

    /// Field of records that is drawn
    ///
    /// Of records within records, names with dots between.
    #[arg(long, value_name = "NAME")]
    field: Option<String>,

    /// What of complex numbers is drawn
    #[arg(long, value_name = "PART", value_parser = options::part())]
    part: Option<ComplexPart>,

    /// Values at the ends: auto, minmax, zscale, pLOW,HIGH or LOW,HIGH
    ///
    /// Of the colours, or of the axis; pLOW,HIGH are percentiles. The default is auto: the minimum and maximum, unless 99 % of the values of a float image are within a tenth of that.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<Range>,

    /// Spread of the colours
    ///
    /// Of the values between the ends, as astropy defines them.
    #[arg(long, value_name = "STRETCH", value_parser = options::stretch())]
    stretch: Option<Stretch>,

    /// Colour map: viridis, gray, coolwarm, …; _r turns it round
    ///
    /// One of viridis, inferno, magma, plasma, cividis, turbo, gray, coolwarm, rdbu and others; _r behind it turns it round.
    #[arg(long, value_name = "NAME")]
    cmap: Option<String>,

    /// Colour of what is not finite [default: #c8c8c8]
    #[arg(long, value_name = "#RRGGBB", value_parser = options::color)]
    nan: Option<Rgba>,

    /// First value's corner [default: upper]
    ///
    /// Of a heat map or a colour picture.
    #[arg(long, value_name = "CORNER", value_parser = options::origin())]
    origin: Option<Origin>,

    /// Colour particles by this field instead of their type
    ///
    /// Such as particles/velocity, or velocity; of vectors, by the length.
    #[arg(long, value_name = "FIELD")]
    color_by: Option<String>,

    /// Side from which particles are seen: xy, xz, yz or tilted
    ///
    /// Default: tilted, xy in two dimensions.
    #[arg(long, value_name = "VIEW")]
    view: Option<View>,

    /// Title; an empty one is none. Default: the address
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Width and height in pixels; default: what suits the data
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,

    /// Pixels per inch, 30 to 1200: text and lines grow with it
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(30..=1200))]
    dpi: u32,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    digests: DigestsArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

/// A picture, the command for it, and its title.
struct Drawn {
    picture: Picture,
    recipe: Recipe,
    title: String,
    /// The parts that the dataset leaves out of those that it is put together from.
    left_out: Vec<Loss>,
}

/// A picture that has been drawn, for programs.
pub struct Drawing {
    drawn: Drawn,
    limits: Limits,
}

impl Drawing {
    /// The picture as PNG, with the command that makes it as its comment.
    ///
    /// # Errors
    /// `Limit` for a picture over the limits.
    pub fn png(&self) -> container_core::Result<Vec<u8>> {
        self.file(PictureFile::Png)
    }

    /// The picture as SVG, with the command that makes it as its description.
    ///
    /// # Errors
    /// Those of pixels within it.
    pub fn svg(&self) -> container_core::Result<String> {
        svg(&self.drawn.picture.scene, Some(&self.recipe()))
    }

    /// The picture as PDF, with the command that makes it as its subject.
    ///
    /// # Errors
    /// As [`Drawing::png`].
    pub fn pdf(&self) -> container_core::Result<Vec<u8>> {
        self.file(PictureFile::Pdf)
    }

    fn file(&self, kind: PictureFile) -> container_core::Result<Vec<u8>> {
        kind.bytes(&self.drawn.picture.scene, &self.recipe(), &self.limits)
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.drawn.picture.scene.width, self.drawn.picture.scene.height)
    }

    /// Remarks for a reader of the picture.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.drawn.picture.notes
    }

    /// The command that draws it, every choice spelled out, less its target.
    #[must_use]
    pub fn recipe(&self) -> String {
        self.drawn.recipe.with_end("").trim_end().to_owned()
    }
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    let file = shown(&address.file);
    let output = args.target(&address).on(&file)?;
    if let Some(path) = output.as_deref().filter(|path| !is_stream(path)) {
        refuse_source(&address.file, path).on(&file)?;
        // Found out before the work, not after it.
        if !args.force.force && path.symlink_metadata().is_ok() {
            return Err(Error::usage("already exists").with_hint("use -f to replace it")).on(shown(path));
        }
    }
    let protocol = args.term.map(terminal::Term::protocol);
    if output.as_deref().is_some_and(is_stream) && console.out.is_terminal() {
        return Err(
            Error::usage("binary output is not written to a terminal").with_hint("--term, or -o NEW.png")
        )
        .on(&file);
    }
    let opened = open(
        &address.file,
        Accept::ContainersAndArrays,
        &args.open.options(console.limits, console.formats),
    )?;
    let container = opened.container.as_ref();
    let bar = if console.out.is_terminal() { ShowProgress::Never } else { ShowProgress::OnTerminal };
    let meter = ProgressReporter::new(printable(&file), bar);
    let read = args.digests.apply(args.jobs.read_options(console.limits));
    let make = |style: &Style| {
        let drawn = meter.watch(|progress| args.draw(container, &address, style, read, progress));
        super::tell(&address.file, container.uncompared().as_slice());
        if let Ok(drawn) = &drawn {
            super::tell_left_out(&address.file, &drawn.left_out);
        }
        drawn
    };
    if let Some(protocol) = protocol {
        let style = terminal::style(protocol, args.size.map(|size| size.0), args.dpi);
        let drawn = make(&style).on(&file)?;
        let pixels = raster(&drawn.picture.scene, &console.limits).on(&file)?;
        let text = sequences(&pixels, protocol).on(&file)?;
        if style.bare {
            // Letters of two points in width cannot be read: the terminal has its own.
            writeln!(console.out, "{}", printable(&drawn.title))?;
        }
        console.out.write_all(text.as_bytes())?;
        if let Some(range) = drawn.picture.range.filter(|_| style.bare) {
            writeln!(console.out, "{range}")?;
        }
        console.out.flush()?;
        if output.is_none() {
            tell(&drawn, &drawn.recipe.with_end(&format!("--term={}", terminal::name(protocol))));
            return Ok(Outcome::Yes);
        }
    }
    let Some(path) = output else { return Ok(Outcome::Yes) };
    let style = Style { size: args.size.map(|size| size.0), dpi: args.dpi, title: None, bare: false };
    let drawn = make(&style).on(&file)?;
    let recipe = drawn.recipe.with_end(&format!("-o {}", shell_word_of(path.as_os_str())));
    let kind = PictureFile::of(&path).on(&file)?;
    let bytes = kind.bytes(&drawn.picture.scene, &recipe, &console.limits).on(&file)?;
    if is_stream(&path) {
        console.out.write_all(&bytes)?;
    } else {
        let mut target = AtomicFile::create(&path, args.force.overwrite()).on(shown(&path))?;
        target.write_all(&bytes).map_err(Error::from).on(shown(&path))?;
        target.commit(Durability::Synced).on(shown(&path))?;
    }
    tell(&drawn, &recipe);
    Ok(Outcome::Yes)
}

/// Notes and the recipe, for people.
fn tell(drawn: &Drawn, recipe: &str) {
    for note in &drawn.picture.notes {
        to_stderr(&format!("note: {}", printable(note)));
    }
    to_stderr(&printable(recipe));
}

impl Args {
    /// Draws what `address` names of an open container.
    ///
    /// # Errors
    /// `Usage` for what cannot be drawn; those of reading.
    pub fn drawing(
        &self,
        container: &dyn Container,
        address: &Address,
        read: ReadOptions,
        progress: Progress<'_>,
    ) -> container_core::Result<Drawing> {
        let style = Style { size: self.size.map(|size| size.0), dpi: self.dpi, title: None, bare: false };
        let mut drawn = self.draw(container, address, &style, read, progress)?;
        let left_out = drawn.left_out.iter().map(|loss| match &loss.dataset {
            Some(dataset) => format!("{dataset}: left out: {}", loss.what),
            None => format!("left out: {}", loss.what),
        });
        drawn.picture.notes.extend(left_out.collect::<Vec<_>>());
        Ok(Drawing { drawn, limits: read.limits })
    }

    /// Path of the picture; `None` where only the terminal is asked for.
    fn target(&self, address: &Address) -> container_core::Result<Option<PathBuf>> {
        let Some(path) = &self.output else {
            if self.term.is_some() {
                return Ok(None);
            }
            let name = file_name(&address.file).filter(|_| !is_stream(&address.file));
            let stem = name.as_ref().and_then(|name| Path::new(name).file_stem());
            let mut name = stem.map_or_else(|| "plot".into(), OsString::from);
            name.push(".png");
            return Ok(Some(name.into()));
        };
        PictureFile::of(path)?;
        Ok(Some(path.clone()))
    }

    fn draw(
        &self,
        container: &dyn Container,
        address: &Address,
        style: &Style,
        read: ReadOptions,
        progress: Progress<'_>,
    ) -> container_core::Result<Drawn> {
        if let Some(frame) = self.frame(container, address)? {
            if self.part.is_some() {
                return Err(Error::usage("--part is for complex numbers, which particles do not have"));
            }
            return self.draw_particles(container, address, frame, style, &read);
        }
        if self.color_by.is_some() || self.view.is_some() {
            return Err(Error::usage("--color-by and --view are for particles")
                .with_hint("FILE::frames/0 of a GSD file"));
        }
        // The dataset, or a view of one field of it, and the selected region.
        let (view, path);
        let mut left_out = Vec::new();
        let (container, index, region): (&dyn Container, _, _) = match &self.field {
            None => {
                let (index, region) = address.select_one(container)?;
                path = container.require(index)?.path.clone();
                left_out = container.left_out(index);
                (container, index, region)
            }
            Some(field) => {
                let whole = Address { selection: None, ..address.clone() };
                let (index, _) = whole.select_one(container)?;
                path = container.require(index)?.path.clone();
                view = OneField::new(container, index, field)?;
                let shape = &require(&view, 0)?.shape;
                let selected = address.selection.as_deref().map(|text| Region::parse(text, shape));
                (&view, 0, selected.transpose()?.unwrap_or_else(|| Region::whole(shape)))
            }
        };
        let dataset = container.require(index)?;
        if region.is_empty() {
            return Err(Error::usage(format!("no values to draw in {}", dataset.path)));
        }
        if let Some(drawn) = self.draw_rgb(container, index, &region, address, style, &read, progress)? {
            return Ok(Drawn { left_out, ..drawn });
        }
        // Axes that the picture cannot show are cut at one index.
        let is_plane = self.kind == Some(options::PictureKind::Heatmap);
        let slices = self.slices(container, index, &region, is_plane)?;
        let wide = region.shape().iter().filter(|count| **count > 1).count();
        let most = match () {
            () if self.hist => usize::MAX,
            () if wide <= 1 && !self.lines => 1,
            () => 2,
        };
        let (region, _) = sliced(&region, &dataset, &slices, most)?;
        require_present(container, index, &region)?;
        let shape = region.shape();
        let is_table =
            !is_plane && matches!(shape[..], [rows, columns] if columns <= MAX_LINES && rows >= 16 * columns);
        // Title, unit and label.
        let selection = region_text(&region, &dataset.shape);
        let part = self.part.unwrap_or_default();
        let (file, name) = (file_name(&address.file).unwrap_or_default(), &dataset.path);
        let file = file.to_string_lossy();
        let place = |name: &str| match selection.as_str() {
            "" => name.to_owned(),
            selection => format!("{name}[{selection}]"),
        };
        let title = self.title.clone().unwrap_or_else(|| format!("{file}::{}", place(typed(name))));
        let subject =
            PlotData { container, index, region: &region, name: &dataset.path, part, read: &read, progress };
        let style = Style { title: Some(title.clone()).filter(|title| !title.is_empty()), ..style.clone() };
        let kind = dataset.dtype.as_scalar().map(|scalar| &scalar.kind);
        let is_complex = kind == Some(&Kind::Complex);
        let unit = match kind {
            Some(Kind::Datetime(unit)) => Some(format!("{} since 1970", unit.trim_matches(['[', ']']))),
            Some(Kind::Timedelta(unit)) => Some(unit.trim_matches(['[', ']']).to_owned()),
            // Attributes of the records need not apply to one of their fields.
            _ if self.field.is_some() => None,
            _ => unit(container, &dataset),
        };
        if self.part.is_some() && !is_complex {
            let problem = format!("--part is for complex numbers, which {} does not have", dataset.path);
            return Err(Error::usage(problem));
        }
        let label = label(&dataset.path, unit, is_complex.then_some(part));
        let is_phase = is_complex && part == ComplexPart::Phase;
        // The recipe repeats the picture; it is completed with choices that drawing makes.
        let mut recipe = Recipe::new(&address.file, &place(typed(&path)), self.open.path());
        if let Some(field) = &self.field {
            recipe.add("--field", field);
        }
        if is_complex {
            recipe.add("--part", options::part_name(part));
        }
        let range = self.range.unwrap_or_default();
        let stretch = self.stretch.unwrap_or_default();
        let is_heat_map = !self.hist && !self.lines && !is_table && shape.len() == 2;
        self.refuse_idle(match () {
            () if self.hist => PictureOf::Counts,
            () if is_heat_map => PictureOf::Plane,
            () => PictureOf::Lines,
        })?;
        let colors = self.colors(is_phase)?;
        let picture = if self.hist {
            recipe.flag("--hist");
            histogram(&subject, self.bins, range, stretch, &label, &style)?
        } else if is_heat_map {
            if is_plane {
                recipe.add("--as", "heatmap");
            }
            heatmap(&subject, &colors, self.origin.unwrap_or_default(), &label, &style)?
        } else {
            recipe.flag("--lines");
            lines(&subject, range, stretch, &label, &style)?
        };
        if let Some(bins) = picture.bins {
            recipe.add("--bins", &bins.to_string());
        }
        if is_heat_map {
            self.add_colors(&mut recipe, is_phase);
            recipe.add("--origin", options::origin_name(self.origin.unwrap_or_default()));
        }
        self.finish(recipe, Some(stretch), picture, title).map(|drawn| Drawn { left_out, ..drawn })
    }

    fn colors(&self, is_phase: bool) -> container_core::Result<Colors> {
        // A phase comes round.
        let range = if is_phase { Range::Fixed((-PI).into(), PI.into()) } else { Range::Auto };
        Ok(Colors {
            range: self.range.unwrap_or(range),
            stretch: self.stretch.unwrap_or_default(),
            palette: Palette::by_name(self.cmap_name(is_phase))?,
            nan: self.nan(),
        })
    }

    fn nan(&self) -> Rgba {
        self.nan.unwrap_or(Rgba(0xc8, 0xc8, 0xc8, 255))
    }

    fn cmap_name(&self, is_phase: bool) -> &str {
        self.cmap.as_deref().unwrap_or(if is_phase { "sinebow" } else { "viridis" })
    }

    fn add_colors(&self, recipe: &mut Recipe, is_phase: bool) {
        recipe.add("--cmap", self.cmap_name(is_phase));
        recipe.add("--nan", &options::color_text(self.nan()));
    }

    /// Adds the parts that every picture has; `stretch` to those of values.
    fn finish(
        &self,
        mut recipe: Recipe,
        stretch: Option<Stretch>,
        picture: Picture,
        title: String,
    ) -> container_core::Result<Drawn> {
        if let Some(range) = picture.range {
            recipe.add("--range", &range.to_string());
        }
        if let Some(stretch) = stretch {
            recipe.add("--stretch", stretch.name());
        }
        recipe.add("--size", &Size((picture.scene.width, picture.scene.height)).to_string());
        recipe.add("--dpi", &self.dpi.to_string());
        recipe.add("--title", &title);
        Ok(Drawn { picture, recipe, title, left_out: Vec::new() })
    }
}

/// Label of the axis of values.
fn label(path: &str, unit: Option<String>, part: Option<ComplexPart>) -> String {
    let mut names = path.rsplit('/');
    let name = match (names.next().unwrap_or(path), names.next()) {
        // A quantity of ASDF is a value with a unit.
        ("value", Some(quantity)) if unit.is_some() => quantity,
        (name, _) => name,
    };
    let name = match part {
        None => name.to_owned(),
        Some(ComplexPart::Abs) => format!("|{name}|"),
        Some(ComplexPart::Phase) => return format!("phase of {name} (rad)"),
        Some(ComplexPart::Re) => format!("Re {name}"),
        Some(ComplexPart::Im) => format!("Im {name}"),
    };
    match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name,
    }
}
