import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, type EventStore, parseTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { EARLY_LEVEL } from '../../../src/store-kit/index-builder/segment-levels.js'
import { runScript } from '../../support/child.js'
import { countedBytes } from '../../support/counted-bytes.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { tempDir } from '../../support/temp.js'
import { SOON, TUNING } from '../shared/sealer.js'

const file = useSqliteFile()

const TYPES = { 'own:live': {} }

function logOn(store: EventStore): AuditLog<typeof TYPES> {
  return file.closing(new AuditLog({ store, types: TYPES, random: countedBytes() }))
}

function compressed(
  options: Pick<SqliteStoreOptions, 'clock'> = {},
  tuning: { readonly segmentSize?: number } = {},
) {
  const { store, sealer } = createSqliteStore(
    { filename: file.filename, compression: 'deflate', ...options },
    { tuning: { ...TUNING, ...tuning } },
  )
  return { store, audit: logOn(store), settle: () => sealer.settled() }
}

/** An attribute that is a link, so that the events have sources. */
const changeId = (n: number): string => `0198c0de-0000-7000-8000-${String(n % 7).padStart(12, '0')}`

async function record(audit: AuditLog<typeof TYPES>, count: number): Promise<readonly string[]> {
  const events = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      audit.recordCustom(`type-${n % 3}`, {
        n,
        change_id: changeId(n),
        text: `text ${n}\n\t"${'é'.repeat(n % 40)}"`,
        nested: { list: [n, null, `a${n % 5}`] },
      }),
    ),
  )
  return events.map((event) => event!.id)
}

const base = tempDir()
const baseFile = base.file('base.db')
/** The ids of the 80 compressed events. */
let ids: readonly string[] = []
beforeAll(async () => {
  const options = { filename: baseFile, compression: 'deflate' } as const
  const { store, sealer } = createSqliteStore(options, { tuning: TUNING })
  const audit = new AuditLog({ store, types: TYPES, random: countedBytes() })
  ids = await record(audit, 80)
  await sealer.settled()
  await audit.close()
})
afterAll(() => base.remove())
const copyBase = (): void => fs.copyFileSync(baseFile, file.filename)

const rows = (condition: string): number =>
  file.execute((database) =>
    database.prepare(`SELECT count(*) FROM daybook_events WHERE ${condition}`).pluck().get(),
  ) as number

const packed = (): number => rows('octet_length(attributes) = 0')

/** The events of `record`, without reports of damage. */
const recorded = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  events.filter(({ type }) => type.startsWith('type-'))

const QUERIES = [
  '',
  'filter[sorts]=created_at',
  'filter[n_eq]=7',
  'filter[type_eq]=type-1',
  'filter[change_id_eq]=' + changeId(3),
  `filter[source_cont]=${changeId(2)}`,
  'filter[source_null]=true',
  'filter[text_cont]=text 9',
  'filter[text_not_cont]=text 1&filter[n_gt]=20',
  'filter[nested_list_end]=4',
  'filter[nested_list_null]=true',
  'filter[sorts]=n desc',
]

it('sealed events are compressed, and every query finds the same as before', async () => {
  const clock = manualClock('2026-03-01T12:00:00Z')
  const { store, audit, settle } = compressed({ clock })
  const other = logOn(memoryStore({ clock: manualClock('2026-03-01T12:00:00Z') }))
  const ids = await record(audit, 156)
  await record(other, 156)
  await settle()
  // Whole segments of 8 events.
  expect(packed()).toBe(152)
  for (const query of QUERIES)
    expect(await audit.list(`${query}&limit=1000`), query).toEqual(
      await other.list(`${query}&limit=1000`),
    )
  for (const id of [ids[0]!, ids[75]!, ids[155]!])
    expect(await audit.get(id)).toEqual(await other.get(id))
  // With less time the result would be a sample.
  const count = [{ filter: { text_cont: 'text 2' } }, { facets: ['type'], within: 10_000 }] as const
  expect({ ...(await audit.count(...count)), took_ms: 0 }).toEqual({
    ...(await other.count(...count)),
    took_ms: 0,
  })
  for (const bytes of [1000, 20_000, 1e9])
    expect(await store.excess({ bytes })).toEqual(await other.store.excess({ bytes }))
  expect((await store.verify!()).damage).toEqual([])
  await store.rebuildIndex!()
  expect((await audit.list('filter[text_cont]=text 9')).events).toEqual(
    (await other.list('filter[text_cont]=text 9')).events,
  )
})

