import fs from 'node:fs/promises'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { setUp } from './global.js'
import compiled from './global-compiled.js'
import { writePage } from './global-page.js'

/** Compiles the sources, and builds the page beside them. `npm run build` may empty `dist` at the same time. */
async function compileWithPage(project: TestProject): Promise<() => Promise<void>> {
  const remove = await compiled(project)
  const dist = path.join(process.env['DAYBOOK_COMPILED_FOLDER']!, 'dist')
  await fs.unlink(dist)
  await writePage(path.join(dist, 'page'))
  return remove
}

/** Sets up the same as for `npm test`. */
export default (project: TestProject): Promise<() => Promise<void>> =>
  setUp(project, [compileWithPage(project)])
