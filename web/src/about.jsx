// The dialog About: version, and the licences of the packages in the page.
import { useRef, useState } from 'react';
import { BASE } from './api.js';

export function About({ version }) {
  const dialog = useRef(null);
  const [licences, setLicences] = useState('Loading …');
  async function open() {
    dialog.current.showModal();
    try {
      const response = await fetch(new URL('licences.txt', BASE));
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      setLicences(await response.text());
    } catch (error) {
      setLicences(`The licences could not be loaded: ${error.message}.`);
    }
  }
  return (
    <>
      <button type="button" className="about" onClick={open}>About</button>
      <dialog ref={dialog} aria-labelledby="about-title">
        <h2 id="about-title">holdall {version}</h2>
        <p>
          Shows ASDF, Bloscpack, GSD, Blosc2 and RawArray files. It reads them on this computer only: nothing is
          sent elsewhere, and no file is written.
        </p>
        <p>The tab Values is h5web, by the European Synchrotron Radiation Facility. Licences of all packages in this page:</p>
        <pre className="licences" tabIndex={0}>{licences}</pre>
        <p><button type="button" onClick={() => dialog.current.close()}>Close</button></p>
      </dialog>
    </>
  );
}
