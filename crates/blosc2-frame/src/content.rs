//! Metadata by which the chunks of a frame are more than bytes, or the elements of an array.

use crate::absent_values::{LAZY, OBJECT, PROXY};
use crate::editor::Editor;
use crate::metalayer::Metalayers;
use crate::{checksums, items, tensor};

/// Names of user metadata by which holdall describes the chunks: their names, and their digests. They are not for users to set.
pub const RESERVED_NAMES: [&str; 2] = [items::LAYER, checksums::NAME];

/// Metalayers of python-blosc2's containers, expressions and proxies.
const CONTAINERS: [&str; 9] =
    [OBJECT, LAZY, PROXY, "vlarray", "batcharray", "listarray", "b2embed", "b2dict", "b2tree"];

impl Metalayers {
    /// Returns the metalayer that makes the frame one of python-blosc2's containers, an expression or a proxy: its chunks are not to be
    /// changed alone. `None` for arrays and plain chunks.
    #[must_use]
    pub fn container_layer(&self) -> Option<&'static str> {
        CONTAINERS.into_iter().find(|name| self.get(name).is_some())
    }
}

impl Editor {
    /// Returns the metadata that describe the chunks one by one, so that they are not to be changed alone:
    /// [`Metalayers::container_layer`], the names of items, the shape of a packed tensor.
    #[must_use]
    pub fn content_layer(&self) -> Option<&'static str> {
        let described = || {
            [items::LAYER, tensor::NAME]
                .into_iter()
                .find(|name| self.vlmetalayer_names().any(|own| own == *name))
        };
        self.metalayers().container_layer().or_else(described)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EditOptions, FrameOptions};

    #[test]
    fn plain_frames_are_changed_and_described_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, layer: Option<&str>| {
            let mut options = FrameOptions::default();
            layer.into_iter().for_each(|layer| options.metalayers.set(layer, vec![0xc0]).unwrap());
            Editor::create(folder.path().join(name), options, &EditOptions::default()).unwrap()
        };
        assert_eq!(make("list", Some("vlarray")).content_layer(), Some("vlarray"));
        assert_eq!(make("other", Some("mine")).content_layer(), None);
        let mut plain = make("plain", None);
        assert_eq!(plain.content_layer(), None);
        plain.set_vlmetalayer("holdall.items", &[0xc0]).unwrap();
        assert_eq!(plain.content_layer(), Some("holdall.items"));
    }
}
