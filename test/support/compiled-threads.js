import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import threads from 'node:worker_threads'

/*
 * Lets threads that sources start run the compiled file (see global-compiled.ts), for `--import`.
 * Compiling the sources again in each thread would take 0.4 s.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = process.env['DAYBOOK_COMPILED_FOLDER']

/** The compiled file of a source of this project; `undefined` for any other file. */
function compiled(file) {
  if (!(file instanceof URL) || file.protocol !== 'file:') return undefined
  const source = fileURLToPath(file)
  if (!source.startsWith(root) || !source.endsWith('.ts')) return undefined
  return pathToFileURL(`${folder}/${source.slice(root.length).replace(/\.ts$/, '.js')}`)
}

if (threads.isMainThread && folder) {
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      const found = compiled(file)
      if (found) super(found, { ...options, execArgv: [] })
      else super(file, options)
    }
  }
  syncBuiltinESMExports()
}
