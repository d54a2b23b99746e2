import fs from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type AuditLogError, type EventStore, type FailurePolicy } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasFrames } from '../../../adapters/sqlite/connection/checkpointer.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { draft as emptyDraft } from '../../../src/testing/conformance/helpers.js'
import { runScript } from '../../support/child.js'
import { DEADLINE_MS, driveDeadlines } from '../../support/deadlines.js'
import { type HeldSync, holdSync } from '../../support/held-sync.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

/* The times at which an event is stored and becomes durable, on a disk that the test controls. */

const file = useSqliteFile()
const disks: HeldSync[] = []

// Runs before stores that wait for the syncs are closed.
afterEach(() => {
  for (const disk of disks.splice(0)) disk.release()
})

/** Stops the clock, because nothing is stored behind a sync of more than 100 ms. */
function stopClock(): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => clock.mockRestore())
}

function openStore(options: { readonly database?: Database.Database } = {}) {
  const disk = holdSync()
  disks.push(disk)
  const place = options.database ? { database: options.database } : { filename: file.filename }
  const { store } = createSqliteStore(place, {}, { syncFile: disk.syncFile })
  file.closing(store)
  return { store, disk }
}

/** A log, its disk, and a function that ends the deadlines of its calls. */
function openLog(failurePolicy: FailurePolicy = 'block', maxWaiting = 10_000) {
  const endDeadlines = driveDeadlines()
  const { store, disk } = openStore()
  const journal =
    failurePolicy === 'queue' ? sqliteJournal({ filename: file.beside('journal.db') }) : undefined
  const audit = new AuditLog({
    store,
    types: { 'test:note': {} },
    failurePolicy,
    waiting: { deadlineMs: DEADLINE_MS, maxWaiting },
    ...(journal && { journal }),
  })
  // Otherwise the process warns of each loss.
  audit.on('rejected', () => {})
  audit.on('dropped', () => {})
  file.closing(audit)
  return { audit, store, disk, journal, endDeadlines }
}

const draft = (type: string) => emptyDraft({}, { type })
const known = draft('test:known')

/** The types of the visible events. */
const typesIn = async (store: Pick<EventStore, 'list'>): Promise<string[]> => {
  const { events } = await store.list({ where: undefined, sorts: [], limit: 100 })
  return events.map(({ type }) => type).filter((type) => type !== 'warn:audit_log:gap')
}

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'resolved',
    ({ code }: AuditLogError) => code,
  )

