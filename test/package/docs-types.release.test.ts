import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import tsconfig from '../../tsconfig.json' with { type: 'json' }
import { docModules } from '../support/doc-modules.js'
import { root } from '../support/doc-pages.js'
import { tempDir } from '../support/temp.js'

const temp = tempDir()
afterAll(() => temp.remove())

/** The entry points of the package, at their sources. */
const paths = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, files]) => [
    name,
    files.map((file) => path.join(root, file)),
  ]),
)

it('every TypeScript example of the documentation compiles', async () => {
  expect(docModules.length).toBeGreaterThan(40)
  fs.symlinkSync(path.join(root, 'node_modules'), temp.file('node_modules'))
  for (const { name, code } of docModules) fs.writeFileSync(temp.file(name), code)
  fs.writeFileSync(temp.file('package.json'), '{ "type": "module" }')
  fs.writeFileSync(
    temp.file('tsconfig.json'),
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: {
        paths,
        noUncheckedIndexedAccess: false,
        noUnusedLocals: false,
        noUnusedParameters: false,
        noPropertyAccessFromIndexSignature: false,
        typeRoots: [path.join(root, 'node_modules/@types')],
      },
      include: ['*.ts'],
      exclude: [],
    }),
  )
  const tsc = path.join(root, 'node_modules/.bin/tsc')
  const output = await promisify(execFile)(tsc, ['-p', temp.file('tsconfig.json')]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
  expect(output).toBe('')
})
