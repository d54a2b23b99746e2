import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { faultyStore, manualClock } from 'daybook/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CleaningOptions, CleaningRule } from '../../../src/cleaning/rule.js'
import { untilAborted } from '../../../src/errors.js'
import { tempDir } from '../../support/temp.js'
import type { ManualClock } from './cleaning-stores.js'
import { openWorld, type World } from './cleaning-world.js'

const DAY = 86_400_000_000
const START = '2026-06-01T00:00:00Z'
const MAX_SECONDS = 60

/** Closed after the test, the last one first. */
const opened: (() => unknown)[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const close of opened.splice(0).toReversed()) await close()
})

function open<Opened extends { close: () => unknown }>(one: Opened): Opened {
  opened.push(() => one.close())
  return one
}

function tempFile(): string {
  const temp = tempDir()
  opened.push(temp.remove)
  return temp.file('audit.db')
}

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
}

/** The outcome of the promise within a minute of fake time. */
async function outcomeInTime(promise: Promise<unknown>): Promise<unknown> {
  let outcome: unknown
  void promise.then(
    () => (outcome = 'resolved'),
    (error: unknown) => (outcome = Object(error).code),
  )
  for (let second = 0; second < MAX_SECONDS && outcome === undefined; second++) {
    await vi.advanceTimersByTimeAsync(1000)
    // A store that waits for a lock tries it every few milliseconds of real time.
    await delay(10)
  }
  // On a busy machine the store may take longer, but the time of the log does not advance.
  while (outcome === undefined) await delay(10)
  return outcome
}

async function fill(audit: AuditLog, clock: ManualClock): Promise<void> {
  for (let n = 0; n < 3; n++) await audit.recordCustom('n', { n })
  clock.advance(10 * DAY)
}

function gate(): { readonly passed: Promise<void>; open: () => void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open }
}

const never = (): Promise<never> => new Promise(() => {})

describe('while another connection holds the lock of the file', () => {
  const openLocked = async (): Promise<{ audit: AuditLog; isRemoving: Promise<void> }> => {
    const filename = tempFile()
    const clock = manualClock(START)
    const other = open(new Database(filename))
    const store = sqliteStore({ filename, clock })
    const removing = gate()
    const audit: AuditLog = new AuditLog({
      types: {},
      store: {
        ...store,
        remove(ids, options) {
          other.exec('BEGIN IMMEDIATE')
          removing.open()
          return store.remove(ids, options)
        },
      },
      cleaning: { rules: [{ target: 'events', filter: 'filter[type_eq]=n', maxRows: 0 }] },
    })
    opened.push(async () => {
      other.exec('ROLLBACK')
      await audit.close()
    })
    await fill(audit, clock)
    useFakeTimers()
    return { audit, isRemoving: removing.passed }
  }

  it('a run that is aborted ends', async () => {
    const { audit, isRemoving } = await openLocked()
    const abort = new AbortController()
    const running = audit.cleaning.run({ signal: abort.signal })
    await isRemoving
    abort.abort()
    expect(await outcomeInTime(running)).toBe('ABORTED')
  })

  it('the log can be closed', async () => {
    const { audit, isRemoving } = await openLocked()
    const running = audit.cleaning.run()
    const refused = expect(running).rejects.toMatchObject({ code: 'CLOSED' })
    await isRemoving
    expect(await outcomeInTime(audit.close())).toBe('resolved')
    await refused
  })
})

describe('a run that is aborted', () => {
  it('waits a while for the current removal, and records it', async () => {
    const abort = new AbortController()
    const clock = manualClock(START)
    const store = memoryStore({ clock })
    const slow: EventStore = {
      ...store,
      async remove(ids, options) {
        abort.abort()
        await nextTurn()
        return store.remove(ids, options)
      },
    }
    const rules: CleaningRule[] = [{ target: 'events', filter: 'filter[type_eq]=n', maxRows: 0 }]
    const { audit, cleaning, cleaningEvents } = open(openWorld(slow, { rules }))
    await fill(audit, clock)
    await expect(cleaning.run({ signal: abort.signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await cleaningEvents()).toMatchObject([{ attributes: { removed_count: 3 } }])
  })

  it('also ends if the renewal of its lease hangs', async () => {
    useFakeTimers()
    const store = faultyStore(memoryStore())
    const abort = new AbortController()
    const began = gate()
    const run: () => Promise<never> = () => {
      began.open()
      return never()
    }
    const { cleaning } = open(openWorld(store, { rules: [{ target: 'jobs', run }] }))
    const running = cleaning.run({ signal: abort.signal })
    await began.passed
    store.hang('updateState', 1)
    const update = vi.spyOn(store, 'updateState')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(update).toHaveBeenCalledOnce()
    abort.abort()
    expect(await outcomeInTime(running)).toBe('ABORTED')
    // The lease has been released.
    expect(await cleaning.status()).toMatchObject({ rules: [{ running: false }] })
  })
})

describe('a function for holds that never resolves', () => {
  const options: CleaningOptions = { rules: [{ target: 'events', maxRows: 0 }], holds: never }

  it.each(['run', 'preview'] as const)('does not keep %s from being aborted', async (method) => {
    useFakeTimers()
    const abort = new AbortController()
    const { cleaning } = open(openWorld(memoryStore(), options))
    const running = cleaning[method]({ signal: abort.signal })
    await nextTurn()
    abort.abort()
    expect(await outcomeInTime(running)).toBe('ABORTED')
  })

  it('does not keep the log from being closed', async () => {
    useFakeTimers()
    const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {}, cleaning: options })
    const running = audit.cleaning.run()
    const refused = expect(running).rejects.toMatchObject({ code: 'CLOSED' })
    await nextTurn()
    expect(await outcomeInTime(audit.close())).toBe('resolved')
    await refused
  })
})

it('a failure after the signal has aborted is not an unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  try {
    const failed = Promise.reject(new Error('too late'))
    await expect(untilAborted(failed, AbortSignal.abort())).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await nextTurn()
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
})

it('an event on hold that is imported while all events are removed stays', async () => {
  const clock = manualClock(START)
  const store = sqliteStore({ filename: tempFile(), clock })
  const held = {
    id: '019e0000-0000-7000-8000-000000000001',
    created_at: '2026-06-01T00:00:01.000000Z',
    username: null,
    system: false,
    type: 'held',
    source: null,
    attributes: {},
  }
  let importing: Promise<unknown> | undefined
  const importOnce = (): Promise<unknown> => (importing ??= audit.importEvents([held]))
  const busy: EventStore = {
    ...store,
    async remove(ids, options) {
      await importOnce()
      return store.remove(ids, options)
    },
    async removeBefore(time, options) {
      await importOnce()
      return store.removeBefore(time, options)
    },
  }
  const { audit, cleaning, all }: World = open(
    openWorld(busy, {
      rules: [{ target: 'events', maxAge: { days: 1 } }],
      holds: [{ filter: 'filter[type_eq]=held' }],
    }),
  )
  for (let n = 0; n < 500; n++) {
    clock.advance(10_000)
    void audit.recordCustom('n', { n })
  }
  await audit.flush()
  clock.advance(10 * DAY)
  expect(await cleaning.run()).toMatchObject([{ removed_count: 500 }])
  const left = (await all()).filter(({ system }) => !system)
  expect(left).toEqual([held])
})
