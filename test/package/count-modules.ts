import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const hooks = `
import fs from 'node:fs'
export function load(url, context, next) {
  fs.appendFileSync('loaded.txt', url + '\\n')
  return next(url, context)
}
`

const importAndCount = (entries: readonly string[]): string => `
import fs from 'node:fs'
import { createRequire, register } from 'node:module'
import { pathToFileURL } from 'node:url'
fs.writeFileSync('loaded.txt', '')
register('./hooks.mjs', import.meta.url)
${entries.map((entry) => `await import('${entry}')`).join('\n')}
const loaded = fs.readFileSync('loaded.txt', 'utf8').split('\\n')
// The hooks do not see modules that CommonJS modules load.
const required = Object.keys(createRequire(import.meta.url).cache).map((file) => pathToFileURL(file).href)
console.log(new Set([...loaded, ...required].filter((url) => url.startsWith('file:'))).size)
`

/** Number of files that these imports load in a folder, without Node's own modules. */
export function countModules(folder: string, entries: readonly string[]): number {
  fs.writeFileSync(path.join(folder, 'hooks.mjs'), hooks)
  fs.writeFileSync(path.join(folder, 'count.mjs'), importAndCount(entries))
  return Number(execFileSync(process.execPath, ['count.mjs'], { cwd: folder, encoding: 'utf8' }))
}
