use super::*;

#[test]
fn particles_outside_are_those_that_the_box_has_outside() {
    let boxes = [
        SimulationBox::new([8.0, 8.0, 8.0, 0.0, 0.0, 0.0], 3),
        SimulationBox::new([10.0, 6.5, 4.25, 0.5, -0.25, 0.125], 3),
        SimulationBox::new([12.0, 9.0, 0.0, 0.4, 7.0, 7.0], 2),
    ];
    for simulation_box in boxes {
        let mut outside = 0;
        for at in 0..4096_u32 {
            // A grid of points about the box and beyond it.
            let axis = |shift: u32| f64::from(at >> shift & 15) - 7.5;
            let position = [axis(0), axis(4), axis(8)];
            let expected = !simulation_box.is_inside_by(position, TOLERANCE);
            let problem = outside_box(&vec![position].into(), &simulation_box);
            assert_eq!(problem.is_some(), expected, "{simulation_box:?} {position:?}");
            outside += u32::from(expected);
        }
        assert!((100..4000).contains(&outside), "{outside}");
    }
    let rows = vec![[f64::NAN, 99.0, 0.0], [0.0, 0.0, 0.0], [0.0, 4.5, 0.0], [9.0, 0.0, 0.0]];
    let problem = outside_box(&rows.into(), &boxes[0]).unwrap();
    assert_eq!(problem.message, "particle 2 is outside the box, and 1 more");
}

/// Grade, code, chunk and message.
fn told(problem: Option<Problem>) -> Option<(Grade, &'static str, String, String)> {
    problem.map(|problem| (problem.grade, problem.code, problem.chunk, problem.message))
}

fn is(
    grade: Grade,
    code: &'static str,
    chunk: &str,
    message: &str,
) -> Option<(Grade, &'static str, String, String)> {
    Some((grade, code, chunk.to_owned(), message.to_owned()))
}

#[test]
fn tags_are_below_the_number_of_particles() {
    let tag = |largest, particles| told(bad_tag("bonds/group", largest, particles));
    let error = |message: &str| is(Grade::Error, "tags", "bonds/group", message);
    assert_eq!(tag(Some(2), 3), None);
    assert_eq!(tag(None, 0), None);
    assert_eq!(tag(Some(3), 3), error("tag 3 (expected below 3)"));
    assert_eq!(tag(Some(0), 0), error("tag 0 (expected below 0)"));
    // Groups of i32, as older writers have them, have the same bits.
    assert_eq!(tag(Some(u32::MAX), 3), error("tag -1 (expected below 3)"));
    assert_eq!(tag(Some(0x8000_0000), 3), error("tag -2147483648 (expected below 3)"));
    assert_eq!(tag(Some(0x7FFF_FFFF), 3), error("tag 2147483647 (expected below 3)"));
    assert_eq!((largest(&[]), largest(&[3, 9, 4])), (None, Some(9)));
}

#[test]
fn rows_that_are_wrong_are_told_by_the_first_and_their_number() {
    let typeid = |ids: &[u32], types| told(bad_typeid("particles/typeid", ids, types));
    let error = |message: &str| is(Grade::Error, "typeid", "particles/typeid", message);
    assert_eq!(typeid(&[0, 1, 1], 2), None);
    assert_eq!(typeid(&[], 0), None);
    assert_eq!(typeid(&[0, 2, 1], 2), error("row 1: type 2 (expected below 2)"));
    assert_eq!(typeid(&[0, 2, 7], 2), error("row 1: type 2 (expected below 2), and 1 more"));
    let finite = |values: Vec<f32>| told(not_finite::<f32>("particles/mass", &values.into()));
    let warning = |message: &str| is(Grade::Warning, "not_finite", "particles/mass", message);
    assert_eq!(finite(vec![0.0, -1.0, f32::MAX]), None);
    assert_eq!(finite(vec![0.0, f32::INFINITY]), warning("row 1 is not finite"));
    assert_eq!(
        finite(vec![f32::NAN, 0.0, f32::NAN, f32::NEG_INFINITY]),
        warning("row 0 is not finite, and 2 more")
    );
    let double: Vectors<'_> = vec![[0.0, 0.0, 1e300], [0.0, f64::NAN, 0.0]].into();
    let told_double = told(not_finite("particles/velocity", &double));
    assert_eq!(told_double, is(Grade::Warning, "not_finite", "particles/velocity", "row 1 is not finite"));
}

