// The tabs by the names that the server uses, in the order in which the server gives them.
import { BytesTab } from './bytes.jsx';
import { ParticlesTab } from './particles.jsx';
import { PictureTab } from './picture.jsx';
import { TreeTab } from './tree.jsx';
import { ValuesTab } from './values.jsx';
import { VerifyTab } from './verify.jsx';

export const TABS = {
  values: { label: 'Values', Tab: ValuesTab },
  picture: { label: 'Picture', Tab: PictureTab },
  particles: { label: 'Particles', Tab: ParticlesTab },
  tree: { label: 'Tree', Tab: TreeTab },
  bytes: { label: 'Bytes', Tab: BytesTab },
  verify: { label: 'Verify', Tab: VerifyTab },
};
