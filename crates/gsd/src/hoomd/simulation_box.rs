//! The periodic box and its geometry, in double precision.
//!
//! Spec: "HOOMD Schema", `configuration/box`: Lx, Ly, Lz, xy, xz, yz. The box is centred on the origin. In two dimensions z is not a
//! coordinate of the box: it is neither wrapped nor tested, and Lz may be 0.

/// A periodic box, in general triclinic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationBox {
    /// Lx, Ly, Lz: the extents along the axes, in units of length.
    pub lengths: [f64; 3],
    /// xy, xz, yz: tilt factors, without a unit.
    pub tilts: [f64; 3],
    /// 2 or 3.
    pub dimensions: u8,
}

impl Default for SimulationBox {
    /// The schema's default: a unit cube in three dimensions.
    fn default() -> Self {
        Self { lengths: [1.0; 3], tilts: [0.0; 3], dimensions: 3 }
    }
}

impl SimulationBox {
    /// The box with the six numbers of `configuration/box`.
    #[must_use]
    pub const fn new(values: [f64; 6], dimensions: u8) -> Self {
        let [lx, ly, lz, xy, xz, yz] = values;
        Self { lengths: [lx, ly, lz], tilts: [xy, xz, yz], dimensions }
    }

    /// The six numbers of `configuration/box`: Lx, Ly, Lz, xy, xz, yz.
    #[must_use]
    pub const fn values(&self) -> [f64; 6] {
        let ([lx, ly, lz], [xy, xz, yz]) = (self.lengths, self.tilts);
        [lx, ly, lz, xy, xz, yz]
    }

    /// True in two dimensions.
    #[must_use]
    pub const fn is_2d(&self) -> bool {
        self.dimensions == 2
    }