#[test]
fn names_and_shapes_are_as_many_as_types() {
    let names = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        told(duplicate_names("bonds/types", &names))
    };
    assert_eq!(names(&["a", "b"]), None);
    assert_eq!(
        names(&["a", "b", "b", "a"]),
        is(Grade::Error, "schema_text", "bonds/types", "duplicate \"b\"")
    );
    assert_eq!(told(shape_count(2, 2)), None);
    let message = "3 shapes (expected 2, one for each type)";
    assert_eq!(told(shape_count(3, 2)), is(Grade::Error, "schema_shape", "particles/type_shapes", message));
}

#[test]
fn boxes_have_two_or_three_dimensions_and_extents() {
    let of = |values: [f64; 6], dimensions| told(improper_box(&SimulationBox::new(values, dimensions)));
    let warning = |message: &str| is(Grade::Warning, "box", "configuration/box", message);
    let good = [1.0, 2.0, 3.0, 0.0, -7.0, 0.5];
    assert_eq!([of(good, 2), of(good, 3)], [None, None]);
    assert_eq!(of(good, 1), warning("1 dimensions"));
    assert_eq!(of(good, 4), warning("4 dimensions"));
    let flat = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(of(flat, 2), None);
    assert_eq!(of(flat, 3), warning("invalid box in 3 dimensions: 1, 2, 0, 0, 0, 0"));
    assert_eq!(
        of([1.0, -2.0, 0.0, 0.0, 0.5, 0.0], 2),
        warning("invalid box in 2 dimensions: 1, -2, 0, 0, 0.5, 0")
    );
}

#[test]
fn problems_become_findings_of_their_first_frame() {
    let problem =
        |grade| Problem { frame: 7, ..Problem::new(grade, "tags", "bonds/group", "text".to_owned()) };
    for (grade, severity) in [
        (Grade::Note, Severity::Note),
        (Grade::Warning, Severity::Warning),
        (Grade::Error, Severity::Warning),
    ] {
        let finding = Finding::new(severity, "tags", "text").dataset("frames/7/bonds/group");
        assert_eq!(problem(grade).finding(), finding);
    }
    let several = Problem { frames: 3, range: Some(300..310), ..problem(Grade::Note) };
    let finding =
        Finding::new(Severity::Note, "tags", "text (and 2 frames more)").dataset("frames/7/bonds/group");
    assert_eq!(several.finding(), finding.at(300..310));
    let of_file = Problem { chunk: String::new(), ..problem(Grade::Note) };
    assert_eq!(of_file.finding(), Finding::new(Severity::Note, "tags", "text"));
}

type Chunk<'a> = (u64, &'a str, crate::ChunkType, u64, u32, &'a [u8]);

