//! One frame of particles with the quantities of the schema `hoomd`, read through [`Container`](container_core::container::Container).

use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::Order;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::to_f64::{ComplexPart, is_number};
use container_core::{Error, Result};

use crate::integer_base::{Counting, beyond, extremes};
use crate::shapes::Shape;
use crate::values::Stored;

/// Particles in a box.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Number of the frame.
    pub frame: u64,
    /// Number of frames in the file.
    pub frames: u64,
    /// Time step, where it is stored.
    pub step: Option<u64>,
    /// Two or three.
    pub dimensions: u8,
    /// Lx, Ly, Lz, xy, xz, yz; `None` where no box is stored.
    pub cell: Option<[f64; 6]>,
    /// Positions.
    pub positions: Vec<[f64; 3]>,
    /// Diameters: 1 where none are stored.
    pub diameters: Vec<f64>,
    /// Types, by number: 0 where none are stored.
    pub types: Vec<usize>,
    /// Names of types.
    pub names: Vec<String>,
    /// Orientations as quaternions of length 1, their real part first; none where none are stored.
    pub orientations: Vec<[f64; 4]>,
    /// Shapes of the types; none where none are stored.
    pub shapes: Vec<Shape>,
    /// Bonds by the numbers of their two particles.
    pub bonds: Vec<[usize; 2]>,
    /// The requested field; of vectors, their lengths.
    pub field: Option<Field>,
}

/// Numbers of particles.
#[derive(Clone, Debug)]
pub struct Field {
    /// Label of the values.
    pub label: String,
    /// One for each particle.
    pub values: Vec<f64>,
    /// Base that is subtracted from them.
    pub(crate) counting: Counting,
}

/// Name of the positions.
const POSITION: &str = "particles/position";

/// The number of frames, where the container holds frames of particles.
#[must_use]
pub fn frames_of_particles(container: &dyn Container) -> Option<u64> {
    let stacked = |path: &str| {
        let dataset = container.dataset(container.find(path)?)?;
        dataset.shape.first().copied().filter(|_| container.has_frame_axis(&dataset))
    };
    container.find(POSITION).or_else(|| container.find("frames/0/particles/position"))?;
    ["configuration/step", "particles/N", POSITION].into_iter().find_map(stacked).or_else(|| {
        // No name stacks: as many as follow each other.
        let mut count = 0;
        while container.find(&format!("frames/{count}/{POSITION}")).is_some() {
            count += 1;
        }
        (count > 0).then_some(count)
    })
}

