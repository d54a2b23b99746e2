import { AuditLog, type AuditEvent, type EventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { exportEvents } from '../../../src/exporting/export-events.js'
import type { PersonalForm } from '../../../src/reading/personal-values.js'
import { openPersonalLog, TYPES } from '../../support/personal-log.js'
import { errorWith } from '../errors.js'

type Log = AuditLog

const START = '2000-01-01T00:00:00.000000Z'

async function linesOf(chunks: AsyncIterable<Uint8Array>): Promise<AuditEvent[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  const text = Buffer.concat(all).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item> {
  for await (const item of items) return item
  throw new Error('there is none')
}

/** Ways to read the only event of a log. */
const WAYS: Readonly<
  Record<string, (log: Log, id: string, personal?: PersonalForm) => Promise<AuditEvent>>
> = {
  list: async (log, _, personal) => (await log.list('', { personal })).events[0]!,
  'a list of lazy events': async (log, _, personal) =>
    (await log.list('', { personal, lazy: true })).events[0]!,
  pages: async (log, _, personal) => (await firstOf(log.pages('', { personal })))[0]!,
  get: async (log, id, personal) => (await log.get(id, { personal }))!,
  tail: (log, _, personal) => firstOf(log.tail('', { after: START, personal })),
  'a tail with changes': async (log, _, personal) =>
    (await firstOf(log.tail('', { after: START, changes: true, personal }))) as AuditEvent,
  export: async (log, _, personal) => (await linesOf(exportEvents(log, '', { personal })))[0]!,
  openPersonal: async (log, id, personal) => {
    const stored = await log.get(id, { personal: 'stored' })
    return (await log.openPersonal([stored!], { personal }))[0]!
  },
}

const ref = expect.stringMatching(/^[\w-]{22}$/) as string
const KEPT = { customer_id: 'c17', plan: 'free' }
const OPEN = {
  ...KEPT,
  email: 'c17@example.com',
  address: { city: 'city of c17' },
  remote_address: '192.0.2.7',
  personal: [{ subject: ref }, { subject: ref }],
}
const SEALED = {
  ...KEPT,
  personal: [
    { subject: ref, sealed: true },
    { subject: ref, sealed: true },
  ],
}
const data = expect.stringMatching(/^[\w-]{38,}$/) as string
const STORED = {
  ...KEPT,
  personal: [
    { subject: ref, data },
    { subject: ref, data },
  ],
}

describe.each(Object.entries(WAYS))('%s', (_, read) => {
  it.each<[PersonalForm | undefined, object]>([
    [undefined, OPEN],
    ['open', OPEN],
    ['sealed', SEALED],
    ['stored', STORED],
  ])('with personal %s', async (personal, attributes) => {
    const { audit, update } = openPersonalLog()
    const { id } = await update('c17')
    expect((await read(audit, id, personal)).attributes).toEqual(attributes)
  })

  it('says when the data was erased, and opens the rest', async () => {
    const { audit, update, forget } = openPersonalLog()
    const { id } = await update('c17')
    const erased = await forget('c17')
    const notes = (await read(audit, id)).attributes['personal'] as object[]
    expect(notes).toContainEqual({ subject: ref, erased })
    expect(notes).toContainEqual({ subject: ref })
    const sealed = (await read(audit, id, 'sealed')).attributes['personal'] as object[]
    expect(sealed).toContainEqual({ subject: ref, erased })
    expect(sealed).toContainEqual({ subject: ref, sealed: true })
    expect(JSON.stringify(await read(audit, id))).not.toContain('c17@example.com')
  })

  it('rejects while the keys are away, unless the values stay sealed', async () => {
    const { audit, keys, update } = openPersonalLog()
    const { id } = await update('c17')
    keys.isAway = true
    await expect(read(audit, id)).rejects.toEqual(errorWith('KEYS_UNAVAILABLE'))
    expect((await read(audit, id, 'sealed')).attributes).toEqual(SEALED)
    expect((await read(audit, id, 'stored')).attributes).toEqual(STORED)
  })

  it('refuses another form', async () => {
    const { audit, update } = openPersonalLog()
    const { id } = await update('c17')
    await expect(read(audit, id, 'opened' as PersonalForm)).rejects.toEqual(
      errorWith('INVALID_OPTION', "personal must be 'open', 'sealed' or 'stored'"),
    )
  })
})

it('a log without keys reads the sealed form, and opens nothing', async () => {
  const { audit, update } = openPersonalLog()
  const { id } = await update('c17')
  const stored = (await audit.get(id, { personal: 'stored' }))!
  const other = new AuditLog<EventTypes>({ store: memoryStore(), types: TYPES, privacy: false })
  onTestFinished(() => other.close())
  await other.importEvents([stored])
  for (const read of Object.values(WAYS)) {
    expect((await read(other, id)).attributes).toEqual(SEALED)
    expect((await read(other, id, 'stored')).attributes).toEqual(STORED)
    await expect(read(other, id, 'open')).rejects.toEqual(
      errorWith('INVALID_OPTION', 'option privacy'),
    )
  }
})

it('asks for the keys of a page at once, and for none without personal values', async () => {
  const { audit, keys, update } = openPersonalLog()
  await audit.record('own:note', { text: 'plain' })
  await audit.record('own:note', { personal: [{ subject: 'mine' }] })
  const plain = await audit.list()
  expect(plain.events.map(({ attributes }) => attributes)).toEqual([
    { text: 'plain' },
    { personal: [{ subject: 'mine' }] },
  ])
  expect(keys.reads).toEqual([])
  await update('c17')
  await update('c18', 'bob')
  expect((await audit.list()).events).toHaveLength(4)
  expect(keys.reads).toHaveLength(1)
  expect(new Set(keys.reads[0])).toHaveProperty('size', 4)
})

it('a tail opens events in order, a batch at a time', async () => {
  const { audit, update } = openPersonalLog()
  const tail = audit.tail('', { after: START })
  for (const customer of ['c1', 'c2', 'c3']) await update(customer)
  const emails: unknown[] = []
  for await (const { attributes } of tail) {
    emails.push(attributes['email'])
    if (emails.length === 3) break
  }
  expect(emails).toEqual(['c1', 'c2', 'c3'].map((customer) => `${customer}@example.com`))
})

it('a history has the states with the values, or says that they are not known', async () => {
  const { audit } = openPersonalLog()
  const change = (before: object | null, after: object) =>
    audit.recordChange('api:customers:update', before, after, {
      username: 'ann',
      data: { customer_id: 'c17' },
    })
  await change(
    { plan: 'free', email: 'old@example.com' },
    { plan: 'paid', email: 'old@example.com' },
  )
  await change(
    { plan: 'paid', email: 'old@example.com' },
    { plan: 'paid', email: 'new@example.com' },
  )
  const patches = async (personal: PersonalForm) => {
    const found: unknown[] = []
    for await (const { patch } of audit.history({ customer_id: 'c17' }, { personal }))
      found.push(patch)
    return found
  }
  const plan = [{ op: 'replace', path: '/plan', value: 'paid' }]
  expect(await patches('open')).toEqual([
    plan,
    [{ op: 'replace', path: '/email', value: 'new@example.com' }],
  ])
  expect(await patches('sealed')).toEqual([plan, undefined])
  await expect(firstOf(audit.history({ email: 'new@example.com' }))).rejects.toEqual(
    errorWith('SEALED_ATTRIBUTE', 'resource'),
  )
})

it('who has read a record is known without keys', async () => {
  const { audit, keys } = openPersonalLog()
  await audit.read({ customer_id: 'c17' }, { username: 'ann' })
  keys.isAway = true
  expect(await audit.subjectReads({ customer_id: 'c17' })).toMatchObject([{ username: 'ann' }])
})
