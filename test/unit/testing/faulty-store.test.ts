import { AuditLog, AuditLogError, type EventDraft, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type FaultyMethod, faultyStore } from 'daybook/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DEADLINE_MS, driveDeadlines, untilTried } from '../../support/deadlines.js'
import { plainDraft, plainEvent } from '../../support/plain-events.js'
import { stateOf, turns } from '../fake-store.js'

function setUp(deadlineMs = DEADLINE_MS) {
  const store = faultyStore(memoryStore())
  const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs } })
  onTestFinished(async () => {
    store.heal()
    await audit.close()
  })
  // Leaves out reports of lost events, because rejected calls cause them at any later time.
  const types = async () =>
    (await audit.list('filter[type_not_eq]=warn:audit_log:gap')).events.map((event) => event.type)
  return { store, audit, types }
}

const draft = (type: string): EventDraft => plainDraft({ type, system: false })

describe('faultyStore', () => {
  it('behaves like the store while no fault is requested', async () => {
    const { store, audit, types } = setUp()
    const event = await audit.recordCustom('a')
    expect(await audit.get(event!.id)).toEqual(event)
    expect(await types()).toEqual(['a'])
    expect(store.name).toBe('memory')
    expect(store.tuning).toEqual(memoryStore().tuning)
    expect(await store.removeBefore(Number.MAX_SAFE_INTEGER)).toBe(1)
    expect(await types()).toEqual([])
  })

  it('fails the requested number of calls and stores none of their events', async () => {
    const { store, audit, types } = setUp()
    const cause = new Error('disk full')
    store.fail('append', 2, cause)
    for (const type of ['a', 'b'])
      await expect(audit.recordCustom(type)).rejects.toMatchObject({ code: 'STORE_FAILED', cause })
    await audit.recordCustom('c')
    expect(await types()).toEqual(['c'])
    expect(audit.stats()).toMatchObject({ calls: 3, rejected: 2, stored: 1 })
  })

  it('fails with a default error until it is healed', async () => {
    const { store, audit, types } = setUp()
    store.fail('list')
    for (let i = 0; i < 3; i++)
      await expect(types()).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: 'the memory store failed: list was made to fail',
      })
    await audit.recordCustom('a')
    store.heal()
    expect(await types()).toEqual(['a'])
  })

  it('rejects with a given AuditLogError unchanged', async () => {
    const { store, audit } = setUp()
    const error = new AuditLogError('QUERY_TIMEOUT', 'too slow')
    store.fail('get', 1, error)
    await expect(audit.get('x')).rejects.toBe(error)
    expect(await audit.get('x')).toBeUndefined()
  })

  it('applies the faults of a method in order and leaves other methods alone', async () => {
    const { store, types } = setUp()
    store.fail('append', 1, 'first')
    store.delay('append', 1, 1)
    store.fail('append', 1, 'third')
    const outcomes: unknown[] = []
    for (const type of ['a', 'b', 'c', 'd'])
      outcomes.push(
        await store.append([draft(type)]).then(
          () => 'stored',
          (error: Error) => error.cause,
        ),
      )
    expect(outcomes).toEqual(['first', 'stored', 'third', 'stored'])
    expect(await types()).toEqual(['b', 'd'])
  })

  it('hangs until it is healed', async () => {
    const { store, audit, types } = setUp()
    store.hang('append', 1)
    const call = audit.recordCustom('a')
    expect(await stateOf(call)).toBe('waiting')
    expect(await types()).toEqual([])
    store.heal()
    expect(await stateOf(call)).toBe('stored')
    expect(await types()).toEqual(['a'])
  })

  it('hangs until the call is aborted, and stores nothing', async () => {
    const { store, audit, types } = setUp(30)
    store.hang('append')
    await expect(audit.recordCustom('a')).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    const controller = new AbortController()
    const call = store.append([draft('b')], { signal: controller.signal })
    expect(await stateOf(call)).toBe('waiting')
    controller.abort('enough')
    await expect(call).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
    const deadline = performance.now() + 20
    await expect(store.append([draft('c')], { deadline })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    store.heal()
    await turns()
    expect(await types()).toEqual([])
  })

  it('rejects an aborted call like the store and keeps the fault for the next call', async () => {
    const { store } = setUp()
    store.fail('append', 1)
    const signal = AbortSignal.abort()
    await expect(store.append([], { signal })).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(store.append([])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await store.append([])).toEqual([])
  })

  it('delays calls, which can be aborted meanwhile', async () => {
    const { store, types } = setUp()
    store.delay('append', 30, 1)
    const start = performance.now()
    await store.append([draft('a')])
    expect(performance.now() - start).toBeGreaterThan(25)
    store.delay('append', 10_000)
    const signal = AbortSignal.timeout(10)
    await expect(store.append([draft('b')], { signal })).rejects.toMatchObject({ code: 'ABORTED' })
    const last = store.append([draft('c')])
    store.heal()
    await last
    expect(await types()).toEqual(['a', 'c'])
  })

  it('stores the drafts of an append whose acknowledgement is lost, once', async () => {
    const { store, audit, types } = setUp()
    store.loseAcknowledgement('append', 1)
    const call = audit.recordCustom('a')
    expect(await stateOf(call)).toBe('waiting')
    expect(await types()).toEqual(['a'])
    store.heal()
    expect((await call)?.type).toBe('a')
    expect(await types()).toEqual(['a'])
  })

  it('never rejects an append that stored its drafts', async () => {
    const endDeadlines = driveDeadlines()
    const { store, audit, types } = setUp(DEADLINE_MS)
    store.loseAcknowledgement('append')
    const call = audit.recordCustom('a')
    await untilTried()
    endDeadlines()
    expect((await call)?.type).toBe('a')
    expect(await types()).toEqual(['a'])
    expect(audit.stats()).toMatchObject({ stored: 1, rejected: 0 })
  })

  it('loses the acknowledgement of an import, which can be repeated', async () => {
    const { store, audit } = setUp()
    const event = plainEvent({ created_at: '2025-05-01T10:00:00.000001Z' })
    store.loseAcknowledgement('importEvents', 1)
    await expect(audit.importEvents([event])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await audit.importEvents([event])).toEqual({ imported: 0, skipped: 1 })
  })

  it('can make every method that returns a promise fail', async () => {
    const { store } = setUp()
    const [event] = await store.append([{ ...draft('a'), live: true }])
    const report = { reporter: 'one', number: 1, counts: [] }
    const calls: [FaultyMethod, () => Promise<unknown>, unknown][] = [
      ['importEvents', () => store.importEvents([]), { imported: 0, skipped: 0 }],
      ['excess', () => store.excess({}), { before: 0, count: 0 }],
      ['reportSuppressed', () => store.reportSuppressed(report), undefined],
      ['recordSuppressed', () => store.recordSuppressed(() => draft('b')), 0],
      ['updateState', () => store.updateState('a', () => 1), 1],
      ['updateStates', () => store.updateStates(['a'], () => new Map([['a', 2]])), undefined],
      ['readStates', () => store.readStates('', { limit: 9 }), [['a', 2]]],
      ['openEvents', () => store.openEvents(), [{ id: event!.id, revision: 0 }]],
      ['changeLive', () => store.changeLive(event!.id, { revision: 1 }), true],
      ['touchLive', () => store.touchLive([event!.id]), undefined],
      ['closeLive', () => store.closeLive(event!.id, { revision: 2 }), event],
      ['get', () => store.get(event!.id), event],
      ['remove', () => store.remove([event!.id]), 1],
      ['removeBefore', () => store.removeBefore(0), 0],
    ]
    for (const [method, call, result] of calls) {
      store.fail(method, 1)
      await expect(call(), method).rejects.toMatchObject({ code: 'STORE_FAILED' })
      expect(await call(), method).toEqual(result)
    }
  })

  it('loses the acknowledgement of a change, which can be repeated', async () => {
    const { store } = setUp()
    const [event] = await store.append([{ ...draft('a'), live: true }])
    const texts = [{ key: 'text', text: 'x', replaces: false }]
    store.loseAcknowledgement('changeLive', 1)
    const change = () => store.changeLive(event!.id, { revision: 1, texts })
    await expect(change()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await change()).toBe(true)
    expect((await store.get(event!.id))?.attributes).toEqual({ text: 'x' })
  })

  it('has optional methods only if the store has them', async () => {
    expect(faultyStore(memoryStore()).enlist).toBeUndefined()
    expect(faultyStore(memoryStore()).analyze).toBeUndefined()
    const enlisted: unknown[] = []
    const transactional: EventStore = {
      ...memoryStore(),
      async enlist(_draft, transaction) {
        enlisted.push(transaction)
      },
    }
    const store = faultyStore(transactional)
    store.fail('enlist', 1)
    const handle = {}
    await expect(store.enlist!(draft('a'), handle)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await store.enlist!(draft('a'), handle)
    expect(enlisted).toEqual([handle])
  })

  it('ends hanging calls when it is closed', async () => {
    const { store } = setUp()
    store.hang('list')
    const call = store.list({ where: undefined, sorts: [], limit: 1 })
    expect(await stateOf(call)).toBe('waiting')
    await store.close()
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(store.get('x')).rejects.toMatchObject({ code: 'CLOSED' })
    await store.close()
  })
})
