import { AuditLogError, type EventDraft, type RecorderOptions } from 'daybook'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createJournaling, type Journaling } from '../../../src/recording/journaling.js'
import { type AddOptions, createRecorder, type Recorder } from '../../../src/recording/recorder.js'
import { defaultRecorderOptions } from '../../../src/recording/queue-limits.js'
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
import { memoryJournal } from '../memory-journal.js'

const draft = (type: string, json = '{}'): EventDraft => ({
  tail: '8000000000000000',
  username: null,
  system: true,
  type,
  source: null,
  attributes: JSON.parse(json) as EventDraft['attributes'],
  json,
})

interface Rig {
  readonly recorder: Recorder
  readonly store: FakeStore
  /** What the observer was told, in order. */
  readonly told: string[]
  readonly add: (type: string, signal?: AbortSignal, options?: AddOptions) => Promise<unknown>
}

function rig(
  store = fakeStore(),
  options: Partial<RecorderOptions> = {},
  journaling?: Journaling,
): Rig {
  const told: string[] = []
  const recorder = createRecorder(
    store,
    { ...defaultRecorderOptions, ...options },
    {
      journaling,
      observer: {
        stored: (events) => void told.push(...events.map((event) => `stored ${event.type}`)),
        heldBack: ({ type }, opensIn) => void told.push(`held back ${type} for ${opensIn}`),
        enlisted: () => void told.push('enlisted'),
        rejected: ({ type }, error) => void told.push(`${error.code} ${type}`),
        dropped: ({ type }, error) => void told.push(`dropped ${type} ${error.code}`),
        journalled: ({ type }) => void told.push(`journalled ${type}`),
        replayed: (events) => void told.push(...events.map((event) => `replayed ${event.type}`)),
      },
    },
  )
  const add: Rig['add'] = (type, signal, further) => {
    const call = recorder.add(draft(type), { ...further, signal })
    // Looked at later, and an unhandled rejection until then.
    call.catch(() => {})
    return call
  }
  return { recorder, store, told, add }
}