impl Snapshot {
    /// Reads frame `frame`; `field` is a name such as `particles/velocity` or `velocity`.
    ///
    /// # Errors
    /// `Usage` for a frame or field that is not there or does not fit the positions; those of reading.
    pub fn read(
        container: &dyn Container,
        frame: u64,
        field: Option<&str>,
        read: &ReadOptions,
    ) -> Result<Self> {
        let none = || Error::usage("no particles in this file");
        let frames = frames_of_particles(container).ok_or_else(none)?;
        if frame >= frames {
            return Err(Error::usage(format!("no frame {frame}"))
                .with_hint(format!("0 to {}", frames.saturating_sub(1))));
        }
        let look = Look { container, frame, read };
        let (positions, width) = look.table(POSITION)?.ok_or_else(none)?;
        if width != 3 {
            return Err(Error::usage(format!("positions have 3 columns, not {width}")));
        }
        let positions: Vec<[f64; 3]> = positions.as_chunks::<3>().0.to_vec();
        let count = positions.len();
        let cell =
            look.table("configuration/box")?.and_then(|(values, _)| values.first_chunk::<6>().copied());
        let of_each = |name: &str| -> Result<Option<Vec<f64>>> {
            Ok(look
                .table(name)?
                .filter(|(values, width)| *width == 1 && values.len() == count)
                .map(|(values, _)| values))
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked, small numbers")]
        let whole = |value: f64| if value.is_finite() && value >= 0.0 { value as u64 } else { 0 };
        let types = of_each("particles/typeid")?.unwrap_or_else(|| vec![0.0; count]);
        let first = |name: &str| -> Result<Option<f64>> {
            Ok(look.table(name)?.and_then(|(values, _)| values.first().copied()))
        };
        let dimensions = match first("configuration/dimensions")? {
            Some(2.0) => 2,
            None if cell.is_some_and(|cell| cell[2] == 0.0) => 2,
            _ => 3,
        };
        Ok(Self {
            frame,
            frames,
            step: first("configuration/step")?.map(whole),
            dimensions,
            cell,
            diameters: of_each("particles/diameter")?.unwrap_or_else(|| vec![1.0; count]),
            types: types.iter().map(|number| usize::try_from(whole(*number)).unwrap_or(0)).collect(),
            names: look.texts("particles/types")?.unwrap_or_else(|| vec!["A".into()]),
            orientations: look.orientations(count)?,
            shapes: look
                .texts("particles/type_shapes")?
                .map(|texts| texts.iter().map(|text| Shape::parse(text)).collect())
                .unwrap_or_default(),
            bonds: look.bonds()?,
            field: field.map(|field| look.field(field, count)).transpose()?,
            positions,
        })
    }

    /// The corners of the box: its origin, then its three edges as vectors. Without a box, the extent of the positions.
    #[must_use]
    pub fn corners(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        let Some([lx, ly, lz, xy, xz, yz]) =
            self.cell.filter(|cell| cell.iter().all(|value| value.is_finite()))
        else {
            let mut low = [f64::INFINITY; 3];
            let mut high = [f64::NEG_INFINITY; 3];
            for position in
                self.positions.iter().filter(|position| position.iter().all(|value| value.is_finite()))
            {
                low = std::array::from_fn(|axis| f64::min(low[axis], position[axis]));
                high = std::array::from_fn(|axis| f64::max(high[axis], position[axis]));
            }
            if low[0] > high[0] {
                (low, high) = ([0.0; 3], [1.0; 3]);
            }
            let edge =
                |axis: usize| [0, 1, 2].map(|place| if place == axis { high[axis] - low[axis] } else { 0.0 });
            return (low, [edge(0), edge(1), edge(2)]);
        };
        // HOOMD's tilt factors; the middle of the box is the origin.
        let edges = [[lx, 0.0, 0.0], [xy * ly, ly, 0.0], [xz * lz, yz * lz, lz]];
        let origin = [0, 1, 2].map(|axis| -(edges[0][axis] + edges[1][axis] + edges[2][axis]) / 2.0);
        (origin, edges)
    }
}

/// Lookup of the quantities of one frame.
struct Look<'a> {
    container: &'a dyn Container,
    frame: u64,
    read: &'a ReadOptions,
}

