import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import type * as daybook from 'daybook'
import type * as memory from 'daybook/memory'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A context with the globals of Node, as test runners make it. Node 20 and 22 have no `Symbol.dispose` there. */
function contextOfNode(): vm.Context {
  const context = vm.createContext({})
  const own = new Set(
    vm.runInContext('Object.getOwnPropertyNames(globalThis)', context) as string[],
  )
  const added = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  for (const [name, property] of added)
    if (!own.has(name)) Object.defineProperty(context, name, property)
  return context
}

it('closes logs, tails and live events in a vm context', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { AuditLog } from './src/index.ts'; export { memoryStore } from './adapters/memory/index.ts'`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    packages: 'external',
    target: 'node20',
    tsconfigRaw: {},
    logLevel: 'error',
  })
  const context = contextOfNode()
  const load = vm.runInContext(
    `(require, module) => { ${outputFiles[0]!.text}; return module.exports }`,
    context,
  ) as (require: NodeJS.Require, module: object) => Pick<typeof daybook, 'AuditLog'> & typeof memory
  const { AuditLog, memoryStore } = load(createRequire(import.meta.url), { exports: {} })

  const audit = new AuditLog({ store: memoryStore(), types: { 'api:x:y': {} } })
  const live = await audit.recordLive('api:x:y', { n: 1 })
  await live.append('text', 'a')
  const tail = audit.tail()
  const next = tail.next()
  await tail.return()
  expect((await next).done).toBe(true)
  expect(await audit.health()).toMatchObject({ status: 'pass' })
  await audit.close()
  await expect(audit.list()).rejects.toMatchObject({ code: 'CLOSED' })
})
