//! The periodic box and its geometry, in double precision.
//!
//! Spec: "HOOMD Schema", `configuration/box`: Lx, Ly, Lz, xy, xz, yz. The box is centred on the origin. In two dimensions z is no
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
    /// The box of the six numbers of `configuration/box`.
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

    /// The lattice vectors a1 = (Lx, 0, 0), a2 = (xy Ly, Ly, 0), a3 = (xz Lz, yz Lz, Lz). In two dimensions a3 spans nothing.
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
        let [xy, xz, yz] = self.tilts;
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

    /// The image of a position that lies in the box, and the image flags with which [`SimulationBox::unwrap`] gives back where
    /// the position was, up to rounding. Flags stop at the ends of i32. Along an axis that is not finite or without extent nothing is
    /// moved.
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
                // Outside by less than the division resolves.
                cells = if sheared < 0.0 { -1.0 } else { 1.0 };
            }
            for (coordinate, part) in position.iter_mut().zip(vectors[axis]) {
                *coordinate -= cells * part;
            }
            image[axis] = image[axis].saturating_add(flag(cells));
            // A rounding away from the upper face: the lower one is the same place.
            if self.sheared(position)[axis] >= length / 2.0 {
                for (coordinate, part) in position.iter_mut().zip(vectors[axis]) {
                    *coordinate -= part;
                }
                image[axis] = image[axis].saturating_add(1);
            }
        }
        (position, image)
    }

    /// Where a position in the box is after crossing the boundaries that its image flags count.
    #[must_use]
    pub fn unwrap(&self, position: [f64; 3], image: [i32; 3]) -> [f64; 3] {
        let ([lx, ly, lz], [xy, xz, yz]) = (self.lengths, self.tilts);
        let [ix, iy, iz] = image.map(f64::from);
        let [x, y, z] = position;
        [x + ix * lx + iy * xy * ly + iz * xz * lz, y + iy * ly + iz * yz * lz, z + iz * lz]
    }

    /// Coordinates along the axes with the tilts taken out: each within half an extent of 0 inside the box.
    fn sheared(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [xy, xz, yz] = self.tilts;
        // A plane is not tilted along z, whatever the factors say.
        let (xz, yz) = if self.is_2d() { (0.0, 0.0) } else { (xz, yz) };
        [x - (xz - xy * yz) * z - xy * y, y - yz * z, z]
    }

    /// The lengths to divide by: 1 for the Lz of 0 of a plane.
    fn divisors(&self) -> [f64; 3] {
        let [lx, ly, lz] = self.lengths;
        [lx, ly, if self.is_2d() && lz == 0.0 { 1.0 } else { lz }]
    }
}

/// A whole number of cells as an image flag, at most i32's.
#[allow(clippy::cast_possible_truncation, reason = "float to integer casts saturate")]
fn flag(cells: f64) -> i32 {
    cells as i32
}
