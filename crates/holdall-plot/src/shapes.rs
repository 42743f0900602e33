//! Shapes of particle types: the JSON texts of `particles/type_shapes` in GSD.
//!
//! Spec: <https://gsd.readthedocs.io/en/stable/shapes.html>

use serde_json::Value;

/// Most vertices, or spheres of a union, that are drawn: the text comes from the file, and each point of a picture looks at all of them.
const MAX_PARTS: usize = 200;
/// Most vertices of a polyhedron, whose faces are searched for among all triples.
const MAX_CORNERS: usize = 64;

/// The shape of a particle type, in the lengths of the box and turned by the particle's orientation.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A sphere of this diameter; a disc in two dimensions. `None`: that of the particle.
    Sphere(Option<f64>),
    /// An ellipsoid, by its radii along x, y and z.
    Ellipsoid([f64; 3]),
    /// A polygon in the plane of x and y, and the radius by which it is rounded.
    Polygon(Vec<[f64; 2]>, f64),
    /// A convex polyhedron: each plane by its outer normal of length 1 and its distance from the middle.
    Polyhedron(Vec<([f64; 3], f64)>, f64),
    /// Spheres: their middles and diameters.
    Union(Vec<([f64; 3], f64)>),
    /// A shape that is not drawn, by its name.
    Other(String),
}

impl Shape {
    /// Reads the text of a shape. Empty texts and `{}` are undefined shapes, which are drawn as spheres.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Sphere(None);
        }
        let Ok(Value::Object(shape)) = serde_json::from_str(text) else {
            return Self::Other("of a text that is no JSON object".into());
        };
        let Some(kind) = shape.get("type").and_then(Value::as_str) else { return Self::Sphere(None) };
        let number = |key: &str| shape.get(key).and_then(finite);
        let rounding = number("rounding_radius").unwrap_or(0.0).max(0.0);
        let read = match kind {
            "Sphere" => number("diameter").map(|diameter| Self::Sphere(Some(diameter.abs()))),
            "Ellipsoid" => [number("a"), number("b"), number("c")]
                .into_iter()
                .collect::<Option<Vec<f64>>>()
                .and_then(|radii| radii.first_chunk::<3>().copied())
                .map(|radii| Self::Ellipsoid(radii.map(f64::abs))),
            "Polygon" => points::<2>(shape.get("vertices"))
                .filter(|vertices| vertices.len() > 2)
                .map(|vertices| Self::Polygon(vertices, rounding)),
            "ConvexPolyhedron" => {
                points::<3>(shape.get("vertices")).and_then(|vertices| polyhedron(&vertices, rounding))
            }
            "SphereUnion" => union(shape.get("centers"), shape.get("diameters")),
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other(kind.chars().take(40).collect()))
    }
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// A list of points with `N` coordinates.
fn points<const N: usize>(list: Option<&Value>) -> Option<Vec<[f64; N]>> {
    let list = list?.as_array().filter(|list| list.len() <= MAX_PARTS)?;
    list.iter()
        .map(|point| {
            let numbers = point.as_array()?.iter().map(finite).collect::<Option<Vec<f64>>>()?;
            <[f64; N]>::try_from(numbers).ok()
        })
        .collect()
}

fn union(centers: Option<&Value>, diameters: Option<&Value>) -> Option<Shape> {
    let centers = points::<3>(centers)?;
    let diameters = diameters?.as_array()?.iter().map(finite).collect::<Option<Vec<f64>>>()?;
    let is_whole = centers.len() == diameters.len() && !centers.is_empty();
    is_whole.then(|| Shape::Union(centers.into_iter().zip(diameters.into_iter().map(f64::abs)).collect()))
}

