use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::container::toy::Toy;
use crate::{ErrorKind, Stop};

fn options(memory: u64) -> ReadOptions {
    ReadOptions::default().with_limits(Limits::default().with_memory(memory))
}

/// Bytes of each piece, and what was told of the progress.
type Pieces = (Vec<Vec<u8>>, Vec<(u64, u64)>);

fn pieces(toy: &Toy, region: &Region, order: Order, options: &ReadOptions) -> Result<Pieces> {
    let ticks = Mutex::new(Vec::new());
    let tick = |done, total| {
        ticks.lock().unwrap().push((done, total));
        ControlFlow::Continue(())
    };
    let mut pieces = Vec::new();
    for_each_chunk(toy, 0, region, order, options, Progress::new(&tick), |bytes| {
        pieces.push(bytes.to_vec());
        Ok(())
    })?;
    Ok((pieces, ticks.into_inner().unwrap()))
}

#[test]
fn pieces_join_to_the_region_in_any_order_of_axes() {
    let shape = [3, 4, 5];
    let toy = Toy::new().with("a", "<u2", &shape, Order::C);
    for text in ["...", "::-1, 1:3", "1", ":, :, 2", "2, 3, 4"] {
        let region = Region::parse(text, &shape).unwrap();
        for order in [Order::C, Order::F] {
            let all = toy.read(0, &region, &ReadOptions::default()).unwrap();
            let all = all.bytes(order, &Limits::default()).unwrap().to_vec();
            // Pieces of a quarter of the memory: 1, 3 and 60 elements.
            for (memory, most) in [(8, 2), (24, 6), (480, 120)] {
                let (pieces, ticks) = pieces(&toy, &region, order, &options(memory)).unwrap();
                assert_eq!(pieces.concat(), all, "{text} in {order:?} by {memory}");
                assert!(pieces.iter().all(|piece| piece.len() <= most), "{text} by {memory}");
                let total = all.len() as u64;
                let mut done = 0;
                let want = pieces.iter().map(|piece| {
                    done += piece.len() as u64;
                    (done, total)
                });
                assert_eq!(ticks, want.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn decoded_and_transposed_pieces_are_longer() {
    let shape = [2, 3 << 20];
    let region = Region::whole(&shape);
    let plain = Toy::new().with("a", "|u1", &shape, Order::C);
    let mut coded = Toy::new().with("a", "|u1", &shape, Order::C);
    coded.last().codec = "zlib".to_owned();
    let count = |toy: &Toy, order, memory| pieces(toy, &region, order, &options(memory)).unwrap().0.len();
    assert_eq!((count(&plain, Order::C, 1 << 30), count(&coded, Order::C, 1 << 30)), (6, 1));
    assert_eq!((count(&plain, Order::F, 1 << 30), count(&coded, Order::C, 16 << 20)), (1, 2));
    let limits = |memory| Limits::default().with_memory(memory);
    assert_eq!((chunk_len(true, &limits(1 << 30)), chunk_len(false, &limits(1 << 30))), (1 << 20, 64 << 20));
    assert_eq!((chunk_len(true, &limits(400)), chunk_len(false, &limits(400))), (100, 100));
}

#[test]
fn elements_without_bytes_are_read_once() {
    let toy = Toy::new().with("a", "|S0", &[1 << 40], Order::C);
    let region = Region::whole(&[1 << 40]);
    let (pieces, ticks) = pieces(&toy, &region, Order::C, &options(100)).unwrap();
    assert_eq!((pieces.len(), ticks, toy.taken_reads()), (0, vec![(0, 0)], vec![region]));
}

#[test]
fn what_cannot_be_in_memory_or_in_the_file_is_refused_before_the_first_read() {
    let mut huge = Toy::new().with("a/b", "|u1", &[1], Order::C);
    huge.last().shape = vec![1 << 63, 4];
    let error = pieces(&huge, &Region::whole(&[1 << 63, 4]), Order::C, &options(100)).unwrap_err();
    assert_eq!(error.to_string(), "a/b reaches past 2^64 bytes");
    assert!(error.is_damage());
    let absent = Toy { absent: Some(0), ..Toy::new().with("a", "|u1", &[4], Order::C) };
    let region = Region::whole(&[4]);
    let error = pieces(&absent, &region, Order::C, &options(100)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Absent(_)));
    let error = check_readable(&absent, 0, &region, &options(100)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Absent(_)));
    require_present(&huge, 0, &region).unwrap();
    let error = pieces(&Toy::new(), &region, Order::C, &options(100)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    assert!(huge.taken_reads().is_empty() && absent.taken_reads().is_empty());
}

#[test]
fn a_request_to_stop_ends_the_pieces() {
    static ASKED: AtomicBool = AtomicBool::new(true);
    let toy = Toy::new().with("a", "|u1", &[4], Order::C);
    let options = options(100).with_stop(Stop::when(&ASKED));
    let error = pieces(&toy, &Region::whole(&[4]), Order::C, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled));
    let end = |_, _| ControlFlow::Break(());
    let whole = Region::whole(&[4]);
    let ended =
        for_each_chunk(&toy, 0, &whole, Order::C, &ReadOptions::default(), Progress::new(&end), |_| Ok(()));
    assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Cancelled));
}

#[test]
fn the_element_furthest_in_the_file_is_read_before_writing() {
    let shape = [4, 6];
    let toy = Toy::new().with("a", "<u2", &shape, Order::C);
    let read = |text: &str| {
        let region = Region::parse(text, &shape).unwrap();
        check_readable(&toy, 0, &region, &ReadOptions::default()).unwrap();
        let reads = toy.taken_reads();
        assert_eq!(reads.len(), 1, "{text}");
        let axes = reads[0].axes().to_vec();
        axes.iter().map(|axis| (axis.start, axis.count, axis.step, axis.kept)).collect::<Vec<_>>()
    };
    use crate::region::Kept::{No, Yes};
    assert_eq!(read("..."), [(3, 1, 1, Yes), (5, 1, 1, Yes)]);
    assert_eq!(read("2:0:-1, 1:6:2"), [(2, 1, 1, Yes), (5, 1, 1, Yes)]);
    assert_eq!(read("1, :4:3"), [(1, 1, 1, No), (3, 1, 1, Yes)]);
    // Nothing is selected: the region itself is read.
    assert_eq!(read("0:0, 1:")[0].1, 0);
    let region = Region::whole(&[4, 7]);
    assert!(check_furthest_readable(&toy, 0, &region, &ReadOptions::default()).is_err());
}

#[test]
fn pieces_come_with_their_masks() {
    let mut toy = Toy::new().with("a", "<u2", &[2, 2], Order::C);
    let masks = |toy: &Toy, order| {
        let mut masks = Vec::new();
        let (region, options) = (Region::whole(&[2, 2]), options(16));
        for_each_masked_chunk(toy, 0, &region, order, &options, Progress::none(), |bytes, mask| {
            masks.push((bytes.to_vec(), mask.map(|mask| mask.bytes().to_vec())));
            Ok(())
        })
        .unwrap();
        masks
    };
    assert_eq!(masks(&toy, Order::C), [(vec![0, 1, 2, 3], None), (vec![4, 5, 6, 7], None)]);
    toy.hidden[0] = vec![0, 2, 0, 0];
    let want = [(vec![0, 1, 2, 3], Some(vec![0, 1])), (vec![4, 5, 6, 7], Some(vec![0, 0]))];
    assert_eq!(masks(&toy, Order::C), want);
    let want = [(vec![0, 1, 4, 5], Some(vec![0, 0])), (vec![2, 3, 6, 7], Some(vec![1, 0]))];
    assert_eq!(masks(&toy, Order::F), want);
}