it('events that were sealed early are compressed with later ones', async () => {
  const early = { minEvents: 2, afterMs: 0 }
  const { store, sealer } = createSqliteStore(
    { filename: file.filename, compression: 'deflate' },
    { tuning: { ...TUNING, early } },
  )
  const audit = logOn(store)
  await record(audit, 10)
  await vi.waitFor(() => expect(sqliteTruth(file.filename).unsealed).toBe(0), SOON)
  expect(sqliteTruth(file.filename).segments).toEqual([
    [0, 8],
    [EARLY_LEVEL, 2],
  ])
  await sealer.settled()
  expect(packed()).toBe(8)
  await record(audit, 8)
  await sealer.settled()
  expect(packed()).toBe(18)
})

it('stores without the option, and read-only ones, read compressed events', async () => {
  copyBase()
  const { events } = await compressed().audit.list('limit=100')
  for (const options of [{}, { readOnly: true }, { compression: 'none' }] as const) {
    const reader = logOn(sqliteStore({ filename: file.filename, ...options }))
    expect((await reader.list('limit=100')).events).toEqual(events)
  }
  expect(events.map(({ id }) => id)).toEqual(ids)
  expect(packed()).toBe(80)
})

it('without the option, new events of a compressed file are stored uncompressed', async () => {
  copyBase()
  const { store, sealer } = createSqliteStore({ filename: file.filename }, { tuning: TUNING })
  const later = logOn(store)
  const all = [...ids, ...(await record(later, 40))]
  await sealer.settled()
  expect(packed()).toBe(80)
  await store.rebuildIndex!()
  expect((await later.list('limit=1000')).events.map(({ id }) => id)).toEqual(all)
  expect((await later.list('filter[n_eq]=7')).events.map(({ id }) => id)).toEqual([all[7], all[87]])
  expect((await store.verify!()).damage).toEqual([])
  await later.close()
  await compressed().settle()
  expect(packed()).toBe(120)
})

it('a file of the first version is migrated, and its events are compressed', async () => {
  const plain = createSqliteStore({ filename: file.filename }, { tuning: TUNING })
  const first = logOn(plain.store)
  await record(first, 40)
  await plain.sealer.settled()
  const { events } = await first.list()
  await first.close()
  file.execute((database) =>
    database.exec(
      `DROP TABLE daybook_dictionaries; DROP TABLE daybook_dictionary_copies; DROP TABLE daybook_packing;
       ALTER TABLE daybook_events DROP COLUMN packed; ALTER TABLE daybook_chunks DROP COLUMN packed;
       UPDATE daybook_schema SET version = 1`,
    ),
  )
  expect(() => sqliteStore({ filename: file.filename, readOnly: true })).toThrow(
    /run daybook migrate/,
  )
  const { audit, settle } = compressed()
  await settle()
  expect(packed()).toBe(40)
  expect((await audit.list()).events).toEqual(events)
})

describe('removal', () => {
  it('by id removes the event', async () => {
    copyBase()
    const { audit } = compressed()
    const gone = [ids[0]!, ids[17]!, ids[79]!]
    expect(await audit.store.remove(gone)).toBe(3)
    expect(packed()).toBe(77)
    const left = await audit.list('filter[sorts]=created_at&limit=1000')
    expect(left.events.map(({ id }) => id)).toEqual(ids.filter((id) => !gone.includes(id)))
    expect(await audit.store.remove(ids)).toBe(77)
    expect((await audit.store.verify!()).damage).toEqual([])
  })

  it('of older events leaves the other events', async () => {
    copyBase()
    const { audit } = compressed()
    const { events } = await audit.list('filter[sorts]=created_at&limit=1000')
    const bound = parseTimestamp(events[43]!.created_at)!
    expect(await audit.store.removeBefore(bound)).toBe(43)
    expect(packed()).toBe(37)
    expect((await audit.list('filter[sorts]=created_at&limit=1000')).events).toEqual(
      events.slice(43),
    )
  })

  it('while another store reads, no event is reported as damaged', async () => {
    copyBase()
    const { audit } = compressed()
    const reader = logOn(sqliteStore({ filename: file.filename, readOnly: true }))
    const damage: unknown[] = []
    reader.store.watchDamage!((one) => damage.push(one))
    const { events } = await audit.list('filter[sorts]=created_at&limit=1000')
    const reading = Array.from({ length: 10 }, () =>
      reader.list('filter[text_not_end]=x&filter[sorts]=created_at&limit=1000'),
    )
    for (const event of events.slice(0, 50)) await audit.store.remove([event.id])
    await Promise.all(reading)
    expect(damage).toEqual([])
  })
})

