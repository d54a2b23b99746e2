import fs from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { AuditLog, type AuditLogOptions, type EventStore } from 'daybook'
import { checkConsistency, checkProof } from 'daybook/ledger'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toBase64 } from '../../../src/ledger/base64.js'
import { withNodes } from '../../../src/ledger/read-nodes.js'
import { consistencyPath } from '../../../src/ledger/tree.js'
import type { LedgerStore } from '../../../src/store/ledger.js'
import { MINUTE, SECOND } from '../../../src/event/timestamp.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { execute } from '../../support/sqlite-file.js'
import { tempDir } from '../../support/temp.js'

let key: LedgerKey
let temp: ReturnType<typeof tempDir>
const open: AuditLog[] = []
beforeEach(async () => {
  temp = tempDir()
  key = await ledgerKey()
})
afterEach(async () => {
  for (const audit of open.splice(0)) await audit.close()
  temp.remove()
  key.remove()
})

const filename = (): string => temp.file('audit.db')

function openLog(
  store: EventStore = sqliteStore({ filename: filename() }),
  options: Partial<AuditLogOptions<Record<string, object>>> = {},
): AuditLog {
  const ledger = { origin: ORIGIN, signer: key.signer }
  const audit = new AuditLog({ store, types: { 'info:job': {} }, ledger, ...options })
  open.push(audit)
  return audit
}

const record = async (audit: AuditLog, count: number, first = 0) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => audit.recordCustom('test:event', { n: first + n })),
  )

const closed = async (audit: AuditLog): Promise<void> => {
  open.splice(open.indexOf(audit), 1)
  await audit.close()
}

const lineOf = async (audit: AuditLog, id: string): Promise<string> => {
  const { created_at, username, system, type, source, attributes } = (await audit.get(id))!
  return JSON.stringify({ id, created_at, username, system, type, source, attributes })
}

const sizeOf = (note: string): number => Number(note.split('\n')[1])

