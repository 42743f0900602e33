//! Type shapes: the JSON of `particles/type_shapes`.

use container_core::{Error, Result};
use serde_json::ser::Formatter;
use serde_json::{Map, Number, Value, json};

/// The shape of one particle type. Lengths are in units of length, centred on the particle, in its own frame.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// None given: `{}`.
    #[default]
    None,
    /// A sphere, or a disc in two dimensions.
    Sphere {
        /// Diameter.
        diameter: f64,
    },
    /// An ellipsoid with its axes along x, y and z.
    Ellipsoid {
        /// Radii along x, y and z: `a`, `b`, `c`.
        radii: [f64; 3],
    },
    /// A polygon, rounded by discs.
    Polygon {
        /// Corners, counter-clockwise.
        vertices: Vec<[f64; 2]>,
        /// Radius of the discs; 0 for none.
        rounding_radius: f64,
    },
    /// The convex hull of points, rounded by spheres.
    ConvexPolyhedron {
        /// The points.
        vertices: Vec<[f64; 3]>,
        /// Radius of the spheres; 0 for none.
        rounding_radius: f64,
    },
    /// A surface of polygons.
    Mesh {
        /// Corners.
        vertices: Vec<[f64; 3]>,
        /// Faces: indices into `vertices`, three or more each, counter-clockwise seen from outside.
        indices: Vec<Vec<u32>>,
    },
    /// A union of spheres.
    SphereUnion {
        /// Diameters.
        diameters: Vec<f64>,
        /// Centres, one for each diameter.
        centers: Vec<[f64; 3]>,
    },
    /// Any other JSON object: another type, or keys outside the specification.
    Other(Map<String, Value>),
}

