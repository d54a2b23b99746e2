import { runInNewContext } from 'node:vm'
import { AuditLogError, type EventDraft, type RecorderOptions } from 'daybook'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createJournaling, type Journaling } from '../../../src/recording/journaling.js'
import { type AddOptions, createRecorder, type Recorder } from '../../../src/recording/recorder.js'
import { defaultRecorderOptions } from '../../../src/recording/queue.js'
import {
  type Answer,
  failing,
  type FakeStore,
  fakeStore,
  gate,
  stateOf,
  turns,
  untilAborted,
} from '../fake-store.js'
import { plainDraft } from '../../support/plain-events.js'
import { takeWarnings } from '../../support/warnings.js'
import { memoryJournal } from '../memory-journal.js'

const draft = (type: string, json = '{}'): EventDraft =>
  plainDraft({ type, attributes: JSON.parse(json) as EventDraft['attributes'], json })

const journalingOf = (journal = memoryJournal()): Journaling => createJournaling(journal, () => 0)

interface Rig {
  readonly recorder: Recorder
  readonly store: FakeStore
  /** The calls of the observer, in order. */
  readonly observed: string[]
  readonly add: (type: string, signal?: AbortSignal, options?: AddOptions) => Promise<unknown>
}

function rig(
  store = fakeStore(),
  options: Partial<RecorderOptions> = {},
  journaling?: Journaling,
): Rig {
  const observed: string[] = []
  const recorder = createRecorder(
    store,
    { ...defaultRecorderOptions, ...options },
    {
      now: () => 0,
      journaling,
      outcomes: {
        stored: (events) => void observed.push(...events.map((event) => `stored ${event.type}`)),
        suppressed: ({ type }, opensIn) => void observed.push(`suppressed ${type} for ${opensIn}`),
        enlisted: () => void observed.push('enlisted'),
        rejected: ({ type }, error) => void observed.push(`${error.code} ${type}`),
        dropped: ({ type }, error) => void observed.push(`dropped ${type} ${error.code}`),
        journalled: ({ type }) => void observed.push(`journalled ${type}`),
        replayed: (events) =>
          void observed.push(...events.map((event) => `replayed ${event.type}`)),
      },
    },
  )
  const add: Rig['add'] = (type, signal, further) => {
    const call = recorder.add(draft(type), { ...further, signal })
    // Prevents an unhandled rejection, because the test awaits the call later.
    call.catch(() => {})
    return call
  }
  return { recorder, store, observed, add }
}