/** True if the promise settles within some turns of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = (): void => void (settled = true)
  promise.then(settle, settle)
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  return settled
}

describe('before the disk has an event', () => {
  it('the event is visible, and the call has no result', async () => {
    const { audit, disk } = openLog()
    let heard = 0
    audit.on('recorded', () => heard++)
    disk.hold()
    const recording = audit.recordCustom('test:note')
    await disk.untilHeld()
    expect(await typesIn(audit.store)).toEqual(['test:note'])
    expect(await isSettled(recording)).toBe(false)
    expect([heard, audit.stats().waiting, audit.stats().stored]).toEqual([0, 1, 0])
    disk.release()
    expect(await recording).toMatchObject({ type: 'test:note' })
    expect([heard, audit.stats().waiting, audit.stats().stored]).toEqual([1, 0, 1])
  })

  it('the next batch is stored, but no third one; a sync confirms the events that were stored before it', async () => {
    stopClock()
    const { audit, store, disk } = openLog()
    await audit.recordCustom('test:first')
    disk.hold()
    const settled: string[] = []
    const record = async (type: string): Promise<void> => {
      await audit.recordCustom(type)
      settled.push(type)
    }
    const calls = [record('test:a')]
    await disk.untilHeld()
    calls.push(record('test:b'))
    await expect.poll(() => typesIn(store)).toEqual(['test:first', 'test:a', 'test:b'])
    calls.push(record('test:c'))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(await typesIn(store)).toEqual(['test:first', 'test:a', 'test:b'])
    expect([audit.stats().waiting, settled]).toEqual([3, []])
    const before = disk.count()
    disk.release()
    await Promise.all(calls)
    expect(settled).toEqual(['test:a', 'test:b', 'test:c'])
    // One sync is for the second batch and the events that were stored before it began.
    expect(disk.count() - before).toBeLessThanOrEqual(2)
    expect(await typesIn(store)).toEqual(['test:first', 'test:a', 'test:b', 'test:c'])
  })

  it('no tail gets it, in this process or in another', async () => {
    const { audit, disk } = openLog()
    await audit.recordCustom('test:first')
    const reader = openStore()
    const readOnly = sqliteStore({ filename: file.filename, readOnly: true })
    file.closing(readOnly)
    const query = { where: undefined, sorts: [], limit: 10 }
    disk.hold()
    reader.disk.hold()
    const recording = audit.recordCustom('test:second')
    await disk.untilHeld()
    const own = audit.store.list(query, { durable: true })
    const other = reader.store.list(query, { durable: true })
    expect(await isSettled(own)).toBe(false)
    expect(await isSettled(other)).toBe(false)
    // A sync by any process confirms the writes of all processes.
    reader.disk.release()
    expect((await other).events).toHaveLength(2)
    expect((await readOnly.list(query, { durable: true })).events).toHaveLength(2)
    disk.release()
    await recording
    expect((await own).events).toHaveLength(2)
    const before = disk.count()
    expect((await audit.store.list(query, { durable: true })).events).toHaveLength(2)
    expect(disk.count() - before).toBeLessThanOrEqual(1)
  })

  it.each<[string, (store: EventStore) => Promise<unknown>]>([
    ['an import', (store) => store.importEvents([])],
    ['a state', (store) => store.updateState('key', () => 1)],
    [
      'counts of a throttle',
      (store) => store.reportSuppressed({ reporter: 'a', number: 1, counts: [] }),
    ],
    ['a removal', (store) => store.removeBefore(1)],
    ['a heartbeat', (store) => store.touchLive(['x'])],
    ['an append of nothing new', (store) => store.append([known], { since: 0 })],
  ])('%s does not resolve', async (_, write) => {
    const { store, disk } = openStore()
    await store.append([known])
    disk.hold()
    const writing = write(store)
    await disk.untilHeld()
    expect(await isSettled(writing)).toBe(false)
    disk.release()
    await writing
  })
  it('the events of the outbox do not count as removed from it', async () => {
    const { store, disk } = openStore()
    const host = new Database(file.filename)
    file.closing(host)
    host.exec('BEGIN')
    await store.enlist!(draft('test:enlisted'), host)
    host.exec('COMMIT')
    disk.hold()
    const appending = store.append([draft('test:own')])
    await disk.untilHeld()
    expect(await isSettled(appending)).toBe(false)
    disk.release()
    await appending
    expect(await typesIn(store)).toEqual(['test:enlisted', 'test:own'])
  })
})

describe('while a sync does not end', () => {
  it('a call has an unknown outcome at its deadline, and the event stays', async () => {
    const { audit, disk, endDeadlines } = openLog()
    disk.hold()
    const recording = codeOf(audit.recordCustom('test:held'))
    await disk.untilHeld()
    endDeadlines()
    expect(await recording).toBe('OUTCOME_UNKNOWN')
    disk.release()
    await audit.recordCustom('test:after')
    expect(await typesIn(audit.store)).toEqual(['test:held', 'test:after'])
    expect(audit.stats()).toMatchObject({ calls: 2, stored: 1, rejected: 1, waiting: 0 })
  })

  it('a later call is not stored once the sync takes long, and its error contains the reason', async () => {
    const { audit, store, disk, endDeadlines } = openLog()
    disk.hold()
    const first = codeOf(audit.recordCustom('test:held'))
    await disk.untilHeld()
    endDeadlines()
    expect(await first).toBe('OUTCOME_UNKNOWN')
    const second = audit.recordCustom('test:behind').catch((error: unknown) => error)
    expect(await isSettled(second)).toBe(false)
    endDeadlines()
    expect(await second).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('the disk has not finished an earlier commit') as string,
    })
    disk.release()
    await audit.recordCustom('test:after')
    expect(await typesIn(store)).toEqual(['test:held', 'test:after'])
  })

  it('calls wait up to the limit', async () => {
    const { audit, disk } = openLog('block', 3)
    disk.hold()
    const calls = [audit.recordCustom('test:a')]
    await disk.untilHeld()
    calls.push(audit.recordCustom('test:b'), audit.recordCustom('test:c'))
    await expect(audit.recordCustom('test:d')).rejects.toMatchObject({ code: 'QUEUE_FULL' })
    disk.release()
    await Promise.all(calls)
  })

  it('a call with the policy drop is dropped at its deadline', async () => {
    const { audit, disk, endDeadlines } = openLog('drop')
    disk.hold()
    const recording = audit.recordCustom('test:held')
    await disk.untilHeld()
    endDeadlines()
    expect(await recording).toBeUndefined()
    disk.release()
    expect(audit.stats()).toMatchObject({ calls: 1, stored: 0, dropped: 1, waiting: 0 })
  })

  it('calls with the policy queue go to the journal in order, and are stored once', async () => {
    stopClock()
    const { audit, store, disk, journal, endDeadlines } = openLog('queue')
    disk.hold()
    const calls = [audit.recordCustom('test:a')]
    await disk.untilHeld()
    calls.push(audit.recordCustom('test:b'))
    await expect.poll(() => typesIn(store)).toEqual(['test:a', 'test:b'])
    calls.push(audit.recordCustom('test:c'))
    endDeadlines()
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined])
    expect(journal!.length).toBe(3)
    disk.release()
    await expect.poll(() => journal!.length).toBe(0)
    await audit.recordCustom('test:d')
    expect(await typesIn(store)).toEqual(['test:a', 'test:b', 'test:c', 'test:d'])
    expect(audit.stats()).toMatchObject({ calls: 4, journalled: 3, stored: 1 })
  })

  it('an append without a recorder has an unknown outcome at its deadline, and a retry finds its event', async () => {
    const { store, disk } = openStore()
    const endDeadlines = driveDeadlines()
    const one = draft('test:one')
    disk.hold()
    const appending = codeOf(store.append([one], { deadline: performance.now() + DEADLINE_MS }))
    await disk.untilHeld()
    endDeadlines()
    expect(await appending).toBe('OUTCOME_UNKNOWN')
    disk.release()
    expect(await store.append([one], { since: 0 })).toHaveLength(1)
    expect(await typesIn(store)).toEqual(['test:one'])
  })

  it('the log closes', async () => {
    const { audit, disk, endDeadlines } = openLog()
    disk.hold()
    const recording = codeOf(audit.recordCustom('test:held'))
    await disk.untilHeld()
    endDeadlines()
    await recording
    await audit.close()
    expect(fs.existsSync(`${file.filename}-wal`)).toBe(false)
  })
})

describe('after a sync has failed', () => {
  it('the outcome of the events that it should have confirmed is unknown, and nothing is confirmed before a checkpoint', async () => {
    const { audit, store, disk } = openLog()
    await audit.recordCustom('test:before')
    disk.fail()
    expect(await codeOf(audit.recordCustom('test:doubtful'))).toBe('OUTCOME_UNKNOWN')
    // The disk would report success now. A reader keeps the checkpoint from completing.
    const reader = new Database(file.filename)
    file.closing(reader)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM daybook_events').get()
    const deadline = performance.now() + 50
    expect(await codeOf(store.append([draft('test:refused')], { deadline }))).toBe('ABORTED')
    const listing = store.list(
      { where: undefined, sorts: [], limit: 10 },
      { durable: true, signal: AbortSignal.timeout(50) },
    )
    expect(await codeOf(listing)).toBe('ABORTED')
    reader.exec('COMMIT')
    await audit.recordCustom('test:after')
    expect(await typesIn(store)).toEqual(['test:before', 'test:doubtful', 'test:after'])
  })

  it('both batches that wait for a sync are unknown', async () => {
    stopClock()
    const { audit, store, disk } = openLog()
    disk.hold()
    const first = codeOf(audit.recordCustom('test:a'))
    await disk.untilHeld()
    const second = codeOf(audit.recordCustom('test:b'))
    await expect.poll(() => typesIn(store)).toEqual(['test:a', 'test:b'])
    disk.fail()
    expect([await first, await second]).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'])
    await audit.recordCustom('test:c')
    expect(await typesIn(store)).toEqual(['test:a', 'test:b', 'test:c'])
  })
})

it('a sync of a -wal file that was replaced confirms nothing', async () => {
  stopClock()
  const { store, disk } = openStore()
  await store.append([draft('test:before')])
  disk.hold()
  const held = codeOf(store.append([draft('test:held')]))
  await disk.untilHeld()
  const behind = codeOf(store.append([draft('test:behind')]))
  await nextTurn()
  fs.copyFileSync(`${file.filename}-wal`, `${file.filename}-copy`)
  fs.renameSync(`${file.filename}-copy`, `${file.filename}-wal`)
  disk.release()
  expect([await held, await behind]).toEqual(['resolved', 'OUTCOME_UNKNOWN'])
})

it('a file without WAL waits for the disk in each commit', async () => {
  const host = new Database(file.filename)
  file.closing(host)
  host.pragma('journal_mode = DELETE')
  const { store, disk } = openStore({ database: host })
  await store.append([draft('test:note')])
  expect(disk.count()).toBe(0)
  expect(await typesIn(store)).toEqual(['test:note'])
})

it('at most two syncs run at once, over all logs of a process', async () => {
  const names = ['a', 'b', 'c']
  const logs = names.map((name) => {
    const disk = holdSync()
    disks.push(disk)
    const { store } = createSqliteStore(
      { filename: file.beside(`${name}.db`) },
      {},
      { syncFile: disk.syncFile },
    )
    file.closing(store)
    disk.hold()
    return { store, disk }
  })
  const appending = logs.map(({ store }) => store.append([draft('test:note')]))
  await Promise.all(logs.slice(0, 2).map(({ disk }) => disk.untilHeld()))
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  expect(logs.map(({ disk }) => disk.count())).toEqual([1, 1, 0])
  for (const { disk } of logs) disk.release()
  await Promise.all(appending)
  expect(logs.map(({ disk }) => disk.count())).toEqual([1, 1, 1])
})

it('the thread checkpoints the WAL and restarts it, while the log is written', async () => {
  const { store } = openStore()
  const fd = fs.openSync(`${file.filename}-wal`, 'r')
  const append = (): Promise<unknown> =>
    store.append(Array.from({ length: 500 }, () => emptyDraft({ text: 'x'.repeat(9000) })))
  try {
    while (!hasFrames(fd)) await append()
    const isLong = async (): Promise<boolean> => {
      await store.append([draft('test:note')])
      return hasFrames(fd)
    }
    await expect.poll(isLong).toBe(false)
  } finally {
    fs.closeSync(fd)
  }
})

it('the option writer is refused like any misspelt option', () => {
  const options = { filename: file.filename, writer: 'thread' }
  expect(() => sqliteStore(options)).toThrow(/sqliteStore.*writer/)
})

it('a process that exits while a thread loads its driver ends after the loading', async () => {
  const files = [file.beside('begun'), file.beside('loaded')]
  const child = runScript('test/stores/sqlite/loading-child.ts', files)
  expect(await child.ended).toBe(0)
  expect(files.map((name) => fs.existsSync(name))).toEqual([true, true])
})
