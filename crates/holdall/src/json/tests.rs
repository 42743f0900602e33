//! The keys and their order are those of the command's contract.

use super::*;
use crate::testing::Memory;
use crate::verify::VerifyStatus;
use container_core::dtype::{Kind, Order};
use container_core::format::Support;
use container_core::report::{BlockCounts, Evidence, Loss, RepairReport, Severity};

#[test]
fn info_has_the_keys_of_the_contract() {
    let memory = Memory::new().with("a", "<u2", &[2], &[0; 4]).with("b", "|u1", &[1], &[0]).hidden("b");
    assert_eq!(
        info_json("x/y.mem", &memory).to_string(),
        r#"{"schema":"holdall.info/1","path":"x/y.mem","format":"memory","version":"1","size":5,"complete":true,"datasets":1,"details":{"words":8}}"#
    );
}

#[test]
fn ls_has_the_keys_of_the_contract() {
    let memory = Memory::new().with("a", "<f4", &[2, 1], &[0; 8]).attribute("a", "eltype", 3_u64);
    assert_eq!(
        ls_json(&memory.datasets()[0]).to_string(),
        r#"{"schema":"holdall.ls/1","path":"a","dtype":"<f4","shape":[2,1],"order":"C","chunks":null,"codec":"none","stored":8,"logical":8,"attributes":{"eltype":3}}"#
    );
    let mut dataset = memory.datasets()[0].clone();
    dataset.chunks = Some(vec![1, 1]);
    dataset.order = Order::F;
    let line = ls_json(&dataset);
    assert_eq!((&line["chunks"], &line["order"]), (&json!([1, 1]), &json!("F")));
}