/// Frame, frames, chunk and message of each problem of a file.
fn problems(version: crate::Version, chunks: &[Chunk<'_>]) -> Vec<(u64, u64, String, String)> {
    let plan = crate::sequential::Plan::new("test", SCHEMA, version).unwrap();
    let bytes = crate::sequential::to_vec(plan, chunks).unwrap();
    let file = File::from_source(Box::new(bytes), &crate::OpenOptions::default()).unwrap();
    let found = check_file(&file, Progress::none()).unwrap();
    for problem in &found {
        let entry = file.find_chunk(problem.frame, &problem.chunk);
        assert_eq!(problem.range, entry.and_then(|entry| entry.byte_range()));
    }
    found.into_iter().map(|it| (it.frame, it.frames, it.chunk, it.message)).collect()
}

#[test]
fn chunks_of_another_type_shape_or_range_are_told_by_what_is_expected() {
    use crate::ChunkType::{Double, Float, Int8, Int32, Uint32, Uint64};
    const V1_4: crate::Version = crate::Version::new(1, 4);
    let two = 2_u32.to_le_bytes();
    let n: Chunk<'_> = (0, "particles/N", Uint32, 1, 1, &two);
    for (version, chunk, message) in [
        (V1_4, (0, "particles/mass", Double, 2, 1, &[0; 16][..]), "double (expected float by schema 1.4)"),
        (V2_0, (0, "particles/mass", Int32, 2, 1, &[0; 8]), "int32 (expected float by schema 2.0)"),
        (V2_0, (0, "particles/body", Uint32, 2, 1, &[0; 8]), "uint32 (expected int32 by schema 2.0)"),
        (V2_0, (0, "particles/mass", Float, 1, 1, &[0; 4]), "1 × 1 (expected 2 × 1)"),
        (V2_0, (0, "particles/mass", Float, 2, 3, &[0; 24]), "2 × 3 (expected 2 × 1)"),
        (V2_0, (0, "configuration/box", Float, 5, 1, &[0; 20]), "5 × 1 (expected 6 × 1)"),
        (
            V2_0,
            (0, "bonds/N", Uint64, 1, 1, &[0, 0, 0, 0, 1, 0, 0, 0]),
            "4294967296 (expected 0 to 4294967295)",
        ),
        (V2_0, (0, "configuration/step", Int8, 1, 1, &[0xFF]), "-1 (expected 0 to 18446744073709551615)"),
        (V2_0, (0, "configuration/dimensions", Uint32, 1, 1, &[0, 1, 0, 0]), "256 (expected 0 to 255)"),
        (
            V2_0,
            (0, "particles/types", Int8, 1, 1, b"A"),
            "text in one column, at which gsd.hoomd 5.0.1 fails",
        ),
    ] {
        let found = problems(version, &[n, chunk]);
        assert!(
            found.iter().any(|(frame, frames, name, text)| (*frame, *frames, name.as_str(), text.as_str())
                == (0, 1, chunk.1, message)),
            "{message}: {found:?}"
        );
    }
    // A row of six numbers is a box as well as a column.
    let lattice = [1.0_f32; 6].map(f32::to_le_bytes).concat();
    assert_eq!(problems(V2_0, &[(0, "configuration/box", Float, 1, 6, &lattice)]), []);
}

#[test]
fn steps_rise_and_logs_are_those_of_frame_0() {
    use crate::ChunkType::{Double, Float, Uint64};
    let step = |frame: u64, value: &'static [u8; 8]| -> Chunk<'_> {
        (frame, "configuration/step", Uint64, 1, 1, value)
    };
    let (five, six) = (&[5, 0, 0, 0, 0, 0, 0, 0], &[6, 0, 0, 0, 0, 0, 0, 0]);
    let steps = |values: &[&'static [u8; 8]]| {
        problems(V2_0, &(0..).zip(values).map(|(frame, value)| step(frame, value)).collect::<Vec<_>>())
    };
    assert_eq!(steps(&[five, six]), []);
    let told = |frame: u64, frames: u64, chunk: &str, message: &str| {
        (frame, frames, chunk.to_owned(), message.to_owned())
    };
    let chunk = "configuration/step";
    assert_eq!(steps(&[five, five]), [told(1, 1, chunk, "step 5 comes after step 5")]);
    assert_eq!(steps(&[six, five, five]), [told(1, 2, chunk, "step 5 comes after step 6")]);
    let late = problems(V2_0, &[step(0, five), step(1, six), (1, "log/e", Double, 1, 1, &[0; 8])]);
    assert_eq!(late, [told(1, 1, "log/e", "not in frame 0, which frames without it use")]);
    let other = problems(V2_0, &[(0, "log/e", Double, 1, 1, &[0; 8]), (1, "log/e", Float, 1, 1, &[0; 4])]);
    assert_eq!(other, [told(1, 1, "log/e", "float (expected double, as in frame 0)")]);
}