describe('batches', () => {
  it('calls of one turn share one append', async () => {
    const { store, add, observed } = rig()
    const first = add('a')
    const second = add('b')
    await Promise.resolve()
    const third = add('c')
    expect(store.tried).toEqual([])
    await expect(first).resolves.toMatchObject({
      id: '00000000-0000-7000-8000-000000000001',
      type: 'a',
    })
    await expect(second).resolves.toMatchObject({ type: 'b' })
    await expect(third).resolves.toMatchObject({ type: 'c' })
    expect(store.tried).toEqual([['a', 'b', 'c']])
    expect(observed).toEqual(['stored a', 'stored b', 'stored c'])
  })

  it('have at most `maxBatch` events, in order', async () => {
    const { store, add, recorder } = rig(fakeStore({ tuning: { maxBatch: 2 } }))
    for (const type of ['a', 'b', 'c', 'd', 'e']) void add(type)
    await recorder.flush()
    expect(store.tried).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  it('events added during an append form the next batch', async () => {
    const hold = gate()
    const { store, add, recorder } = rig(fakeStore({ answers: [hold.answer] }))
    void add('a')
    await turns()
    void add('b')
    await turns()
    void add('c')
    expect(store.tried).toEqual([['a']])
    expect(recorder.waiting()).toBe(3)
    hold.open()
    await recorder.flush()
    expect(store.tried).toEqual([['a'], ['b', 'c']])
    expect(recorder.waiting()).toBe(0)
  })

  it('a store that works in the background has the next full batch before calls continue', async () => {
    const [first, second] = [gate(), gate()]
    const answers = [first.answer, second.answer]
    const store = fakeStore({ tuning: { maxBatch: 2, appendsInBackground: true }, answers })
    const { add, observed, recorder } = rig(store)
    const tried: string[][][] = []
    const calls = ['a', 'b', 'c', 'd', 'e'].map((type) =>
      add(type).then(() => tried.push([...store.tried])),
    )
    await turns()
    expect(store.tried).toEqual([['a', 'b']])
    first.open()
    await Promise.all(calls.slice(0, 2))
    const both = [
      ['a', 'b'],
      ['c', 'd'],
    ]
    expect(tried).toEqual([both, both])
    expect(observed).toEqual(['stored a', 'stored b'])
    expect(recorder.waiting()).toBe(3)
    second.open()
    await recorder.flush()
    expect(store.tried).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(recorder.waiting()).toBe(0)
  })

  it('the observer is called before a promise settles', async () => {
    const { add, observed } = rig()
    const seen: string[][] = []
    await Promise.all(['a', 'b'].map((type) => add(type).then(() => seen.push([...observed]))))
    expect(seen).toEqual([
      ['stored a', 'stored b'],
      ['stored a', 'stored b'],
    ])
  })

  it('without events there is no append', async () => {
    const { store, recorder } = rig()
    await recorder.flush()
    expect(store.tried).toEqual([])
  })
})

describe('a failing append', () => {
  it('rejects its batch with STORE_FAILED, and the next batch is stored', async () => {
    const broken = new Error('disk full')
    const store = fakeStore({ tuning: { maxBatch: 2 }, answers: [failing(broken)] })
    const { add, recorder, observed } = rig(store)
    const calls = ['a', 'b', 'c'].map((type) => add(type))
    await recorder.flush()
    await expect(calls[0]).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'STORE_FAILED',
      cause: broken,
      message: expect.stringContaining('fake'),
    })
    await expect(calls[1]).rejects.toMatchObject({ code: 'STORE_FAILED', cause: broken })
    await expect(calls[2]).resolves.toMatchObject({ type: 'c' })
    expect(store.stored).toEqual(['c'])
    expect(observed).toEqual(['STORE_FAILED a', 'STORE_FAILED b', 'stored c'])
    expect(recorder.waiting()).toBe(0)
  })

  it('rejects with the same error if it is an AuditLogError', async () => {
    const closed = new AuditLogError('CLOSED', 'the fake store is closed')
    const { add } = rig(fakeStore({ answers: [failing(closed)] }))
    await expect(add('a')).rejects.toBe(closed)
  })

  it('may also throw synchronously', async () => {
    const store = fakeStore()
    const broken = new Error('not even a promise')
    store.append = failing(broken)
    await expect(rig(store).add('a')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: broken,
    })
  })
})

