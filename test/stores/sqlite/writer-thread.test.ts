import fs from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import {
  AuditLog,
  type AuditLogError,
  type EventDraft,
  type EventStore,
  type FailurePolicy,
} from 'daybook'
import { sqliteJournal } from 'daybook/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { runScript } from '../../support/child.js'
import { draft as emptyDraft } from '../../../src/testing/conformance/helpers.js'
import { DEADLINE_MS, driveDeadlines } from '../../support/deadlines.js'
import {
  type HeldCommits,
  heldWriterThread,
  type Hold,
  holdCommits,
} from '../../support/held-writer.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { takeWarnings } from '../../support/warnings.js'

/* The writer thread of the SQLite store, on a disk that does not finish commits. */

const file = useSqliteFile()
const holds: HeldCommits[] = []

// Before what waits for the commits is closed.
afterEach(() => {
  for (const one of holds.splice(0)) one.release()
})

const hold = (how: Hold): HeldCommits => {
  const held = holdCommits(file.filename, how)
  holds.push(held)
  return held
}

async function openThreaded(): Promise<ReturnType<typeof createSqliteStore>> {
  const created = createSqliteStore(
    { filename: file.filename },
    {},
    { writerThreadFile: heldWriterThread },
  )
  file.closing(created.store)
  expect(await created.startWriter()).toBe(true)
  return created
}

const openStore = async (): Promise<EventStore> => (await openThreaded()).store

/** A log, and a function that ends the deadlines of its calls. */
async function openLog(failurePolicy: FailurePolicy = 'block') {
  const endDeadlines = driveDeadlines()
  const journal =
    failurePolicy === 'queue' ? sqliteJournal({ filename: file.beside('journal.db') }) : undefined
  const audit = new AuditLog({
    store: await openStore(),
    types: { 'test:note': {} },
    failurePolicy,
    waiting: { deadlineMs: DEADLINE_MS },
    ...(journal && { journal }),
  })
  // Otherwise the process warns of each loss.
  audit.on('rejected', () => {})
  audit.on('dropped', () => {})
  file.closing(audit)
  return { audit, journal, endDeadlines }
}

/** The types of all events, as another process sees them. */
const typesInFile = (): readonly string[] =>
  file.execute((database) => {
    const rows = database
      .prepare(
        `SELECT created_at, type FROM daybook_events UNION ALL SELECT created_at, type FROM daybook_live
         ORDER BY created_at`,
      )
      .all() as { readonly type: string }[]
    return rows.map(({ type }) => type).filter((type) => type !== 'warn:audit_log:gap')
  })

const draft = (type: string, more: Partial<EventDraft> = {}): EventDraft =>
  emptyDraft({}, { type, ...more })

const soon = (): number => performance.now() + 50

/** Lets the deadline of the drafts end during their commit. Returns the error. */
async function giveUpDuring(
  commit: HeldCommits,
  store: EventStore,
  drafts: readonly EventDraft[],
  options: Parameters<EventStore['append']>[1] = {},
): Promise<unknown> {
  const endDeadlines = driveDeadlines()
  const deadline = performance.now() + DEADLINE_MS
  const appending = store.append(drafts, { ...options, deadline })
  await commit.until()
  endDeadlines()
  return appending.catch((error: unknown) => error)
}

