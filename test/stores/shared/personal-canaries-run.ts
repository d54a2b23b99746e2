import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { checkProof } from 'daybook/ledger'
import { sqliteStore, sqliteSubjectKeys } from 'daybook/sqlite'
import { postgresStore } from 'daybook/postgres'
import { expect, vi } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { eventJson } from '../../../src/event/body.js'
import { createOpening } from '../../../src/privacy/opening.js'
import type { SubjectKeys } from '../../../src/privacy/subject-keys.js'
import type { Sealer } from '../../../src/store-kit/index-builder/sealer.js'
import { postgresDatabase } from '../../support/database.js'
import { REQUEST } from '../../support/erasing.js'
import { ledgerKey, type LedgerKey, ORIGIN } from '../../support/ledger-key.js'
import { filesIn } from '../../support/scan-files.js'
import { tempDir } from '../../support/temp.js'
import {
  archivedLines,
  awayStore,
  canaryFiles,
  canaryOptions,
  canaryTypes,
  eventsOf,
  MARK,
  onPostgres,
  onSqlite,
  people,
  privacyOf,
  readAll,
  recordAll,
  scan,
  service,
  storedLines,
} from './personal-canaries.js'

export interface CanaryRun {
  readonly store: 'SQLite' | 'SQLite, compressed' | 'Postgres'
  readonly hasLedger: boolean
  readonly events: number
  readonly persons: number
}

const TUNING = { segmentSize: 64, fanOut: 4 }

/** A log in which a run records. */
interface CanaryPlace {
  open(): { readonly store: EventStore; readonly sealer: Sealer }
  /** A store on a backup that is made now, while nothing has the log open. */
  backup(): Promise<() => EventStore>
  readonly inTransaction: Parameters<typeof recordAll>[0]['inTransaction']
  scan(): Promise<readonly string[]>
  remove(): Promise<void>
}

function sqlitePlace(dir: string, compression: 'deflate' | undefined): CanaryPlace {
  const filename = path.join(dir, 'audit.db')
  return {
    open: () =>
      createSqliteStore({ filename, ...(compression && { compression }) }, { tuning: TUNING }),
    async backup() {
      const copy = path.join(dir, 'backup.db')
      const database = new Database(filename)
      database.prepare('VACUUM INTO ?').run(copy)
      database.close()
      return () => sqliteStore({ filename: copy })
    },
    inTransaction: onSqlite(filename),
    scan: () => scan(dir),
    remove: async () => undefined,
  }
}

async function postgresPlace(dir: string): Promise<CanaryPlace> {
  const { name, url: connectionString, remove } = await postgresDatabase()
  const copies: { remove(): Promise<void> }[] = []
  return {
    open: () => createPostgresStore({ connectionString }, { tuning: TUNING }),
    async backup() {
      // Connections that were closed may still end.
      const copy = await vi.waitFor(() => postgresDatabase(name), 60_000)
      copies.push(copy)
      return () => postgresStore({ connectionString: copy.url })
    },
    inTransaction: onPostgres(connectionString),
    scan: () => scan(dir, connectionString),
    async remove() {
      for (const copy of copies) await copy.remove()
      await remove()
    },
  }
}

/** Opens the log of a run on these keys. */
interface Opened {
  readonly audit: AuditLog
  readonly sealer: Sealer
  readonly away: { isAway: boolean }
}

interface World {
  readonly run: CanaryRun
  readonly place: CanaryPlace
  readonly files: ReturnType<typeof canaryFiles>
  readonly ledger: LedgerKey
  readonly persons: ReturnType<typeof people>
  keys(): SubjectKeys
  /** Closed at the end. */
  readonly opened: { close(): Promise<void> }[]
}

function openLog(world: World, keys: SubjectKeys): Opened {
  const { run, place, files, ledger } = world
  const { store, sealer } = place.open()
  const away = awayStore(store)
  const audit: AuditLog = new AuditLog({
    ...canaryOptions(files, Math.ceil(run.events * 0.9)),
    types: canaryTypes,
    store: away.store,
    privacy: privacyOf(keys),
    ...(run.hasLedger && { ledger: { origin: ORIGIN, signer: ledger.signer } }),
  })
  world.opened.push(audit)
  return { audit, sealer, away }
}

const verified = async (audit: AuditLog, heads: readonly string[]) => {
  const { result, findings } = await audit.ledger.verify({ heads })
  return { result, findings }
}

