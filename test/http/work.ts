import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type AuditLog, bindActor, defineEventTypes, type JsonObject } from 'daybook'

export const types = defineEventTypes({ 'info:work:done': { data: ['request', 'way'] } })
export type Audit = AuditLog<typeof types>

/** A typical pool: a release calls the waiting callbacks. */
export class Pool {
  private readonly waiting: (() => void)[] = []
  private free: number

  constructor(size: number) {
    this.free = size
  }

  acquire(callback: () => void): void {
    if (this.free === 0) this.waiting.push(callback)
    else {
      this.free--
      callback()
    }
  }

  release(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.free++
  }
}

/** Asynchronous steps of handlers: each calls `then` once, in another context. */
function waysOf(random: () => number): Readonly<Record<string, (then: () => void) => unknown>> {
  const pool = new Pool(3)
  const callbackPool = new Pool(3)
  const sqlite = new Database(':memory:')
  const within = (): number => random() * 5
  return {
    timeout: (then) => setTimeout(then, within()),
    immediate: (then) => setImmediate(then),
    tick: (then) => process.nextTick(then),
    microtask: (then) => queueMicrotask(then),
    timerPromise: (then) => delay(within()).then(then),
    turnPromise: (then) => turn().then(then),
    async query(then) {
      sqlite.prepare('SELECT 1').get()
      await turn()
      then()
    },
    async pool(then) {
      await new Promise<void>((resolve) => pool.acquire(resolve))
      await delay(within() / 5)
      then()
      pool.release()
    },
    callbackPool(then) {
      callbackPool.acquire(
        bindActor(() => {
          setImmediate(() => {
            then()
            callbackPool.release()
          })
        }),
      )
    },
    async pipeline(then) {
      const through = new PassThrough()
      through.resume()
      await pipeline(Readable.from(['a', 'b']), through)
      then()
    },
    data(then) {
      const stream = new PassThrough()
      stream.once('data', then)
      setImmediate(() => stream.write('x'))
    },
    emitter(then) {
      const emitter = new EventEmitter()
      emitter.once('done', then)
      setTimeout(() => emitter.emit('done'), within())
    },
  }
}

/** A handler that learns its user late, waits in random ways, and records without a username. */
export function worker(audit: Audit, random: () => number) {
  const ways = Object.entries(waysOf(random))
  return async (state: Record<PropertyKey, unknown>, request: number): Promise<void> => {
    await turn()
    state['username'] = `user ${request}`
    for (let steps = 1 + Math.floor(random() * 3); steps > 0; steps--) {
      const [way, wait] = ways[Math.floor(random() * ways.length)]!
      await new Promise<void>((resolve, reject) => {
        wait(() => {
          audit.record('info:work:done', { request, way }).then(() => resolve(), reject)
        })
      })
    }
  }
}

/** The headers by which a request gets its ids. */
export const sentIds = (request: number) => ({
  'x-request-id': `r${request}`,
  traceparent: `00-${(request + 1).toString(16).padStart(32, '0')}-00f067aa0ba902b7-01`,
})

const idsOf = (attributes: JsonObject): string =>
  ['request_id', 'trace_id', 'span_id'].map((name) => (attributes[name] ?? '') as string).join()

const idsFor = (request: number): string => {
  const { 'x-request-id': id, traceparent } = sentIds(request)
  return [id, ...traceparent.split('-').slice(1, 3)].join()
}

/** The number of events of this work, and the numbers of events with a wrong user, or with wrong ids. */
export async function wrongUsers(
  audit: AuditLog | Audit,
  { haveIds = false } = {},
): Promise<{ seen: number; wrong: string[] }> {
  let seen = 0
  const wrong: string[] = []
  for await (const events of audit.pages('filter[type_eq]=info:work:done'))
    for (const { username, attributes } of events) {
      seen++
      const { request, way } = attributes as { request: number; way: string }
      if (username !== `user ${request}`) wrong.push(`${way}: ${username} for user ${request}`)
      const ids = idsOf(attributes)
      if (ids !== (haveIds ? idsFor(request) : ',,')) wrong.push(`${way}: ${ids} for ${request}`)
    }
  return { seen, wrong }
}
