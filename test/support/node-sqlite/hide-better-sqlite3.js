import { registerHooks } from 'node:module'

/*
 * Makes a process behave as if better-sqlite3 were not installed, for `--import`, so that stores use `node:sqlite`.
 * Tests that import it get its interface on handles of `node:sqlite`.
 */
const PACKAGE = 'better-sqlite3'
const instead = new URL('./better-sqlite3.js', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    // The store asks for this file; with no more than this, it finds no package.
    if (specifier === `${PACKAGE}/package.json`)
      throw Object.assign(new Error(`${PACKAGE} is hidden`), { code: 'MODULE_NOT_FOUND' })
    const isPackage = specifier === PACKAGE || specifier.includes(`/node_modules/${PACKAGE}/`)
    return isPackage
      ? { url: instead, format: 'module', shortCircuit: true }
      : next(specifier, context)
  },
})