describe('a log with a ledger', () => {
  it('seals from its first event on, also what is recorded while it closes, and goes on after a restart', async () => {
    const first = openLog()
    const [event] = await record(first, 300)
    const older = await first.ledger.checkpoint()
    expect(sizeOf(older)).toBe(301)
    void record(first, 3)
    await closed(first)
    const second = openLog()
    await record(second, 300)
    const newer = await second.ledger.checkpoint()
    expect(sizeOf(newer)).toBe(604)
    const path = await withNodes(second.store.ledger!, (read) => consistencyPath(301, 604, read))
    const checked = checkConsistency({ older, newer, path: path.map(toBase64), policy: key.vkey })
    expect(await checked).toEqual({ from: 301, to: 604 })
    expect(await second.ledger.verify({ heads: [older] })).toMatchObject({
      result: 'intact',
      size: 604,
      provedSize: 604,
      events: 603,
      waiting: 0,
      findings: [],
    })
    const proof = await second.ledger.prove(event!.id)
    const proved = await checkProof({
      proof: proof!,
      event: await lineOf(second, event!.id),
      policy: key.vkey,
    })
    expect(proved).toMatchObject({ index: 1, kind: 'event', event: { attributes: { n: 0 } } })
  })

  it('proves events that became visible late', async () => {
    const audit = openLog()
    await record(audit, 2)
    await audit.ledger.checkpoint()
    const id = '0196b3c2-0000-4000-8000-000000000001'
    const created_at = '2025-05-01T10:00:00.000001Z'
    const event = { id, created_at, username: null, system: true, type: 'x', source: null }
    await audit.importEvents([{ ...event, attributes: {} }])
    await audit.ledger.checkpoint()
    const proof = (await audit.ledger.prove(id))!
    const proved = checkProof({ proof, event: await lineOf(audit, id), policy: key.vkey })
    expect(await proved).toMatchObject({ kind: 'late', event })
    expect((await audit.ledger.verify()).findings).toEqual([])
    const announced = await audit.list('filter[type_eq]=info:audit_log:import')
    expect(announced.events[0]!.attributes).toMatchObject({ count: 1 })
  })

  it('explains late events by an announcement in a row that is not compared', async () => {
    const audit = openLog(memoryStore())
    // The announcement is the last leaf of the first row.
    await record(audit, 254)
    await audit.ledger.checkpoint()
    const { created_at } = (await audit.list('limit=1')).events[0]!
    const event = { id: '0196b3c2-0000-4000-8000-000000000001', username: null, system: true }
    const imported = {
      ...event,
      created_at: '2025-05-01T10:00:00.000001Z',
      type: 'x',
      source: null,
    }
    await audit.importEvents([{ ...imported, attributes: {} }])
    await record(audit, 1)
    const heads = [await audit.ledger.checkpoint()]
    const { events: newest } = await audit.list('limit=1')
    const since = newest[0]!.created_at
    expect(since > created_at).toBe(true)
    const verified = await audit.ledger.verify({ heads, since })
    expect(verified).toMatchObject({ result: 'intact', findings: [], size: 258 })
    expect(verified.events).toBeLessThan(3)
  })

  it('has no proof of an event that is unknown, not sealed, or not the one that was sealed', async () => {
    const audit = openLog()
    const [event] = await record(audit, 1)
    await audit.ledger.checkpoint()
    expect(await audit.ledger.prove('0196b3c2-0000-4000-8000-000000000001')).toBeUndefined()
    const reader = openLog(undefined, { ledger: { origin: ORIGIN, key: key.vkey } })
    const [unsealed] = await record(reader, 1)
    await closed(audit)
    await expect(
      openLog(undefined, { ledger: undefined }).ledger.prove(event!.id),
    ).rejects.toMatchObject({ code: 'NO_LEDGER' })
    execute(filename(), (database) =>
      database.exec(`UPDATE daybook_events SET attributes = jsonb('{"n":1}') WHERE created_at =
        (SELECT min(created_at) FROM daybook_events)`),
    )
    await expect(reader.ledger.prove(event!.id)).rejects.toMatchObject({ code: 'DAMAGED' })
    expect(unsealed).toBeDefined()
  })

  it('does not notice a change before the event was sealed', async () => {
    const writer = openLog(undefined, { ledger: undefined })
    const sealer = openLog()
    await sealer.ledger.checkpoint()
    await closed(sealer)
    await record(writer, 3)
    execute(filename(), (database) =>
      database.exec(
        'DELETE FROM daybook_events WHERE created_at = (SELECT min(created_at) FROM daybook_events)',
      ),
    )
    const audit = openLog()
    await audit.ledger.checkpoint()
    expect((await audit.ledger.verify()).result).toBe('intact')
  })

  it('records delays of more than 10 seconds in the tree', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const shared = { ...store, close: () => Promise.resolve() }
    const first = openLog(shared)
    await first.ledger.checkpoint()
    await closed(first)
    await record(openLog(shared, { ledger: undefined }), 2)
    clock.advance(9 * SECOND)
    const second = openLog(shared)
    await second.ledger.checkpoint()
    await closed(second)
    await record(openLog(shared, { ledger: undefined }), 2)
    clock.advance(11 * SECOND)
    const third = openLog(shared)
    await third.ledger.checkpoint()
    const entries = await store.ledger!.statements(0, 100)
    expect(entries.map(({ leaf, entry }) => [leaf, entry.split(' ')[0]])).toEqual([
      [0, 'began'],
      [5, 'waited'],
    ])
  })

  it('is hashed in a thread while it is behind, with the same result', async () => {
    const store = sqliteStore({ filename: filename() })
    const writer = openLog(store, { ledger: undefined })
    await store.ledger!.begin(0)
    await record(writer, 600)
    const live = await writer.recordLive('info:job', {})
    await record(writer, 100)
    let threads = 0
    const onWorker = (): void => void threads++
    process.on('worker', onWorker)
    const seeds = [1, 2, 3, 4].map((n) => new Uint8Array(32).fill(n))
    const request = { after: 0, leaf: 5, seeds, limit: 650 }
    const here = await store.ledger!.unsealed(request)
    expect([here.times.length, threads]).toEqual([650, 0])
    const there = await store.ledger!.unsealed(request)
    process.off('worker', onWorker)
    expect(threads).toBe(1)
    expect(there.times).toEqual(here.times)
    expect(Buffer.compare(there.hashes, here.hashes)).toBe(0)
    expect(there.open).toEqual(here.open)
    expect(there.open).toMatchObject([{ id: live.event!.id }])
  })

  it('writes no row of a backlog twice, except the first', async () => {
    const store = memoryStore()
    await store.ledger!.begin(0)
    await record(openLog(store, { ledger: undefined }), 5000)
    const written: number[] = []
    const { append } = store.ledger!
    const ledger: LedgerStore = {
      ...store.ledger!,
      append(addition, options) {
        written.push(...addition.rows.map(({ row }) => row))
        return append(addition, options)
      },
    }
    const sealing = openLog({ ...store, ledger })
    await sealing.ledger.checkpoint()
    expect(written).toEqual([0, ...Array.from({ length: 20 }, (_, row) => row)])
  })

  it.each([
    ['leaves a part of a burst of events to the next round', 0, 16_384],
    ['seals everything in one round if it is more than three seconds behind', 4 * SECOND, 17_001],
  ])('%s', async (_, behind, size) => {
    const clock = manualClock('2026-03-02T12:00:00Z')
    const store = memoryStore({ clock })
    await store.ledger!.begin(0)
    await record(openLog(store, { ledger: undefined }), 10_000)
    await record(openLog(store, { ledger: undefined }), 7000, 10_000)
    clock.advance(behind)
    /** The number of leaves when a round begins. */
    const begun: number[] = []
    const waiting: LedgerStore['waiting'] = async (options) => {
      begun.push((await store.ledger!.state())!.size)
      return store.ledger!.waiting(options)
    }
    const sealing = openLog({ ...store, ledger: { ...store.ledger!, waiting } })
    const signed = async (): Promise<number> => sizeOf((await store.ledger!.state())!.head ?? '\n0')
    while ((await signed()) < 16_384) await setImmediate()
    expect(sizeOf(await sealing.ledger.checkpoint())).toBe(17_001)
    expect(begun[0]).toBe(size)
  })

  it('is sealed by one process, and by the next one once this has closed', async () => {
    const first = openLog()
    await first.ledger.checkpoint()
    const second = openLog()
    await record(second, 2)
    const before = await second.ledger.checkpoint()
    expect(sizeOf(before)).toBeLessThan(4)
    expect((await second.ledger.status()).state).toBe('standby')
    await closed(first)
    await record(second, 2)
    expect(sizeOf(await second.ledger.checkpoint())).toBe(5)
    expect((await second.ledger.status()).state).toBe('sealing')
  })

  it('says in its health that nobody seals, after a minute', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const shared = { ...store, close: () => Promise.resolve() }
    const first = openLog(shared)
    await first.ledger.checkpoint()
    await closed(first)
    const audit = openLog(shared, { ledger: { origin: ORIGIN, key: key.vkey } })
    await record(audit, 2)
    clock.advance(MINUTE - SECOND)
    expect((await audit.health()).ledger).toBeUndefined()
    clock.advance(2 * SECOND)
    expect(await audit.health()).toMatchObject({
      status: 'warn',
      ledger: { status: 'warn', state: 'no-signer', waiting: 2 },
    })
    expect(await audit.ledger.status()).toMatchObject({ state: 'no-signer', size: 1, waiting: 2 })
  })

  it('takes no option that is wrong', () => {
    const signer = key.signer
    const wrong: readonly (readonly [ledger: unknown, message: string])[] = [
      [{}, 'origin must be a URL without its scheme'],
      [{ origin: '', signer }, 'origin must be a URL'],
      [{ origin: `https://${ORIGIN}`, signer }, 'origin must be a URL'],
      [{ origin: ORIGIN }, 'needs a signer, or the key'],
      [{ origin: ORIGIN, signr: signer }, 'no option signr'],
      [{ origin: ORIGIN, signer: {} }, 'must be a signer'],
      [{ origin: ORIGIN, signer: null }, 'must be a signer'],
      [{ origin: ORIGIN, key: '' }, 'must be a verifier key'],
      [{ origin: 'other.example.com', signer }, 'is the key of audit.example.com/orders'],
      [
        { origin: ORIGIN, signer, key: `${ORIGIN}+00000000+AAAA` },
        'not the verifier key of the signer',
      ],
      [null, 'ledger takes an object'],
    ]
    for (const [ledger, message] of wrong)
      expect(() => openLog(memoryStore(), { ledger: ledger as never })).toThrow(message)
    const { ledger: _, ...without } = memoryStore()
    expect(() => openLog(without)).toThrow('the memory store keeps no ledger')
  })
})

