import fs from 'node:fs'
import {
  AuditLog,
  type AuditEvent,
  type AuditLogOptions,
  type EventStore,
  type EventTypes,
} from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { eventLeaf, hasSalt } from '../../../src/ledger/leaf.js'
import { fromBase64 } from '../../../src/ledger/base64.js'
import type { LeafRow } from '../../../src/store/ledger.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { type LedgerPlace, ledgerPlaces } from '../../support/ledger-places.js'
import { linesOf, runScript } from '../../support/child.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { tempDir } from '../../support/temp.js'

/* Events of a log with a ledger are removed, by the process that seals it and by others. */

type Options = Partial<AuditLogOptions<EventTypes>>

const KEEP_100 = { target: 'events', maxRows: 100 } as const
/** More of them run by hand, and in a soak. */
const ROUNDS = Number(process.env['DAYBOOK_LEDGER_ROUNDS'] ?? 1)

let key: LedgerKey
beforeEach(async () => {
  key = await ledgerKey()
  return key.remove
})

const open = (place: LedgerPlace, options: Options = {}): AuditLog => {
  const audit = new AuditLog({
    store: place.open(),
    types: {},
    ledger: { origin: ORIGIN, signer: key.signer },
    cleaning: { rules: [KEEP_100], scheduled: false },
    ...options,
  })
  onTestFinished(() => audit.close())
  return audit
}

const newPlace = (create: () => LedgerPlace): LedgerPlace => {
  const place = create()
  onTestFinished(() => place.remove())
  return place
}

async function record(audit: AuditLog, count: number, type = 'test:event'): Promise<AuditEvent[]> {
  const calls = Array.from({ length: count }, (_, n) => audit.recordCustom(type, { n }))
  return (await Promise.all(calls)).map((event) => event!)
}

const entriesOf = async (store: EventStore, kind: string): Promise<unknown[]> =>
  (await store.ledger!.statements(0, 100_000))
    .filter(({ entry }) => entry.startsWith(`${kind} `))
    .map(({ entry }): unknown => JSON.parse(entry.slice(kind.length + 1)))

const rowsOf = async (store: EventStore): Promise<readonly LeafRow[]> => store.ledger!.rows(0, 1000)

const timeOf = ({ created_at }: AuditEvent): number => parseTimestamp(created_at)!

/** Kinds of archives. All stores write them with the same code. */
const ARCHIVES: Readonly<Record<string, readonly string[]>> = {
  memory: ['function'],
  SQLite: ['file', 'ndjson', 'function'],
  Postgres: ['ndjson'],
}