describe('the deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  const pass = async (ms: number): Promise<void> => {
    await turns()
    await vi.advanceTimersByTimeAsync(ms)
    await turns()
  }

  it('aborts the append and rejects with DEADLINE_EXCEEDED', async () => {
    const store = fakeStore({ answers: [untilAborted] })
    const { add, recorder, observed } = rig(store, { deadlineMs: 40 })
    const call = add('a')
    await pass(35)
    expect(await stateOf(call)).toBe('waiting')
    await pass(10)
    await expect(call).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'the fake store did not take the event within 40 ms',
      cause: { code: 'ABORTED' },
    })
    expect(store.tried).toEqual([['a']])
    expect(store.stored).toEqual([])
    expect(observed).toEqual(['DEADLINE_EXCEEDED a'])
    expect(recorder.waiting()).toBe(0)
  })

  // The clock advances by 1 ms with each reading. The number of earlier readings is not fixed.
  it.each([42, 44, 46, 48, 50, 52])(
    'is tested once for a batch, so that the journal has the order of the calls, after %i ms',
    async (ms) => {
      const journaling = createJournaling(memoryJournal(), () => 1)
      const store = fakeStore({ answers: [untilAborted] })
      const { add, observed } = rig(store, { deadlineMs: 40 }, journaling)
      void add('first')
      const types = ['a', 'b', 'c', 'd', 'e', 'f']
      const deadline = performance.now() + ms
      for (const type of types) void add(type, undefined, { policy: 'queue', deadline })
      await pass(30)
      let now = performance.now() + 10
      vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
      await pass(10)
      const journalled = observed.filter((line) => line.startsWith('journalled'))
      expect(journalled).toEqual(types.map((type) => `journalled ${type}`))
      journaling.close()
    },
  )

  it('applies to each event. Other events are tried again, in order and before newer events', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer, untilAborted] })
    const { add, observed } = rig(store, { deadlineMs: 40 })
    void add('first')
    await pass(1)
    const due = add('due')
    await pass(20)
    const calls = [add('b'), add('c')]
    hold.open()
    await pass(1)
    expect(store.tried).toEqual([['first'], ['due', 'b', 'c']])
    void add('newer')
    await pass(22)
    expect(await stateOf(due)).toBe('DEADLINE_EXCEEDED')
    expect(store.tried).toEqual([['first'], ['due', 'b', 'c'], ['b', 'c', 'newer']])
    await Promise.all(calls)
    expect(observed).toEqual([
      'stored first',
      'DEADLINE_EXCEEDED due',
      'stored b',
      'stored c',
      'stored newer',
    ])
    // The drafts are the same, so a store that stored the first attempt finds their random bits.
    expect(store.drafts[2]![0]).toBe(store.drafts[1]![1])
  })

  it('rejects events queued behind an append that hangs, and never stores them', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer] })
    const { add, recorder } = rig(store, { deadlineMs: 40 })
    const inFlight = add('a')
    await pass(1)
    const queued = [add('b'), add('c')]
    await pass(20)
    const later = add('d')
    await pass(22)
    expect(await stateOf(queued[0]!)).toBe('DEADLINE_EXCEEDED')
    expect(await stateOf(queued[1]!)).toBe('DEADLINE_EXCEEDED')
    expect(await stateOf(inFlight)).toBe('waiting')
    expect(await stateOf(later)).toBe('waiting')
    expect(recorder.waiting()).toBe(2)
    hold.open()
    await pass(1)
    await recorder.flush()
    expect(await stateOf(inFlight)).toBe('stored')
    expect(await stateOf(later)).toBe('stored')
    expect(store.stored).toEqual(['a', 'd'])
  })

  it.each<[string, unknown, string]>([
    ['an error', new Error('database is locked'), ': database is locked'],
    [
      'the innermost error',
      new AuditLogError('STORE_FAILED', 'failed', {
        cause: new Error('lost', { cause: new Error('connect ECONNREFUSED') }),
      }),
      ': connect ECONNREFUSED',
    ],
    [
      'the last of several errors',
      new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')], ''),
      ': refused 127.0.0.1',
    ],
    [
      'an error of another realm',
      runInNewContext(`new Error('lost', { cause: new Error('refused') })`),
      ': refused',
    ],
    ['an error without a message', new Error(''), ''],
    ['a value that is not an error', 'out of room', ''],
  ])('appends the reason of the store: %s', async (_, cause, suffix) => {
    const knowing: Answer = (signal) =>
      new Promise((_, reject) => {
        const error = new AuditLogError('ABORTED', 'the fake store gave up', { cause })
        signal?.addEventListener('abort', () => reject(error))
      })
    const { add } = rig(fakeStore({ answers: [knowing] }), { deadlineMs: 40 })
    const call = add('a')
    await pass(50)
    await expect(call).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: `the fake store did not take the event within 40 ms${suffix}`,
      cause: { code: 'ABORTED', cause },
    })
  })

  it('does not name its own signal as the reason, and ends at a cycle of causes', async () => {
    const cycle = new Error('a cycle')
    cycle.cause = new Error('of causes', { cause: cycle })
    const giveUp =
      (causeOf: (signal: AbortSignal) => unknown): Answer =>
      (signal) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () =>
            reject(new AuditLogError('ABORTED', 'gave up', { cause: causeOf(signal!) })),
          )
        })
    const answers = [giveUp((signal) => signal.reason), giveUp(() => cycle)]
    const { add } = rig(fakeStore({ answers }), { deadlineMs: 40 })
    const first = add('a')
    await pass(50)
    await expect(first).rejects.toMatchObject({
      message: 'the fake store did not take the event within 40 ms',
    })
    const second = add('b')
    await pass(50)
    await expect(second).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  })

  it('of the oldest event is passed to the store', async () => {
    const hold = gate()
    const { add, store } = rig(fakeStore({ answers: [hold.answer] }), { deadlineMs: 40 })
    const start = performance.now()
    void add('a')
    await pass(10)
    void add('b')
    await pass(5)
    void add('c')
    hold.open()
    await pass(1)
    expect(store.tried).toEqual([['a'], ['b', 'c']])
    expect(store.deadlines.map((deadline) => deadline! - start)).toEqual([40, 50])
  })

  it('may be earlier than the deadline of older events, and is passed to the store', async () => {
    const hold = gate()
    const { add, store } = rig(fakeStore({ answers: [hold.answer, untilAborted] }), {
      deadlineMs: 40,
    })
    const start = performance.now()
    void add('a')
    await pass(10)
    const usual = add('b')
    const near = add('c', undefined, { deadline: start + 30 })
    hold.open()
    await pass(1)
    expect(store.deadlines.map((deadline) => deadline! - start)).toEqual([40, 30])
    await pass(21)
    expect(await stateOf(near)).toBe('DEADLINE_EXCEEDED')
    expect(await stateOf(usual)).toBe('stored')
    expect(store.tried).toEqual([['a'], ['b', 'c'], ['b']])
  })

  it('may be earlier than the deadline of events in flight or queued before it', async () => {
    const hold = gate()
    const { add, store } = rig(fakeStore({ answers: [hold.answer] }), { deadlineMs: 40 })
    const start = performance.now()
    const calls = [add('a')]
    await pass(1)
    calls.push(add('b'))
    const near = add('c', undefined, { deadline: start + 10 })
    await pass(10)
    expect(await stateOf(near)).toBe('DEADLINE_EXCEEDED')
    for (const call of calls) expect(await stateOf(call)).toBe('waiting')
    hold.open()
    await Promise.all(calls)
    expect(store.stored).toEqual(['a', 'b'])
  })

  it('that has passed does not set the timer again', async () => {
    const journaling = journalingOf()
    const hold = gate()
    const { add, observed } = rig(
      fakeStore({ answers: [hold.answer] }),
      { deadlineMs: 40 },
      journaling,
    )
    void add('a')
    await pass(1)
    // This event waits for the batch in flight.
    void add('b', undefined, { policy: 'queue', deadline: performance.now() + 5 })
    await pass(10)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await pass(20)
    const set = timers.mock.calls.length
    // Restored before the fake timers, because otherwise it would restore fake timers.
    timers.mockRestore()
    expect(set).toBe(0)
    hold.open()
    await pass(1)
    expect(observed).toEqual(['stored a', 'stored b'])
  })

  it('older calls with the policy queue are journalled before a due call', async () => {
    const store = fakeStore({ answers: [untilAborted] })
    const { add, recorder, observed } = rig(store, { deadlineMs: 40 }, journalingOf())
    const policy = 'queue'
    void add('older', undefined, { policy })
    void add('due', undefined, { policy, deadline: performance.now() + 20 })
    void add('newer', undefined, { policy })
    await pass(21)
    await recorder.flush()
    expect(observed.slice(0, 3)).toEqual(['journalled older', 'journalled due', 'journalled newer'])
    await recorder.close()
  })

  it('events that are not due are tried again before the journal is replayed', async () => {
    const entry = { draft: draft('journalled'), recordedAt: 0, since: undefined }
    const journaling = journalingOf(memoryJournal(Infinity, [entry]))
    const store = fakeStore({ answers: [untilAborted] })
    const { add, recorder } = rig(store, { deadlineMs: 40 }, journaling)
    void add('due', undefined, { deadline: performance.now() + 20 })
    const other = add('other')
    await pass(21)
    await other
    await recorder.flush()
    expect(store.tried).toEqual([['due', 'other'], ['other'], ['journalled']])
    await recorder.close()
  })

  it('does not reject an event that is stored after it', async () => {
    const hold = gate()
    const { add, store } = rig(fakeStore({ answers: [hold.answer] }), { deadlineMs: 40 })
    const call = add('a')
    await pass(100)
    hold.open()
    expect(await stateOf(call)).toBe('stored')
    expect(store.stored).toEqual(['a'])
  })

  it('beyond the longest timer has no effect', async () => {
    // A timer of more than 2^31 - 1 ms fires at once.
    const warnings = takeWarnings()
    const hold = gate()
    let signal: AbortSignal | undefined
    const remember: Answer = (given) => {
      signal = given
      return hold.answer(given, [])
    }
    const store = fakeStore({ answers: [remember] })
    const { add, recorder } = rig(store, { deadlineMs: 2 ** 31 })
    const calls = [add('a')]
    await pass(100)
    calls.push(add('b'))
    await pass(100)
    expect(signal?.aborted).toBe(false)
    // One timer is for the append, one for the queue. Neither was set again.
    expect(vi.getTimerCount()).toBeLessThanOrEqual(2)
    hold.open()
    await recorder.flush()
    expect(await stateOf(calls[1]!)).toBe('stored')
    expect(store.tried).toEqual([['a'], ['b']])
    expect(warnings).toEqual([])
  })

  it('leaves no timer behind', async () => {
    const { add, recorder } = rig(fakeStore(), { deadlineMs: 40 })
    void add('a')
    await recorder.flush()
    await pass(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a full queue', () => {
  it('rejects by count, and accepts events once there is room', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer] })
    const { add, recorder } = rig(store, { maxWaiting: 3 })
    void add('a')
    await turns()
    void add('b')
    void add('c')
    expect(() => recorder.add(draft('d'))).toThrow(
      expect.objectContaining({
        name: 'AuditLogError',
        code: 'QUEUE_FULL',
        message: '3 events already wait for the fake store',
      }),
    )
    hold.open()
    await recorder.flush()
    void add('e')
    await recorder.flush()
    expect(store.stored).toEqual(['a', 'b', 'c', 'e'])
  })

  it('rejects by bytes of JSON', async () => {
    const { recorder, store } = rig(fakeStore(), { maxWaitingBytes: 100 })
    const add = (type: string, json: string): void => void recorder.add(draft(type, json))
    add('a', JSON.stringify({ t: 'x'.repeat(60) }))
    add('b', JSON.stringify({ t: 'x'.repeat(60) }))
    expect(() => add('c', '{}')).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }))
    await recorder.flush()
    add('d', '{}')
    await recorder.flush()
    expect(store.stored).toEqual(['a', 'b', 'd'])
  })

  it('counts bytes, not characters', async () => {
    const { recorder, store } = rig(fakeStore(), { maxWaitingBytes: 100 })
    // 48 characters, 128 bytes.
    const wide = recorder.add(draft('a', `{"t":"${'漢'.repeat(40)}"}`))
    expect(() => recorder.add(draft('b'))).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }))
    await wide
    await recorder.add(draft('c'))
    expect(store.stored).toEqual(['a', 'c'])
  })

  it('has room again after a rejection', async () => {
    const store = fakeStore({ answers: [failing(new Error('no'))] })
    const { add, recorder } = rig(store, { maxWaiting: 1 })
    void add('a')
    await recorder.flush()
    void add('b')
    await recorder.flush()
    expect(store.stored).toEqual(['b'])
  })
})