describe('batches', () => {
  it('calls of one turn share one append', async () => {
    const { store, add, told } = rig()
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
    expect(told).toEqual(['stored a', 'stored b', 'stored c'])
  })

  it('hold as many as the store takes, in order', async () => {
    const { store, add, recorder } = rig(fakeStore({ maxBatch: 2 }))
    for (const type of ['a', 'b', 'c', 'd', 'e']) void add(type)
    await recorder.flush()
    expect(store.tried).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  it('what is added during an append goes with the next', async () => {
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

  it('a promise settles after the observer was told', async () => {
    const { add, told } = rig()
    const seen: string[][] = []
    await Promise.all(['a', 'b'].map((type) => add(type).then(() => seen.push([...told]))))
    expect(seen).toEqual([
      ['stored a', 'stored b'],
      ['stored a', 'stored b'],
    ])
  })

  it('nothing is tried where nothing was added', async () => {
    const { store, recorder } = rig()
    await recorder.flush()
    expect(store.tried).toEqual([])
  })
})

describe('a failing append', () => {
  it('rejects its batch with STORE_FAILED, and the next goes on', async () => {
    const broken = new Error('disk full')
    const store = fakeStore({ maxBatch: 2, answers: [failing(broken)] })
    const { add, recorder, told } = rig(store)
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
    expect(store.kept).toEqual(['c'])
    expect(told).toEqual(['STORE_FAILED a', 'STORE_FAILED b', 'stored c'])
    expect(recorder.waiting()).toBe(0)
  })

  it('rejects with the very error where the store gives one of ours', async () => {
    const closed = new AuditLogError('CLOSED', 'the fake store is closed')
    const { add } = rig(fakeStore({ answers: [failing(closed)] }))
    await expect(add('a')).rejects.toBe(closed)
  })

  it('is one too where the store throws at once', async () => {
    const store = fakeStore()
    const broken = new Error('not even a promise')
    store.append = () => {
      throw broken
    }
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
    const { add, recorder, told } = rig(store, { deadlineMs: 40 })
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
    expect(store.kept).toEqual([])
    expect(told).toEqual(['DEADLINE_EXCEEDED a'])
    expect(recorder.waiting()).toBe(0)
  })

  it('is of each event: what is not due is tried again, in order and before newer ones', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer, untilAborted] })
    const { add, told } = rig(store, { deadlineMs: 40 })
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
    expect(told).toEqual([
      'stored first',
      'DEADLINE_EXCEEDED due',
      'stored b',
      'stored c',
      'stored newer',
    ])
    // The same drafts: a store that kept the first try would know their random bits.
    expect(store.drafts[2]![0]).toBe(store.drafts[1]![1])
  })

  it('rejects what is queued behind an append that hangs, and never stores it', async () => {
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
    expect(store.kept).toEqual(['a', 'd'])
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
      'the first of several',
      new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')], ''),
      ': refused ::1',
    ],
    ['an error without a message', new Error(''), ''],
    ['what is no error', 'out of room', ''],
  ])('tells why, where the store knows: %s', async (_, cause, told) => {
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
      message: `the fake store did not take the event within 40 ms${told}`,
      cause: { code: 'ABORTED', cause },
    })
  })

  it('does not tell its own signal as the reason, nor follows a circle of causes for ever', async () => {
    const circle = new Error('a circle')
    circle.cause = new Error('of causes', { cause: circle })
    const giveUp =
      (causeOf: (signal: AbortSignal) => unknown): Answer =>
      (signal) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () =>
            reject(new AuditLogError('ABORTED', 'gave up', { cause: causeOf(signal!) })),
          )
        })
    const answers = [giveUp((signal) => signal.reason), giveUp(() => circle)]
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

  it('of the oldest event is told to the store', async () => {
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

  it('may be nearer than that of events before it, and is told to the store', async () => {
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

  it('may be nearer than that of what is in flight and queued before it', async () => {
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
    expect(store.kept).toEqual(['a', 'b'])
  })

  it('that is over is not looked at again and again', async () => {
    const journaling = createJournaling(memoryJournal(), () => 0)
    const hold = gate()
    const { add, told } = rig(fakeStore({ answers: [hold.answer] }), { deadlineMs: 40 }, journaling)
    void add('a')
    await pass(1)
    // It follows what is in flight.
    void add('b', undefined, { policy: 'queue', deadline: performance.now() + 5 })
    await pass(10)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await pass(20)
    const set = timers.mock.calls.length
    // Before the timers are real again: later it would put these back.
    timers.mockRestore()
    expect(set).toBe(0)
    hold.open()
    await pass(1)
    expect(told).toEqual(['stored a', 'stored b'])
  })

  it('has what is not due tried again before the journal is', async () => {
    const entry = { draft: draft('journalled'), recordedAt: 0, since: undefined }
    const journaling = createJournaling(memoryJournal(Infinity, [entry]), () => 0)
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

  it('lets an event through that the store keeps at the last moment', async () => {
    const hold = gate()
    const { add, store } = rig(fakeStore({ answers: [hold.answer] }), { deadlineMs: 40 })
    const call = add('a')
    await pass(100)
    hold.open()
    expect(await stateOf(call)).toBe('stored')
    expect(store.kept).toEqual(['a'])
  })

  it('far away neither aborts nor busies', async () => {
    // A timer of more than 2^31 - 1 ms fires at once.
    const warnings: unknown[] = []
    vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(warning))
    const hold = gate()
    let signal: AbortSignal | undefined
    const store = fakeStore({
      answers: [
        (given) => {
          signal = given
          return hold.answer(given, [])
        },
      ],
    })
    const { add, recorder } = rig(store, { deadlineMs: 2 ** 31 })
    const calls = [add('a')]
    await pass(100)
    calls.push(add('b'))
    await pass(100)
    expect(signal?.aborted).toBe(false)
    // One timer for the append, one for the queue: neither has fired and been set again.
    expect(vi.getTimerCount()).toBeLessThanOrEqual(2)
    hold.open()
    await recorder.flush()
    expect(await stateOf(calls[1]!)).toBe('stored')
    expect(store.tried).toEqual([['a'], ['b']])
    expect(warnings).toEqual([])
  })

  it('leaves no timer behind that keeps the process', async () => {
    const { add, recorder } = rig(fakeStore(), { deadlineMs: 40 })
    void add('a')
    await recorder.flush()
    await pass(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a full queue', () => {
  it('refuses by count, and takes again what there is room for', async () => {
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
    expect(store.kept).toEqual(['a', 'b', 'c', 'e'])
  })

  it('refuses by bytes of JSON', async () => {
    const { recorder, store } = rig(fakeStore(), { maxWaitingBytes: 100 })
    const add = (type: string, json: string): void => void recorder.add(draft(type, json))
    add('a', JSON.stringify({ t: 'x'.repeat(60) }))
    add('b', JSON.stringify({ t: 'x'.repeat(60) }))
    expect(() => add('c', '{}')).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }))
    await recorder.flush()
    add('d', '{}')
    await recorder.flush()
    expect(store.kept).toEqual(['a', 'b', 'd'])
  })

  it('counts bytes, not characters', async () => {
    const { recorder, store } = rig(fakeStore(), { maxWaitingBytes: 100 })
    // 48 characters, 128 bytes.
    const wide = recorder.add(draft('a', `{"t":"${'漢'.repeat(40)}"}`))
    expect(() => recorder.add(draft('b'))).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }))
    await wide
    await recorder.add(draft('c'))
    expect(store.kept).toEqual(['a', 'c'])
  })

  it('has room again for what was rejected', async () => {
    const store = fakeStore({ answers: [failing(new Error('no'))] })
    const { add, recorder } = rig(store, { maxWaiting: 1 })
    void add('a')
    await recorder.flush()
    void add('b')
    await recorder.flush()
    expect(store.kept).toEqual(['b'])
  })
})

