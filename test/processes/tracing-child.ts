import Module, { createRequire } from 'node:module'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'

/*
 * Records before and after something is registered with @opentelemetry/api: `[missing]`. Prints each time whether the
 * package is loaded.
 */
const require = createRequire(import.meta.url)
const isLoaded = (): boolean =>
  Object.keys(require.cache).some((file) => file.includes('@opentelemetry'))

if (process.argv[2] === 'missing') {
  const resolver = Module as unknown as {
    _resolveFilename: (name: string, ...more: never[]) => string
  }
  const resolve = resolver._resolveFilename
  resolver._resolveFilename = (name, ...more) => {
    if (name.startsWith('@opentelemetry/')) throw new Error(`Cannot find module '${name}'`)
    return resolve(name, ...more)
  }
}
const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
await audit.recordSystem('a')
console.log(isLoaded())
Object.assign(globalThis, { [Symbol.for('opentelemetry.js.api.1')]: { version: '1.9.1' } })
await audit.recordSystem('b')
await audit.recordSystem('c')
console.log(isLoaded())
await audit.close()
