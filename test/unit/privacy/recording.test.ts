import {
  AuditLog,
  type AuditLogOptions,
  type AuditEvent,
  type AuditLogErrorCode,
  defineEventTypes,
  type EventTypes,
  type FailurePolicy,
  parseQuery,
  type SubjectKeys,
} from 'daybook'
import { memoryStore, memorySubjectKeys } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createOpening } from '../../../src/privacy/opening.js'
import { readAll } from '../../../src/store/read-states.js'
import { memoryJournal } from '../memory-journal.js'

const expectCode = (call: Promise<unknown>, code: AuditLogErrorCode): Promise<void> =>
  expect(call).rejects.toMatchObject({ code })

const SECRET = 'ann-canary@example.org'

const types = defineEventTypes({
  'api:customers:update': {
    personal: [
      { subject: { kind: 'customer', from: 'customer_id' }, attributes: ['email', 'phone'] },
      { subject: { kind: 'user', from: '@username' }, attributes: ['remote_address'] },
    ],
  },
  'api:plain:update': {},
})

afterEach(() => void vi.useRealTimers())

/** Keys whose look-ups wait while they are held, and fail while they are down. */
function testKeys() {
  const keys = memorySubjectKeys()
  const state = { held: undefined as Promise<void> | undefined, isDown: false, looks: 0 }
  const given: SubjectKeys = {
    ...keys,
    async obtain(subjects, options) {
      state.looks++
      await state.held
      if (state.isDown) throw new Error('the key service is down')
      return keys.obtain(subjects, options)
    },
  }
  return {
    keys: given,
    state,
    hold(): () => void {
      let open = (): void => {}
      state.held = new Promise((resolve) => (open = resolve))
      return () => {
        state.held = undefined
        open()
      }
    },
  }
}

type Options = Partial<AuditLogOptions<EventTypes>>

function rig(options: Options = {}) {
  const store = memoryStore()
  const test = testKeys()
  const audit: AuditLog = new AuditLog({
    store,
    types,
    privacy: { keys: test.keys },
    waiting: { deadlineMs: 2000 },
    ...options,
  })
  onTestFinished(async () => {
    test.state.held = undefined
    await audit.close()
  })
  const stored = async (query = ''): Promise<readonly AuditEvent[]> =>
    (await store.list(parseQuery(`filter[sorts]=created_at&limit=1000&${query}`))).events
  return {
    ...test,
    store,
    audit,
    stored,
    /** All that the store has as text. */
    text: async () => {
      const states = await readAll(store, '', {})
      return JSON.stringify([await stored(), [...states]])
    },
    opened: async () => createOpening(test.keys).events(await stored(), 'open'),
  }
}

const update = (audit: AuditLog, id: unknown, data: object = {}) =>
  audit.recordSystem('api:customers:update', { customer_id: id, email: SECRET, ...data })