/// `np.dtype(...).descr` as json.dumps prints it, and the contract's words for types that numpy lacks.
#[test]
fn types_are_text_or_lists_of_fields() {
    let shown = |text: &str| dtype_json(&DType::parse(text).unwrap()).to_string();
    assert_eq!(shown(">f8"), r#"">f8""#);
    assert_eq!(shown("<M8[ns]"), r#""<M8[ns]""#);
    assert_eq!(shown("bfloat16"), r#""bfloat16""#);
    assert_eq!(dtype_json(&DType::native(Kind::Int, 16)), json!("|V16"));
    assert_eq!(
        shown("[('a', '<i4'), ('b', '|u1', (2, 3)), ('c', [('d', '?')])]"),
        r#"[["a","<i4"],["b","|u1",[2,3]],["c",[["d","|b1"]]]]"#
    );
}

fn verification() -> Verification {
    let finding = Finding::new(Severity::Warning, "odd_length", "3 bytes are left").at(5..8).dataset("data");
    let mut bare = Finding::new(Severity::Error, "torn", "it is torn");
    bare.part = Some("b.blk".into());
    Verification {
        path: "a.ra".into(),
        format: Some("rawarray"),
        verdict: VerifyStatus::Damaged,
        blocks: BlockCounts { total: 3, checked: 2, bad: 1 },
        findings: vec![bare, finding],
        without_checksums: true,
    }
}

#[test]
fn verify_has_the_keys_of_the_contract() {
    assert_eq!(
        verify_json(&verification()).to_string(),
        concat!(
            r#"{"schema":"holdall.verify/1","path":"a.ra","format":"rawarray","verdict":"damaged","#,
            r#""blocks":{"total":3,"checked":2,"bad":1},"findings":["#,
            r#"{"severity":"error","code":"torn","part":"b.blk","start":null,"end":null,"dataset":null,"message":"it is torn"},"#,
            r#"{"severity":"warning","code":"odd_length","part":null,"start":5,"end":8,"dataset":"data","message":"3 bytes are left"}]}"#
        )
    );
    let unknown = Verification { format: None, verdict: VerifyStatus::Unreadable, ..verification() };
    let line = verify_json(&unknown);
    assert_eq!((&line["format"], &line["verdict"]), (&Json::Null, &json!("unreadable")));
}

#[test]
fn layout_has_the_keys_of_the_contract() {
    let segment = Segment { range: 48..64, role: "dims".into(), ..Segment::default() };
    assert_eq!(
        layout_json(&segment).to_string(),
        r#"{"schema":"holdall.layout/1","part":null,"start":48,"end":64,"role":"dims","codec":null,"stored":null,"decoded":null,"checksum":null,"dataset":null}"#
    );
}

#[test]
fn convert_repair_and_diff_have_the_keys_of_the_contract() {
    let loss = Loss { dataset: None, what: "the trailer".into() };
    let (datasets, losses) = (vec!["data".into()], vec![loss]);
    let conversion = Conversion { target_format: "npy", datasets, losses, warning: None };
    assert_eq!(
        convert_json("a.ra", "b.npy", &conversion).to_string(),
        r#"{"schema":"holdall.convert/1","source":"a.ra","target":"b.npy","format":"npy","datasets":["data"],"losses":[{"dataset":null,"what":"the trailer"}]}"#
    );
    let report = RepairReport {
        kept: vec![RepairItem::new(0..48, "header")],
        guessed: vec![RepairItem::new(8..16, "dims").with_evidence(Evidence::Walk)],
        ..RepairReport::default()
    };
    let unsure = Conversion { warning: Some("no sync".into()), ..conversion };
    assert_eq!(convert_json("a.ra", "b.npy", &unsure)["warning"], json!("no sync"));
    let repaired = Repaired { format: "rawarray", report, warning: None };
    assert_eq!(
        repair_json("a.ra", None, &repaired).to_string(),
        r#"{"schema":"holdall.repair/1","source":"a.ra","target":null,"kept":[{"start":0,"end":48,"what":"header"}],"guessed":[{"start":8,"end":16,"what":"dims","evidence":"walk"}],"lost":[]}"#
    );
    let difference = Difference { dataset: Some("data".into()), what: "shape: [1] and [2]".into() };
    assert_eq!(
        diff_json("a", "b", &[difference], &[]).to_string(),
        r#"{"schema":"holdall.diff/1","a":"a","b":"b","same":false,"differences":[{"dataset":"data","what":"shape: [1] and [2]"}],"unreadable":[]}"#
    );
    assert_eq!(diff_json("a", "b", &[], &[])["same"], json!(true));
    let unread = [("x".to_owned(), Error::malformed("torn"))];
    let line = diff_json("a", "b", &[], &unread);
    assert_eq!(
        (&line["same"], line["unreadable"].to_string()),
        (&json!(false), r#"[{"dataset":"x","what":"torn"}]"#.into())
    );
}

#[test]
fn values_that_json_lacks_are_text() {
    let tree = Value::Map(vec![
        ("none".into(), Value::Null),
        ("yes".into(), true.into()),
        ("small".into(), Value::Int(-3)),
        ("u64".into(), u64::MAX.into()),
        ("wide".into(), Value::Int(1 << 64)),
        ("nan".into(), f64::NAN.into()),
        ("inf".into(), f64::NEG_INFINITY.into()),
        ("half".into(), 0.5.into()),
        ("bytes".into(), vec![0_u8, 255].into()),
        ("list".into(), vec![Value::from("a\"b")].into()),
    ]);
    assert_eq!(
        value_json(&tree).to_string(),
        concat!(
            r#"{"none":null,"yes":true,"small":-3,"u64":18446744073709551615,"wide":"18446744073709551616","#,
            r#""nan":"NaN","inf":"-Infinity","half":0.5,"bytes":{"bytes":"00ff"},"list":["a\"b"]}"#
        )
    );
}

#[test]
fn duplicate_keys_are_kept_with_a_number() {
    let entry = |key: &str, value: u64| (key.to_owned(), Value::from(value));
    let entries = [("1", 0), ("1", 1), ("a", 2), ("1 (2)", 3), ("1", 4), ("1 (2)", 5)];
    let map = Value::Map(entries.into_iter().map(|(key, value)| entry(key, value)).collect());
    assert_eq!(value_json(&map).to_string(), r#"{"1":0,"1 (3)":1,"a":2,"1 (2)":3,"1 (4)":4,"1 (2) (2)":5}"#);
}

#[test]
fn format_json_lists_the_support_of_each_version() {
    let format = Format {
        support: &[Support {
            version: "1",
            read: Level::Yes,
            write: Level::No,
            verify: Level::Partly,
            repair: Level::No,
        }],
        ..container_core::npy::FORMAT
    };
    let line = format_json(&format);
    assert_eq!(
        line["versions"],
        json!([{ "version": "1", "read": "yes", "write": "no", "verify": "partly", "repair": "no" }])
    );
    assert_eq!((&line["format"], &line["extensions"]), (&json!("npy"), &json!(["npy"])));
}