describe('an abort signal', () => {
  it('that is aborted already refuses at once', () => {
    const { recorder, store, told } = rig()
    const reason = new Error('changed my mind')
    expect(() => recorder.add(draft('a'), { signal: AbortSignal.abort(reason) })).toThrow(
      expect.objectContaining({ name: 'AuditLogError', code: 'ABORTED', cause: reason }),
    )
    expect(recorder.waiting()).toBe(0)
    expect(store.tried).toEqual([])
    expect(told).toEqual([])
  })

  it('takes an event out of the queue', async () => {
    const hold = gate()
    const store = fakeStore({ answers: [hold.answer] })
    const { add, recorder, told } = rig(store)
    const controller = new AbortController()
    void add('a')
    await turns()
    const queued = add('b', controller.signal)
    const other = add('c')
    controller.abort(new Error('changed my mind'))
    expect(told).toEqual(['ABORTED b'])
    expect(recorder.waiting()).toBe(2)
    await expect(queued).rejects.toMatchObject({
      code: 'ABORTED',
      cause: { message: 'changed my mind' },
    })
    hold.open()
    await other
    expect(store.tried).toEqual([['a'], ['c']])
  })

  it('before the end of the turn leaves nothing to try', async () => {
    const { add, recorder, store } = rig()
    const controller = new AbortController()
    const call = add('a', controller.signal)
    controller.abort()
    await recorder.flush()
    expect(await stateOf(call)).toBe('ABORTED')
    expect(store.tried).toEqual([])
  })

  it('during the append leaves it to the store: it is stored', async () => {
    const hold = gate()
    const { add, store, told } = rig(fakeStore({ answers: [hold.answer] }))
    const controller = new AbortController()
    const call = add('a', controller.signal)
    await turns()
    controller.abort()
    expect(await stateOf(call)).toBe('waiting')
    hold.open()
    expect(await stateOf(call)).toBe('stored')
    expect(store.kept).toEqual(['a'])
    expect(told).toEqual(['stored a'])
  })

  it('during the append leaves it to the store: it fails', async () => {
    const hold = gate()
    const { add } = rig(fakeStore({ answers: [hold.answer] }))
    const controller = new AbortController()
    const call = add('a', controller.signal)
    await turns()
    controller.abort()
    hold.fail(new Error('disk full'))
    expect(await stateOf(call)).toBe('STORE_FAILED')
  })

  it('during an append that is given up: the event is not tried again', async () => {
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

  it('has no listener left once the event is settled', async () => {
    const { add, recorder, told } = rig()
    const controller = new AbortController()
    const { signal } = controller
    const remove = vi.spyOn(signal, 'removeEventListener')
    await add('a', signal)
    expect(remove).toHaveBeenCalledTimes(1)
    controller.abort()
    await recorder.flush()
    expect(told).toEqual(['stored a'])
  })
})

describe('flush', () => {
  it('called as an earlier event of the batch is rejected ends though a later one is in the journal', async () => {
    const journal = memoryJournal()
    const store = fakeStore({ answers: [failing(new Error('down'))] })
    const { add, recorder } = rig(
      store,
      {},
      createJournaling(journal, () => 0),
    )
    const queued = add('queued', undefined, { policy: 'queue' })
    const blocked = add('blocked')
    // Runs before the batch has landed: the queued event is on its way into the journal.
    const flushed = blocked.catch(() => recorder.flush().then(() => 'flushed'))
    expect(await stateOf(flushed)).toBe('stored')
    expect(await stateOf(queued)).toBe('undefined')
    expect(journal.adds).toEqual([1])
    await recorder.close()
  })

  it('resolves when all that was added before is settled', async () => {
    const hold = gate()
    const store = fakeStore({ maxBatch: 1, answers: [hold.answer, failing(new Error('no'))] })
    const { add, recorder } = rig(store)
    const calls = ['a', 'b', 'c'].map((type) => add(type))
    const flushed = recorder.flush().then(() => 'flushed')
    expect(await stateOf(flushed)).toBe('waiting')
    hold.open()
    await flushed
    expect(await Promise.all(calls.map(stateOf))).toEqual(['stored', 'STORE_FAILED', 'stored'])
  })

  it('does not wait for what is added later', async () => {
    const store = fakeStore({ maxBatch: 1 })
    const { add, recorder } = rig(store)
    // Each event that is stored brings the next, as steady traffic does.
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
    expect(store.kept).toHaveLength(200)
  })
})