describe('while the disk does not finish a commit', () => {
  it('the event loop turns, and lists are answered', async () => {
    const { audit } = await openLog()
    await audit.recordCustom('test:first')
    const commit = hold('before')
    const recording = audit.recordCustom('test:held')
    await commit.until()
    for (let turn = 0; turn < 100; turn++) await nextTurn()
    expect((await audit.list()).events.map(({ type }) => type)).toEqual(['test:first'])
    commit.release()
    await recording
    expect(typesInFile()).toEqual(['test:first', 'test:held'])
  })

  it('a call rejects at its deadline, and is not kept', async () => {
    const { audit, endDeadlines } = await openLog()
    const commit = hold('after')
    const recording = audit.recordCustom('test:held').catch((error: unknown) => error)
    await commit.until()
    endDeadlines()
    expect(await recording).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('the disk has not finished the commit') as string,
    })
    expect(typesInFile()).toEqual(['test:held'])
    commit.release()
    await expect.poll(typesInFile).toEqual([])
    expect(audit.stats()).toMatchObject({ calls: 1, stored: 0, rejected: 1, waiting: 0 })
  })

  it('a call with the policy drop is dropped at its deadline, and is not kept', async () => {
    const { audit, endDeadlines } = await openLog('drop')
    const commit = hold('after')
    const recording = audit.recordCustom('test:held')
    await commit.until()
    endDeadlines()
    expect(await recording).toBeUndefined()
    expect(typesInFile()).toEqual(['test:held'])
    commit.release()
    await expect.poll(typesInFile).toEqual([])
    expect(audit.stats()).toMatchObject({ calls: 1, stored: 0, dropped: 1, waiting: 0 })
  })

  it('a call with the policy queue goes to the journal, and is stored once', async () => {
    const { audit, journal, endDeadlines } = await openLog('queue')
    const commit = hold('after')
    const recording = audit.recordCustom('test:held')
    await commit.until()
    endDeadlines()
    expect(await recording).toBeUndefined()
    expect(journal!.length).toBe(1)
    const [before] = (await audit.list()).events
    commit.release()
    await expect.poll(() => journal!.length).toBe(0)
    await audit.recordCustom('test:after')
    const { events } = await audit.list()
    expect(events.map(({ type }) => type)).toEqual(['test:held', 'test:after'])
    expect(events[0]!.id).toBe(before!.id)
    expect(audit.stats()).toMatchObject({ calls: 2, journalled: 1, stored: 1 })
  })

  it('calls behind it are given up without effect, and name the disk', async () => {
    const store = await openStore()
    const commit = hold('before')
    const error = await giveUpDuring(commit, store, [draft('test:first')])
    expect(error).toMatchObject({ code: 'ABORTED' })
    await expect(store.append([draft('test:second')], { deadline: soon() })).rejects.toMatchObject({
      code: 'ABORTED',
      cause: { message: 'the disk has not finished an earlier commit' },
    })
    commit.release()
    await store.append([draft('test:third')])
    expect(typesInFile()).toEqual(['test:third'])
  })

  it('an aborted call waits for its commit, which may end', async () => {
    const store = await openStore()
    const commit = hold('before')
    const giving = new AbortController()
    const appending = store.append([draft('test:first')], {
      signal: giving.signal,
      deadline: performance.now() + DEADLINE_MS,
    })
    await commit.until()
    giving.abort()
    commit.release()
    expect(await appending).toHaveLength(1)
    expect(typesInFile()).toEqual(['test:first'])
  })

  it('writes that are no events have an unknown outcome', async () => {
    const store = await openStore()
    const commit = hold('after')
    const giving = new AbortController()
    const writing = store.updateState('key', () => 1, { signal: giving.signal })
    await commit.until()
    giving.abort()
    await expect(writing).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    commit.release()
    expect(await store.updateState('key', (value) => value)).toBe(1)
  })

  it('close resolves', async () => {
    const { store } = await openThreaded()
    const commit = hold('before')
    const error = await giveUpDuring(commit, store, [draft('test:first')])
    expect(error).toMatchObject({ code: 'ABORTED' })
    await store.close()
    await expect(store.append([draft('test:second')])).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('after an attempt that was given up during its commit', () => {
  /** Gives up the drafts after the commit, before the thread knows of it. */
  async function giveUp(
    store: EventStore,
    drafts: readonly EventDraft[],
    options: Parameters<EventStore['append']>[1] = {},
  ): Promise<unknown> {
    const commit = hold('after')
    const error = await giveUpDuring(commit, store, drafts, options)
    expect(typesInFile()).toEqual(drafts.map(({ type }) => type))
    commit.release()
    return error
  }

  it('a draft that is appended again keeps its event; the others are removed', async () => {
    const store = await openStore()
    const drafts = [draft('test:first'), draft('test:second')]
    expect(await giveUp(store, drafts)).toMatchObject({ code: 'ABORTED' })
    const [event] = await store.append([drafts[1]!])
    expect(typesInFile()).toEqual(['test:second'])
    expect(await store.get(event!.id)).toEqual(event)
  })

  it('a draft that is appended later stays', async () => {
    const store = await openStore()
    const drafts = [draft('test:first'), draft('test:second')]
    await giveUp(store, drafts, { retriedLater: new Set([drafts[0]!.suffix]) })
    await store.append([draft('test:third')])
    expect(typesInFile()).toEqual(['test:first', 'test:third'])
  })

  it('a draft that other processes may have found stays, and its outcome is unknown', async () => {
    const store = await openStore()
    const drafts = [draft('test:first')]
    expect(await giveUp(store, drafts, { since: 0 })).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    await store.append([draft('test:second')])
    expect(typesInFile()).toEqual(['test:first', 'test:second'])
  })

  it('a throttle is open again', async () => {
    const store = await openStore()
    const throttle = { key: 'test:throttled', scope: {}, period: 3_600_000_000 }
    await giveUp(store, [draft('test:throttled', { throttle })])
    const [event] = await store.append([draft('test:throttled', { throttle })])
    expect(await store.get(event!.id)).toEqual(event)
    expect(typesInFile()).toEqual(['test:throttled'])
  })

  it('a live event is removed', async () => {
    const store = await openStore()
    await giveUp(store, [draft('test:live', { live: true })])
    await store.append([draft('test:after')])
    expect(await store.openEvents()).toEqual([])
    expect(typesInFile()).toEqual(['test:after'])
  })

  it('close removes what was stored after all', async () => {
    const store = await openStore()
    await giveUp(store, [draft('test:first')])
    await store.close()
    expect(typesInFile()).toEqual([])
  })
})

it('a call that waits for a lock is given up without effect, and names it', async () => {
  const store = await openStore()
  const other = new Database(file.filename)
  file.closing(other)
  other.exec('BEGIN IMMEDIATE')
  const errorOfAppend = (): Promise<unknown> =>
    store
      .append([draft('test:first')], { deadline: soon() })
      .catch(({ code, cause }: AuditLogError) => ({ code, cause }))
  // On a busy machine, the deadline may end before the thread asks for the lock.
  await expect
    .poll(errorOfAppend, { timeout: 60_000 })
    .toMatchObject({ code: 'ABORTED', cause: { code: 'SQLITE_BUSY' } })
  other.exec('ROLLBACK')
  await store.append([draft('test:second')])
  expect(typesInFile()).toEqual(['test:second'])
})

describe('if the thread ends', () => {
  it('an event whose commit it made is stored once, and the failure is reported', async () => {
    const warnings = takeWarnings()
    const { store, startWriter } = await openThreaded()
    hold('die')
    const first = draft('test:first')
    const [event] = await store.append([first])
    expect(typesInFile()).toEqual(['test:first'])
    expect(await store.get(event!.id)).toEqual(event)
    expect(warnings).toEqual([
      expect.stringMatching(/^the writer thread of the SQLite store has ended/),
    ])
    expect(await startWriter()).toBe(true)
    await store.append([draft('test:second')])
    expect(typesInFile()).toEqual(['test:first', 'test:second'])
  })

  it('a write that is no event has an unknown outcome, and the calls behind it take effect', async () => {
    const warnings = takeWarnings()
    const store = await openStore()
    hold('die')
    const report = store.reportSuppressed({ reporter: 'test', number: 1, counts: [] })
    const appending = store.append([draft('test:behind')])
    await expect(report).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    await appending
    expect(typesInFile()).toEqual(['test:behind'])
    expect(warnings).toHaveLength(1)
  })
})

describe('the thread', () => {
  it('does not start for a file that has been replaced; a warning says why', async () => {
    const warnings = takeWarnings()
    const { store, startWriter } = createSqliteStore({ filename: file.filename })
    file.closing(store)
    const other = createSqliteStore({ filename: file.beside('other.db'), writer: 'inline' })
    await other.store.close()
    fs.renameSync(file.beside('other.db'), file.filename)
    expect(await startWriter()).toBe(false)
    expect(warnings).toEqual([expect.stringContaining('is not the file any more')])
  })

  it('is not needed: without it the main thread writes, and a warning says so', async () => {
    const warnings = takeWarnings()
    const { store, startWriter } = createSqliteStore(
      { filename: file.filename },
      {},
      { writerThreadFile: () => new URL('./not-there.js', import.meta.url) },
    )
    file.closing(store)
    expect(await startWriter()).toBe(false)
    await store.append([draft('test:first')])
    expect(typesInFile()).toEqual(['test:first'])
    expect(warnings).toEqual([
      expect.stringMatching(/^the SQLite store writes in the main thread.*not-there/),
    ])
  })

  it('does not start for the handle of a host, or inline', async () => {
    const database = new Database(file.filename)
    file.closing(database)
    for (const options of [{ database }, { filename: file.filename, writer: 'inline' } as const]) {
      const { store, startWriter } = createSqliteStore(options)
      file.closing(store)
      expect(await startWriter()).toBe(false)
    }
  })

  it.each([0, 3])('keeps no process alive after %i events', async (count) => {
    const child = runScript('test/stores/sqlite/threaded-child.ts', [file.filename, String(count)])
    expect(await child.ended).toBe(0)
    expect(child.stdout()).toBe('recorded\n')
    expect(typesInFile()).toHaveLength(count)
  })

  it('has ended when the store is closed while it starts', async () => {
    const { store, startWriter } = createSqliteStore({ filename: file.filename })
    const starting = startWriter()
    await store.close()
    expect(await starting).toBe(false)
  })

  it('loads its driver before a process ends that exits meanwhile', async () => {
    const files = [file.beside('begun'), file.beside('loaded')]
    const child = runScript('test/stores/sqlite/loading-child.ts', files)
    expect(await child.ended).toBe(0)
    expect(files.map((file) => fs.existsSync(file))).toEqual([true, true])
  })

  it('is refused by another name', () => {
    expect(() =>
      createSqliteStore({ filename: file.filename, writer: 'process' as never }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