/** Changes of the tables while no process seals, or while one does. */
const changes: Readonly<Record<string, (database: { exec(sql: string): unknown }) => void>> = {
  'the ledger was dropped'(database) {
    for (const table of ['', '_rows', '_nodes', '_statements', '_late'])
      database.exec(`DROP TABLE daybook_ledger${table}`)
    database.exec('DROP TRIGGER daybook_ledger_late_insert')
  },
  'the tree was cut': (database) =>
    database.exec('UPDATE daybook_ledger SET size = 256, head = NULL'),
  'the rows were changed': (database) =>
    database.exec('UPDATE daybook_ledger_rows SET hashes = zeroblob(length(hashes))'),
  'the nodes were changed': (database) =>
    database.exec('UPDATE daybook_ledger_nodes SET hash = zeroblob(32)'),
  'the head was forged': (database) =>
    database.exec(`UPDATE daybook_ledger SET head = replace(head, '301', '300')`),
  'the sealed time was set ahead': (database) =>
    database.exec('UPDATE daybook_ledger SET sealed_to = sealed_to + 1000000'),
}

describe('a sealer signs nothing', () => {
  it.each(Object.entries(changes))('after a start in which %s', async (_, change) => {
    const before = openLog()
    await record(before, 300)
    await before.ledger.checkpoint()
    await closed(before)
    const note = fs.readFileSync(`${key.file}.note`, 'utf8')
    execute(filename(), change)
    const audit = openLog()
    await record(audit, 10)
    await expect(audit.ledger.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_DIVERGED' })
    expect(await audit.ledger.status()).toMatchObject({ state: 'diverged' })
    expect((await audit.health()).status).toBe('warn')
    expect(fs.readFileSync(`${key.file}.note`, 'utf8')).toBe(note)
  })

  it.each(Object.entries(changes))('while it runs and %s', async (what, change) => {
    const audit = openLog()
    await record(audit, 300)
    await audit.ledger.checkpoint()
    const note = fs.readFileSync(`${key.file}.note`, 'utf8')
    execute(filename(), change)
    await record(audit, 10)
    const call = audit.ledger.checkpoint()
    // What this process has signed follows from its memory, and it replaces the row that it still fills.
    if (what === 'the rows were changed' || what === 'the nodes were changed')
      await call.catch(() => {})
    else {
      await expect(call).rejects.toThrow()
      expect(fs.readFileSync(`${key.file}.note`, 'utf8')).toBe(note)
    }
    expect((await audit.ledger.verify().catch(() => undefined))?.result).not.toBe('intact')
  })

  it('after an older copy of the file was put back', async () => {
    const first = openLog()
    await record(first, 300)
    await closed(first)
    const copy = temp.file('copy.db')
    fs.copyFileSync(filename(), copy)
    const second = openLog()
    await record(second, 100)
    await second.ledger.checkpoint()
    await closed(second)
    fs.copyFileSync(copy, filename())
    for (const end of ['-wal', '-shm']) fs.rmSync(filename() + end, { force: true })
    const third = openLog()
    await record(third, 200)
    await expect(third.ledger.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_DIVERGED' })
    const { result, findings } = await third.ledger.verify()
    expect(result).toBe('tampered')
    expect(findings).toMatchObject([{ kind: 'cut', leaves: [301, 400] }])
  })
})
