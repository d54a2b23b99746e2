import { defineConfig } from 'vite'

/** Builds the page as files that a strict content security policy allows: nothing inline, no other origin. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    {
      // The document links the only style sheet, so modules need no preloading of CSS.
      name: 'no-preload',
      enforce: 'pre',
      load: (id) =>
        id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null,
    },
    {
      // The server keeps the link of the document's language, so its texts load in parallel with the script.
      name: 'preload-languages',
      transformIndexHtml: {
        order: 'post',
        handler: (_, { bundle = {} }) =>
          Object.values(bundle).flatMap((file) => {
            const entry = file.type === 'chunk' ? file.facadeModuleId : undefined
            const [, hreflang] = /\/languages\/(\w+)\.ts$/.exec(entry ?? '') ?? []
            if (hreflang === undefined) return []
            const href = `./${file.fileName}`
            return [{ tag: 'link', attrs: { rel: 'modulepreload', hreflang, href } }]
          }),
      },
    },
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/page',
    // The licenses of the packages in the bundle ask for their notices in copies of it.
    license: { fileName: 'licenses.md' },
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // All code of the first load goes into one chunk, which lazy chunks import from.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
    },
    modulePreload: false,
    // One style sheet, so lazy chunks need no code to load CSS.
    cssCodeSplit: false,
  },
  logLevel: 'warn',
})