describe('an abort signal', () => {
  type Gate = ReturnType<typeof gate>

  it('that is aborted already throws', () => {
    const { recorder, store, observed } = rig()
    const reason = new Error('changed my mind')
    expect(() => recorder.add(draft('a'), { signal: AbortSignal.abort(reason) })).toThrow(
      expect.objectContaining({ name: 'AuditLogError', code: 'ABORTED', cause: reason }),
    )
    expect(recorder.waiting()).toBe(0)
    expect(store.tried).toEqual([])
    expect(observed).toEqual([])
  })

  it('removes an event from the queue', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer] })
    const { add, recorder, observed } = rig(store)
    const controller = new AbortController()
    void add('a')
    await turns()
    const queued = add('b', controller.signal)
    const other = add('c')
    controller.abort(new Error('changed my mind'))
    expect(observed).toEqual(['ABORTED b'])
    expect(recorder.waiting()).toBe(2)
    await expect(queued).rejects.toMatchObject({
      code: 'ABORTED',
      cause: { message: 'changed my mind' },
    })
    hold.open()
    await other
    expect(store.tried).toEqual([['a'], ['c']])
  })

  it('before the end of the turn prevents the append', async () => {
    const { add, recorder, store } = rig()
    const controller = new AbortController()
    const call = add('a', controller.signal)
    controller.abort()
    await recorder.flush()
    expect(await stateOf(call)).toBe('ABORTED')
    expect(store.tried).toEqual([])
  })

  it.each([
    ['the event is stored', 'stored', ['a'], 'stored a', (hold: Gate) => hold.open()],
    [
      'the append fails',
      'STORE_FAILED',
      [],
      'STORE_FAILED a',
      (hold: Gate) => hold.fail(new Error('disk full')),
    ],
  ])('during the append has no effect: %s', async (_, state, stored, outcome, end) => {
    const hold = gate()
    const { add, store, observed } = rig(fakeStore({ answers: [hold.answer] }))
    const controller = new AbortController()
    const call = add('a', controller.signal)
    await turns()
    controller.abort()
    expect(await stateOf(call)).toBe('waiting')
    end(hold)
    expect(await stateOf(call)).toBe(state)
    expect(store.stored).toEqual(stored)
    expect(observed).toEqual([outcome])
  })

  it('during an aborted append, after which the event is not tried again', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer] })
    const { add, recorder } = rig(store)
    const controller = new AbortController()
    const aborted = add('a', controller.signal)
    const other = add('b')
    await turns()
    controller.abort()
    hold.fail(new AuditLogError('ABORTED', 'the fake store gave up'))
    await recorder.flush()
    expect(await stateOf(aborted)).toBe('ABORTED')
    expect(await stateOf(other)).toBe('stored')
    expect(store.tried).toEqual([['a', 'b'], ['b']])
  })

  it('has no listener once the event is settled', async () => {
    const { add, recorder, observed } = rig()
    const controller = new AbortController()
    const { signal } = controller
    const remove = vi.spyOn(signal, 'removeEventListener')
    await add('a', signal)
    expect(remove).toHaveBeenCalledTimes(1)
    controller.abort()
    await recorder.flush()
    expect(observed).toEqual(['stored a'])
  })
})

