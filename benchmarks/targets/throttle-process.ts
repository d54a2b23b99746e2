import { AuditLog, defineEventTypes } from 'daybook'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that makes suppressed calls on one store. It answers each job with calls per second. */

export type CallKind = 'unscoped' | 'scoped' | 'uncached' | 'empty' | 'map'

export interface Job {
  readonly kind: CallKind
  readonly seconds: number
}

const throttle = { period: { hours: 24 } }

const types = defineEventTypes({
  'warn:disk:full': { throttle },
  'warn:pool:full': { throttle: { ...throttle, scope: ['cluster', 'pool'] } },
})

/** Calls between two readings of the clock. */
const BATCH = 200
const IN_FLIGHT = 64
/** More scopes than a process caches: each has left the cache before it is used again. */
const UNCACHED_SCOPES = 20_000

type Scope = { readonly cluster: string; readonly pool: number }

const scopes = (count: number, cluster: string): Scope[] =>
  Array.from({ length: count }, (_, pool) => ({ cluster, pool }))

const CACHED = scopes(100, 'cached')
const UNCACHED = scopes(UNCACHED_SCOPES, 'uncached')

const audit = new AuditLog({ store: openStore(readSetup() as StoreSetup), types })

/** Records once for every scope, after which all throttles are closed. */
async function closeThrottles(): Promise<void> {
  await audit.record('warn:disk:full')
  for (const pools of [CACHED, UNCACHED])
    for (let i = 0; i < pools.length; i += 1000)
      await Promise.all(
        pools.slice(i, i + 1000).map((data) => audit.record('warn:pool:full', data)),
      )
}

/** Puts the scopes that should be cached into the cache again. */
async function fillCache(): Promise<void> {
  await audit.record('warn:disk:full')
  for (const data of CACHED) await audit.record('warn:pool:full', data)
}

const empty = async (): Promise<undefined> => undefined
const map = new Map(CACHED.map((scope) => [`${scope.cluster} ${scope.pool}`, scope]))
const keys = [...map.keys()]

let next = 0

/** Each makes BATCH calls, one after the other. */
const BATCHES: { readonly [kind in CallKind]: () => Promise<void> } = {
  async unscoped() {
    for (let i = 0; i < BATCH; i++) await audit.record('warn:disk:full')
  },
  async scoped() {
    for (let i = 0; i < BATCH; i++)
      await audit.record('warn:pool:full', CACHED[next++ % CACHED.length])
  },
  async uncached() {
    for (let i = 0; i < BATCH; i++)
      await audit.record('warn:pool:full', UNCACHED[next++ % UNCACHED.length])
  },
  async empty() {
    for (let i = 0; i < BATCH; i++) await empty()
  },
  async map() {
    let found = 0
    for (let i = 0; i < BATCH; i++) if (map.has(keys[next++ % keys.length]!)) found++
    if (found < BATCH) throw new Error('a key is missing from the map')
  },
}

/** Calls per second. Several callers make the calls that the store decides. */
async function measure({ kind, seconds }: Job): Promise<number> {
  if (kind === 'unscoped' || kind === 'scoped') await fillCache()
  const before = audit.stats()
  const start = performance.now()
  const end = start + seconds * 1000
  let calls = 0
  const callInLoop = async (): Promise<void> => {
    while (performance.now() < end) {
      await BATCHES[kind]()
      calls += BATCH
    }
  }
  await Promise.all(Array.from({ length: kind === 'uncached' ? IN_FLIGHT : 1 }, callInLoop))
  const elapsed = performance.now() - start
  const suppressed = audit.stats().heldBack - before.heldBack
  const expected = kind === 'empty' || kind === 'map' ? 0 : calls
  if (suppressed !== expected)
    throw new Error(`${kind}: ${suppressed} calls were suppressed, not ${expected}`)
  return (calls / elapsed) * 1000
}

await closeThrottles()
serveJobs(measure, () => audit.close())