describe('dictionaries', () => {
  /** The next round tries another dictionary. */
  const makeTrainingDue = (): void =>
    void file.execute((database) => database.exec('UPDATE daybook_packing SET untested = 1e6'))

  const dictionaries = (): number =>
    file.execute((database) =>
      database.prepare('SELECT count(*) FROM daybook_dictionaries').pluck().get(),
    ) as number

  const recordOther = async (audit: AuditLog<typeof TYPES>, count: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        audit.recordCustom('other', { quite: { another: { structure: [`${n} of many`] } } }),
      ),
    )
  }

  it('a new dictionary is made when the events have changed, and removed with its events', async () => {
    const { audit, settle } = compressed()
    await record(audit, 80)
    await settle()
    expect(dictionaries()).toBe(1)
    makeTrainingDue()
    await record(audit, 80)
    await settle()
    expect(dictionaries()).toBe(1)
    makeTrainingDue()
    await recordOther(audit, 80)
    await settle()
    expect(dictionaries()).toBe(2)
    expect(packed()).toBe(240)
    const { events } = await audit.list('filter[sorts]=created_at&limit=1000')
    expect(events).toHaveLength(240)
    expect((await audit.store.verify!()).damage).toEqual([])

    await audit.store.removeBefore(parseTimestamp(events[170]!.created_at)!)
    makeTrainingDue()
    await record(audit, 80)
    await settle()
    expect(dictionaries()).toBe(2)
    expect((await audit.list('filter[sorts]=created_at&limit=1000')).events).toHaveLength(150)
    expect((await audit.store.verify!()).damage).toEqual([])
  })

  const damageDictionary = (table: string): void =>
    void file.execute((database) =>
      database.exec(`UPDATE ${table} SET data = zeroblob(octet_length(data))`),
    )

  it('one of two copies may be damaged', async () => {
    copyBase()
    damageDictionary('daybook_dictionaries')
    const reader = logOn(sqliteStore({ filename: file.filename }))
    expect((await reader.list('limit=1000')).events.map(({ id }) => id)).toEqual(ids)
    expect((await reader.store.verify!()).damage).toMatchObject([
      { kind: 'database', place: 'dictionary 1 in daybook_dictionaries' },
    ])
  })

  it('events with a lost dictionary are reported, and the others are read', async () => {
    copyBase()
    const { audit } = compressed()
    const readable = await record(audit, 3)
    await audit.close()
    damageDictionary('daybook_dictionaries')
    damageDictionary('daybook_dictionary_copies')
    const { store, sealer } = createSqliteStore(
      { filename: file.filename, compression: 'deflate' },
      { tuning: TUNING },
    )
    const reader = logOn(store)
    const damage: unknown[] = []
    store.watchDamage!((one) => damage.push(one))
    expect((await reader.list('limit=1000')).events.map(({ id }) => id)).toEqual(readable)
    expect(damage).toHaveLength(80)
    // The next events have another dictionary.
    await record(reader, 13)
    await sealer.settled()
    // Whole segments of 8 events. How many events report the damage depends on how long the list took.
    const all = rows('true')
    expect(packed()).toBe(all - (all % 8))
    expect(recorded((await reader.list('limit=1000')).events)).toHaveLength(16)
  })
})

it('a late event stays in its row, and is found', async () => {
  const { audit, settle } = compressed()
  const live = await audit.recordLive('own:live', { n: -1 })
  await record(audit, 40)
  await settle()
  await live.close()
  await record(audit, 16)
  await settle()
  expect(packed()).toBeGreaterThanOrEqual(48)
  expect(await audit.get(live.event!.id)).toMatchObject({ attributes: { n: -1 } })
  expect((await audit.list('filter[n_eq]=-1')).events).toHaveLength(1)
})

/** Changes a byte in the middle of `packed` of the first row. */
const damagePacked = (table: string, key: string): void =>
  file.execute((database) => {
    const found = database
      .prepare(`SELECT ${key} AS key, packed FROM ${table} WHERE packed IS NOT NULL LIMIT 1`)
      .get() as { readonly key: number; readonly packed: Buffer }
    found.packed[found.packed.length >> 1]! ^= 0xff
    database.prepare(`UPDATE ${table} SET packed = ? WHERE ${key} = ?`).run(found.packed, found.key)
  })

