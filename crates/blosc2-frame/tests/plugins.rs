//! Frames with a codec and a filter of the user's own, to python-blosc2 4.14.1 and from it.

use blosc2_frame::b2nd::NdArray;
use blosc2_frame::blosc_chunk::{
    CodecPlugin, Compressor, Filter, FilterPlugin, Params, Pipeline, PluginContext, Plugins, SplitMode,
};
use blosc2_frame::{
    Durability, EditOptions, Editor, ErrorKind, Frame, FrameOptions, OpenOptions, Result, Writer,
    default_params,
};
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::region::Region;

/// Runs as a count and a byte, the byte XORed with the meta of the chunk.
struct Runs;

impl CodecPlugin for Runs {
    fn id(&self) -> u8 {
        200
    }

    fn name(&self) -> &'static str {
        "runs"
    }

    fn version(&self) -> u8 {
        3
    }

    fn decode(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        let mut bytes =
            src.chunks_exact(2).flat_map(|run| std::iter::repeat_n(run[1] ^ cx.meta, run[0].into()));
        dst.fill_with(|| bytes.next().unwrap());
        Ok(())
    }

    fn encode(&self, src: &[u8], cx: &PluginContext<'_>, _: u8, dst: &mut [u8]) -> Result<Option<usize>> {
        let mut out = Vec::new();
        for run in src.chunk_by(|one, other| one == other).flat_map(|run| run.chunks(255)) {
            out.extend([u8::try_from(run.len()).unwrap(), run[0] ^ cx.meta]);
        }
        let room = dst.get_mut(..out.len());
        Ok(room.map(|room| room.copy_from_slice(&out)).map(|()| out.len()))
    }
}

/// Adds a ramp with the slope in its meta.
struct Ramp;

impl FilterPlugin for Ramp {
    fn id(&self) -> u8 {
        201
    }

    fn name(&self) -> &'static str {
        "ramp"
    }

    fn forward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        let ramp = (0..src.len()).map(|at| at.to_le_bytes()[0].wrapping_mul(cx.meta));
        dst.iter_mut().zip(src).zip(ramp).for_each(|((to, from), ramp)| *to = from.wrapping_add(ramp));
        Ok(())
    }

    fn backward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        let ramp = (0..src.len()).map(|at| at.to_le_bytes()[0].wrapping_mul(cx.meta));
        dst.iter_mut().zip(src).zip(ramp).for_each(|((to, from), ramp)| *to = from.wrapping_sub(ramp));
        Ok(())
    }
}

fn plugins() -> Plugins {
    let mut plugins = Plugins::new();
    plugins.register_codec(Runs).unwrap();
    plugins.register_filter(Ramp).unwrap();
    plugins
}

/// By python-blosc2 4.14.1 with `blosc2.register_codec("runs", 200, …, version=3)` and `blosc2.register_filter(201, …)`, which do as
/// those here:
///
/// ```python
/// cparams = dict(codec=200, codec_meta=0x5A, clevel=5, typesize=4, nthreads=1, filters=[201, 1], filters_meta=[0, 0])
/// blosc2.asarray((np.arange(600, dtype=np.int32) // 16).reshape(20, 30), chunks=(10, 20), blocks=(5, 10), cparams=cparams,
///                dparams=dict(nthreads=1), urlpath="array.b2nd")
/// ```
const ARRAY: &str = "9ea862326672616d6500d2000000a5cf00000000000002d4a412005602d30000000000000c80d300000000000001ccd200000004d20000 \
    00c8d200000320d10001d10001c2d806c90100000000c85a000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000 \
    003597000292d30000000000000014d3000000000000001e92d20000000ad20000001492d200000005d20000000a00db000000033c6934 \
    0503d50420030000c800000086000000c90100000000c85a000000000000000030000000480000005c0000006e000000140000000a5a02 \
    5b08580459065e065f045c085d0252965a10000000065a045b085802590a5e0a5c0a52965a0e0000000a530a510a570a55024a084b965a \
    140000000a5002510856045706540655044a084b0248965a0503d50420030000c800000060000000c90100000000c85a00000000000000 \
    003000000044000000480000005c000000100000000a5b0a590a5f025c085d04520653965a000000001000000006500451085602570a54 \
    0a4a0a48965a000000000503d50420030000c800000084000000c90100000000c85a00000000000000003000000046000000580000006e \
    0000001200000004480649064e044f084c024d0a420a40965a0e0000000a490a4f0a4d0a4302400841965a120000000a460a440245087a \
    047b06780679047e965a120000000446064706440445087a027b0a780a7e965a0503d50420030000c800000062000000c90100000000c8 \
    5a000000000000000030000000480000004c0000005e000000140000000a4e024f084c044d06420643044008410246965a000000000e00 \
    00000a470a450a7b0a79027e087f965a000000000501170820000000200000004000000000000000000100000000000000000000000000 \
    00000000008600000000000000e6000000000000006a01000000000000940193cd0006de0000dc0000ce00000023d80000000000000000 \
    000000000000000000";

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| u8::try_from(digit).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn open(bytes: Vec<u8>, plugins: Plugins) -> Frame {
    let mut options = OpenOptions::default();
    options.plugins = plugins;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.b2nd");
    std::fs::write(&path, bytes).unwrap();
    Frame::open_with(&path, &options).unwrap()
}