/** Proofs of the first events of a person, and their lines. */
async function provedLines(audit: AuditLog, customer: string) {
  const { events } = await audit.list('limit=3', { subject: { customer }, personal: 'stored' })
  expect(events.length).toBeGreaterThan(0)
  return Promise.all(
    events.map(async (event) => ({
      line: eventJson(event),
      proof: (await audit.ledger.prove(event.id))!,
    })),
  )
}

/** Records, archives, exports and makes a backup; nothing of a person may stand in clear anywhere. */
async function recordPhase(world: World): Promise<() => EventStore> {
  const { run, place, files, persons } = world
  const first = openLog(world, world.keys())
  await recordAll({ ...first, inTransaction: place.inTransaction }, persons, run.events)
  expect(await place.scan()).toEqual([])
  expect(fs.statSync(files.journal).size).toBeGreaterThan(0)
  first.away.isAway = false
  await first.audit.flush()
  await first.audit.close()
  expect(await place.scan()).toEqual([])

  const second = openLog(world, world.keys())
  await second.sealer.settled()
  const query = 'filter[type_eq]=api:customers:update&filter[created_at_gt]=2026-01-01&limit=1000'
  await vi.waitFor(async () => {
    const { events } = await second.audit.list(query)
    expect(events.length).toBeGreaterThan(persons.length)
    const delivered = fs.readFileSync(files.delivered, 'utf8')
    expect(events.filter(({ id }) => !delivered.includes(id))).toEqual([])
  }, 120_000)
  fs.writeFileSync(path.join(files.dir, 'export.ndjson'), await storedLines(second.audit))
  await second.audit.cleaning.run()
  expect(archivedLines(files.archive)).not.toBe('')
  await second.sealer.settled()
  expect(await place.scan()).toEqual([])
  await second.audit.close()
  return place.backup()
}

/** All that can be read: of the log, of its archive and export by the keys, and of the persons' reports. */
async function allText(world: World, audit: AuditLog, keys: SubjectKeys): Promise<string> {
  const { files, persons } = world
  const lines = [
    archivedLines(files.archive),
    ...['export.ndjson', 'delivered.ndjson'].map((name) =>
      fs.readFileSync(path.join(files.dir, name), 'utf8'),
    ),
  ]
  const opening = createOpening(keys)
  const opened = await opening.events(lines.flatMap(eventsOf), 'open')
  const texts = [await readAll(audit), JSON.stringify(opened)]
  for (const { customer } of persons.slice(0, 5))
    for await (const event of audit.subjectReport({ customer })) texts.push(JSON.stringify(event))
  return texts.join('\n')
}

/** The words of a person that the text has, and those that it lacks. */
function wordsOf(text: string, persons: World['persons']) {
  const found = new Set(text.match(new RegExp(`${MARK}[0-9a-f]{12}`, 'g')))
  const all = persons.flatMap(({ words }) => [...words])
  return {
    has: all.filter((one) => found.has(one)),
    lacks: all.filter((one) => !found.has(one)),
  }
}

/** Keys of the file that cannot unwrap anything. */
async function expectNoKeys(filename: string, master: ReturnType<typeof service>, ref: string) {
  const keys = sqliteSubjectKeys({ filename, master: master.master })
  await expect(keys.read([ref])).rejects.toMatchObject({ code: 'KEYS_UNAVAILABLE' })
  await keys.close()
}

const copyFile = (from: string, to: string): void => {
  const database = new Database(from)
  database.prepare('VACUUM INTO ?').run(to)
  database.close()
}

const keyTexts = (filename: string, refs: readonly string[]): readonly string[] => {
  const database = new Database(filename)
  const rows = database.prepare('SELECT ref, mac, wrapped FROM daybook_keys').all() as Record<
    'ref' | 'mac' | 'wrapped',
    string
  >[]
  database.close()
  return rows.filter(({ ref }) => refs.includes(ref)).flatMap(({ mac, wrapped }) => [mac, wrapped])
}