describe.each(Object.entries(ledgerPlaces))(
  'cleaning with a ledger on the %s store',
  (store, create) => {
    it('seals the policy and the removal, and forgets rows and salts', async () => {
      const audit = open(newPlace(create), {
        cleaning: {
          rules: [KEEP_100],
          holds: [{ filter: 'filter[n_eq]=300' }],
          scheduled: false,
        },
      })
      const events = await record(audit, 700)
      const heads = [await audit.ledger.checkpoint()]
      const [result] = await audit.cleaning.run()
      expect(result).toMatchObject({ removed_count: 599 })
      heads.push(await audit.ledger.checkpoint())
      expect(await audit.ledger.verify({ heads })).toMatchObject({
        result: 'intact',
        findings: [],
        removed: 599,
        pending: 0,
      })
      expect(await entriesOf(audit.store, 'policy')).toEqual([
        { rules: [{ name: 'events', max_rows: 100 }], holds: ['filter[n_eq]=300'] },
      ])
      expect(await entriesOf(audit.store, 'removed')).toEqual([
        {
          rule: 'events',
          policy: 701,
          cutoff: events[600]!.created_at,
          ranges: [
            [1, 300],
            [302, 600],
          ],
          archive: null,
        },
      ])
      // The first row has a statement, the second the event on hold.
      const rows = await rowsOf(audit.store)
      expect(rows.map(({ row }) => row)).toEqual([0, 1, 2])
      expect(rows[0]!.seed).toHaveLength(0)
      expect([300, 301, 302].map((leaf) => hasSalt(rows[1]!.seed, leaf))).toEqual([
        false,
        true,
        false,
      ])
      expect(await audit.ledger.prove(events[300]!.id)).toContain('c2sp.org/tlog-proof')
      await audit.cleaning.run()
      expect(await entriesOf(audit.store, 'policy')).toHaveLength(1)
    })

    it('keeps all heads that were given out comparable when rows are gone', async () => {
      const audit = open(newPlace(create))
      const heads: string[] = []
      for (const count of [300, 77, 323, 300]) {
        await record(audit, count)
        heads.push(await audit.ledger.checkpoint())
      }
      await audit.cleaning.run()
      expect((await rowsOf(audit.store)).map(({ row }) => row)).toEqual([0, 3])
      for (const head of heads) {
        const size = Number(head.split('\n')[1])
        expect(await audit.ledger.verify({ heads: [head] })).toMatchObject({
          result: 'intact',
          findings: [],
        })
        expect(size).toBeGreaterThan(300)
      }
    })

    it('goes on after a restart, with appends to a row of removed events', async () => {
      const place = newPlace(create)
      const audit = open(place)
      const events = await record(audit, 200)
      await audit.cleaning.run()
      await record(audit, 20)
      await audit.cleaning.run()
      await audit.close()
      const next = open(place)
      await record(next, 300)
      const head = await next.ledger.checkpoint()
      expect(await next.ledger.verify({ heads: [head] })).toMatchObject({
        result: 'intact',
        findings: [],
      })
      expect(await next.ledger.prove(events[199]!.id)).toBeDefined()
    })

    it('removes nothing that is not sealed', async () => {
      const place = newPlace(create)
      const before = new AuditLog({ store: place.open(), types: {} })
      await record(before, 50)
      await before.close()
      const audit = open(place, {
        cleaning: { rules: [{ ...KEEP_100, maxRows: 0 }], scheduled: false },
      })
      await record(audit, 10)
      const [first] = await audit.cleaning.run()
      expect(first).toMatchObject({ removed_count: 10 })
      expect(await audit.ledger.adopt()).toBe(50)
      const [second] = await audit.cleaning.run()
      expect(second!.error).toBeUndefined()
      expect(second!.removed_count).toBeGreaterThanOrEqual(50)
      const heads = [await audit.ledger.checkpoint()]
      expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', findings: [] })
    })

    it('is no finding of a verification that runs meanwhile', async () => {
      const audit = open(newPlace(create), {
        cleaning: { rules: [{ ...KEEP_100, maxRows: 0 }], scheduled: false },
      })
      await record(audit, 600)
      const heads = [await audit.ledger.checkpoint()]
      let isDone = false
      const run = audit.cleaning.run().finally(() => (isDone = true))
      while (!isDone)
        expect(await audit.ledger.verify({ heads })).toMatchObject({
          result: 'intact',
          findings: [],
        })
      expect((await run)[0]!.removed_count).toBeGreaterThanOrEqual(600)
    })

    it('removes by ids', async () => {
      const audit = open(newPlace(create))
      const events = await record(audit, 10)
      const ids = [events[3]!.id, events[4]!.id, events[3]!.id, 'unknown']
      expect(await audit.ledger.remove(ids)).toBe(2)
      expect(await audit.get(events[3]!.id)).toBeUndefined()
      expect(await entriesOf(audit.store, 'removed')).toEqual([
        { rule: null, policy: null, cutoff: null, ranges: [[4, 5]], archive: null },
      ])
      const heads = [await audit.ledger.checkpoint()]
      expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', findings: [] })
      await expect(audit.ledger.remove('x' as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      })
      await expect(audit.ledger.remove([], { signl: 1 } as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      })
    })

    it('is left to the process with the signer', async () => {
      const place = newPlace(create)
      const audit = open(place)
      const events = await record(audit, 150)
      await audit.ledger.checkpoint()
      for (const ledger of [undefined, { origin: ORIGIN, key: key.vkey }]) {
        const other = open(place, { ledger })
        const [result] = await other.cleaning.run()
        expect(result).toMatchObject({
          removed_count: 0,
          error: expect.stringContaining('only the process that seals'),
        })
        expect(await other.cleaning.runDue()).toEqual([])
        for (const call of [
          () => other.store.remove([events[0]!.id]),
          () => other.store.removeBefore(timeOf(events[9]!)),
        ])
          await expect(call()).rejects.toMatchObject({ code: 'SIGNER_REQUIRED' })
        const code = ledger ? 'SIGNER_REQUIRED' : 'NO_LEDGER'
        await expect(other.ledger.remove([events[0]!.id])).rejects.toMatchObject({ code })
        await expect(other.ledger.adopt()).rejects.toMatchObject({ code })
      }
      const standby = open(place)
      await expect(standby.ledger.remove([events[0]!.id])).rejects.toMatchObject({
        code: 'SIGNER_REQUIRED',
      })
      expect((await audit.cleaning.run())[0]!.error).toBeUndefined()
    })

    it.each(ARCHIVES[store]!)('binds archives: %s', async (kind) => {
      const temp = tempDir()
      onTestFinished(temp.remove)
      const directory = temp.file('archive')
      const given: AuditEvent[] = []
      const archive = {
        file: directory,
        ndjson: { directory, format: 'ndjson', maxRows: 120 },
        function: async (events: readonly AuditEvent[]) => void given.push(...events),
      }[kind] as string
      const audit = open(newPlace(create), {
        cleaning: { rules: [{ ...KEEP_100, archive }], scheduled: false },
      })
      const events = await record(audit, 400)
      const [result] = await audit.cleaning.run()
      expect(result).toMatchObject({ removed_count: 300, archived_count: 300 })
      const heads = [await audit.ledger.checkpoint()]
      expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', findings: [] })
      const archived = (await entriesOf(audit.store, 'archived')) as {
        file: string
        ranges: unknown
      }[]
      if (kind === 'function') {
        expect(JSON.parse(JSON.stringify(given))).toEqual(events.slice(0, 300))
        expect(archived).toEqual([])
        return
      }
      const files = fs
        .readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.gz'))
        .toSorted()
      expect(archived).toHaveLength(files.length)
      const read: AuditEvent[] = []
      for (const [i, name] of files.entries()) {
        const file = `${directory}/${name}`
        const bytes = fs.readFileSync(file)
        expect(archived[i]!.file).toBe(createHash('sha256').update(bytes).digest('base64'))
        const lines = gunzipSync(bytes).toString().trim().split('\n')
        const leaves = fs.readFileSync(`${file}.leaves`, 'utf8').trim().split('\n')
        for (const [n, line] of lines.entries()) {
          const event = JSON.parse(line) as AuditEvent
          const { id, salt, hash } = JSON.parse(leaves[n]!) as Record<string, string>
          expect(id).toBe(event.id)
          expect(
            Buffer.from(eventLeaf('event', event, fromBase64(salt!)!)).toString('base64'),
          ).toBe(hash)
          read.push(event)
        }
      }
      expect(read).toEqual(events.slice(0, 300))
    })
  },
)

