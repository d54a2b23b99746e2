import type { AuditLog } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eachStore, type EventPlace } from '../../support/event-stores.js'
import { openPersonalLog } from '../../support/personal-log.js'

const PEOPLE = 20
const EVENTS = 400

/** The customer of each event. */
const customerOf = (i: number): string => `c${i % PEOPLE}`

/* All stores give the same answers about persons, and about names that are encrypted. */
describe.each(eachStore)('%s', (_, create) => {
  let place: EventPlace
  let log: ReturnType<typeof openPersonalLog>
  let audit: AuditLog

  beforeAll(async () => {
    place = await create()
    log = openPersonalLog({ store: place.open() }, () => {})
    audit = log.audit
    await Promise.all(
      Array.from({ length: EVENTS }, (_, i) => log.update(customerOf(i), `u${i % 7}`)),
    )
    await audit.record('own:note', { customer_id: 'c3', text: 'nothing personal' })
  })
  afterAll(async () => {
    await audit.close()
    await place.remove()
  })

  it('finds the events of a person, and opens them', async () => {
    const { events, truncated } = await audit.list('limit=1000', { subject: { customer: 'c3' } })
    expect(truncated).toBe(false)
    expect(events.map(({ attributes }) => attributes['email'])).toEqual(
      Array.from({ length: EVENTS / PEOPLE }, () => 'c3@example.com'),
    )
    const [part] = events[0]!.attributes['personal'] as { subject: string }[]
    const byRef = await audit.list(`filter[personal_subject_eq]=${part!.subject}&limit=1000`)
    expect(byRef.events).toEqual(events)
    const ids: string[] = []
    for await (const page of audit.pages('filter[sorts]=created_at asc', {
      subject: { customer: 'c3' },
      lazy: true,
    }))
      ids.push(...page.map(({ id }) => id))
    expect(ids).toEqual(events.map(({ id }) => id))
  })

  it('counts and groups the events of a person', async () => {
    const subject = { user: 'u2' }
    const mine = Array.from({ length: EVENTS }, (_, i) => i).filter((i) => i % 7 === 2)
    const options = { subject, facets: ['customer_id'], within: 60_000, attributes: true }
    const { total, facets, attributes } = await audit.count('', options)
    expect(total).toBe(mine.length)
    expect(facets['customer_id']!.distinct).toBe(new Set(mine.map(customerOf)).size)
    expect(attributes!.map(({ name }) => name).toSorted()).toEqual([
      'customer_id',
      'personal_subject',
      'plan',
    ])
    const { groups } = await audit.groups('', { by: ['plan'], subject, within: 60_000 })
    expect(groups.map(({ count }) => count)).toEqual([mine.length])
  })

  it('finds no value that is encrypted, by any text', async () => {
    for (const text of ['c3@example', 'city', '192.0.2'])
      expect((await audit.list(`q=${text}`)).events).toEqual([])
    await expect(audit.list('filter[email_eq]=c3@example.com')).rejects.toMatchObject({
      code: 'SEALED_ATTRIBUTE',
    })
  })

  it('finds nothing of an erased person, and opens all others', async () => {
    const erased = await log.forget('c5')
    expect((await audit.list('', { subject: { customer: 'c5' } })).events).toEqual([])
    const { events } = await audit.list('filter[type_eq]=api:customers:update&limit=1000')
    for (const { attributes } of events)
      if (attributes['customer_id'] === 'c5') {
        expect(attributes).not.toHaveProperty('email')
        expect(attributes['personal']).toContainEqual({
          subject: expect.any(String) as unknown,
          erased,
        })
      } else expect(attributes['email']).toBe(`${attributes['customer_id'] as string}@example.com`)
  })
})