/** Erases some persons and changes the master key. Returns the refs of the erased keys. */
async function erasePhase(world: World, next: ReturnType<typeof service>, heads: string[]) {
  const { run, persons } = world
  const { audit } = openLog(world, world.keys())
  const [first] = persons
  const proved = run.hasLedger ? await provedLines(audit, first!.customer) : []
  if (run.hasLedger) heads.push(await audit.ledger.checkpoint())
  const before = run.hasLedger ? await verified(audit, heads) : undefined
  const text = wordsOf(await allText(world, audit, world.keys()), persons)
  expect(text.lacks).toEqual([])

  const erased = persons.filter((_, n) => n % 3 === 0)
  const refs: string[] = []
  for (const { customer, user } of erased)
    for (const one of [{ customer }, { user }]) {
      const { ref, events } = await audit.erase(one, REQUEST)
      expect(events).toBeGreaterThan(0)
      refs.push(ref!)
    }
  const keys = world.keys()
  await keys.rotate(next.master)
  await keys.close()
  if (run.hasLedger) {
    heads.push(await audit.ledger.checkpoint())
    expect(await verified(audit, heads)).toEqual(before)
    expect(before).toEqual({ result: 'intact', findings: [] })
    for (const { line, proof } of proved) {
      expect(line).not.toContain(MARK)
      await checkProof({ proof, event: line, policy: world.ledger.vkey })
    }
  }
  await audit.close()
  return { refs, erased }
}

/** Records in all ways, erases and changes the master key, and shows what can be read. */
export async function runCanaries(run: CanaryRun): Promise<void> {
  const [temp, own] = [tempDir(), tempDir()]
  const place =
    run.store === 'Postgres'
      ? await postgresPlace(temp.dir)
      : sqlitePlace(temp.dir, run.store === 'SQLite' ? undefined : 'deflate')
  const [former, next] = [service('first'), service('second')]
  let { master } = former
  const filename = own.file('subjects.db')
  const opened: World['opened'] = []
  const world: World = {
    run,
    place,
    files: canaryFiles(temp.dir),
    ledger: await ledgerKey(),
    persons: people(run.persons),
    opened,
    keys() {
      const keys = sqliteSubjectKeys({ filename, master })
      opened.push(keys)
      return keys
    },
  }
  try {
    const openBackup = await recordPhase(world)
    copyFile(filename, own.file('former.db'))
    const { refs, erased } = await erasePhase(world, next, [])
    ;({ master } = next)
    former.destroy()
    for (const one of opened.splice(0)) await one.close()

    const gone = keyTexts(own.file('former.db'), refs)
    expect(gone).toHaveLength(refs.length * 2)
    const bytes = filesIn(own.dir)
      .filter((file) => !file.includes('former'))
      .map((file) => fs.readFileSync(file, 'latin1'))
      .join('')
    expect(gone.filter((text) => bytes.includes(text))).toEqual([])
    await expectNoKeys(own.file('former.db'), former, refs[0]!)
    await expectNoKeys(own.file('former.db'), next, refs[0]!)
    await expectNoKeys(filename, former, refs[0]!)

    const isErased = new Set(erased)
    const stores = [place.open().store, openBackup()]
    for (const store of stores) {
      const privacy = privacyOf(world.keys())
      const audit: AuditLog = new AuditLog({ store, types: canaryTypes, privacy, readOnly: true })
      opened.push(audit)
      const text = await allText(world, audit, world.keys())
      const { has, lacks } = wordsOf(text, world.persons)
      expect(wordsOf(text, erased).has).toEqual([])
      expect(new Set(lacks)).toEqual(new Set(erased.flatMap(({ words }) => [...words])))
      expect(has).toEqual(
        world.persons.filter((one) => !isErased.has(one)).flatMap(({ words }) => [...words]),
      )
      await audit.close()
    }
    expect(await place.scan()).toEqual([])
  } finally {
    for (const one of opened.toReversed()) await one.close()
    await place.remove()
    world.ledger.remove()
    temp.remove()
    own.remove()
  }
}

/** The places in which words are found that were recorded by a type without personal attributes. */
export async function foundInClear(store: CanaryRun['store']): Promise<readonly string[]> {
  const temp = tempDir()
  const place =
    store === 'Postgres'
      ? await postgresPlace(temp.dir)
      : sqlitePlace(temp.dir, store === 'SQLite' ? undefined : 'deflate')
  const opened = place.open()
  const audit = new AuditLog({ store: opened.store, types: {} })
  try {
    for (let n = 0; n < 200; n++) await audit.recordCustom('own', { n, email: `${MARK}${n}` })
    await opened.sealer.settled()
    return await place.scan()
  } finally {
    await audit.close()
    await place.remove()
    temp.remove()
  }
}
