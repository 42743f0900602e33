//! Lists of the fields of every frame, as `gsd_cases.py` makes them by gsd.hoomd.

use std::path::Path;

use gsd::hoomd::{
    ConstraintData, FloatArray, Frame, GroupData, ParticleData, Shape, SinglePrecision, Trajectory,
};
use gsd::{ChunkType, Element};

use crate::listing::{line, little_endian, text_line, whole};

/// Returns our reading, in whole frames.
pub fn ours(path: &Path) -> String {
    let trajectory = Trajectory::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let read = trajectory.iter().map(|frame| frame.to_frame()).collect::<gsd::Result<Vec<_>>>();
    list(&read.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The fields of frames, which have them all.
pub fn list(frames: &[Frame<'_>]) -> String {
    let mut lines = Vec::new();
    for (at, frame) in (0..).zip(frames) {
        List { at, lines: &mut lines }.frame(frame);
    }
    whole(frames.len() as u64, lines)
}

struct List<'l> {
    at: u64,
    lines: &'l mut Vec<String>,
}

impl List<'_> {
    fn frame(&mut self, frame: &Frame<'_>) {
        let configuration = &frame.configuration;
        self.rows("configuration/step", 1, &[configuration.step.unwrap()]);
        self.rows("configuration/dimensions", 1, &[configuration.dimensions.unwrap()]);
        self.reals("configuration/box", 1, configuration.simulation_box.as_ref());
        self.particles(&frame.particles);
        self.groups("bonds", &frame.bonds);
        self.groups("angles", &frame.angles);
        self.groups("dihedrals", &frame.dihedrals);
        self.groups("impropers", &frame.impropers);
        self.groups("pairs", &frame.pairs);
        self.constraints(&frame.constraints);
        for (name, value) in frame.log.iter() {
            let (n, m) = value.shape();
            let name = format!("log/{name}");
            self.add(&name, value.chunk_type(), n, m, value.bytes());
        }
    }

    /// A line for numbers as they lie in memory.
    fn add(&mut self, name: &str, chunk_type: ChunkType, n: u64, m: u32, native: &[u8]) {
        let size = usize::try_from(chunk_type.size()).unwrap();
        self.lines.push(line(self.at, name, chunk_type, n, m, &little_endian(size, native)));
    }

    fn particles(&mut self, data: &ParticleData<'_>) {
        self.rows("particles/N", 1, &[data.n.unwrap()]);
        self.text("particles/types", data.types.as_deref().unwrap());
        self.rows("particles/typeid", 1, data.typeid.as_ref().unwrap());
        self.reals("particles/mass", 1, data.mass.as_ref());
        self.reals("particles/charge", 1, data.charge.as_ref());
        self.reals("particles/diameter", 1, data.diameter.as_ref());
        self.rows("particles/body", 1, data.body.as_ref().unwrap());
        self.reals("particles/moment_inertia", 3, data.moment_inertia.as_ref());
        self.reals("particles/position", 3, data.position.as_ref());
        self.reals("particles/orientation", 4, data.orientation.as_ref());
        self.reals("particles/velocity", 3, data.velocity.as_ref());
        self.reals("particles/angmom", 4, data.angmom.as_ref());
        self.rows("particles/image", 3, data.image.as_ref().unwrap().as_flattened());
        // Where there are none, gsd.hoomd has one, whatever the types are.
        let shapes = data.type_shapes.as_deref().unwrap();
        let shapes = if shapes.iter().all(|shape| *shape == Shape::None) { &[] } else { shapes };
        let shapes: Vec<String> = shapes.iter().map(|shape| shape.to_json().unwrap()).collect();
        self.text("particles/type_shapes", &shapes);
    }

    fn groups<const K: usize>(&mut self, container: &str, data: &GroupData<'_, K>) {
        self.rows(&format!("{container}/N"), 1, &[data.n.unwrap()]);
        self.text(&format!("{container}/types"), data.types.as_deref().unwrap());
        self.rows(&format!("{container}/typeid"), 1, data.typeid.as_ref().unwrap());
        self.rows(&format!("{container}/group"), K as u32, data.group.as_ref().unwrap().as_flattened());
    }

    fn constraints(&mut self, data: &ConstraintData<'_>) {
        self.rows("constraints/N", 1, &[data.n.unwrap()]);
        self.reals("constraints/value", 1, data.value.as_ref());
        self.rows("constraints/group", 2, data.group.as_ref().unwrap().as_flattened());
    }

    fn rows<T: Element>(&mut self, name: &str, m: u32, values: &[T]) {
        let chunk_type = ChunkType::from_dtype(&T::dtype()).unwrap();
        let n = values.len() as u64 / u64::from(m);
        self.add(name, chunk_type, n, m, bytemuck::cast_slice(values));
    }

    fn reals<S: SinglePrecision>(&mut self, name: &str, m: u32, values: Option<&FloatArray<'_, S>>) {
        let values = values.unwrap();
        let n = values.len() as u64;
        let doubles: &[f64] =
            if values.as_f32().is_some() { &[] } else { bytemuck::cast_slice(values.bytes()) };
        // Reals that f32 holds as f32: defaults are of either type, here and there.
        let singles: Vec<f32> = doubles.iter().map(|value| *value as f32).collect();
        let is_single = doubles.iter().zip(&singles).all(|(double, single)| *double == f64::from(*single));
        match (values.as_f32(), is_single) {
            (Some(_), _) => self.add(name, ChunkType::Float, n, m, values.bytes()),
            (None, true) => self.add(name, ChunkType::Float, n, m, bytemuck::cast_slice(&singles)),
            (None, false) => self.add(name, ChunkType::Double, n, m, values.bytes()),
        }
    }

    fn text(&mut self, name: &str, texts: &[String]) {
        self.lines.push(text_line(self.at, name, &texts.join("\n")));
    }
}