#[test]
fn an_array_of_python_is_read_with_plugins() {
    let array = NdArray::from_frame(open(unhex(ARRAY), plugins())).unwrap();
    let read = |region: &str| {
        let region = Region::parse(region, array.shape()).unwrap();
        let array = array.read(&region, &ReadOptions::default()).unwrap();
        array.elements::<i32>(Order::C, &Default::default()).unwrap().into_owned()
    };
    let want: Vec<i32> = (0..600).map(|k| k / 16).collect();
    assert_eq!(read("..."), want);
    assert_eq!(read("7, 3:20:5"), [3, 8, 13, 18].map(|column| want[7 * 30 + column]));
    assert_eq!(read("19, 29"), [37]);

    let error = NdArray::from_frame(open(unhex(ARRAY), Plugins::new())).unwrap();
    let region = Region::parse("19, 29", error.shape()).unwrap();
    let error = error.read(&region, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("200"), "{error}");
}

fn params() -> Params {
    let mut filters = Pipeline::none();
    filters.0[0] = Filter::new(201, 7);
    filters.0[1] = Filter::new(Filter::SHUFFLE, 0);
    Params {
        compressor: Compressor(200),
        codec_meta: 0x5A,
        filters,
        split: SplitMode::Never,
        blocksize: Some(400),
        ..default_params(4)
    }
}

/// Makes data that the ramp turns into steps of 16.
fn data() -> Vec<u8> {
    let steps = (0..600_u32).flat_map(|k| (k / 16).to_le_bytes());
    steps
        .enumerate()
        .map(|(at, byte)| byte.wrapping_sub((at % 400).to_le_bytes()[0].wrapping_mul(7)))
        .collect()
}

#[test]
fn a_frame_of_ours_names_its_plugins_and_is_changed_with_them() {
    let mut options = FrameOptions::default();
    options.params = params();
    options.plugins = plugins();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, options).unwrap();
    writer.append(&data()).unwrap();
    writer.append(&data()[..1200]).unwrap();
    writer.finish().unwrap();
    // The fields that C-Blosc2 checks: format 6 and level 5, filters, codec and its byte, metas.
    assert_eq!(bytes[27], 0x56);
    assert_eq!(bytes[71..85], [201, 1, 0, 0, 0, 0, 200, 0x5A, 7, 0, 0, 0, 0, 0]);
    assert!(bytes.len() < 1500, "{}", bytes.len());
    let all = [data(), data()[..1200].to_vec()].concat();
    let frame = open(bytes.clone(), plugins());
    assert_eq!(frame.read_range(0..3600, &ReadOptions::default()).unwrap(), all);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.b2frame");
    std::fs::write(&path, &bytes).unwrap();
    let mut options = EditOptions::default();
    options.plugins = plugins();
    let mut editor = Editor::open(&path, &options).unwrap();
    assert_eq!((editor.params().compressor, editor.params().codec_meta), (Compressor(200), 0x5A));
    editor.update(0, &data()).unwrap();
    editor.commit(Durability::Synced).unwrap();
    drop(editor);
    let changed = std::fs::read(&path).unwrap();
    let frame = open(changed, plugins());
    let chunk = frame.chunk(0).unwrap();
    assert_eq!((chunk[1], chunk[0x16], chunk[0x17]), (3, 200, 0x5A));
    assert_eq!(frame.read_range(0..3600, &ReadOptions::default()).unwrap(), all);
}
