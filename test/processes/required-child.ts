import { writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { AuditLog } from 'daybook'
import { recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { openStore } from '../support/open-store.js'

/*
 * A service that records its requests with `required`: `<Postgres URL, or name of an SQLite file>`. It
 * prints its port, and each path when its handler runs. Those that end with 0 are never answered.
 */
const [location = ''] = process.argv.slice(2)
const store = openStore(location)
const audit: AuditLog = new AuditLog({ store, types: {} })
const app = new Koa()
app.use(recordRequests(audit, { required: true }))
app.use((ctx) => {
  writeSync(1, `ran ${ctx.path} \n`)
  ctx.status = 204
  return ctx.path.endsWith('0') ? new Promise(() => {}) : undefined
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`)
})
