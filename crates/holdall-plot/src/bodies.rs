//! Bodies other than spheres, in parallel projection: ellipsoids, polyhedra, flat polygons, and the rods of bonds.
//!
//! A body is in the lengths of the box: to the right, up, towards the viewer. For a point of the picture it gives the depth of its nearest
//! surface there, and the normal of that.

use crate::shapes::{cross, dot};

/// Form of a body around its middle.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// A sphere of this radius.
    Sphere(f64),
    Ellipsoid(Ellipsoid),
    /// Outer normals with distances from the middle, and the reach of the body.
    Polyhedron(Vec<([f64; 3], f64)>, f64),
    /// Corners in the plane of the picture, and the radius by which they are rounded.
    Polygon(Vec<[f64; 2]>, f64),
    /// A rod from the middle to this far, of this radius.
    Rod([f64; 3], f64),
}

/// The surface of a body at a point: depth from its middle, and the normal, whose length is 1.
pub(crate) type Surface = (f64, [f64; 3]);

/// Width of the darker edge of polygons, in points of the canvas.
const EDGE: f64 = 2.0;

impl Form {
    /// Half of the lengths of the box around it: right, up and towards the viewer. Of a rod, from its start.
    pub(crate) fn half(&self) -> [f64; 3] {
        match self {
            Self::Sphere(radius) => [*radius; 3],
            Self::Ellipsoid(body) => body.half,
            Self::Polyhedron(_, reach) => [*reach; 3],
            Self::Polygon(corners, rounding) => {
                let reach = |axis: usize| {
                    let far = corners.iter().filter_map(|corner| corner.get(axis));
                    far.fold(0.0_f64, |most, value| most.max(value.abs())) + rounding
                };
                [reach(0), reach(1), 0.0]
            }
            Self::Rod(to, radius) => to.map(|length| length.abs() + radius),
        }
    }

    /// Number of parts that each point is compared with.
    pub(crate) fn cost(&self) -> u64 {
        match self {
            Self::Polyhedron(planes, _) => planes.len() as u64,
            Self::Polygon(corners, _) => corners.len() as u64,
            _ => 1,
        }
    }

    /// The surface at a point to the right of and above the middle; `scale` are points of the canvas for a length of 1.
    pub(crate) fn surface(&self, x: f64, y: f64, scale: f64) -> Option<Surface> {
        match self {
            Self::Sphere(radius) => {
                let up = radius * radius - x * x - y * y;
                (up >= 0.0).then(|| (up.sqrt(), [x / radius, y / radius, up.sqrt() / radius]))
            }
            Self::Ellipsoid(body) => body.surface(x, y),
            Self::Polyhedron(planes, _) => of_planes(planes, x, y),
            Self::Polygon(corners, rounding) => of_polygon(corners, *rounding, x, y, scale),
            Self::Rod(to, radius) => of_rod(*to, *radius, x, y),
        }
    }
}

/// An ellipsoid by the matrix of its quadratic form, `p A p = 1` on its surface.
#[derive(Clone, Debug)]
pub(crate) struct Ellipsoid {
    form: [[f64; 3]; 3],
    half: [f64; 3],
}

impl Ellipsoid {
    /// By the directions of its axes, of length 1, and its radii. `None` where all radii are 0.
    pub(crate) fn new(axes: [[f64; 3]; 3], radii: [f64; 3]) -> Option<Self> {
        let most = radii.iter().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        // Flat ones have a little thickness.
        let radii = radii.map(|radius| radius.max(1e-3 * most));
        let sum = |of: &dyn Fn(&[f64; 3], f64) -> f64| -> f64 {
            axes.iter().zip(radii).map(|(axis, radius)| of(axis, radius)).sum()
        };
        let form = [0, 1, 2].map(|row: usize| {
            [0, 1, 2].map(|column: usize| sum(&|axis, radius| axis[row] * axis[column] / (radius * radius)))
        });
        let half = [0, 1, 2].map(|at: usize| sum(&|axis, radius| (axis[at] * radius).powi(2)).sqrt());
        Some(Self { form, half })
    }

    /// The nearer root of the quadratic equation for the depth.
    fn surface(&self, x: f64, y: f64) -> Option<Surface> {
        let form = &self.form;
        let (a, b) = (form[2][2], form[0][2] * x + form[1][2] * y);
        let c = form[0][0] * x * x + 2.0 * form[0][1] * x * y + form[1][1] * y * y - 1.0;
        let root = b * b - a * c;
        if root < 0.0 || a <= 0.0 {
            return None;
        }
        let point = [x, y, (root.sqrt() - b) / a];
        let normal = form.map(|row| dot(row, point));
        let length = dot(normal, normal).sqrt();
        Some((point[2], normal.map(|part| part / length)))
    }
}

/// Of a convex body: the line of sight enters through the furthest of the planes that face the viewer.
fn of_planes(planes: &[([f64; 3], f64)], x: f64, y: f64) -> Option<Surface> {
    let (mut near, mut far) = ((f64::INFINITY, [0.0; 3]), f64::NEG_INFINITY);
    for (normal, off) in planes {
        let rest = off - normal[0] * x - normal[1] * y;
        if normal[2].abs() < 1e-9 {
            if rest < 0.0 {
                return None;
            }
            continue;
        }
        let depth = rest / normal[2];
        if normal[2] < 0.0 {
            far = far.max(depth);
        } else if depth < near.0 {
            near = (depth, *normal);
        }
    }
    (far <= near.0 && near.0.is_finite()).then_some(near)
}