    /// True where the extents of the box's dimensions are finite and above 0 and the tilts finite.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        let axes = if self.is_2d() { 2 } else { 3 };
        let extent = |length: &f64| length.is_finite() && *length > 0.0;
        self.lengths.iter().take(axes).all(extent) && self.tilts.iter().all(|tilt| tilt.is_finite())
    }

    /// The lattice vectors a1 = (Lx, 0, 0), a2 = (xy Ly, Ly, 0), a3 = (xz Lz, yz Lz, Lz). In two dimensions a3 is not part of the lattice.
    #[must_use]
    pub fn lattice_vectors(&self) -> [[f64; 3]; 3] {
        let ([lx, ly, lz], [xy, xz, yz]) = (self.lengths, self.tilts);
        [[lx, 0.0, 0.0], [xy * ly, ly, 0.0], [xz * lz, yz * lz, lz]]
    }

    /// Lx Ly Lz, or the area Lx Ly in two dimensions.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let [lx, ly, lz] = self.lengths;
        if self.is_2d() { lx * ly } else { lx * ly * lz }
    }

    /// The position in units of the lattice vectors from the lower corner: 0 ≤ f < 1 inside. In two dimensions the third is
    /// z / Lz + 1/2, with 1 in the place of an Lz of 0.
    #[must_use]
    pub fn make_fraction(&self, position: [f64; 3]) -> [f64; 3] {
        let sheared = self.sheared(position);
        let lengths = self.divisors();
        std::array::from_fn(|axis| sheared[axis] / lengths[axis] + 0.5)
    }

    /// The position at fractional coordinates: the inverse of [`SimulationBox::make_fraction`].
    #[must_use]
    pub fn make_absolute(&self, fraction: [f64; 3]) -> [f64; 3] {
        let lengths = self.divisors();
        let [u, v, z] = std::array::from_fn(|axis| (fraction[axis] - 0.5) * lengths[axis]);
        let [xy, xz, yz] = self.shears();
        let y = v + yz * z;
        [u + (xz - xy * yz) * z + xy * y, y, z]
    }

    /// True for a position within the box: its faces at the lower end belong to it, those at the upper end do not.
    #[must_use]
    pub fn is_inside(&self, position: [f64; 3]) -> bool {
        self.is_inside_by(position, 0.0)
    }

    /// True for a position within the box or outside it by at most `tolerance` of its extent. Positions in f32 that were wrapped
    /// in f32 end up a rounding outside.
    #[must_use]
    pub fn is_inside_by(&self, position: [f64; 3], tolerance: f64) -> bool {
        let axes = if self.is_2d() { 2 } else { 3 };
        let sheared = self.sheared(position);
        (0..axes).all(|axis| {
            let half = self.lengths[axis] / 2.0;
            let room = self.lengths[axis] * tolerance;
            let upper = if tolerance > 0.0 { sheared[axis] <= half + room } else { sheared[axis] < half };
            upper && sheared[axis] >= -half - room
        })
    }

    /// The image of a position within the box, and the image flags with which [`SimulationBox::unwrap`] returns the original
    /// position, up to rounding. Flags are limited to the range of i32. Along an axis that is not finite or without extent the
    /// position is unchanged.
    #[must_use]
    pub fn wrap(&self, position: [f64; 3], image: [i32; 3]) -> ([f64; 3], [i32; 3]) {
        let (mut position, mut image) = (position, image);
        let vectors = self.lattice_vectors();
        let axes = if self.is_2d() { 2 } else { 3 };
        // The last axis first: moving along a lattice vector changes the coordinates before its own.
        for axis in (0..axes).rev() {
            let length = self.lengths[axis];
            let sheared = self.sheared(position)[axis];
            let inside = |value: f64| (-length / 2.0..length / 2.0).contains(&value);
            if inside(sheared) || !sheared.is_finite() || !length.is_finite() || length <= 0.0 {
                continue;
            }
            let mut cells = (sheared / length + 0.5).floor();
            if cells == 0.0 {
                // Outside by less than the precision of the division.
                cells = if sheared < 0.0 { -1.0 } else { 1.0 };
            }
            for (coordinate, part) in position.iter_mut().zip(vectors[axis]) {
                *coordinate -= cells * part;
            }
            image[axis] = image[axis].saturating_add(flag(cells));
            // A rounding away from the upper face, which is equivalent to the lower one.
            if self.sheared(position)[axis] >= length / 2.0 {
                for (coordinate, part) in position.iter_mut().zip(vectors[axis]) {
                    *coordinate -= part;
                }
                image[axis] = image[axis].saturating_add(1);
            }
        }
        (position, image)
    }

    /// Returns the coordinates of a position in the box after crossing the boundaries that its image flags count.
    #[must_use]
    pub fn unwrap(&self, position: [f64; 3], image: [i32; 3]) -> [f64; 3] {
        let ([lx, ly, lz], [xy, xz, yz]) = (self.lengths, self.tilts);
        let [ix, iy, iz] = image.map(f64::from);
        let [x, y, z] = position;
        [x + ix * lx + iy * xy * ly + iz * xz * lz, y + iy * ly + iz * yz * lz, z + iz * lz]
    }

    /// Coordinates along the axes with the tilts taken out: each within half an extent of 0 inside the box.
    fn sheared(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [xy, xz, yz] = self.shears();
        [x - (xz - xy * yz) * z - xy * y, y - yz * z, z]
    }

    /// The tilt factors; xz and yz are ignored in two dimensions.
    fn shears(&self) -> [f64; 3] {
        let [xy, xz, yz] = self.tilts;
        if self.is_2d() { [xy, 0.0, 0.0] } else { [xy, xz, yz] }
    }

    /// The lengths to divide by: 1 for the Lz of 0 of a plane.
    fn divisors(&self) -> [f64; 3] {
        let [lx, ly, lz] = self.lengths;
        [lx, ly, if self.is_2d() && lz == 0.0 { 1.0 } else { lz }]
    }
}

