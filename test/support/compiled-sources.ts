import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Vite } from 'vitest/node'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The sources, and files that they load for a test. */
const SOURCE = /^(?:src|adapters)\/.*\.ts$|^test\/cli\/workflow-config\.ts$/

/**
 * Lets tests import the compiled file of a source (see global-compiled.ts). Each worker loads a thousand sources.
 * Node loads them five times as fast as Vitest, and code runs faster without Vitest's wrappers. In watch mode, and
 * for coverage, tests import the sources themselves.
 */
export function compiledSources(): Vite.Plugin {
  let isUsed = false
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    configureVitest: ({ vitest: { config } }) => {
      isUsed = !config.watch && !config.coverage.enabled
    },
    async resolveId(id, importer, options) {
      const folder = process.env['DAYBOOK_COMPILED_FOLDER']
      // Only the names of the package and of files can lead to a source.
      if (!isUsed || folder === undefined || !/^(?:\.|\/|daybook)/.test(id)) return null
      const found = await this.resolve(id, importer, { ...options, skipSelf: true })
      const source = found ? path.relative(root, found.id).replaceAll(path.sep, '/') : ''
      if (!SOURCE.test(source)) return null
      const compiled = path.join(folder, source.replace(/\.ts$/, '.js'))
      // The sources of the page are not compiled.
      return fs.existsSync(compiled) ? { id: compiled, external: true } : null
    },
  }
}