describe('flush', () => {
  it('resolves if it is called while the batch in flight goes into the journal', async () => {
    const journal = memoryJournal()
    const store = fakeStore({ answers: [failing(new Error('down'))] })
    const { add, recorder } = rig(store, {}, journalingOf(journal))
    const queued = add('queued', undefined, { policy: 'queue' })
    const blocked = add('blocked')
    // Runs while the batch is in flight and the queued event is on its way into the journal.
    const flushed = blocked.catch(() => recorder.flush().then(() => 'flushed'))
    expect(await stateOf(flushed)).toBe('stored')
    expect(await stateOf(queued)).toBe('undefined')
    expect(journal.adds).toEqual([1])
    await recorder.close()
  })

  it('a live event in the journal is no longer live', async () => {
    const journal = memoryJournal()
    const journaling = journalingOf(journal)
    const { recorder, store } = rig(fakeStore({ answers: [failing('down')] }), {}, journaling)
    await recorder.add({ ...draft('a'), live: true }, { policy: 'queue' })
    expect(store.drafts[0]![0]!.live).toBe(true)
    expect(journal.entries.map((entry) => entry.draft.live)).toEqual([undefined])
    await recorder.close()
  })

  it('resolves when all events added before are settled', async () => {
    const hold = gate()
    const store = fakeStore({
      tuning: { maxBatch: 1 },
      answers: [hold.answer, failing(new Error('no'))],
    })
    const { add, recorder } = rig(store)
    const calls = ['a', 'b', 'c'].map((type) => add(type))
    const flushed = recorder.flush().then(() => 'flushed')
    expect(await stateOf(flushed)).toBe('waiting')
    hold.open()
    await flushed
    expect(await Promise.all(calls.map(stateOf))).toEqual(['stored', 'STORE_FAILED', 'stored'])
  })

  it('does not wait for events added later', async () => {
    const store = fakeStore({ tuning: { maxBatch: 1 } })
    const { add, recorder } = rig(store)
    // Each stored event adds the next one, like steady traffic.
    let count = 0
    const next = async (): Promise<void> => {
      while (count < 200) await add(`n${count++}`)
    }
    const traffic = next()
    await turns()
    await recorder.flush()
    const atFlush = count
    await traffic
    expect(atFlush).toBeLessThan(100)
    expect(store.stored).toHaveLength(200)
  })
})