describe('a removal that was not finished', () => {
  it('is pending, and the next run finishes it', async () => {
    const place = newPlace(ledgerPlaces.SQLite)
    const audit = open(place)
    await record(audit, 700)
    const heads = [await audit.ledger.checkpoint()]
    const ledger = audit.store.ledger as { remove: unknown }
    const { remove } = ledger
    let calls = 0
    ledger.remove = (...call: unknown[]) => {
      calls += 1
      if (calls > 1) throw new Error('the process ends')
      return (remove as (...call: unknown[]) => unknown)(...call)
    }
    expect((await audit.cleaning.run())[0]!.error).toBe('the process ends')
    ledger.remove = remove
    heads.push(await audit.ledger.checkpoint())
    const between = await audit.ledger.verify({ heads })
    expect(between).toMatchObject({ result: 'intact', findings: [] })
    expect(between.removed).toBeGreaterThan(200)
    expect(between.removed + between.pending).toBe(600)
    expect((await audit.cleaning.run())[0]).toMatchObject({ removed_count: 602 - between.removed })
    expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', pending: 0 })
  })
})

describe('a process that is killed while it removes', () => {
  it(
    'leaves a log that is as it was sealed, and the next one finishes',
    { timeout: soakTimeout(120_000) },
    async () => {
      const temp = tempDir()
      onTestFinished(temp.remove)
      const filename = temp.file('audit.db')
      for (const round of soakRounds(ROUNDS)) {
        const child = runScript('test/stores/shared/ledger-child.ts', [
          filename,
          key.file,
          temp.file('archive'),
        ])
        onTestFinished(() => child.kill())
        await child.saw('removed\n')
        await delay(Math.random() * 300)
        await child.kill()
        // The next process need not wait for the end of the leases.
        const store = sqliteStore({ filename })
        for (const [state] of await store.readStates('', { limit: 100 }))
          await store.updateState(state, () => undefined)
        await store.close()
        expect(linesOf(child, 'error: ')).toEqual([])
        const reader = new AuditLog({
          store: sqliteStore({ filename, readOnly: true }),
          types: {},
          ledger: { origin: ORIGIN, key: key.vkey },
        })
        const heads = [fs.readFileSync(`${key.file}.note`, 'utf8')]
        const { findings, result } = await reader.ledger.verify({ heads })
        await reader.close()
        expect({ round, result, findings }).toEqual({ round, result: 'intact', findings: [] })
      }
    },
  )
})
