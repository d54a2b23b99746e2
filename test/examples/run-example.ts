import fs from 'node:fs'
import path from 'node:path'
import { transformSync } from 'esbuild'
import { inject } from 'vitest'
import { type Child, runScript } from '../support/child.js'

/** Runs an example of the documentation in a process. `daybook` resolves to the compiled sources. */
export function runExample(name: string, code: string, env: NodeJS.ProcessEnv = {}): Child {
  const file = path.join(inject('compiledFolder'), `${name}.js`)
  fs.writeFileSync(file, transformSync(code, { loader: 'ts', target: 'es2023' }).code)
  return runScript(`${name}.ts`, [], env)
}
