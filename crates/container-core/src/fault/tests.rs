use super::{Fault, FaultKind as _};
use crate::report::Severity;
use crate::{Error, ErrorKind};

fault_kinds! {
    /// The file ends within a block.
    Cut = error("cut", "some block"),
    /// A version that the specification does not define.
    Strange = unsupported("strange", "some block"),
}

#[test]
fn fault_kinds_have_their_declared_properties() {
    let kind = FaultKind::Strange;
    assert_eq!((kind.code(), kind.severity(), kind.location()), ("strange", Severity::Error, "some block"));
    assert!(kind.properties().is_unsupported && !FaultKind::Cut.properties().is_unsupported);
}

#[test]
fn truncation_faults_report_needed_and_present_bytes() {
    let fault = Fault::truncated(FaultKind::Cut, 10..30, 14, "a block").of(3);
    assert_eq!(fault.message(), "the file ends within a block: need 20 bytes, 4 present");
    assert_eq!((fault.index(), fault.range()), (Some(3), 10..30));
    let error = fault.error();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 20, have: 4 }));
    assert!(error.hint().is_some());
    // The whole range is past the end of the file.
    let beyond = Fault::truncated(FaultKind::Cut, 30..40, 14, "a block").error();
    assert!(matches!(beyond.kind(), ErrorKind::Truncated { need: 10, have: 0 }));
}

#[test]
fn unsupported_faults_have_no_repair_hint() {
    let error = Fault::new(FaultKind::Strange, 0..4, "version 9").in_file(Some("a".to_owned())).error();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
    assert_eq!((error.hint(), error.file_name()), (None, Some("a")));
}

#[test]
fn an_error_keeps_its_kind_and_gets_its_place() {
    let kind = ErrorKind::Checksum { stored: "0a".into(), computed: "0b".into() };
    let fault =
        Fault::of_error(FaultKind::Cut, Error::new(kind).with_range(1..2), 5..6).with_message("no fit");
    assert_eq!((fault.range(), fault.message()), (5..6, "no fit"));
    let error = fault.error();
    assert!(
        matches!(error.kind(), ErrorKind::Checksum { stored, computed } if stored == "0a" && computed == "0b")
    );
}

mod every_severity {
    use super::super::FaultKind as _;
    use crate::fault::Fault;
    use crate::report::{Finding, Severity};
    use crate::{Error, ErrorKind};

    fault_kinds! {
        /// Damage.
        Broken = error("broken", "toy block"),
        /// Trouble.
        Slow = warning("slow", "toy index"),
        /// Odd.
        Odd = note("odd", "toy name"),
        /// New.
        New = unsupported("new", "toy version"),
    }

    #[test]
    fn a_fault_is_a_finding_of_a_check_and_an_error_of_a_read() {
        let rows = [
            (FaultKind::Broken, "broken", Severity::Error, "toy block", true),
            (FaultKind::Slow, "slow", Severity::Warning, "toy index", false),
            (FaultKind::Odd, "odd", Severity::Note, "toy name", false),
            (FaultKind::New, "new", Severity::Error, "toy version", false),
        ];
        for (kind, code, severity, location, has_hint) in rows {
            let fault = Fault::new(kind, 3..9, "it is so").of(2).in_file(Some("b".into()));
            assert_eq!((fault.kind(), fault.code(), fault.severity()), (kind, code, severity));
            assert_eq!((kind.code(), kind.severity(), kind.location()), (code, severity, location));
            assert_eq!((fault.index(), fault.part(), fault.message()), (Some(2), Some("b"), "it is so"));
            let want =
                Finding { part: Some("b".into()), ..Finding::new(severity, code, "it is so").at(3..9) };
            assert_eq!(fault.finding(), want);
            let error = fault.error();
            assert_eq!(error.to_string(), format!("{location}: it is so (b, bytes 3..9)"));
            assert_eq!(error.hint().is_some(), has_hint, "{code}");
            assert_eq!(matches!(error.kind(), ErrorKind::Unsupported(_)), code == "new");
        }
        assert!(!FaultKind::Odd.properties().is_unsupported);
    }

    #[test]
    fn the_fault_of_an_error_has_its_cause() {
        let of = |error: Error| Fault::of_error(FaultKind::Broken, error, 5..9);
        let cut = of(Error::truncated(0..7, 3));
        assert_eq!(cut.message(), "file ends early: need 7 bytes, 3 present");
        assert!(matches!(cut.error().kind(), ErrorKind::Truncated { need: 4, have: 3 }));
        let unsupported = of(Error::unsupported("zip").with_range(1..2));
        assert_eq!((unsupported.message(), unsupported.range(), unsupported.part()), ("zip", 5..9, None));
        assert!(matches!(unsupported.error().kind(), ErrorKind::Unsupported(_)));
        assert_eq!(unsupported.error().hint(), None);
        for error in [Error::malformed("x"), Error::usage("x")] {
            let fault = of(error).with_message("y");
            assert!(matches!(fault.error().kind(), ErrorKind::Malformed(what) if what == "y"));
            assert!(fault.error().hint().is_some());
        }
    }
}
