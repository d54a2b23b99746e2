import { randomBytes } from 'node:crypto'
import { batchPerTurn } from '../../async/batch-per-turn.js'
import type { ErasedKey, Subject, SubjectKey } from '../subject-keys.js'
import { createKeyCache, type KeyClock, type Moment } from './key-cache.js'
import type { OpenRing } from './key-ring.js'
import type { KeyRow, KeyTable } from './key-table.js'
import type { Limits } from './limits.js'
import type { Rings } from './rings.js'
import { hmac, KEY_BYTES, keysUnavailable, newName, unwrap, wrap } from './wrapping.js'

/** A text of its own for each subject. */
export const textOf = ({ kind, id }: Subject): string => JSON.stringify([kind, id])

export const macOf = ({ secret }: OpenRing, subject: Subject): string =>
  hmac(secret, `subject ${textOf(subject)}`)

/** Other texts are no refs, and a database may not be able to take them. */
const REF = /^[\w-]{22}$/

/** A found key, the time of its erasure, or neither. */
type Found = SubjectKey | ErasedKey | undefined

function newRow(ring: OpenRing, mac: string | null): KeyRow {
  const ref = newName()
  const key = randomBytes(KEY_BYTES)
  const { id } = ring.row
  const wrapped = wrap(ring.storeKeys.get(id)!, ref, key)
  key.fill(0)
  return { ref, mac, wrapper: id, wrapped, created_at: new Date().toISOString() }
}

/** The unwrapped key; `undefined` if it is damaged. */
function keyOf({ storeKeys }: OpenRing, { ref, wrapper, wrapped }: KeyRow): SubjectKey | undefined {
  const key = unwrap(storeKeys.get(wrapper)!, ref, wrapped)
  return key?.length === KEY_BYTES ? { ref, key } : undefined
}

/** True if the ring has the store keys of all rows. Otherwise it has changed. */
const unwraps = ({ storeKeys }: OpenRing, rows: readonly KeyRow[]): boolean =>
  rows.every(({ wrapper }) => storeKeys.has(wrapper))

/** The stored keys of the subjects, which are made if they are missing; `undefined` if the ring has changed. */
async function obtainRows(
  table: KeyTable,
  ring: OpenRing,
  subjects: readonly Subject[],
  signal: AbortSignal,
): Promise<readonly KeyRow[] | undefined> {
  const macs = subjects.map((subject) => (subject.id === undefined ? null : macOf(ring, subject)))
  const known = new Set(macs.filter((mac) => mac !== null))
  const rows = new Map<string, KeyRow>()
  const add = (found: readonly KeyRow[]): void => {
    for (const row of found) rows.set(row.mac ?? row.ref, row)
  }
  if (known.size > 0) add(await table.byMac([...known], signal))
  const made = [
    ...[...known].filter((mac) => !rows.has(mac)).map((mac) => newRow(ring, mac)),
    ...macs.filter((mac) => mac === null).map(() => newRow(ring, null)),
  ]
  if (made.length > 0) {
    const stored = await table.insert(ring.row.id, made, signal)
    if (!stored) return undefined
    add(stored)
  }
  const unnamed = made.filter(({ mac }) => mac === null)
  return macs.map((mac) => rows.get(mac ?? unnamed.pop()!.ref)!)
}

/** Keys from the cache, and look-ups that all calls of a turn share. */
export function createLookups(table: KeyTable, rings: Rings, limits: Limits, clock: KeyClock) {
  const cache = createKeyCache(clock)
  /** Rises with each erasure of this process, so that a look-up that began before it adds nothing to the cache. */
  let generation = 0

  const adderAt = (readAt: Moment): ((key: SubjectKey, subject?: string) => void) => {
    const began = generation
    return (key, subject) => {
      if (generation === began) cache.add(key, readAt, subject)
    }
  }

  const obtain = batchPerTurn<Subject, SubjectKey>((subjects) =>
    limits.run((signal) =>
      rings.use(async (ring) => {
        const add = adderAt(cache.now())
        const rows = await obtainRows(table, ring, subjects, signal)
        if (!rows || !unwraps(ring, rows)) return undefined
        return rows.map((row, i) => {
          const key = keyOf(ring, row)
          if (!key) throw keysUnavailable(`the key ${row.ref} is damaged`)
          if (row.mac !== null) add(key, textOf(subjects[i]!))
          return key
        })
      }),
    ),
  )

  const readStored = batchPerTurn<string, Found>((refs) =>
    limits.run((signal) =>
      rings.use(async (ring) => {
        const add = adderAt(cache.now())
        const { keys, erasures } = await table.byRef([...new Set(refs)], signal)
        if (!unwraps(ring, keys)) return undefined
        const found = new Map<string, Found>()
        for (const { ref, erased_at } of erasures) found.set(ref, { ref, erased_at })
        for (const row of keys) {
          const key = keyOf(ring, row)
          if (key) add(key)
          found.set(row.ref, key)
        }
        return refs.map((ref) => found.get(ref))
      }),
    ),
  )

  return {
    cache,
    obtain,
    /** The keys with these refs, or when they were destroyed, from the cache and with one look-up. */
    async read(refs: readonly string[]): Promise<ReadonlyMap<string, SubjectKey | ErasedKey>> {
      const found = new Map<string, SubjectKey | ErasedKey>()
      const missing: string[] = []
      for (const ref of new Set(refs)) {
        const key = cache.byRef(ref)
        if (key) found.set(ref, key)
        else if (REF.test(ref)) missing.push(ref)
      }
      for (const [i, key] of (await readStored(missing)).entries())
        if (key) found.set(missing[i]!, key)
      return found
    },
    /** Forgets the key of a subject; look-ups that run now keep nothing. */
    forget(subject: Subject) {
      generation += 1
      cache.delete(textOf(subject))
    },
    clear() {
      generation += 1
      cache.clear()
    },
  }
}
