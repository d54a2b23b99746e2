import { AuditLog, type EventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CleaningOptions } from '../../../src/cleaning/rule.js'
import { openPersonalLog, TYPES, watchedKeys } from '../../support/personal-log.js'
import { errorWith, refusalOf } from '../errors.js'

const START = '2000-01-01T00:00:00.000000Z'

/** Names that are encrypted, or that lead into something encrypted. */
const SEALED = [
  'email',
  'address',
  'address_city',
  'before_email',
  'after_address_city',
  'previous_email',
  'changes_email',
  'remote_address',
  'personal_data',
]
/** Names that look like them. */
const OPEN = [
  'emails',
  'customer_id',
  'personal',
  'personal_subject',
  'changes_path',
  'changes_value',
  'request_email',
]

const refused = errorWith('SEALED_ATTRIBUTE')

describe.each(SEALED)('%s', (name) => {
  it('is refused in filters, sorts, facets, groups and numbers', async () => {
    const { audit } = openPersonalLog()
    const filter = `filter[${name}_eq]=x`
    await expect(audit.list(filter)).rejects.toEqual(refused)
    await expect(audit.list(`filter[type_or_${name}_eq]=x`)).rejects.toEqual(refused)
    await expect(audit.list(`filter[g][0][${name}_null]=1`)).rejects.toEqual(refused)
    await expect(audit.list(`filter[sorts]=${name} asc`)).rejects.toEqual(refused)
    await expect(audit.explain(filter)).rejects.toEqual(refused)
    await expect(audit.pages(filter).next()).rejects.toEqual(refused)
    await expect(audit.count(filter)).rejects.toEqual(refused)
    await expect(audit.count('', { facets: [name] })).rejects.toMatchObject({
      code: 'SEALED_ATTRIBUTE',
      parameter: 'facets',
    })
    await expect(audit.groups(filter, { by: ['type'] })).rejects.toEqual(refused)
    await expect(audit.groups('', { by: [name] })).rejects.toMatchObject({ parameter: 'by' })
    await expect(audit.groups('', { by: ['type'], numbers: [name] })).rejects.toMatchObject({
      parameter: 'numbers',
    })
    await expect(audit.tail(filter, { after: START }).next()).rejects.toEqual(refused)
    await expect(audit.history({ [name]: 'x' }).next()).rejects.toEqual(refused)
    const shown = audit.restricted({ visible: { customer_id_eq: 'c17' } })
    await expect(shown.list(filter)).rejects.toEqual(refused)
    await expect(shown.history({ [name]: 'x' }).next()).rejects.toEqual(refused)
    expect(refusalOf(() => audit.restricted({ visible: { [`${name}_eq`]: 'x' } })).code).toBe(
      'INVALID_OPTION',
    )
  })

  it('is refused in filters that act', async () => {
    const { keys } = openPersonalLog()
    const open = (cleaning: CleaningOptions) => () =>
      new AuditLog<EventTypes>({
        store: memoryStore(),
        types: TYPES,
        privacy: { keys },
        cleaning,
      })
    const filter = `filter[${name}_eq]=x`
    const rules = [{ target: 'events', maxAge: { days: 1 }, filter }] as const
    expect(refusalOf(open({ rules })).message).toContain('is encrypted')
    const holds = [{ name: 'case 7', filter }]
    expect(refusalOf(open({ rules: [], holds })).message).toContain('legal hold case 7: filter')
    const { audit } = openPersonalLog({
      cleaning: { rules: [{ target: 'events', maxRows: 0 }], holds: () => holds },
    })
    await audit.record('own:note', { text: 'kept' })
    expect(await audit.cleaning.run()).toMatchObject([
      { removed_count: 0, error: expect.stringContaining('is encrypted') },
    ])
    expect((await audit.list('filter[type_eq]=own:note')).events).toHaveLength(1)
    const subscription = refusalOf(() =>
      openPersonalLog({
        subscriptions: {
          channels: { desk: { deliver: async () => {} } },
          subscriptions: { all: { channel: 'desk', filter } },
        },
      }),
    )
    expect(subscription).toMatchObject({ code: 'INVALID_OPTION' })
    expect(subscription.message).toContain('is encrypted')
  })
})

it.each(OPEN)('%s stays a name that queries may use', async (name) => {
  const { audit } = openPersonalLog()
  await audit.list(`filter[${name}_eq]=x&filter[sorts]=${name} asc`)
  await audit.count('', { facets: [name] })
})

it('a subscription that is created later is refused too', async () => {
  const { audit } = openPersonalLog({
    subscriptions: { channels: { desk: { deliver: async () => {} } } },
  })
  await expect(
    audit.subscriptions.create({ name: 'mail', channel: 'desk', filter: 'filter[email_eq]=x' }),
  ).rejects.toEqual(errorWith('INVALID_SUBSCRIPTION', 'is encrypted'))
})

it('a log without the option privacy encrypts nothing, and refuses nothing', async () => {
  const { audit, update } = openPersonalLog({ privacy: false })
  await update('c17')
  const { events } = await audit.list('filter[email_eq]=c17@example.com')
  expect(events).toHaveLength(1)
})

it('counts leave out the names of older events in clear', async () => {
  const store = memoryStore()
  const before = new AuditLog<EventTypes>({
    store: { ...store, async close() {} },
    types: TYPES,
    privacy: false,
  })
  await before.record('api:customers:update', { customer_id: 'c1', email: 'clear@example.com' })
  await before.close()
  const audit = new AuditLog<EventTypes>({ store, types: TYPES, privacy: { keys: watchedKeys() } })
  onTestFinished(() => audit.close())
  const { attributes } = await audit.count('', { attributes: true })
  expect(attributes!.map(({ name }) => name)).toEqual(['customer_id'])
})
