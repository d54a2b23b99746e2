import { AuditLog, defineEventTypes } from 'daybook'
import { openStore, type StoreSetup } from '../harness/open-store.js'

/*
 * Calls that are held back in front of one store, in a process of their own: `throttle-trial.ts <JSON
 * of a StoreSetup>`. It says `ready`, then answers each Path that it is sent with calls a second.
 */

export type Path = 'unscoped' | 'scoped' | 'cold' | 'empty' | 'map'

export interface Job {
  readonly path: Path
  readonly seconds: number
}

const throttle = { period: { hours: 24 } }

const types = defineEventTypes({
  'warn:disk:full': { throttle },
  'warn:pool:full': { throttle: { ...throttle, scope: ['cluster', 'pool'] } },
})

// Calls between two looks at the clock.
const STRETCH = 200
const IN_FLIGHT = 64
/** More than a process keeps in mind: each of them is forgotten when its turn comes again. */
const FORGOTTEN = 20_000

type Scope = { readonly cluster: string; readonly pool: number }

const scopes = (count: number, cluster: string): Scope[] =>
  Array.from({ length: count }, (_, pool) => ({ cluster, pool }))

const KNOWN = scopes(100, 'known')
const COLD = scopes(FORGOTTEN, 'cold')

const audit = new AuditLog({
  store: openStore(JSON.parse(process.argv[2] ?? '') as StoreSetup),
  types,
})

/** After these calls all throttles are closed. */
async function closeAll(): Promise<void> {
  await audit.record('warn:disk:full')
  for (const pools of [KNOWN, COLD])
    for (let i = 0; i < pools.length; i += 1000)
      await Promise.all(
        pools.slice(i, i + 1000).map((data) => audit.record('warn:pool:full', data)),
      )
}

/** What the calls before may have driven out. */
async function learnAnew(): Promise<void> {
  await audit.record('warn:disk:full')
  for (const data of KNOWN) await audit.record('warn:pool:full', data)
}

const empty = async (): Promise<undefined> => undefined
const map = new Map(KNOWN.map((scope) => [`${scope.cluster} ${scope.pool}`, scope]))
const keys = [...map.keys()]

let next = 0

/** So many calls, one after the other. */
const STRETCHES: { readonly [path in Path]: () => Promise<void> } = {
  async unscoped() {
    for (let i = 0; i < STRETCH; i++) await audit.record('warn:disk:full')
  },
  async scoped() {
    for (let i = 0; i < STRETCH; i++)
      await audit.record('warn:pool:full', KNOWN[next++ % KNOWN.length])
  },
  async cold() {
    for (let i = 0; i < STRETCH; i++)
      await audit.record('warn:pool:full', COLD[next++ % COLD.length])
  },
  async empty() {
    for (let i = 0; i < STRETCH; i++) await empty()
  },
  async map() {
    let found = 0
    for (let i = 0; i < STRETCH; i++) if (map.has(keys[next++ % keys.length]!)) found++
    if (found < STRETCH) throw new Error('the map has all keys')
  },
}

/** Calls a second; those that the store decides are made by several callers. */
async function measure({ path, seconds }: Job): Promise<number> {
  if (path === 'unscoped' || path === 'scoped') await learnAnew()
  const before = audit.stats()
  const start = performance.now()
  const end = start + seconds * 1000
  let calls = 0
  const callAgain = async (): Promise<void> => {
    while (performance.now() < end) {
      await STRETCHES[path]()
      calls += STRETCH
    }
  }
  await Promise.all(Array.from({ length: path === 'cold' ? IN_FLIGHT : 1 }, callAgain))
  const elapsed = performance.now() - start
  const after = audit.stats()
  const heldBack = after.heldBack - before.heldBack
  const isRecord = path !== 'empty' && path !== 'map'
  if (heldBack !== (isRecord ? calls : 0))
    throw new Error(`${path}: ${calls} calls were made, ${heldBack} held back`)
  return (calls / elapsed) * 1000
}

await closeAll()
process.on('disconnect', () => void audit.close())
process.on('message', (job: Job) => void measure(job).then((rate) => process.send!(rate)))
process.send!('ready')
