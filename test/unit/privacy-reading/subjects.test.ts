import type { AuditEvent } from 'daybook'
import { expect, it } from 'vitest'
import { exportEvents } from '../../../src/exporting/export-events.js'
import { openPersonalLog } from '../../support/personal-log.js'
import { errorWith } from '../errors.js'

const C17 = { customer: 'c17' }
const START = '2000-01-01T00:00:00.000000Z'

const emails = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ attributes }) => attributes['email'])

async function world() {
  const log = openPersonalLog()
  await log.update('c17')
  await log.update('c18', 'bob')
  await log.update('c17', 'bob')
  await log.audit.record('own:note', { customer_id: 'c17', text: 'nothing personal' })
  return log
}

async function pagesOf(pages: AsyncIterable<readonly AuditEvent[]>): Promise<AuditEvent[]> {
  const all: AuditEvent[] = []
  for await (const page of pages) all.push(...page)
  return all
}

it('reads only the events of the person', async () => {
  const { audit } = await world()
  const two = ['c17@example.com', 'c17@example.com']
  expect(emails((await audit.list('', { subject: C17 })).events)).toEqual(two)
  expect(emails(await pagesOf(audit.pages('', { subject: C17 })))).toEqual(two)
  expect((await audit.count('', { subject: C17 })).total).toBe(2)
  const bob = await audit.list('filter[customer_id_eq]=c17', { subject: { user: 'bob' } })
  expect(emails(bob.events)).toEqual(['c17@example.com'])
  const chunks: string[] = []
  for await (const chunk of exportEvents(audit, '', { subject: { customer: 'c18' } }))
    chunks.push(Buffer.from(chunk).toString())
  expect(chunks.join('').trim().split('\n')).toHaveLength(1)
})

it('counts and groups the events of the person alone', async () => {
  const { audit } = await world()
  const options = { subject: C17, facets: ['customer_id', 'personal_subject'], within: 60_000 }
  const { facets, attributes } = await audit.count('', { ...options, attributes: true })
  expect(facets['customer_id']!.values).toEqual([{ value: 'c17', count: 2 }])
  // A facet ignores the conditions of the query on itself, and never the person.
  expect(facets['personal_subject']!.values.map(({ count }) => count)).toEqual([2, 1, 1])
  expect(attributes!.map(({ name }) => name)).not.toContain('personal_data')
  const { groups } = await audit.groups('', { by: ['customer_id'], subject: C17, within: 60_000 })
  expect(groups.map(({ values, count }) => [values, count])).toEqual([[['c17'], 2]])
})

it('reads nothing of a person without a key, also after an erasure', async () => {
  const { audit, forget, update } = await world()
  expect((await audit.list('', { subject: { customer: 'c99' } })).events).toEqual([])
  expect((await audit.count('', { subject: { customer: 'c99' } })).total).toBe(0)
  await forget('c17')
  expect((await audit.list('', { subject: C17 })).events).toEqual([])
  await update('c17')
  expect(emails((await audit.list('', { subject: C17 })).events)).toEqual(['c17@example.com'])
})

it('follows a person whose first event comes later, and whose key is replaced', async () => {
  const { audit, update, forget } = openPersonalLog()
  const tail = audit.tail('', { after: START, subject: C17 })
  const next = async (): Promise<unknown> => (await tail.next()).value?.attributes['plan']
  await update('c18')
  await update('c17', 'ann', { plan: 'first' })
  expect(await next()).toBe('first')
  await forget('c17')
  await update('c18')
  await update('c17', 'ann', { plan: 'second' })
  expect(await next()).toBe('second')
  await tail.return()
})

it.each<[subject: object, message: string]>([
  [{}, 'exactly one member'],
  [{ customer: 'c17', user: 'ann' }, 'exactly one member'],
  [{ custommer: 'c17' }, 'customer'],
  [{ customer: ' ' }, 'not blank'],
])('refuses %o', async (subject, message) => {
  const { audit } = await world()
  const wrong = { subject: subject as Record<string, string> }
  const refused = errorWith('INVALID_VALUE', message)
  await expect(audit.list('', wrong)).rejects.toEqual(refused)
  await expect(audit.count('', wrong)).rejects.toEqual(refused)
  await expect(audit.tail('', wrong).next()).rejects.toEqual(refused)
})

it('needs keys', async () => {
  const { audit, keys } = await world()
  keys.isAway = true
  await expect(audit.list('', { subject: C17 })).rejects.toEqual(errorWith('KEYS_UNAVAILABLE'))
  const plain = openPersonalLog({ privacy: false })
  await expect(plain.audit.list('', { subject: C17 })).rejects.toEqual(
    errorWith('INVALID_OPTION', 'subject needs the option privacy'),
  )
})
