import { createSecretKey, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryKeyTable } from '../../../adapters/memory/subject-keys.js'
import { type KeyClock, MAX_AGE_MS } from '../../../src/privacy/keys/key-cache.js'
import { openKeyTable } from '../../../adapters/postgres/subject-keys.js'
import { openFile } from '../../../adapters/sqlite/subject-keys.js'
import { sqliteKeyTable } from '../../../adapters/sqlite/schema/subject-keys.js'
import type { KeyTable } from '../../../src/privacy/keys/key-table.js'
import { createSubjectKeys } from '../../../src/privacy/keys/keys.js'
import { readMaster } from '../../../src/privacy/keys/master.js'
import type { MasterKey, SubjectKey, SubjectKeys } from '../../../src/privacy/subject-keys.js'
import { postgresDatabase } from '../../support/database.js'
import { tempDir } from '../../support/temp.js'
import { errorWith } from '../../unit/errors.js'

/** Opens tables of the same store. */
type Tables = () => KeyTable

const PLACES: Readonly<Record<string, () => Promise<Tables>>> = {
  async memory() {
    const table = memoryKeyTable()
    return () => ({ ...table, close: async () => {} })
  },
  async SQLite() {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const filename = file('keys.db')
    return () => {
      const table = sqliteKeyTable(openFile({ filename }))
      onTestFinished(() => table.close())
      return table
    }
  },
  Postgres: postgresTables,
}

/** Opens tables of the same database. */
async function postgresTables(): Promise<Tables> {
  const { url: connectionString, remove } = await postgresDatabase()
  onTestFinished(remove)
  return () => {
    const table = openKeyTable({ connectionString })
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= table.close())
    onTestFinished(close)
    return { ...table, close }
  }
}

const newMaster = (): MasterKey => createSecretKey(randomBytes(32))

const request = { reason: 'request 4711', username: 'dpo' }
const ada = { kind: 'customer', id: 'c17' }
const bob = { kind: 'customer', id: 'c18' }
const nobody = { kind: 'customer', id: undefined }

/** A service that wraps by inverting the bytes. */
const service = (id = 'kms'): Exclude<MasterKey, { export: unknown }> => ({
  id,
  wrap: async (key) => key.map((byte) => byte ^ 255),
  unwrap: async (wrapped) => wrapped.map((byte) => byte ^ 255),
})

function open(table: KeyTable, master: MasterKey, clock?: KeyClock): SubjectKeys {
  const keys = createSubjectKeys(table, readMaster(master, 'test'), clock && { clock })
  onTestFinished(() => keys.close())
  return keys
}

/** A clock that tests set, with how often the table was asked for keys. */
function manualClock() {
  const time = { monotonic: 0, wall: 1_000_000 }
  return { time, clock: { monotonic: () => time.monotonic, wall: () => time.wall } }
}

/** The table, with the names of the methods that were called. */
function watched(table: KeyTable): { readonly table: KeyTable; readonly calls: string[] } {
  const calls: string[] = []
  const proxy = new Proxy(table, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.push(String(name))
        return Reflect.apply(member, target, args)
      }
    },
  })
  return { table: proxy, calls }
}

/** The table with some of its methods replaced. */
const changed = (table: KeyTable, change: Partial<KeyTable>): KeyTable => ({ ...table, ...change })

const one = async (keys: SubjectKeys, subject = ada): Promise<SubjectKey> =>
  (await keys.obtain([subject]))[0]!