impl Look<'_> {
    /// The dataset of a name, and the part of it that is this frame: of the stacked one, else of the frame, else of the first frame, which
    /// holds constant quantities.
    fn find(&self, name: &str) -> Result<Option<(usize, Region)>> {
        let stacked = self
            .container
            .find(name)
            .map(|index| self.container.require(index).map(|dataset| (index, dataset)));
        if let Some((index, dataset)) = stacked.transpose()?
            && self.container.has_frame_axis(&dataset)
        {
            return Ok(Some((index, one_frame(&dataset, self.frame)?)));
        }
        for frame in [self.frame, 0] {
            if let Some(index) = self.container.find(&format!("frames/{frame}/{name}")) {
                let shape = &self.container.require(index)?.shape;
                return Ok(Some((index, Region::whole(shape))));
            }
        }
        Ok(None)
    }

    /// The values, row by row, and the length of a row.
    fn table(&self, name: &str) -> Result<Option<(Vec<f64>, usize)>> {
        Ok(self.counted(name, false)?.map(|(values, width, _)| (values, width)))
    }

    /// The values, the length of a row, and the integer that rows of one value are counted from where `is_counted`.
    fn counted(&self, name: &str, is_counted: bool) -> Result<Option<(Vec<f64>, usize, Counting)>> {
        let Some((index, region)) = self.find(name)? else { return Ok(None) };
        let dataset = self.container.require(index)?;
        let Some(scalar) = dataset.dtype.as_scalar().filter(|scalar| is_number(scalar)) else {
            return Ok(None);
        };
        let array = self.container.read(index, &region, self.read)?;
        self.read.limits.allocate(array.len().saturating_mul(8))?;
        let mut values = Vec::new();
        let width = match array.shape() {
            [_, width] => usize::try_from(*width).unwrap_or(usize::MAX),
            _ => 1,
        };
        let bytes = array.bytes(Order::C, &self.read.limits)?;
        let counting = if is_counted && width == 1 {
            Counting::between(extremes(scalar, Stored { bytes: &bytes, mask: &[] }))
        } else {
            Counting::default()
        };
        beyond(scalar, &bytes, ComplexPart::Abs, counting.base, &mut values);
        Ok(Some((values, width, counting)))
    }

    /// Rows of characters that end with a NUL.
    fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some((values, width)) = self.table(name)? else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let text = |row: &[f64]| {
            let bytes: Vec<u8> =
                row.iter().map(|value| *value as i16 as u8).take_while(|byte| *byte != 0).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Some(values.chunks(width.max(1)).map(text).collect()))
    }

    /// Quaternions of length 1; one without a direction turns nothing.
    fn orientations(&self, count: usize) -> Result<Vec<[f64; 4]>> {
        let stored = self.table("particles/orientation")?;
        let Some((values, 4)) = stored.filter(|(values, _)| values.len() == count.saturating_mul(4)) else {
            return Ok(Vec::new());
        };
        let unit = |stored: &[f64; 4]| {
            let length = stored.iter().map(|part| part * part).sum::<f64>().sqrt();
            let is_direction = length.is_finite() && length > 0.0;
            if is_direction { stored.map(|part| part / length) } else { [1.0, 0.0, 0.0, 0.0] }
        };
        Ok(values.as_chunks::<4>().0.iter().map(unit).collect())
    }

    fn bonds(&self) -> Result<Vec<[usize; 2]>> {
        let Some((values, 2)) = self.table("bonds/group")? else { return Ok(Vec::new()) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of particles")]
        let number = |value: f64| if value >= 0.0 { value as usize } else { usize::MAX };
        Ok(values.as_chunks::<2>().0.iter().map(|pair| pair.map(number)).collect())
    }

    fn field(&self, name: &str, count: usize) -> Result<Field> {
        let full = if name.contains('/') { name.to_owned() } else { format!("particles/{name}") };
        let absent = || {
            Error::usage(format!("no field {full:?} in frame {}", self.frame)).with_hint("holdall ls -R FILE")
        };
        let (values, width, counting) = self.counted(&full, true)?.ok_or_else(absent)?;
        if width == 0 || values.len() != count.saturating_mul(width) {
            return Err(Error::usage(format!("{full} does not have one row for each of {count} particles")));
        }
        let length = |row: &[f64]| match row {
            [one] => *one,
            several => several.iter().map(|value| value * value).sum::<f64>().sqrt(),
        };
        let short = full.strip_prefix("particles/").unwrap_or(&full);
        let label = if width > 1 { format!("|{short}|") } else { short.to_owned() };
        Ok(Field { label, values: values.chunks(width).map(length).collect(), counting })
    }
}

fn one_frame(dataset: &Dataset, frame: u64) -> Result<Region> {
    let mut axes = Region::whole(&dataset.shape).axes().to_vec();
    if let Some(first) = axes.first_mut() {
        *first = AxisSelection { start: frame, step: 1, count: 1, kept: Kept::No };
    }
    Region::new(axes, &dataset.shape)
}
