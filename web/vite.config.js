// Build settings: one script, one stylesheet, names without hashes, relative addresses.
import { fileURLToPath } from 'node:url';
import { licences } from './licences.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  base: './',
  plugins: [licences()],
  resolve: {
    // Both packages compile functions at run time, which the policy of the server refuses.
    alias: [
      { find: /^ndarray$/, replacement: at('shim/ndarray.js') },
      { find: /^ndarray-ops$/, replacement: at('shim/ndarray-ops.js') },
    ],
    dedupe: ['react', 'react-dom', 'three'],
  },
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4000,
    rolldownOptions: {
      onLog(level, log, handle) {
        // Packages for React servers begin with "use client", which means nothing here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
      output: {
        codeSplitting: false,
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
      },
    },
  },
};