it('a damaged event is reported, and the other events are read', async () => {
  copyBase()
  damagePacked('daybook_events', 'created_at')
  const reader = logOn(sqliteStore({ filename: file.filename }))
  const damage: unknown[] = []
  reader.store.watchDamage!((one) => damage.push(one))
  const { events } = await reader.list('filter[sorts]=created_at&limit=1000')
  expect(events.map(({ id }) => id)).toEqual(ids.slice(1))
  expect(damage).toHaveLength(1)
  await expect(reader.get(ids[0]!)).rejects.toMatchObject({ code: 'DAMAGED' })
  expect((await reader.store.verify!()).damage).toHaveLength(1)
})

it('the values of a damaged chunk are reported, and queries find the same', async () => {
  const { audit, settle } = compressed({}, { segmentSize: 64 })
  await record(audit, 128)
  await settle()
  const lists = () =>
    Promise.all(
      QUERIES.map(async (query) => recorded((await audit.list(`${query}&limit=1000`)).events)),
    )
  const before = await lists()
  await audit.close()
  damagePacked('daybook_chunks', 'id')
  const { store, sealer } = createSqliteStore(
    { filename: file.filename, compression: 'deflate' },
    { tuning: { ...TUNING, segmentSize: 64 } },
  )
  const reader = logOn(store)
  expect((await store.verify!()).damage).toHaveLength(1)
  for (const [at, query] of QUERIES.entries())
    expect(recorded((await reader.list(`${query}&limit=1000`)).events), query).toEqual(before[at])
  await sealer.settled()
  expect((await store.verify!()).damage).toEqual([])
})

it('events of any size are compressed', async () => {
  const { audit, settle } = compressed()
  const texts = Array.from({ length: 16 }, (_, n) => `${n} é`.repeat([0, 300, 700, 8000][n % 4]!))
  for (const text of texts) await audit.recordCustom('large', { text })
  await settle()
  expect(packed()).toBe(16)
  const { events } = await audit.list('filter[sorts]=created_at&limit=16')
  expect(events.every((event, n) => event.attributes['text'] === texts[n])).toBe(true)
  expect(events).toHaveLength(16)
})

it('a dictionary has no ciphertexts', async () => {
  const { audit, settle } = compressed()
  const subject = 'subject-00000000000001'
  const data = Array.from({ length: 80 }, () => randomBytes(60).toString('base64url'))
  for (const one of data)
    await audit.recordCustom('sealed', { text: 'common', personal: [{ subject, data: one }] })
  await settle()
  expect(packed()).toBe(80)
  const dictionary = file.execute((database) =>
    database.prepare('SELECT data FROM daybook_dictionaries').pluck().get(),
  ) as Buffer
  expect(dictionary.includes(subject)).toBe(true)
  expect(data.filter((one) => dictionary.includes(one.slice(0, 16)))).toEqual([])
  const query = 'limit=80&filter[sorts]=created_at'
  const { events } = await audit.list(query, { personal: 'stored' })
  expect(events.map((event) => event.attributes['personal'])).toEqual(
    data.map((one) => [{ subject, data: one }]),
  )
})

it('an unknown compression is refused', () => {
  expect(() => sqliteStore({ filename: file.filename, compression: 'zstd' as 'deflate' })).toThrow(
    `compression must be 'none' or 'deflate'; it is "zstd"`,
  )
})

it(
  'processes that are killed while they compress lose no event',
  { timeout: soakTimeout(180_000) },
  async () => {
    const each = 64
    let recorded = 0
    for (const _ of soakRounds(1)) {
      const options = { count: each, leaseMs: 200, compression: 'deflate', end: 'stay' }
      const child = runScript('test/stores/shared/sealing-child.ts', [
        JSON.stringify({ filename: file.filename }),
        JSON.stringify(options),
      ])
      await child.saw('recorded\n')
      recorded += each
      await delay(Math.random() * 300)
      await child.kill()
      expect(sqliteTruth(file.filename)).toMatchObject({ missing: [], damage: [] })
      const reader = logOn(sqliteStore({ filename: file.filename }))
      expect(await reader.store.verify!()).toMatchObject({ damage: [], events: recorded })
      await reader.close()
    }
    await compressed().settle()
    expect(packed()).toBe(recorded)
  },
)