describe('recording of personal values', () => {
  it('stores them encrypted, one part for each subject', async () => {
    const { audit, stored, text, opened } = rig()
    const event = await audit.recordSystem(
      'api:customers:update',
      { customer_id: 'c17', email: SECRET, phone: '+49', remote_address: '10.0.0.7', n: 1 },
      { username: 'bob' },
    )
    const [kept] = await stored()
    expect(kept).toEqual(event)
    const part = { subject: expect.stringMatching(/^[\w-]{22}$/), data: expect.any(String) }
    expect(kept!.attributes).toEqual({ customer_id: 'c17', n: 1, personal: [part, part] })
    expect(await text()).not.toMatch(/canary|10\.0\.0\.7|\+49/)
    const [open] = await opened()
    expect(open!.attributes).toMatchObject({
      customer_id: 'c17',
      n: 1,
      email: SECRET,
      phone: '+49',
      remote_address: '10.0.0.7',
    })
  })

  it('gives each subject one ref, and a key of its own to data that names none', async () => {
    const { audit, stored } = rig()
    await Promise.all([update(audit, 'c1'), update(audit, 'c1'), update(audit, 17)])
    await update(audit, '17')
    await update(audit, undefined)
    await update(audit, undefined)
    const refs = (await stored()).map(
      ({ attributes }) => (attributes['personal'] as { subject: string }[])[0]!.subject,
    )
    expect(refs[0]).toBe(refs[1])
    expect(refs[2]).toBe(refs[3])
    expect(new Set(refs).size).toBe(4)
    const last = (await stored()).at(-1)!
    expect(last.attributes['recording']).toEqual({ unknown_subjects: ['customer'] })
  })

  it('keeps the order of calls, with one look-up for all that wait', async () => {
    const { audit, hold, state, stored } = rig()
    const release = hold()
    const calls = [
      audit.recordSystem('api:plain:update', { n: 0 }),
      update(audit, 'c1', { n: 1 }),
      audit.recordSystem('api:plain:update', { n: 2 }),
      update(audit, 'c2', { n: 3 }),
    ]
    await vi.waitFor(() =>
      expect([state.looks, audit.stats().waiting, audit.stats().stored]).toEqual([1, 3, 1]),
    )
    calls.push(update(audit, 'c1', { n: 4 }), audit.recordSystem('api:plain:update', { n: 5 }))
    release()
    await Promise.all(calls)
    expect((await stored()).map(({ attributes }) => attributes['n'])).toEqual([0, 1, 2, 3, 4, 5])
    expect(state.looks).toBe(2)
    await update(audit, 'c1', { n: 6 })
    expect(state.looks).toBe(2)
  })

  it.each<FailurePolicy>(['block', 'drop', 'queue'])(
    'rejects them while keys cannot be had, under the policy %s, and stores the others',
    async (failurePolicy) => {
      const journal = memoryJournal()
      const { audit, state, stored, text } = rig({ failurePolicy, journal })
      state.isDown = true
      const call = update(audit, 'c1')
      const plain = audit.recordSystem('api:plain:update', { n: 1 })
      await expectCode(call, 'KEYS_UNAVAILABLE')
      await plain
      expect((await stored()).some(({ type }) => type === 'api:customers:update')).toBe(false)
      expect(audit.stats()).toMatchObject({ rejected: 1, stored: 1, waiting: 0 })
      state.isDown = false
      await update(audit, 'c1')
      expect(await text()).not.toContain('canary')
    },
  )

  it('rejects them if keys hang, and the others are stored in time', async () => {
    const { audit, hold } = rig({ waiting: { deadlineMs: 200 } })
    hold()
    const call = update(audit, 'c1')
    const plain = audit.recordSystem('api:plain:update')
    await expectCode(call, 'KEYS_UNAVAILABLE')
    expect(await plain).toBeDefined()
  })

  it('can be aborted, and counts against the limits of the queue', async () => {
    const { audit, hold, stored } = rig({ waiting: { maxWaiting: 2, deadlineMs: 2000 } })
    const release = hold()
    const controller = new AbortController()
    const aborted = audit.recordSystem(
      'api:customers:update',
      { customer_id: 'c1', email: SECRET },
      { signal: controller.signal },
    )
    const kept = update(audit, 'c2')
    await expectCode(update(audit, 'c3'), 'QUEUE_FULL')
    controller.abort()
    await expectCode(aborted, 'ABORTED')
    release()
    await kept
    expect((await stored()).filter(({ type }) => type === 'api:customers:update')).toHaveLength(1)
    expect(audit.stats().waiting).toBe(0)
  })

  it('is waited for by flush and close', async () => {
    const { audit, hold, stored } = rig()
    const release = hold()
    const call = update(audit, 'c1')
    let isFlushed = false
    const flushed = audit.flush().then(() => (isFlushed = true))
    const closed = audit.close()
    await new Promise(setImmediate)
    expect(isFlushed).toBe(false)
    release()
    await Promise.all([call, flushed, closed])
    void stored
  })

  it('journals the encrypted form', async () => {
    const journal = memoryJournal()
    const store = faultyStore(memoryStore())
    const { audit } = rig({ store, journal, failurePolicy: 'queue' })
    store.fail('append')
    await update(audit, 'c1')
    expect(JSON.stringify(journal)).not.toContain('canary')
    store.heal()
  })

  it('compares idempotent calls by a keyed hash', async () => {
    const privacy = testKeys()
    const custom = () => types['api:customers:update'].personal
    const { audit, text } = rig({ privacy: { keys: privacy.keys, custom } })
    const call = (email: string) =>
      audit.recordCustom('own', { customer_id: 'c1', email }, { idempotencyKey: 'k' })
    const first = await call(SECRET)
    expect(await call(SECRET)).toEqual(first)
    await expectCode(call('other'), 'IDEMPOTENCY_CONFLICT')
    expect(await text()).not.toContain('canary')
  })

  it('saves intents encrypted', async () => {
    const { audit, text, opened } = rig()
    const data = { customer_id: 'c1', email: SECRET }
    const intent = await audit.intents().open('api:customers:update', data)
    expect(await text()).toContain('api:customers:update')
    expect(await text()).not.toContain('canary')
    await intent.fail(new Error('gone'))
    expect(await text()).not.toContain('canary')
    const [event] = await opened()
    expect(event!.attributes).toMatchObject({ email: SECRET, error: 'gone' })
  })

  it('puts values of rules that overlap back', async () => {
    const rule = (id: string, attributes: string[]) => ({
      subject: { kind: 'customer', from: id },
      attributes,
    })
    const custom = () => [rule('one', ['a_b']), rule('two', ['a'])]
    const privacy = { keys: memorySubjectKeys(), custom }
    const { audit, stored } = rig({ privacy })
    const data = { one: 1, two: 2, a: { b: SECRET, c: SECRET } }
    await audit.recordCustom('own', data)
    const [event] = await createOpening(privacy.keys).events(await stored(), 'open')
    expect(event!.attributes).toMatchObject(data)
  })

  it('imports ciphertexts beyond the limit of attributes as they are', async () => {
    const { audit, stored, opened } = rig()
    const { audit: copy, stored: copied } = rig()
    const email = 'x'.repeat(900_000)
    await update(audit, 'c1', { email })
    const [event] = await stored()
    expect(JSON.stringify(event).length).toBeGreaterThan(2 ** 20)
    await copy.importEvents([event!])
    expect(await copied()).toEqual([event])
    expect((await opened())[0]!.attributes['email']).toBe(email)
  })

  it('refuses options that would store them readable', async () => {
    const { audit } = rig()
    const data = { customer_id: 'c1', email: SECRET }
    const record = (options: object) => audit.recordSystem('api:customers:update', data, options)
    await expectCode(
      record({ throttle: { period: { hours: 1 }, scope: { email: SECRET } } }),
      'INVALID_OPTION',
    )
    await expectCode(
      record({ collapse: { by: ['email'], window: { minutes: 1 } } }),
      'INVALID_OPTION',
    )
    await expectCode(audit.recordLive('api:customers:update', data), 'INVALID_OPTION')
    await expectCode(record({ transaction: {} }), 'KEYS_UNAVAILABLE')
    await expectCode(update(audit, 'c1', { personal: 1 }), 'INVALID_DATA')
  })

  it('encrypts imports, which can be repeated', async () => {
    const { audit, stored, text, opened } = rig()
    const id = '01890a5d-ac96-774b-bcce-b302099a8057'
    const event: AuditEvent = {
      id,
      created_at: '2023-06-29T12:00:00.000000Z',
      username: null,
      system: true,
      type: 'api:customers:update',
      source: null,
      attributes: { customer_id: 'c1', email: SECRET },
    }
    await audit.importEvents([event])
    const before = await stored()
    await audit.importEvents([event])
    await audit.importEvents(before)
    expect(await stored()).toEqual(before)
    expect(await text()).not.toContain('canary')
    expect((await opened())[0]!.attributes['email']).toBe(SECRET)
    const other = { ...event, attributes: { ...event.attributes, email: 'other' } }
    await expectCode(audit.importEvents([other]), 'IMPORT_CONFLICT')
  })
})