/// A number of cells as an image flag, limited to i32.
#[allow(clippy::cast_possible_truncation, reason = "float to integer casts saturate")]
fn flag(cells: f64) -> i32 {
    cells as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Position, fraction, wrapped position, image flags.
    type Point = ([f64; 3], [f64; 3], [f64; 3], [i32; 3]);

    /// A box and points.
    struct Case {
        values: [f64; 6],
        dimensions: u8,
        volume: f64,
        points: &'static [Point],
    }

    /// Computed with numpy: fractions solve H f = p for the matrix H of the lattice vectors, images are their whole parts.
    const CASES: &[Case] = &[
        Case {
            values: [8.0, 8.0, 8.0, 0.0, 0.0, 0.0],
            dimensions: 3,
            volume: 512.0,
            points: &[
                ([-1.036, -0.658, 0.753], [0.3705, 0.41775, 0.594125], [-1.036, -0.658, 0.753], [0, 0, 0]),
                ([4.108, -20.294, -3.344], [1.0135, -2.03675, 0.082], [-3.892, 3.706, -3.344], [1, -3, 0]),
                (
                    [-1.047, -17.013, 11.729],
                    [0.369125, -1.626625, 1.966125],
                    [-1.047, -1.013, 3.729],
                    [0, -2, 1],
                ),
                (
                    [-19.316, -5.439, 0.837],
                    [-1.9145, -0.179875, 0.604625],
                    [-3.316, 2.561, 0.837],
                    [-2, -1, 0],
                ),
            ],
        },
        Case {
            values: [10.0, 6.5, 4.25, 0.5, -0.25, 0.125],
            dimensions: 3,
            volume: 276.25,
            points: &[
                (
                    [-0.173, 0.217, 0.595],
                    [0.49044375, 0.521942307692308, 0.64],
                    [-0.173, 0.217, 0.595],
                    [0, 0, 0],
                ),
                (
                    [22.813, -10.79, 7.427],
                    [3.55289375, -1.30282692307692, 2.24752941176471],
                    [1.438, 1.1475, -1.073],
                    [3, -2, 2],
                ),
                (
                    [9.811, -10.364, -24.925],
                    [1.22039375, -0.615134615384616, -5.36470588235294],
                    [-3.314, -0.676500000000001, 0.574999999999999],
                    [1, -1, -6],
                ),
                (
                    [23.673, -10.08, -9.301],
                    [3.08064375, -0.871903846153846, -1.68847058823529],
                    [-5.202, -2.5175, -0.801],
                    [3, -1, -2],
                ),
            ],
        },
        Case {
            values: [3.3, 7.1, 5.9, -1.7, 0.9, 2.3],
            dimensions: 3,
            volume: 138.237,
            points: &[
                (
                    [0.979, 0.213, -0.072],
                    [1.01133939393939, 0.553323943661972, 0.487796610169492],
                    [-2.321, 0.213, -0.072],
                    [1, 0, 0],
                ),
                (
                    [13.664, -23.483, 10.348],
                    [-22.5396909090909, -6.1596338028169, 2.25389830508475],
                    [-5.546, -0.923000000000005, -1.452],
                    [-23, -7, 2],
                ),
                (
                    [-6.288, -20.457, 8.025],
                    [-23.6409545454546, -4.98091549295775, 1.86016949152542],
                    [7.252, 1.473, 2.125],
                    [-24, -5, 1],
                ),
                (
                    [21.573, -14.64, 6.505],
                    [-9.98607575757576, -3.66922535211268, 1.60254237288136],
                    [0.983000000000004, 0.189999999999998, 0.605],
                    [-10, -4, 1],
                ),
            ],
        },
        Case {
            values: [12.0, 9.0, 0.0, 0.4, 0.0, 0.0],
            dimensions: 2,
            volume: 108.0,
            points: &[
                (
                    [-0.505, 0.604, 0.014],
                    [0.437783333333333, 0.567111111111111, 0.514],
                    [-0.505, 0.604, 0.014],
                    [0, 0, 0],
                ),
                (
                    [-14.064, 16.494, 0.197],
                    [-1.2218, 2.33266666666667, 0.697],
                    [2.736, -1.506, 0.197],
                    [-2, 2, 0],
                ),
                (
                    [9.14, 16.004, -0.089],
                    [0.7282, 2.27822222222222, 0.411],
                    [1.94, -1.996, -0.089],
                    [0, 2, 0],
                ),
                (
                    [12.935, 18.924, -0.497],
                    [0.947116666666667, 2.60266666666667, 0.003],
                    [5.735, 0.923999999999999, -0.497],
                    [0, 2, 0],
                ),
            ],
        },
        Case {
            values: [12.0, 9.0, 1.5, -0.8, 0.3, 0.7],
            dimensions: 2,
            volume: 108.0,
            points: &[
                (
                    [0.874, -0.265, -0.001],
                    [0.555166666666667, 0.470555555555556, 0.499333333333333],
                    [0.874, -0.265, -0.001],
                    [0, 0, 0],
                ),
                (
                    [-17.683, 9.921, -0.26],
                    [-0.312183333333333, 1.60233333333333, 0.326666666666667],
                    [1.517, 0.920999999999999, -0.26],
                    [-1, 1, 0],
                ),
                (
                    [18.557, -11.231, 0.077],
                    [1.29768333333333, -0.747888888888889, 0.551333333333333],
                    [-0.643000000000001, -2.231, 0.077],
                    [1, -1, 0],
                ),
                (
                    [-5.017, 5.645, -0.379],
                    [0.45825, 1.12722222222222, 0.247333333333333],
                    [2.183, -3.355, -0.379],
                    [0, 1, 0],
                ),
            ],
        },
    ];

    fn close(one: [f64; 3], other: [f64; 3]) -> bool {
        one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-11)
    }

    #[test]
    fn geometry_is_that_of_the_lattice_matrix() {
        for case in CASES {
            let simulation_box = SimulationBox::new(case.values, case.dimensions);
            assert!((simulation_box.volume() - case.volume).abs() < 1e-8 && simulation_box.is_proper());
            assert_eq!(simulation_box.values(), case.values);
            for (position, fraction, wrapped, image) in case.points {
                let what = format!("{:?} {position:?}", case.values);
                assert!(close(simulation_box.make_fraction(*position), *fraction), "{what}");
                assert!(close(simulation_box.make_absolute(*fraction), *position), "{what}");
                let (found, flags) = simulation_box.wrap(*position, [0; 3]);
                assert!(close(found, *wrapped) && flags == *image, "{what}: {found:?} {flags:?}");
                assert!(close(simulation_box.unwrap(found, flags), *position), "{what}");
                assert!(simulation_box.is_inside(found), "{what}");
                assert_eq!(simulation_box.is_inside(*position), *image == [0; 3], "{what}");
            }
        }
    }

    #[test]
    fn lattice_vectors_are_those_of_the_schema() {
        let simulation_box = SimulationBox::new([2.0, 3.0, 5.0, 0.5, -1.0, 2.0], 3);
        assert_eq!(simulation_box.lattice_vectors(), [[2.0, 0.0, 0.0], [1.5, 3.0, 0.0], [-5.0, 10.0, 5.0]]);
    }

    #[test]
    fn lower_faces_are_inside_and_upper_ones_are_not() {
        let cube = SimulationBox::new([2.0, 4.0, 6.0, 0.0, 0.0, 0.0], 3);
        assert!(cube.is_inside([-1.0, -2.0, -3.0]));
        for upper in [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]] {
            assert!(!cube.is_inside(upper) && cube.is_inside_by(upper, 1e-6));
            let (wrapped, image) = cube.wrap(upper, [5; 3]);
            assert_eq!(wrapped, upper.map(|one| -one));
            assert_eq!(image, upper.map(|one| if one > 0.0 { 6 } else { 5 }));
        }
        // Nearer to the lower face than doubles resolve near the upper one.
        let (wrapped, image) = cube.wrap([(-1.0_f64).next_up(), 0.0, 0.0], [0; 3]);
        assert_eq!((wrapped[0], image[0]), ((-1.0_f64).next_up(), 0));
        let below = (-1.0_f64).next_down();
        let (wrapped, image) = cube.wrap([below, 0.0, 0.0], [0; 3]);
        assert!(cube.is_inside(wrapped), "{wrapped:?} {image:?}");
        assert!((cube.unwrap(wrapped, image)[0] - below).abs() < 1e-15);
    }

    #[test]
    fn improper_boxes_leave_positions_unwrapped() {
        for values in [[0.0; 6], [-1.0; 6], [f64::NAN; 6], [f64::INFINITY, 1.0, 1.0, 0.0, 0.0, 0.0]] {
            let simulation_box = SimulationBox::new(values, 3);
            assert!(!simulation_box.is_proper());
            if values[1].is_nan() || values[1] <= 0.0 {
                assert_eq!(simulation_box.wrap([7.0, -8.0, 9.0], [1; 3]), ([7.0, -8.0, 9.0], [1; 3]));
            }
        }
        let far = SimulationBox::default().wrap([1e300, 0.0, 0.0], [i32::MAX; 3]);
        assert_eq!(far.1[0], i32::MAX);
        assert!(SimulationBox::default().wrap([f64::NAN, 0.0, 2.0], [0; 3]).0[0].is_nan());
    }
}