describe.each(Object.entries(PLACES))('keys of subjects in %s', (_, place) => {
  it('gives a subject the same key at any time and in any process', async () => {
    const tables = await place()
    const master = newMaster()
    const keys = open(tables(), master)
    const [first, other, again] = await keys.obtain([ada, bob, ada])
    expect(first!.ref).toMatch(/^[\w-]{22}$/)
    expect(first!.key).toHaveLength(32)
    expect(again).toEqual(first)
    expect(other!.ref).not.toBe(first!.ref)
    expect(other!.key).not.toEqual(first!.key)
    expect(keys.cached(ada)).toEqual(first)
    const elsewhere = open(tables(), master)
    expect(elsewhere.cached(ada)).toBeUndefined()
    expect(await elsewhere.obtain([bob, ada])).toEqual([other, first])
    expect(await elsewhere.find(ada)).toBe(first!.ref)
    expect((await open(tables(), master).read([first!.ref])).get(first!.ref)).toEqual(first)
  })

  it('tells subjects of different kinds apart, however their texts are joined', async () => {
    const keys = open((await place())(), newMaster())
    const subjects = [
      { kind: 'user', id: 'c17' },
      { kind: 'customer', id: 'c17' },
      { kind: 'a', id: '","b' },
      { kind: 'a","', id: 'b' },
      { kind: '', id: 'a\0b' },
      { kind: 'a\0', id: 'b' },
    ]
    const refs = (await keys.obtain(subjects)).map(({ ref }) => ref)
    expect(new Set(refs).size).toBe(subjects.length)
  })

  it('makes a key of its own for each unknown subject', async () => {
    const keys = open((await place())(), newMaster())
    const made = [...(await keys.obtain([nobody, nobody])), ...(await keys.obtain([nobody]))]
    expect(new Set(made.map(({ ref }) => ref)).size).toBe(3)
    expect(keys.cached(nobody)).toBeUndefined()
    expect(await keys.find(nobody)).toBeUndefined()
    expect(await keys.beginErasure(nobody, request)).toBeUndefined()
    const read = await keys.read(made.map(({ ref }) => ref))
    expect([...read.values()]).toEqual(made)
  })

  it('gives processes that make a key at once the same one', async () => {
    const tables = await place()
    const master = newMaster()
    const all = Array.from({ length: 4 }, () => open(tables(), master))
    const subjects = Array.from({ length: 50 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
    const made = await Promise.all(all.map((keys) => keys.obtain(subjects)))
    for (const keys of made) expect(keys).toEqual(made[0])
  })

  it('asks the store once for all calls of a turn, and not at all for cached keys', async () => {
    const tables = await place()
    const { table, calls } = watched(tables())
    const keys = open(table, newMaster())
    const [first] = await keys.obtain([ada])
    calls.length = 0
    await Promise.all([keys.obtain([bob, ada]), keys.obtain([bob]), keys.obtain([nobody])])
    expect(calls).toEqual(['byMac', 'insert'])
    calls.length = 0
    await keys.obtain([ada, bob])
    await keys.read([first!.ref])
    expect(calls).toEqual([])
    await Promise.all([keys.read(['a'.repeat(22)]), keys.read(['b'.repeat(22), first!.ref])])
    expect(calls).toEqual(['byRef'])
  })

  it('has no entry for a ref that it does not know', async () => {
    const keys = open((await place())(), newMaster())
    expect(await keys.read(['a'.repeat(22), '', 'a\0b', 'ä'.repeat(22)])).toEqual(new Map())
  })

  it('gives copies, so that nobody can change a key in the cache', async () => {
    const keys = open((await place())(), newMaster())
    const key = await one(keys)
    const bytes = new Uint8Array(key.key)
    key.key.fill(0)
    keys.cached(ada)!.key.fill(0)
    expect(keys.cached(ada)!.key).toEqual(bytes)
  })

  it.each(['monotonic', 'wall'] as const)(
    'reads a key anew after 30 s on the %s clock',
    async (name) => {
      const { time, clock } = manualClock()
      const { table, calls } = watched((await place())())
      const keys = open(table, newMaster(), clock)
      const key = await one(keys)
      time[name] += MAX_AGE_MS - 1
      expect(keys.cached(ada)).toEqual(key)
      time[name] += 1
      expect(keys.cached(ada)).toBeUndefined()
      calls.length = 0
      expect(await one(keys)).toEqual(key)
      expect(calls).toEqual(['byMac'])
    },
  )

  it('counts the age of a key from before it was read', async () => {
    const { time, clock } = manualClock()
    const inner = (await place())()
    const table = changed(inner, {
      byMac: async (macs, signal) => {
        time.monotonic += MAX_AGE_MS
        return inner.byMac(macs, signal)
      },
    })
    const keys = open(table, newMaster(), clock)
    expect((await keys.obtain([ada]))[0]!.key).toHaveLength(32)
    expect(keys.cached(ada)).toBeUndefined()
  })

  it('destroys a key, and keeps a pending erasure until it is ended', async () => {
    const tables = await place()
    const master = newMaster()
    const keys = open(tables(), master)
    const [key, other] = await keys.obtain([ada, bob])
    const before = new Date().toISOString()
    const begun = await keys.beginErasure(ada, request)
    expect(begun).toEqual({
      ref: key!.ref,
      erased_at: begun!.erased_at,
      ...request,
      events: null,
      isEnded: false,
    })
    expect(begun!.erased_at >= before).toBe(true)
    expect(keys.cached(ada)).toBeUndefined()
    for (const at of [keys, open(tables(), master)]) {
      const { ref, erased_at } = begun!
      expect((await at.read([ref, other!.ref])).get(ref)).toEqual({ ref, erased_at })
      expect((await at.read([ref, other!.ref])).get(other!.ref)).toEqual(other)
      expect(await at.find(ada)).toBe(ref)
      expect(await at.erasures()).toEqual([begun])
    }
    expect(await keys.beginErasure(ada, { reason: 'again', username: 'x' })).toEqual(begun)
    await keys.endErasure(key!.ref, { events: 12 })
    await keys.endErasure(key!.ref, { events: 13 })
    expect(await keys.erasures()).toEqual([{ ...begun, events: 12, isEnded: true }])
    expect(await keys.find(ada)).toBeUndefined()
    expect(await keys.beginErasure(ada, request)).toBeUndefined()
    const later = await one(keys)
    expect(later.ref).not.toBe(key!.ref)
    expect(later.key).not.toEqual(key!.key)
  })

  it('destroys a key that was made while an erasure was pending', async () => {
    const keys = open((await place())(), newMaster())
    await one(keys)
    const first = await keys.beginErasure(ada, request)
    const later = await one(keys)
    expect(await keys.find(ada)).toBe(later.ref)
    const second = await keys.beginErasure(ada, request)
    expect(second).toMatchObject({ ref: later.ref })
    expect(await keys.erasures()).toEqual([first, second])
    expect(await keys.beginErasure(ada, request)).toEqual(first)
    await keys.endErasure(first!.ref, { events: 1 })
    expect(await keys.beginErasure(ada, request)).toEqual(second)
  })

  it('keeps nothing of a look-up that began before an erasure of this process', async () => {
    const inner = (await place())()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let reached = (): void => {}
    const isRead = new Promise<void>((resolve) => (reached = resolve))
    let isHeld = false
    const table = changed(inner, {
      async byMac(macs, signal) {
        const rows = await inner.byMac(macs, signal)
        if (isHeld) {
          reached()
          await held
        }
        return rows
      },
    })
    const { time, clock } = manualClock()
    const keys = open(table, newMaster(), clock)
    await one(keys)
    time.monotonic += MAX_AGE_MS
    isHeld = true
    const looking = keys.obtain([ada])
    await isRead
    await keys.beginErasure(ada, request)
    isHeld = false
    release()
    await looking
    expect(keys.cached(ada)).toBeUndefined()
  })

  it('erases in no other process before 30 s have passed, and in all of them then', async () => {
    const tables = await place()
    const master = newMaster()
    const { time, clock } = manualClock()
    const other = open(tables(), master, clock)
    const key = await one(other)
    await open(tables(), master).beginErasure(ada, request)
    expect(other.cached(ada)).toEqual(key)
    time.monotonic += MAX_AGE_MS
    expect(other.cached(ada)).toBeUndefined()
    expect((await one(other)).ref).not.toBe(key.ref)
  })

  it('has the same fingerprints in all processes, also after a rotation', async () => {
    const tables = await place()
    const master = newMaster()
    const keys = open(tables(), master)
    const text = await keys.fingerprint('a')
    expect(text).toMatch(/^[\w-]{43}$/)
    expect(await open(tables(), master).fingerprint('a')).toBe(text)
    expect(await keys.fingerprint('b')).not.toBe(text)
    await keys.rotate(newMaster())
    expect(await keys.fingerprint('a')).toBe(text)
    expect(await open((await place())(), master).fingerprint('a')).not.toBe(text)
  })

  it('wraps all keys with another master key', async () => {
    const tables = await place()
    const master = newMaster()
    const { time, clock } = manualClock()
    const keys = open(tables(), master, clock)
    const other = open(tables(), master, clock)
    const subjects = Array.from({ length: 1201 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
    const made = await keys.obtain(subjects)
    const erased = await keys.beginErasure(subjects[7]!, request)
    expect(await other.obtain([ada])).toEqual([made[17]])
    expect(await keys.rotatedAt()).toBeUndefined()
    const next = newMaster()
    const before = new Date().toISOString()
    expect(await keys.rotate(next)).toBe(1200)
    const rotatedAt = await keys.rotatedAt()
    expect(rotatedAt! >= before).toBe(true)
    expect(rotatedAt! <= new Date().toISOString()).toBe(true)
    expect(await keys.rotate(next)).toBe(0)
    expect(await keys.rotatedAt()).toBe(rotatedAt)
    const rest = subjects.filter((_, i) => i !== 7)
    const kept = made.filter((_, i) => i !== 7)
    time.monotonic += MAX_AGE_MS
    expect(await keys.obtain(rest)).toEqual(kept)
    const fresh = open(tables(), next)
    expect(await fresh.obtain(rest)).toEqual(kept)
    expect(await fresh.erasures()).toEqual([erased])
    const refusal = errorWith('KEYS_UNAVAILABLE', 'if the master key was rotated')
    // The other process still has the former master key.
    await expect(other.obtain([ada])).rejects.toEqual(refusal)
    await expect(other.read([made[17]!.ref])).rejects.toEqual(refusal)
    await expect(other.beginErasure(ada, request)).rejects.toEqual(refusal)
    await expect(open(tables(), master).find(ada)).rejects.toEqual(refusal)
  })

  it('does not let a process with the former master key make a key', async () => {
    const tables = await place()
    const master = newMaster()
    const other = open(tables(), master)
    await one(other)
    const next = newMaster()
    const keys = open(tables(), master)
    await keys.rotate(next)
    await expect(other.obtain([bob])).rejects.toEqual(errorWith('KEYS_UNAVAILABLE', 'rotated'))
    await expect(other.obtain([nobody])).rejects.toEqual(errorWith('KEYS_UNAVAILABLE', 'rotated'))
    expect(await keys.find(bob)).toBeUndefined()
  })

  it.each(['replaceRing', 'rewrap'] as const)(
    'ends a rotation that a failure of %s has interrupted',
    async (method) => {
      const tables = await place()
      const master = newMaster()
      const inner = tables()
      let calls = 0
      const failing = changed(inner, {
        [method]: async (...args: never[]) => {
          calls += 1
          if (calls === 3) throw new Error('the disk failed')
          return Reflect.apply(inner[method], inner, args)
        },
      })
      const subjects = Array.from({ length: 1600 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
      const keys = open(failing, master)
      const made = await keys.obtain(subjects)
      const next = newMaster()
      await expect(keys.rotate(next)).rejects.toEqual(
        errorWith('KEYS_UNAVAILABLE', 'the disk failed'),
      )
      // A rotation that has not ended destroys nothing, and counts as none.
      expect(await keys.rotatedAt()).toBeUndefined()
      expect(await open(tables(), next).obtain(subjects)).toEqual(made)
      // The process that repeats it may have either master key.
      const rest = await open(tables(), master).rotate(next)
      expect(rest).toBe(method === 'rewrap' ? 600 : 0)
      expect(await open(tables(), next).rotatedAt()).toBeDefined()
      expect(await open(tables(), next).obtain(subjects)).toEqual(made)
    },
  )

  it('goes on to a third master key while a rotation has not ended', async () => {
    const tables = await place()
    const inner = tables()
    const failing = changed(inner, { rewrap: () => Promise.reject(new Error('the disk failed')) })
    const master = newMaster()
    const keys = open(failing, master)
    const key = await one(keys)
    const [second, third] = [newMaster(), newMaster()]
    await expect(keys.rotate(second)).rejects.toEqual(errorWith('KEYS_UNAVAILABLE'))
    const elsewhere = open(tables(), second)
    await one(elsewhere, bob)
    expect(await elsewhere.rotate(third)).toBe(2)
    expect(await open(tables(), third).obtain([ada])).toEqual([key])
    expect((await tables().ring())!.formers).toEqual([])
  })

  it('loses no key if two processes rotate at once', async () => {
    const tables = await place()
    const master = newMaster()
    const subjects = Array.from({ length: 1100 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
    const made = await open(tables(), master).obtain(subjects)
    const next = newMaster()
    const counts = await Promise.all(
      Array.from({ length: 3 }, () => open(tables(), master).rotate(next)),
    )
    expect(counts.reduce((a, b) => a + b, 0)).toBe(subjects.length)
    expect(await open(tables(), next).obtain(subjects)).toEqual(made)
    expect((await tables().ring())!.formers).toEqual([])
  })

  it('finds a wrong master key at the first use, and changes nothing', async () => {
    const tables = await place()
    const keys = open(tables(), newMaster())
    const key = await one(keys)
    const { master } = (await tables().ring())!
    const { table, calls } = watched(tables())
    const wrong = open(table, newMaster())
    const refusal = errorWith('KEYS_UNAVAILABLE', `wrapped with the master key ${master},`)
    for (const attempt of [
      () => wrong.obtain([ada]),
      () => wrong.obtain([nobody]),
      () => wrong.read([key.ref]),
      () => wrong.find(ada),
      () => wrong.fingerprint('a'),
      () => wrong.beginErasure(ada, request),
      () => wrong.rotate(newMaster()),
    ])
      await expect(attempt()).rejects.toEqual(refusal)
    expect(new Set(calls)).toEqual(new Set(['ring']))
    expect(await keys.obtain([ada])).toEqual([key])
  })

  it('makes no ring beside keys that have lost theirs', async () => {
    const tables = await place()
    await one(open(tables(), newMaster()))
    const lost = changed(tables(), { ring: async () => undefined })
    await expect(open(lost, newMaster()).obtain([ada])).rejects.toEqual(
      errorWith('KEYS_UNAVAILABLE', 'lacks the row that unwraps them'),
    )
  })

  it('reads around a damaged key, but does not encrypt with it', async () => {
    const tables = await place()
    const master = newMaster()
    const [key, other] = await open(tables(), master).obtain([ada, bob])
    const inner = tables()
    const damaged = changed(inner, {
      byMac: async (macs, signal) =>
        (await inner.byMac(macs, signal)).map((row) => ({ ...row, wrapped: other!.ref })),
      byRef: async (refs, signal) => {
        const found = await inner.byRef(refs, signal)
        const keys = found.keys.map((row) => (row.ref === key!.ref ? { ...row, wrapped: '' } : row))
        return { ...found, keys }
      },
    })
    const keys = open(damaged, master)
    expect([...(await keys.read([key!.ref, other!.ref])).values()]).toEqual([other])
    await expect(keys.obtain([ada])).rejects.toEqual(
      errorWith('KEYS_UNAVAILABLE', `${key!.ref} is damaged`),
    )
  })

  it('takes no key of another subject for that of this one', async () => {
    const tables = await place()
    const master = newMaster()
    const [, other] = await open(tables(), master).obtain([ada, bob])
    const inner = tables()
    const foreign = (await inner.byRef([other!.ref])).keys[0]!
    const swapped = changed(inner, {
      byMac: async (macs, signal) =>
        (await inner.byMac(macs, signal)).map((row) => ({ ...row, wrapped: foreign.wrapped })),
    })
    await expect(open(swapped, master).obtain([ada])).rejects.toEqual(
      errorWith('KEYS_UNAVAILABLE', 'damaged'),
    )
  })

  it('tells why the store failed, and tries again', async () => {
    const inner = (await place())()
    let isAway = true
    const table = changed(inner, {
      ring: (signal) => (isAway ? Promise.reject(new Error('no route')) : inner.ring(signal)),
    })
    const keys = open(table, newMaster())
    await expect(keys.obtain([ada])).rejects.toEqual(errorWith('KEYS_UNAVAILABLE', 'no route'))
    isAway = false
    expect(await keys.obtain([ada])).toHaveLength(1)
  })

  it('wraps by a service, which is called once for each process', async () => {
    const tables = await place()
    let calls = 0
    const kms = service()
    const counting: MasterKey = {
      ...kms,
      unwrap: (wrapped) => {
        calls += 1
        return kms.unwrap(wrapped)
      },
    }
    const key = await one(open(tables(), kms))
    const keys = open(tables(), counting)
    expect(await keys.obtain([ada, bob])).toContainEqual(key)
    await keys.read([key.ref])
    expect(calls).toBe(1)
    expect(await keys.rotate(newMaster())).toBe(2)
  })

  it.each<[string, Partial<Exclude<MasterKey, { export: unknown }>>, string]>([
    ['fails', { unwrap: () => Promise.reject(new Error('denied')) }, 'failed: denied'],
    [
      'throws',
      {
        unwrap: () => {
          throw new Error('denied')
        },
      },
      'failed: denied',
    ],
    ['returns another key', { unwrap: async () => new Uint8Array(32) }, 'another key'],
    ['returns too little', { unwrap: async () => new Uint8Array(31) }, 'has not returned'],
    ['returns a text', { unwrap: async () => 'a'.repeat(32) as never }, 'has not returned'],
  ])('refuses a service that %s', async (_, change, reason) => {
    const tables = await place()
    const key = await one(open(tables(), service()))
    const bad = { ...service(), ...change }
    const refusal = errorWith('KEYS_UNAVAILABLE', reason)
    await expect(open(tables(), bad).obtain([ada])).rejects.toEqual(refusal)
    // A new ring is tried before it is stored.
    await expect(open(tables(), service()).rotate({ ...bad, id: 'other' })).rejects.toEqual(refusal)
    await expect(open((await place())(), bad).obtain([ada])).rejects.toEqual(refusal)
    expect(await open(tables(), service()).obtain([ada])).toEqual([key])
  })

  it('waits for a service no longer than 5 s', async () => {
    const tables = await place()
    const hanging = { ...service(), wrap: () => new Promise<never>(() => {}) }
    const began = performance.now()
    await expect(open(tables(), hanging).obtain([ada])).rejects.toEqual(
      errorWith('KEYS_UNAVAILABLE', 'wrap of the master key kms took more than 5 s'),
    )
    expect(performance.now() - began).toBeGreaterThan(4900)
    expect(await open(tables(), service()).obtain([ada])).toHaveLength(1)
  })

  it('lets one caller abort while others wait for the same look-up', async () => {
    const tables = await place()
    const slow = {
      ...service(),
      wrap: (key: Uint8Array) => delay(50).then(() => service().wrap(key)),
    }
    const keys = open(tables(), slow)
    const controller = new AbortController()
    const aborted = keys.obtain([ada], { signal: controller.signal })
    const waiting = keys.obtain([ada])
    controller.abort()
    await expect(aborted).rejects.toEqual(errorWith('ABORTED'))
    expect(await waiting).toHaveLength(1)
    await expect(keys.find(ada, { signal: controller.signal })).rejects.toEqual(
      errorWith('ABORTED'),
    )
  })

  it('forgets all keys when it is closed', async () => {
    const keys = open((await place())(), newMaster())
    const key = await one(keys)
    const running = keys.obtain([bob])
    await keys.close()
    await keys.close()
    expect(keys.cached(ada)).toBeUndefined()
    await expect(running).rejects.toEqual(errorWith('CLOSED'))
    await expect(keys.obtain([ada])).rejects.toEqual(errorWith('CLOSED'))
    await expect(keys.read([key.ref])).rejects.toEqual(errorWith('CLOSED'))
    await expect(keys.rotate(newMaster())).rejects.toEqual(errorWith('CLOSED'))
  })
})