describe('the option privacy', () => {
  const build = (options: object) => () =>
    new AuditLog({ store: memoryStore(), types, ...options }) as unknown

  it('is required by types with personal attributes', () => {
    expect(build({})).toThrow(/needs the option privacy/)
    expect(build({ privacy: false })).not.toThrow()
    expect(build({ readOnly: true })).not.toThrow()
  })

  it('is checked', () => {
    expect(build({ privacy: {} })).toThrow(/privacy\.keys/)
    expect(build({ privacy: { keys: memorySubjectKeys(), costum: 1 } })).toThrow(/custom/)
    const links = [{ attribute: 'email', path: '/api/emails/{id}', form: 'code' }]
    void links
  })

  it.each([
    [[], undefined],
    [{}, /must be a list/],
    [[{ subject: { kind: 'c', from: 'id' } }], /attributes/],
    [[{ subject: { kind: 'c', from: 'a' }, attributes: ['a_b'] }], /names the subject/],
    [[{ subject: { kind: 'c', from: 'a' }, attributes: ['username'] }], /stays readable/],
    [[{ subject: { kind: 'c d', from: 'a' }, attributes: ['x'] }], /kind/],
    [[{ subject: { kind: 'c', from: 'a' }, attributes: ['x'], extra: 1 }], /extra/],
  ])('checks the declaration %j', (personal, message) => {
    const define = () => defineEventTypes({ t: { personal: personal as never } })
    if (message) expect(define).toThrow(message)
    else expect(define).not.toThrow()
  })

  it('refuses types that would store them readable', () => {
    const personal = [{ subject: { kind: 'c', from: 'id' }, attributes: ['email'] }]
    const define = (definition: object) => () =>
      defineEventTypes({ t: { personal, ...definition } })
    expect(define({ live: true })).toThrow(/live/)
    expect(define({ source: '/api/{email}' })).toThrow(/source/)
    expect(define({ throttle: { period: { hours: 1 }, scope: ['email'] } })).toThrow(/throttle/)
    expect(define({ collapse: { by: ['email'], window: { minutes: 1 } } })).toThrow(/collapse/)
  })
})