impl Shape {
    /// Parses the JSON of one type.
    ///
    /// # Errors
    /// `Malformed` for text that is not a JSON object. `NaN` and `Infinity`, which Python's writer emits, are invalid JSON.
    pub fn parse(json: &str) -> Result<Self> {
        let bad = |why: String| Error::malformed(format!("a type shape is not a JSON object: {why}"));
        match serde_json::from_str(json) {
            Ok(Value::Object(object)) => Ok(Self::from_object(object)),
            Ok(_) => Err(bad("another kind of value".into())),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    /// The shape that an object describes; [`Shape::Other`] for any deviation from the specified shapes.
    #[must_use]
    pub fn from_object(object: Map<String, Value>) -> Self {
        known(&object).unwrap_or(Self::Other(object))
    }

    /// The JSON object, its keys in the order of the schema's examples.
    ///
    /// # Errors
    /// `Usage` for numbers that JSON lacks: infinities and NaN.
    pub fn to_object(&self) -> Result<Map<String, Value>> {
        let value = match self {
            Self::None => json!({}),
            Self::Sphere { diameter } => json!({ "type": "Sphere", "diameter": number(*diameter)? }),
            Self::Ellipsoid { radii: [a, b, c] } => {
                json!({ "type": "Ellipsoid", "a": number(*a)?, "b": number(*b)?, "c": number(*c)? })
            }
            Self::Polygon { vertices, rounding_radius } => json!({
                "type": "Polygon", "rounding_radius": number(*rounding_radius)?, "vertices": rows(vertices)?,
            }),
            Self::ConvexPolyhedron { vertices, rounding_radius } => json!({
                "type": "ConvexPolyhedron", "rounding_radius": number(*rounding_radius)?, "vertices": rows(vertices)?,
            }),
            Self::Mesh { vertices, indices } => {
                json!({ "type": "Mesh", "vertices": rows(vertices)?, "indices": indices })
            }
            Self::SphereUnion { diameters, centers } => {
                let diameters = diameters.iter().map(|one| number(*one)).collect::<Result<Vec<_>>>()?;
                json!({ "type": "SphereUnion", "diameters": diameters, "centers": rows(centers)? })
            }
            Self::Other(object) => return Ok(object.clone()),
        };
        match value {
            Value::Object(object) => Ok(object),
            _ => Ok(Map::new()),
        }
    }

    /// The JSON text, spaced and escaped to ASCII as Python's `json.dumps` does. Numbers of specified shapes are reals: 1 becomes
    /// 1.0.
    ///
    /// # Errors
    /// As [`Shape::to_object`].
    pub fn to_json(&self) -> Result<String> {
        let mut text = Vec::new();
        let mut writer = serde_json::Serializer::with_formatter(&mut text, Python);
        serde::Serialize::serialize(&self.to_object()?, &mut writer)
            .map_err(|error| Error::usage(format!("a type shape cannot be written: {error}")))?;
        String::from_utf8(text).map_err(|_| Error::usage("a type shape is not text"))
    }
}

/// The shape of an object that has exactly the keys of one type.
fn known(object: &Map<String, Value>) -> Option<Shape> {
    let real = |key: &str| object.get(key)?.as_f64();
    let has = |keys: usize| object.len() == keys;
    let Some(kind) = object.get("type") else { return object.is_empty().then_some(Shape::None) };
    // An absent radius is 0.
    let rounding = || object.get("rounding_radius").map_or(Some(0.0), Value::as_f64);
    let rounded = has(2 + usize::from(object.contains_key("rounding_radius")));
    Some(match kind.as_str()? {
        "Sphere" if has(2) => Shape::Sphere { diameter: real("diameter")? },
        "Ellipsoid" if has(4) => Shape::Ellipsoid { radii: [real("a")?, real("b")?, real("c")?] },
        "Polygon" if rounded => {
            Shape::Polygon { vertices: points(object.get("vertices")?)?, rounding_radius: rounding()? }
        }
        "ConvexPolyhedron" if rounded => Shape::ConvexPolyhedron {
            vertices: points(object.get("vertices")?)?,
            rounding_radius: rounding()?,
        },
        "Mesh" if has(3) => Shape::Mesh {
            vertices: points(object.get("vertices")?)?,
            indices: list(object.get("indices")?, |face| {
                list(face, |index| u32::try_from(index.as_u64()?).ok())
            })?,
        },
        "SphereUnion" if has(3) => Shape::SphereUnion {
            diameters: list(object.get("diameters")?, Value::as_f64)?,
            centers: points(object.get("centers")?)?,
        },
        _ => return None,
    })
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(item).collect()
}

fn points<const M: usize>(value: &Value) -> Option<Vec<[f64; M]>> {
    list(value, |point| list(point, Value::as_f64)?.try_into().ok())
}

fn number(value: f64) -> Result<Value> {
    let number = Number::from_f64(value);
    number
        .map(Value::Number)
        .ok_or_else(|| Error::usage(format!("{value} in a type shape is not a JSON number")))
}

fn rows<const M: usize>(points: &[[f64; M]]) -> Result<Vec<Vec<Value>>> {
    points.iter().map(|point| point.iter().map(|one| number(*one)).collect()).collect()
}

/// `json.dumps`: a space after commas and colons, and ASCII only.
struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
        out.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut units = [0; 2];
        for one in fragment.chars() {
            if one.is_ascii() {
                write!(out, "{one}")?;
            } else {
                one.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects as the schema's page spells them, with what Python's `json.dumps` makes of them.
    const DUMPED: [&str; 9] = [
        "{}",
        r#"{"type": "Sphere", "diameter": 2.0}"#,
        r#"{"type": "Sphere", "diameter": 31.245270191439438}"#,
        r#"{"type": "Ellipsoid", "a": 7.0, "b": 5.0, "c": 3.5}"#,
        r#"{"type": "Polygon", "rounding_radius": 0.1, "vertices": [[-0.5, -0.5], [0.5, -0.5], [0.0, 0.5]]}"#,
        r#"{"type": "ConvexPolyhedron", "rounding_radius": 0.0, "vertices": [[0.5, 0.5, 0.5]]}"#,
        r#"{"type": "Mesh", "vertices": [[0.5, 0.5, 0.5], [-0.5, -0.5, 0.5]], "indices": [[0, 1, 0], []]}"#,
        r#"{"type": "SphereUnion", "diameters": [0.5], "centers": [[0.0, 0.0, 1e-07]]}"#,
        r#"{"type": "Cone\u00e9\ud83d\ude00", "height": [1, null, true, "a\nb"]}"#,
    ];

    #[test]
    fn shapes_of_the_schema_are_typed_and_written_as_python_does() {
        for text in DUMPED {
            let shape = Shape::parse(text).unwrap();
            // Floats have several spellings (1e-7), the values are the same.
            let again = shape.to_json().unwrap();
            assert_eq!(Shape::parse(&again).unwrap(), shape);
            if !text.contains("e-07") {
                assert_eq!(again, text);
            }
            assert_eq!(matches!(shape, Shape::Other(_)), text.contains("Cone"), "{text}");
        }
        let integers = r#"{"type":"Sphere","diameter":2}"#;
        assert_eq!(Shape::parse(integers).unwrap(), Shape::Sphere { diameter: 2.0 });
        let bare = r#"{"type":"Polygon","vertices":[[1,2]]}"#;
        let polygon = Shape::Polygon { vertices: vec![[1.0, 2.0]], rounding_radius: 0.0 };
        assert_eq!(Shape::parse(bare).unwrap(), polygon);
    }

    #[test]
    fn shapes_with_unknown_fields_are_kept_as_other() {
        for text in [
            r#"{"type": "Sphere", "diameter": "2"}"#,
            r#"{"type": "Sphere", "diameter": 2, "colour": "red"}"#,
            r#"{"type": "Polygon", "vertices": [[1, 2, 3]]}"#,
            r#"{"type": "Mesh", "vertices": [], "indices": [[-1, 0, 0]]}"#,
            r#"{"type": 3}"#,
            r#"{"diameter": 3}"#,
        ] {
            let shape = Shape::parse(text).unwrap();
            assert!(matches!(shape, Shape::Other(_)), "{text}");
            assert_eq!(shape.to_json().unwrap(), text);
        }
    }

    #[test]
    fn non_object_text_and_nan_are_refused() {
        for text in ["", "3", "[]", "{", r#"{"a": NaN}"#, &"[".repeat(100_000)] {
            assert!(Shape::parse(text).is_err());
        }
        assert!(Shape::Sphere { diameter: f64::NAN }.to_json().is_err());
    }
}
