import {
  AuditLog,
  type AuditEvent,
  type AuditLogOptions,
  type EventTypes,
  type JsonObject,
  withActor,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'

const types = { 'api:keys:delete': { reason: 'required' }, 'info:plain': {} } as const

function openLog(options: Partial<AuditLogOptions<EventTypes>> = {}): AuditLog {
  const audit = new AuditLog<EventTypes>({ store: memoryStore(), types, ...options })
  onTestFinished(() => audit.close())
  audit.on('rejected', () => {})
  return audit
}

const stored = async (audit: AuditLog): Promise<readonly JsonObject[]> =>
  (await audit.list({ limit: 100 })).events.map(({ attributes }) => attributes)

/** Each way to record with options, for a type. */
const WAYS: Readonly<
  Record<
    string,
    (audit: AuditLog, type: string, options?: object, data?: JsonObject) => Promise<unknown>
  >
> = {
  record: (audit, type, options, data) => audit.record(type, data, options),
  recordSystem: (audit, type, options, data) => audit.recordSystem(type, data, options),
  recordChange: (audit, type, options, data) =>
    audit.recordChange(type, null, { a: 1 }, { ...options, data }),
  recordLive: async (audit, type, options, data) =>
    (await audit.recordLive(type, data, options)).close(),
  'open of an intent': async (audit, type, options, data) => {
    const intent = await audit.intents().open(type, data, options)
    return intent.record(type, data)
  },
}

describe('the outcome of a system event', () => {
  it.each(['success', 'failure', 'denied', null] as const)('may be %j', async (outcome) => {
    const audit = openLog({ strict: true })
    await audit.record('info:plain', { outcome })
    expect(await stored(audit)).toEqual([{ outcome }])
  })

  it.each(['ok', 'Success', '', 7, true, ['success'], { a: 1 }])(
    'is kept under another name if it is %j, and refused in strict mode',
    async (outcome) => {
      const audit = openLog()
      await audit.recordSystem('a:b', { outcome, attributes_outcome: 1 })
      const recording = { replaced: ['/attributes_attributes_outcome'], cut_bytes: 0 }
      const kept = { attributes_attributes_outcome: outcome, attributes_outcome: 1, recording }
      expect(await stored(audit)).toEqual([kept])
      const call = openLog({ strict: true }).recordSystem('a:b', { outcome })
      await expect(call).rejects.toMatchObject({
        code: 'INVALID_DATA',
        pointer: '/outcome',
        message: 'a:b: outcome must be one of success, failure, denied',
      })
    },
  )

  it.each<[string, object, string, (audit: AuditLog) => Promise<unknown>, unknown[]]>([
    ['is that of the type', {}, 'failure', (audit) => audit.record('a:b'), ['failure']],
    [
      'of the data comes first',
      {},
      'failure',
      (audit) => audit.record('a:b', { outcome: 'denied' }),
      ['denied'],
    ],
    [
      'is left out for null',
      {},
      'failure',
      (audit) => audit.record('a:b', { outcome: null }),
      [null],
    ],
    [
      'is not known while the event is live',
      {},
      'failure',
      async (audit) => (await audit.recordLive('a:b')).close(),
      [undefined],
    ],
    [
      'is not known before the action',
      {},
      'success',
      async (audit) => {
        const intent = await audit.intents().open('a:b')
        await (await audit.intents().open('a:b')).fail(new Error('no'))
        return intent.record('a:b')
      },
      [undefined, 'success'],
    ],
    [
      'of the type is none of custom events',
      {},
      'failure',
      (audit) => audit.recordCustom('a:b'),
      [undefined],
    ],
    [
      'tells counted calls apart',
      { collapse: { by: ['n'], window: { hours: 1 } } },
      'denied',
      async (audit) => {
        for (let i = 0; i < 3; i++) await audit.record('a:b', { n: 1 })
        for (let i = 0; i < 2; i++) await audit.record('a:b', { n: 1, outcome: 'failure' })
        await audit.close()
      },
      ['denied', 'failure', 'denied', 'failure'],
    ],
  ])('%s', async (_name, definition, outcome, act, expected) => {
    const audit = openLog({
      store: { ...memoryStore(), close: async () => {} },
      types: { 'a:b': { ...definition, outcome: outcome as 'failure' } },
    })
    await act(audit)
    expect((await stored(audit)).map((attributes) => attributes['outcome'])).toEqual(expected)
  })

  it('of a type is checked', () => {
    const open = (definition: object) => () => openLog({ types: { 'a:b': definition } })
    expect(open({ outcome: 'ok' })).toThrow('outcome must be one of success, failure, denied')
    expect(open({ outcome: 'success', live: true })).toThrow('a type with live has no outcome')
  })

  it('may change while the event is live, to a value that it may have', async () => {
    const audit = openLog()
    const live = await audit.recordLive('info:plain', { outcome: 'success' })
    await live.update({ outcome: 'failure' })
    await live.append('outcome', 'x')
    await live.close()
    const recording = { replaced: ['/attributes_outcome'], cut_bytes: 0 }
    expect(await stored(audit)).toEqual([
      { outcome: 'failure', attributes_outcome: 'x', recording },
    ])
    const other = await audit.recordLive('info:plain')
    await other.update({ outcome: 'fine' })
    await other.close()
    expect((await stored(audit)).at(-1)).toEqual({ attributes_outcome: 'fine', recording })
  })

  it('means nothing in a custom event, which keeps what it was given', async () => {
    const audit = openLog({ strict: true })
    await audit.recordCustom('note', { outcome: 'rain', reason: 7, approved_by: {} })
    expect(await stored(audit)).toEqual([{ outcome: 'rain', reason: 7, approved_by: {} }])
  })
})

describe('an intent', () => {
  it('has no outcome before its action, and may have one after it', async () => {
    const audit = openLog()
    const early = audit.intents().open('info:plain', { outcome: 'success' })
    await expect(early).rejects.toMatchObject({ code: 'INVALID_DATA', pointer: '/outcome' })
    const intent = await audit.intents().open('info:plain')
    await intent.record('info:plain', { outcome: 'denied' })
    expect(await stored(audit)).toEqual([{ outcome: 'denied' }])
  })
})

describe('the reason and the approvals of a call', () => {
  const options = { reason: 'ticket 7\0', approvedBy: ['bob', 'eve'] }
  const attributes = { reason: 'ticket 7\uFFFD', approved_by: ['bob', 'eve'] }

  it.each(Object.keys(WAYS))('are attributes: %s', async (way) => {
    const audit = openLog()
    await WAYS[way]!(audit, 'info:plain', options)
    expect(await stored(audit)).toMatchObject([attributes])
  })

  it('are attributes of a custom event, and count for its idempotency key', async () => {
    const audit = openLog()
    const call = (reason: string): Promise<AuditEvent | undefined> =>
      audit.recordCustom('note', {}, { reason, approvedBy: 'bob', idempotencyKey: 'k' })
    expect(await call('a')).toMatchObject({ attributes: { reason: 'a', approved_by: 'bob' } })
    await expect(call('b')).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  })

  it('count as missing if they are blank or null', async () => {
    const audit = openLog()
    await audit.record('info:plain', {}, { reason: ' ', approvedBy: null })
    await audit.record('info:plain', { reason: 'r' }, { reason: '' })
    expect(await stored(audit)).toEqual([{}, { reason: 'r' }])
  })

  it.each<[JsonObject, object, string]>([
    [{}, { reason: 7 }, 'reason must be a text'],
    [{}, { approvedBy: '' }, 'approvedBy must be a user name or a list of names'],
    [{}, { approvedBy: [] }, 'approvedBy must be a user name or a list of names'],
    [{}, { approvedBy: ['bob', 7] }, 'approvedBy must be a user name or a list of names'],
    [{ reason: 'a' }, { reason: 'a' }, 'reason is both an option and in the data'],
    [{ approved_by: null }, { approvedBy: 'a' }, 'approved_by is both an option and in the data'],
    [{}, { reasons: 'a' }, 'record has no option reasons; did you mean reason?'],
  ])('are refused: data %j, options %j', async (data, wrong, message) => {
    const audit = openLog()
    const error = { code: 'INVALID_OPTION', message }
    await expect(audit.record('info:plain', data, wrong)).rejects.toMatchObject(error)
    expect(await stored(audit)).toEqual([])
  })
})

describe('a type that requires a reason', () => {
  it.each(Object.keys(WAYS))('is recorded with one only: %s', async (way) => {
    const audit = openLog()
    for (const data of [undefined, { reason: null }, { reason: ' \n' }, { reason: { a: 1 } }])
      await expect(WAYS[way]!(audit, 'api:keys:delete', {}, data)).rejects.toMatchObject({
        code: 'INVALID_DATA',
        pointer: '/reason',
        message:
          'api:keys:delete needs a reason: the option reason must be a text that is not blank',
      })
    expect((await audit.list('filter[type_start]=api')).events).toEqual([])
    await WAYS[way]!(audit, 'api:keys:delete', { reason: 'lost' })
    await WAYS[way]!(audit, 'api:keys:delete', {}, { reason: 'found' })
    const { events } = await audit.list('filter[type_start]=api')
    expect(events.map(({ attributes }) => attributes['reason'])).toEqual(['lost', 'found'])
  })

  it('keeps it while the event is live', async () => {
    const audit = openLog()
    const live = await audit.recordLive('api:keys:delete', {}, { reason: 'lost' })
    for (const change of [{ reason: undefined }, { reason: ' ' }, () => ({ n: 1 })])
      await expect(live.update(change)).rejects.toMatchObject({
        code: 'INVALID_DATA',
        message: 'the type of the event needs a reason, which the change would remove',
      })
    await live.update({ n: 1 })
    await live.update({ reason: 'stolen' })
    await live.close()
    expect(await stored(audit)).toEqual([{ reason: 'stolen', n: 1 }])
  })

  it('is recorded with a reason that was cut with other data', async () => {
    const audit = openLog({ limits: { maxBytes: 1024 } })
    const data = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i]))
    await audit.record('api:keys:delete', data, { reason: 'r'.repeat(60) })
    const [{ recording }] = (await stored(audit)) as [{ recording: JsonObject }]
    expect(recording['replaced']).toContain('/reason')
  })

  it('keeps the reason of an intent if its outcome is refused, unless the outcome gives one', async () => {
    const audit = openLog()
    const open = () =>
      audit.intents().open('api:keys:delete', {}, { reason: 'lost', approvedBy: 'bob' })
    await (await open()).record('api:keys:delete', { n: 1 }, { reason: 'other' })
    await (await open()).fail('broken')
    expect(await stored(audit)).toMatchObject([
      { n: 1, reason: 'other', approved_by: 'bob' },
      { reason: 'lost', approved_by: 'bob', error: 'broken' },
    ])
  })

  it('must say so by the word required', () => {
    const wrong = { 'a:b': { reason: true } } as unknown as EventTypes
    expect(() => openLog({ types: wrong })).toThrow("reason must be 'required', or left out")
  })
})

describe('the ids of an actor', () => {
  it.each<[unknown, string]>([
    ['u-7', 'u-7'],
    [7, '7'],
    [12345678901234567890n, '12345678901234567890'],
    ['a\0', 'a\uFFFD'],
  ])('are texts: %s', async (id, actor_id) => {
    const audit = openLog({ strict: true })
    const actor = { username: 'bot', id: id as string, kind: 'agent', agent_session_id: 'run-1' }
    await withActor(actor as never, () => audit.record('info:plain'))
    expect(await stored(audit)).toEqual([
      { actor_id, actor_kind: 'agent', agent_session_id: 'run-1' },
    ])
  })

  it.each([1.5, 2 ** 53, Number.NaN, {}, true, 'x'.repeat(256)])('cannot be %j', (id) => {
    expect(() => withActor({ username: 'ann', id: id as string }, () => {})).toThrow(
      'id of an actor must be a text of at most 255 characters or a whole number',
    )
  })
})
