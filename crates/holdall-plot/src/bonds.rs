//! Bonds between particles of a periodic box.

use crate::shapes::dot;

/// A periodic box by HOOMD's parameters: Lx, Ly, Lz, xy, xz, yz.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell([f64; 6]);

impl Cell {
    /// `None` for numbers that are not finite.
    pub(crate) fn new(cell: [f64; 6]) -> Option<Self> {
        cell.iter().all(|value| value.is_finite()).then_some(Self(cell))
    }

    /// The shortest image of a vector, by HOOMD's rule (`BoxDim::minImage`): whole boxes are taken off along z, then y, then x.
    pub(crate) fn min_image(&self, vector: [f64; 3]) -> [f64; 3] {
        let [lx, ly, lz, xy, xz, yz] = self.0;
        let [mut x, mut y, mut z] = vector;
        let images = |length: f64, edge: f64| if edge > 0.0 { (length / edge).round() } else { 0.0 };
        let along_z = images(z, lz);
        z -= lz * along_z;
        y -= lz * yz * along_z;
        x -= lz * xz * along_z;
        let along_y = images(y, ly);
        y -= ly * along_y;
        x -= ly * xy * along_y;
        x -= lx * images(x, lx);
        [x, y, z]
    }

    /// Coordinates along the edges of the box, from -0.5 to 0.5 within it; 0 along an edge without length.
    fn along_edges(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [lx, ly, lz, xy, xz, yz] = self.0;
        let part = |length: f64, edge: f64| if edge > 0.0 { length / edge } else { 0.0 };
        [part(x - xy * y - (xz - yz * xy) * z, lx), part(y - yz * z, ly), part(z, lz)]
    }

    /// The part of a vector, from 0 to 1, at which it leaves the box from a point within.
    fn exit(&self, from: [f64; 3], vector: [f64; 3]) -> f64 {
        let (from, vector) = (self.along_edges(from), self.along_edges(vector));
        let sides = from.into_iter().zip(vector).map(|(from, step)| match step {
            step if step > 0.0 => (0.5 - from) / step,
            step if step < 0.0 => (-0.5 - from) / step,
            _ => 1.0,
        });
        sides.fold(1.0, f64::min).clamp(0.0, 1.0)
    }
}

/// The parts of a bond within the box: one from particle to particle, or, of a bond to an image on the other side, one from each particle
/// to the face of the box.
pub(crate) fn parts(cell: Option<Cell>, from: [f64; 3], to: [f64; 3]) -> Vec<([f64; 3], [f64; 3])> {
    let between = |a: [f64; 3], b: [f64; 3]| [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    let straight = between(from, to);
    let Some(cell) = cell else { return vec![(from, to)] };
    let vector = cell.min_image(straight);
    let off = between(vector, straight);
    if dot(off, off) <= 1e-12 * dot(straight, straight) {
        return vec![(from, to)];
    }
    let along = |point: [f64; 3], part: f64| [0, 1, 2].map(|axis| point[axis] + part * vector[axis]);
    let back = vector.map(|part| -part);
    let (first, second) = (cell.exit(from, vector), cell.exit(to, back));
    vec![(from, along(from, first)), (to, along(to, -second))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors by `hoomd.Box(4, 5, 6, 0.5, 0.2, -0.3).min_image` as its documentation defines the edges: a1 = (4, 0, 0),
    /// a2 = (2.5, 5, 0), a3 = (1.2, -1.8, 6).
    #[test]
    fn images_are_off_by_whole_edges() {
        let cell = Cell::new([4.0, 5.0, 6.0, 0.5, 0.2, -0.3]).unwrap();
        for (times, vector) in [
            ([1.0, 0.0, 0.0], [0.3, -0.4, 0.2]),
            ([-1.0, 2.0, 1.0], [1.0, 1.0, -1.0]),
            ([0.0, -1.0, 1.0], [-1.9, 2.4, 2.9]),
        ] {
            let far = [
                vector[0] + 4.0 * times[0] + 2.5 * times[1] + 1.2 * times[2],
                vector[1] + 5.0 * times[1] - 1.8 * times[2],
                vector[2] + 6.0 * times[2],
            ];
            let found = cell.min_image(far);
            assert!(found.iter().zip(vector).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
        }
        let inside = cell.along_edges([1.2 * 0.5, -1.8 * 0.5, 3.0]);
        assert!(inside.iter().zip([0.0, 0.0, 0.5]).all(|(one, other)| (one - other).abs() < 1e-12));
    }

    #[test]
    fn no_bond_crosses_the_box() {
        let cell = Cell::new([10.0, 10.0, 10.0, 0.0, 0.0, 0.0]);
        assert_eq!(parts(cell, [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]), [([1.0, 0.0, 0.0], [2.0, 0.0, 0.0])]);
        let found = parts(cell, [4.5, 1.0, 0.0], [-4.0, 1.0, 0.0]);
        let close =
            |one: [f64; 3], other: [f64; 3]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-12);
        assert_eq!(found.len(), 2);
        assert!(close(found[0].1, [5.0, 1.0, 0.0]) && close(found[1].1, [-5.0, 1.0, 0.0]), "{found:?}");
        assert_eq!((found[0].0, found[1].0), ([4.5, 1.0, 0.0], [-4.0, 1.0, 0.0]));
        // Without a box, and in a plane.
        assert_eq!(parts(None, [4.5, 0.0, 0.0], [-4.5, 0.0, 0.0]).len(), 1);
        let plane = Cell::new([10.0, 10.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(parts(plane, [4.5, 0.0, 0.0], [-4.5, 0.0, 0.0]).len(), 2);
    }
}