/// The convex hull of points, by its planes: those through three points that have no point outside. `None` for points in one plane.
fn polyhedron(vertices: &[[f64; 3]], rounding: f64) -> Option<Shape> {
    if vertices.len() < 4 || vertices.len() > MAX_CORNERS {
        return None;
    }
    let count = vertices.len() as f64;
    let middle: [f64; 3] =
        std::array::from_fn(|axis| vertices.iter().filter_map(|point| point.get(axis)).sum::<f64>() / count);
    let size = vertices.iter().map(|point| length(minus(*point, middle))).fold(0.0, f64::max);
    let near = 1e-6 * size;
    let mut planes: Vec<([f64; 3], f64)> = Vec::new();
    for (first, a) in vertices.iter().enumerate() {
        for (second, b) in vertices.iter().enumerate().skip(first + 1) {
            for c in vertices.iter().skip(second + 1) {
                let across = cross(minus(*b, *a), minus(*c, *a));
                let area = length(across);
                if area <= near * size {
                    continue;
                }
                let mut normal = across.map(|part| part / area);
                if dot(normal, minus(*a, middle)) < 0.0 {
                    normal = normal.map(|part| -part);
                }
                let off = dot(normal, *a);
                let is_face = vertices.iter().all(|point| dot(normal, *point) <= off + near);
                let is_known = |(known, distance): &([f64; 3], f64)| {
                    length(minus(*known, normal)) < 1e-6 && (distance - off).abs() < near
                };
                if is_face && dot(normal, minus(*a, middle)) > near && !planes.iter().any(is_known) {
                    planes.push((normal, off));
                }
            }
        }
    }
    let planes: Vec<_> = planes.into_iter().map(|(normal, off)| (normal, off + rounding)).collect();
    (planes.len() > 3).then_some(Shape::Polyhedron(planes, size + length(middle) + rounding))
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// A vector turned by a quaternion of length 1, its real part first.
pub(crate) fn turned([w, x, y, z]: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    let axis = [x, y, z];
    let twice = cross(axis, vector).map(|part| 2.0 * part);
    let more = cross(axis, twice);
    std::array::from_fn(|at| vector[at] + w * twice[at] + more[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of gsd's documentation.
    #[test]
    fn shapes_are_read_as_gsd_documents_them() {
        assert_eq!(Shape::parse("{}"), Shape::Sphere(None));
        assert_eq!(Shape::parse(r#"{"type": "Sphere", "diameter": 2.0}"#), Shape::Sphere(Some(2.0)));
        assert_eq!(
            Shape::parse(r#"{"type": "Ellipsoid", "a": 7.0, "b": 5.0, "c": 3.0}"#),
            Shape::Ellipsoid([7.0, 5.0, 3.0])
        );
        assert_eq!(
            Shape::parse(
                r#"{"type": "Polygon", "rounding_radius": 0.1, "vertices": [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5]]}"#
            ),
            Shape::Polygon(vec![[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5]], 0.1)
        );
        assert_eq!(
            Shape::parse(
                r#"{"type": "SphereUnion", "centers": [[0, 0, 1.0], [0, 1.0, 0], [1.0, 0, 0]], "diameters": [0.5, 0.5, 0.5]}"#
            ),
            Shape::Union(vec![([0.0, 0.0, 1.0], 0.5), ([0.0, 1.0, 0.0], 0.5), ([1.0, 0.0, 0.0], 0.5)])
        );
        let mesh = r#"{"type": "Mesh", "vertices": [[0.5, 0.5, 0.5]], "indices": [[0, 1, 2]]}"#;
        assert_eq!(Shape::parse(mesh), Shape::Other("Mesh".into()));
        for (bad, name) in [
            (r#"{"type": "Sphere"}"#, "Sphere"),
            (r#"{"type": "Polygon", "vertices": [[0, 1], [2]]}"#, "Polygon"),
            (
                r#"{"type": "ConvexPolyhedron", "vertices": [[0, 1, 0], [2, 0, 0], [1, 1, 0], [0, 0, 0]]}"#,
                "ConvexPolyhedron",
            ),
            ("[1", "of a text that is no JSON object"),
        ] {
            assert_eq!(Shape::parse(bad), Shape::Other(name.into()), "{bad}");
        }
    }

    /// A cube has six faces, whatever the order of its corners, and gsd's tetrahedron four.
    #[test]
    fn faces_of_polyhedra_are_found() {
        let corner = |at: usize| [0, 1, 2].map(|bit| if at >> bit & 1 == 1 { 0.5 } else { -0.5 });
        let cube: Vec<[f64; 3]> = (0..8).map(|at| corner(at * 3 % 8)).chain([[0.1, 0.2, 0.0]]).collect();
        let Some(Shape::Polyhedron(planes, reach)) = polyhedron(&cube, 0.25) else { panic!("no faces") };
        assert_eq!(planes.len(), 6);
        assert!(planes.iter().all(|(normal, off)| (off - 0.75).abs() < 1e-12
            && normal.iter().filter(|part| part.abs() > 0.999).count() == 1));
        assert!(reach >= 0.75_f64.sqrt() + 0.25);
        let text = r#"{"type": "ConvexPolyhedron", "vertices": [[0.5, 0.5, 0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]]}"#;
        assert!(matches!(Shape::parse(text), Shape::Polyhedron(planes, _) if planes.len() == 4));
    }

    #[test]
    fn quaternions_turn_as_hoomd_has_them() {
        // A quarter around z: x becomes y.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let found = turned([half, 0.0, 0.0, half], [1.0, 0.0, 2.0]);
        assert!(found.iter().zip([0.0, 1.0, 2.0]).all(|(one, other)| (one - other).abs() < 1e-12));
    }
}
