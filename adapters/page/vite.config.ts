import { defineConfig } from 'vite'

/** The page as files that a strict content security policy lets through: nothing inline, no other origin. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  // The page is an entry of its own: nothing of it is looked up in the package's tests or sources.
  plugins: [
    {
      // The one style sheet is in the document: there is nothing to load before a module.
      name: 'no-preload',
      enforce: 'pre',
      load: (id) =>
        id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null,
    },
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // What is loaded at once is one file, and the others take from it.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
    },
    modulePreload: false,
    // One style sheet: what is loaded later needs no code that loads styles.
    cssCodeSplit: false,
  },
  logLevel: 'warn',
})