/// Of a flat polygon: within its outline or the rounding around it; darker along the edge.
fn of_polygon(corners: &[[f64; 2]], rounding: f64, x: f64, y: f64, scale: f64) -> Option<Surface> {
    let (mut is_inside, mut nearest) = (false, f64::INFINITY);
    let mut before = *corners.last()?;
    for corner in corners {
        let ([x0, y0], [x1, y1]) = (before, *corner);
        if (y0 > y) != (y1 > y) && x < x0 + (y - y0) / (y1 - y0) * (x1 - x0) {
            is_inside = !is_inside;
        }
        let (dx, dy) = (x1 - x0, y1 - y0);
        let along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
        let along = along.clamp(0.0, 1.0);
        nearest = nearest.min((x - x0 - along * dx).hypot(y - y0 - along * dy));
        before = *corner;
    }
    let outside = if is_inside { -nearest } else { nearest };
    if outside > rounding {
        return None;
    }
    // Away from the light.
    let normal = if outside > rounding - EDGE / scale { [0.8, -0.6, 0.0] } else { [0.0, 0.0, 1.0] };
    Some((0.0, normal))
}

/// Of a cylinder without ends: a straight line of the surface is parallel to its axis.
fn of_rod(to: [f64; 3], radius: f64, x: f64, y: f64) -> Option<Surface> {
    let length = dot(to, to).sqrt();
    let flat = to[0].hypot(to[1]);
    if flat <= 1e-9 * length {
        return None;
    }
    let along = (x * to[0] + y * to[1]) / flat;
    let across = (y * to[0] - x * to[1]) / flat / radius;
    if across.abs() > 1.0 {
        return None;
    }
    let up = (1.0 - across * across).sqrt();
    let axis = to.map(|part| part / length);
    // To the left of the axis, and towards the viewer.
    let left = [-to[1] / flat, to[0] / flat, 0.0];
    let towards = cross(axis, left);
    let normal = [0, 1, 2].map(|at: usize| across * left[at] + up * towards[at]);
    // The part of the axis under the point, from which the surface is up to a radius away.
    let place = along - radius * up * (towards[0] * to[0] + towards[1] * to[1]) / flat;
    if !(0.0..=flat).contains(&place) {
        return None;
    }
    Some((to[2] * place / flat + radius * up * towards[2], normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<Surface>, depth: f64, normal: [f64; 3]) -> bool {
        found.is_some_and(|(z, found)| {
            (z - depth).abs() < 1e-9
                && found.iter().zip(normal).all(|(one, other)| (one - other).abs() < 1e-9)
        })
    }

    const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn an_ellipsoid_of_equal_radii_is_a_sphere() {
        let ball = Form::Ellipsoid(Ellipsoid::new(AXES, [2.0; 3]).unwrap());
        let sphere = Form::Sphere(2.0);
        for (x, y) in [(0.0, 0.0), (1.2, -0.7), (-1.9, 0.3)] {
            let (depth, normal) = sphere.surface(x, y, 1.0).unwrap();
            assert!(close(ball.surface(x, y, 1.0), depth, normal), "{x} {y}");
        }
        assert!(ball.surface(1.5, 1.5, 1.0).is_none() && sphere.surface(1.5, 1.5, 1.0).is_none());
        assert!(ball.half().iter().all(|half| (half - 2.0).abs() < 1e-12));
    }

    #[test]
    fn a_turned_ellipsoid_is_as_wide_as_its_radii() {
        // x²/9 + y² + z²/4 = 1, turned a quarter around z.
        let body =
            Ellipsoid::new([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [3.0, 1.0, 2.0]).unwrap();
        let form = Form::Ellipsoid(body);
        assert!(form.half().iter().zip([1.0, 3.0, 2.0]).all(|(one, other)| (one - other).abs() < 1e-12));
        assert!(close(form.surface(0.0, 0.0, 1.0), 2.0, [0.0, 0.0, 1.0]));
        let (depth, _) = form.surface(0.0, 1.5, 1.0).unwrap();
        assert!((depth - 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(form.surface(1.01, 0.0, 1.0).is_none() && Ellipsoid::new(AXES, [0.0; 3]).is_none());
    }

    #[test]
    fn surfaces_of_cubes_polygons_and_rods() {
        let sides = AXES.iter().flat_map(|axis| [(*axis, 0.5), (axis.map(|part| -part), 0.5)]).collect();
        let cube = Form::Polyhedron(sides, 0.9);
        assert!(
            close(cube.surface(0.4, -0.4, 1.0), 0.5, [0.0, 0.0, 1.0])
                && cube.surface(0.6, 0.0, 1.0).is_none()
        );
        // Not convex: the notch at the top is outside.
        let corners = vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]];
        let polygon = Form::Polygon(corners, 0.0);
        let is_in = |x, y| polygon.surface(x, y, 100.0).is_some();
        assert!(is_in(0.0, -0.5) && is_in(0.8, 0.7) && !is_in(0.0, 0.5) && !is_in(1.1, 0.0));
        let round = Form::Polygon(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 0.2);
        assert!(round.surface(0.5, -0.19, 100.0).is_some() && round.surface(-0.15, -0.15, 100.0).is_none());
        // A rod to the right, and one at 45 degrees towards the viewer, whose surface is √2 radii above its axis.
        let rod = Form::Rod([4.0, 0.0, 0.0], 0.5);
        assert!(close(rod.surface(1.0, 0.0, 1.0), 0.5, [0.0, 0.0, 1.0]));
        assert!(rod.surface(-0.1, 0.0, 1.0).is_none() && rod.surface(2.0, 0.6, 1.0).is_none());
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let tilted = Form::Rod([4.0, 0.0, 4.0], 0.5);
        assert!(close(tilted.surface(2.0, 0.0, 1.0), 2.0 + 0.5 / half, [-half, 0.0, half]));
        assert!(Form::Rod([0.0, 0.0, 3.0], 0.5).surface(0.0, 0.0, 1.0).is_none());
    }
}
