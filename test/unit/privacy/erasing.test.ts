import { createSecretKey, randomBytes } from 'node:crypto'
import { AuditLog } from 'daybook'
import { memoryStore, memorySubjectKeys } from 'daybook/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { completedAt, missingSteps } from '../../../src/privacy/completion.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { clearEvents } from '../../../src/privacy/subject-events.js'
import { kept, openPersonal, personalTypes, REQUEST, UPDATE } from '../../support/erasing.js'

const C17 = { customer: 'c17' }

describe('a call of erase', () => {
  const keys = memorySubjectKeys()
  const store = memoryStore()
  let audit: AuditLog
  beforeAll(async () => {
    audit = openPersonal(store, kept(keys))
    await audit.recordSystem(UPDATE, { customer_id: 'c17', email: 'a@example.com' })
  })
  afterAll(() => audit.close())

  it.each([
    ['no person', {}, 'must have exactly one member, such as'],
    ['two persons', { customer: 'c17', user: 'ann' }, 'it has 2'],
    [
      'a misspelt kind',
      { custmer: 'c17' },
      'has the kind custmer, which no event type declares as personal; did you mean customer?',
    ],
    ['another kind', { x: 'c17' }, 'they declare customer, user'],
    [
      'a blank id',
      { customer: '  ' },
      'must have the id of the person as a text that is not blank',
    ],
    ['an object as id', { customer: { id: 'c17' } }, 'must have the id of the person as a text'],
    ['not a number', { customer: Number.NaN }, 'must have the id of the person as a text'],
    ['a text', 'c17', 'must be an object with one member'],
    ['a list', ['c17'], 'must be an object with one member'],
    ['nothing', undefined, 'must be an object with one member'],
    ['an instance', new Map([['customer', 'c17']]), 'must be an object with one member'],
    ['no ids', { ids: [] }, 'must be a list of 1 to 1000 ids of events'],
    ['ids that are no list', { ids: 'c17' }, 'must be a list of 1 to 1000 ids of events'],
    ['ids that are no texts', { ids: [17] }, 'must be a list of 1 to 1000 ids of events'],
    ['too many ids', { ids: Array.from({ length: 1001 }, String) }, 'must be a list of 1 to 1000'],
  ])('is refused with %s', async (_what, given, message) => {
    await expect(audit.erase(given as never, REQUEST)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining(message) as string,
    })
  })

  it.each([
    ['nothing', undefined, 'takes an object'],
    ['no reason', { username: 'dpo' }, 'reason must be a text that is not blank'],
    [
      'a blank reason',
      { username: 'dpo', reason: '\n' },
      'reason must be a text that is not blank',
    ],
    ['no user', { reason: 'x' }, 'username must be a text that is not blank'],
    ['a misspelt option', { ...REQUEST, reson: 'x' }, 'did you mean reason?'],
    ['both', { ...REQUEST, ids: [] }, 'has no option ids'],
  ])('is refused with %s as options', async (_what, given, message) => {
    await expect(audit.erase(C17, given as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(message) as string,
    })
  })

  it('never names the id of a person in an error', async () => {
    const secret = 'ann.example@example.com'
    const errors = [{ custmer: secret }, { customer: [secret] }, { customer: secret, user: secret }]
    for (const given of errors) {
      const error = await audit.erase(given as never, REQUEST).catch((thrown: unknown) => thrown)
      expect(String(error)).not.toContain(secret)
    }
  })

  it('erases nothing if its signal is aborted', async () => {
    const options = { ...REQUEST, signal: AbortSignal.abort() }
    await expect(audit.erase(C17, options)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await audit.erasures()).toEqual([])
  })

  it('is refused by a log that only reads', async () => {
    const reading = openPersonal(store, kept(keys), { readOnly: true })
    for (const call of [
      () => reading.erase(C17, REQUEST),
      () => reading.erase({ ids: ['x'] }, REQUEST),
      () => reading.loadKeys([C17]),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'READ_ONLY' })
    expect(await reading.erasures()).toEqual([])
  })

  it('is refused without keys, as are a report and loading keys', async () => {
    const without = new AuditLog({ store: memoryStore(), types: {} })
    for (const call of [
      () => without.erase(C17, REQUEST),
      () => without.subjectReport(C17).next(),
      () => without.loadKeys([C17]),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('needs the option privacy') as string,
      })
    await without.close()
    await expect(without.erase({ ids: ['x'] }, REQUEST)).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('takes any kind if the host declares personal attributes of custom events', async () => {
    const custom = () => [
      { subject: { kind: 'patient', from: 'patient_id' }, attributes: ['ward'] },
    ]
    const privacy = { keys: memorySubjectKeys(), custom }
    const log = new AuditLog({ store: memoryStore(), types: {}, privacy })
    await log.recordCustom('x', { patient_id: 5, ward: 'A' })
    expect(await log.erase({ patient: 5 }, REQUEST)).toMatchObject({ events: 1 })
    await log.close()
  })

  it('takes ids as the kind of persons if a type declares it', async () => {
    const types = {
      x: { personal: [{ subject: { kind: 'ids', from: 'number' }, attributes: ['name'] }] },
    }
    const log = openPersonal(memoryStore(), memorySubjectKeys(), { types })
    await log.recordSystem('x', { number: 'n1', name: 'Ann' })
    expect(await log.erase({ ids: 'n1' }, REQUEST)).toMatchObject({ events: 1 })
    await log.close()
  })

  it('closes the keys with the log', async () => {
    const own = memorySubjectKeys()
    await openPersonal(memoryStore(), own).close()
    await expect(own.erasures()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('loadKeys', () => {
  it('brings keys into memory', async () => {
    const keys = memorySubjectKeys()
    const audit = openPersonal(memoryStore(), keys)
    expect(keys.cached({ kind: 'customer', id: 'c17' })).toBeUndefined()
    await audit.loadKeys([C17, { user: 'ann' }])
    expect(keys.cached({ kind: 'customer', id: 'c17' })).toBeDefined()
    expect(keys.cached({ kind: 'user', id: 'ann' })).toBeDefined()
    await audit.loadKeys([])
    await expect(audit.loadKeys(C17 as never)).rejects.toMatchObject({ code: 'INVALID_VALUE' })
    await expect(audit.loadKeys([{ x: 'c' }])).rejects.toMatchObject({ code: 'INVALID_VALUE' })
    await audit.close()
  })
})

describe('the completion of an erasure', () => {
  const erased_at = '2026-01-01T00:00:00.000000Z'
  const after = '2026-01-02T00:00:00.000000Z'
  const before = '2025-12-31T00:00:00.000000Z'
  it.each([
    ['is unknown without a rotation', undefined, undefined, undefined],
    ['is unknown with an earlier rotation', undefined, before, undefined],
    ['is the rotation', undefined, after, after],
    ['is 30 seconds later if there are no backups', 0, undefined, '2026-01-01T00:00:30.000000Z'],
    ['is the end of the backups', 7, undefined, '2026-01-08T00:00:00.000000Z'],
    ['is the rotation before the end of the backups', 7, after, after],
    ['is the end of the backups before the rotation', 0.5, after, '2026-01-01T12:00:00.000000Z'],
  ])('%s', (_what, keyBackupDays, rotatedAt, expected) => {
    const time = completedAt(erased_at, { keyBackupDays, rotatedAt })
    expect(time === undefined ? undefined : formatTimestamp(time)).toBe(expected)
  })

  it.each([
    [
      'at once',
      0,
      undefined,
      undefined,
      [/memory, until 2026-01-01T00:00:30/, /backups .* have the key;/],
    ],
    ['later', 31, undefined, undefined, [/backups .* have the key;/]],
    ['with backups', 31, 7, undefined, [/backups .* have the key, until 2026-01-08/]],
    ['after the backups', 8 * 86_400, 7, undefined, []],
    ['after a rotation', 2 * 86_400, undefined, after, []],
    ['without backups', 10, 0, undefined, [/memory/]],
  ])('lists what is missing %s', (_when, seconds, keyBackupDays, rotatedAt, expected) => {
    const erasure = { ref: 'r', erased_at, isEnded: true, events: 1, ...REQUEST }
    const now = Date.parse(erased_at) * 1000 + seconds * 1_000_000
    const missing = missingSteps(erasure, { keyBackupDays, rotatedAt }, now)
    expect(missing).toEqual(expected.map((one) => expect.stringMatching(one) as string))
  })

  it('is told by erase and erasures', async () => {
    const keys = memorySubjectKeys()
    const audit = openPersonal(memoryStore(), keys, { privacy: { keys, keyBackupDays: 0 } })
    await audit.recordSystem(UPDATE, { customer_id: 'c17', email: 'a@example.com' })
    const { complete_at, erased_at: at } = await audit.erase(C17, REQUEST)
    expect(Date.parse(complete_at!) - Date.parse(at!)).toBe(30_000)
    await keys.rotate(createSecretKey(randomBytes(32)))
    const [erasure] = await audit.erasures()
    expect(erasure).toMatchObject({ complete_at, events: 1, ...REQUEST })
    expect(erasure!.incomplete).toEqual([expect.stringContaining('may have the key in memory')])
    await audit.close()
  })

  it.each([-1, Number.NaN, Infinity, '7'])('refuses %s days', (keyBackupDays) => {
    const privacy = { keys: memorySubjectKeys(), keyBackupDays: keyBackupDays as number }
    expect(() => new AuditLog({ store: memoryStore(), types: {}, privacy })).toThrow(
      'keyBackupDays',
    )
  })
})

describe('the filter of events in clear', () => {
  it('is one condition for types with equal declarations', () => {
    const declared = personalTypes[UPDATE]
    const types = { a: declared, b: declared }
    const filter = clearEvents(types, { kind: 'customer', id: 'c17' })
    expect(filter!.groupings).toHaveLength(1)
    expect(JSON.stringify(filter)).toContain('"values":["a","b"]')
  })

  it('is missing for a kind that no type declares', () => {
    expect(clearEvents(personalTypes, { kind: 'x', id: 'c17' })).toBeUndefined()
  })
})
