import { writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { recordRequests } from 'daybook/koa'
import Koa, { type Context } from 'koa'
import { openStore } from '../support/open-store.js'

/*
 * A service that records its requests with `required`: `<Postgres URL or SQLite file>`. Prints its port, and each
 * path when its handler runs. The first segment of the path selects the response.
 */

const HANDLERS: Readonly<Record<string, (ctx: Context) => unknown>> = {
  quick: (ctx) => (ctx.status = 204),
  slow: (ctx) => delay(Math.random() * 50).then(() => (ctx.status = 204)),
  refused: (ctx) => ctx.throw(422, 'refused'),
  failing: () => Promise.reject(new Error('failed')),
  hanging: () => new Promise(() => {}),
}

export const KINDS = Object.keys(HANDLERS)

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (text: string): void => void writeSync(1, `${text}\n`)

function serve(location: string): void {
  const store = openStore(location)
  const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: 60_000 } })
  const app = new Koa()
  app.silent = true
  // Refused requests without a user would be counted only.
  app.use(recordRequests(audit, { required: true, username: () => 'ann' }))
  app.use(async (ctx) => {
    say(`ran ${ctx.path}`)
    await HANDLERS[ctx.path.split('/')[1]!]!(ctx)
  })
  const server = app.listen(0, '127.0.0.1', () =>
    say(`port ${(server.address() as AddressInfo).port}`),
  )
}

if (process.argv[1]?.includes('required-child')) serve(process.argv[2]!)
