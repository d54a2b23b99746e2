import { defineConfig } from 'vite'

/**
 * Code that vite calls instead of `import()`. Browsers remember a failed import until the page is loaded again. So
 * the file, and the files that it imports, are fetched first, and `import()` finds them in the cache. The text of the
 * import function contains the address. The document loads the texts of its language itself.
 */
const IMPORT = `
const known = new Set([import.meta.url])
const find = async (path, base) => {
  const { href } = new URL(path, base)
  if (known.has(href)) return
  const response = await fetch(href)
  if (!response.ok) throw new Error(href)
  for (const [, file] of (await response.text()).matchAll(/from.(\\.\\/[\\w.-]+\\.js)/g)) await find(file, href)
  known.add(href)
}
export const __vitePreload = async (load) => {
  const path = /\\.\\/[\\w.-]+\\.js/.exec(load)[0]
  if (!document.querySelector(\`link[href$="\${path.slice(1)}"]\`)) await find(path, import.meta.url)
  return load()
}`

const NO_CIPHERTEXTS = `
export const searchedAttributes = (attributes) => attributes
export const searchedBy = (name, attributes) => attributes`

/** Builds the page as files that a strict content security policy allows: nothing inline, no other origin. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    {
      name: 'import-again',
      enforce: 'pre',
      load: (id) => (id === '\0vite/preload-helper.js' ? IMPORT : null),
      generateBundle: {
        order: 'post',
        handler(_, bundle) {
          for (const file of Object.values(bundle))
            if (file.type === 'chunk')
              file.code = file.code.replaceAll(/,(?:\[\]|void 0),import\.meta\.url\)/g, ')')
        },
      },
    },
    {
      // The service sends no ciphertexts, so the page need not leave them out of searches.
      name: 'no-ciphertexts',
      enforce: 'pre',
      load: (id) => (id.endsWith('/src/event/searched.ts') ? NO_CIPHERTEXTS : null),
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
    // The licenses of bundled packages require their notices in copies of the bundle.
    license: { fileName: 'licenses.md' },
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // All code of the first load is in one chunk, from which lazy chunks import. Other code that several lazy chunks
    // import is in a second one: with a chunk for each such module, a visit sent twice as many requests.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
    modulePreload: false,
    // One style sheet, so lazy chunks need no code to load CSS.
    cssCodeSplit: false,
  },
  logLevel: 'warn',
})
