import {
  AuditLog,
  AuditLogs,
  type AuditEvent,
  parseQuery,
  type RestrictedLog,
  type RestrictedLogs,
} from 'daybook'
import { exportEvents, exportEventsOfLogs } from '../../src/exporting/export-events.js'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clock, CONCEALED, EVENTS, LINKS, PROBES, VISIBLE } from '../support/concealed.js'

/* What code reads of a restricted log is what it reads of a log without the hidden events and the concealed attributes. */

const RULES = { visible: VISIBLE, conceal: CONCEALED }

async function openLog(events: readonly AuditEvent[]): Promise<AuditLog> {
  const audit: AuditLog = new AuditLog({ store: memoryStore({ clock }), types: {}, links: LINKS })
  onTestFinished(() => audit.close())
  await audit.importEvents(events)
  return audit
}

async function openLogs(events: readonly AuditEvent[]): Promise<AuditLogs> {
  const logs: AuditLogs = new AuditLogs({ stores: memoryLogs({ clock }), types: {}, links: LINKS })
  onTestFinished(() => logs.close())
  await logs.log('a').importEvents(events)
  await logs.log('b').importEvents([])
  return logs
}

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const textOf = async (chunks: AsyncIterable<Uint8Array>): Promise<string> =>
  Buffer.concat(await all(chunks)).toString()

/** The queries of lists, and whether they name a concealed attribute. */
const QUERIES = PROBES.filter(
  ({ path, request }) => path.startsWith('?') && !path.includes('fields') && !request,
).map(({ path, isRefused = false }) => [path.slice(1), isRefused] as const)

/** Reads in each way. */
const waysOf = (log: RestrictedLog | AuditLog) => ({
  list: async (query: string) => log.list(query),
  pages: async (query: string) =>
    /sorts/.test(query) ? undefined : all(log.pages(query.replace(/&limit=\d+/, ''))),
  export: async (query: string) =>
    /sorts/.test(query) ? undefined : textOf(exportEvents(log, query)),
  count: async (query: string) => {
    const { took_ms: _, ...counts } = await log.count(query, { facets: ['type'], within: 60_000 })
    return counts
  },
  groups: async (query: string) => {
    const { took_ms: _, ...groups } = await log.groups(query, { by: ['type'], within: 60_000 })
    return groups
  },
})

const outcomeOf = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => JSON.stringify(value),
    (error: unknown) => (error as { code: string }).code,
  )

it('a restricted log tells nothing of hidden events and concealed attributes', async () => {
  const given = waysOf((await openLog(EVENTS.stored)).restricted(RULES))
  const model = waysOf(await openLog(EVENTS.shown))
  for (const [name, way] of Object.entries(given))
    for (const [query, isRefused] of QUERIES) {
      const found = await outcomeOf(way(query))
      const isUnread = found === undefined
      const expected =
        isRefused && !isUnread
          ? 'UNKNOWN_ATTRIBUTE'
          : await outcomeOf(model[name as keyof typeof model](query))
      expect(found, `${name} ${query}`).toEqual(expected)
    }
})

it('nor does a restricted log of several', async () => {
  const restriction = { visible: () => VISIBLE, conceal: CONCEALED }
  const stored = (await openLogs(EVENTS.stored)).restricted(restriction)
  const model = await openLogs(EVENTS.shown)
  const logs = ['a', 'b']
  const within = 60_000
  const ways = (from: RestrictedLogs | AuditLogs) => [
    from.list({ limit: 1000 }, { logs }).then(({ events }) => events),
    all(from.pages('', { logs })),
    textOf(exportEventsOfLogs(from, '', { logs })),
    from.count('q=s3cr3t', { logs, facets: ['type'], within }).then(({ facets }) => facets),
    from.groups('q=orders', { logs, by: ['type'], within }).then(({ groups }) => groups),
    all(from.history({ order_no: 2 }, { logs })),
    from.log('a').list(),
    all(from.history({ order_no: 2 }, { logs: ['a'] })).then((found) => found.length > 0),
  ]
  const answers = await Promise.all(ways(stored))
  expect(answers).toEqual(await Promise.all(ways(model)))
  expect(JSON.stringify(answers)).not.toContain('s3cr3t')
})

describe('a restricted log', () => {
  const openRestricted = async (): Promise<RestrictedLog> =>
    (await openLog(EVENTS.stored)).restricted(RULES)

  it('has single events and histories as the reader sees them', async () => {
    const restricted = await openRestricted()
    const model = await openLog(EVENTS.shown)
    for (const { id } of EVENTS.stored)
      expect(await restricted.get(id)).toEqual(await model.get(id))
    const entries = await all(restricted.history({ order_no: 2 }))
    expect(entries).toEqual(await all(model.history({ order_no: 2 })))
  })

  it('refuses concealed names in figures, histories and tails', async () => {
    const restricted = await openRestricted()
    for (const name of [...CONCEALED, 'source', 'changes'])
      for (const call of [
        restricted.count('', { facets: [name] }),
        restricted.groups('', { by: [name] }),
        restricted.groups('', { by: ['type'], numbers: [name] }),
        all(restricted.history({ [name]: 'x' })),
        ...(name === 'changes'
          ? []
          : [
              restricted.tail(`filter[${name}_cont]=x`).next(),
              restricted.list({ filter: { [`${name}_eq`]: 'x' } }),
            ]),
      ])
        await expect(call, name).rejects.toMatchObject({ code: 'UNKNOWN_ATTRIBUTE' })
    await expect(all(restricted.history('/api/orders/1'))).rejects.toMatchObject({
      code: 'UNKNOWN_ATTRIBUTE',
    })
  })

  it('takes no restriction of a call', async () => {
    const restricted = await openRestricted()
    const logs = (await openLogs([])).restricted({ conceal: ['a'] })
    const options = { visible: () => 'all', by: ['type'] } as object
    for (const call of [
      async () => restricted.count('', options),
      async () => restricted.groups('', options as { by: string[] }),
      async () => restricted.tail('', options),
      async () => restricted.tail('', { conceal: [] } as object),
      async () => restricted.list('', options),
      async () => exportEvents(restricted, '', { conceal: [] } as object).next(),
      async () => logs.list('', options),
      async () => logs.count('', options),
      async () => logs.history({ a: 1 }, options).next(),
      async () => logs.cursor(options),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  it.each<[string, object, string]>([
    ['nothing', {}, 'restricted needs visible, conceal, or both'],
    ['a misspelt name', { concealed: ['a'] }, 'did you mean conceal?'],
    ['no names', { conceal: undefined }, 'must return a list of names'],
    ['an own field', { conceal: ['username'] }, 'only attributes can be concealed'],
    ['no filter', { visible: undefined }, 'filter: sets no condition'],
    ['an empty filter', { visible: {} }, 'visible: the filter has no condition'],
    ['a blank value', { visible: { tenant_id_eq: '' } }, 'tenant_id_eq'],
  ])('refuses a wrong restriction: %s', async (_case, restriction, message) => {
    const audit = await openLog([])
    expect(() => audit.restricted(restriction)).toThrow(message)
  })

  it('of several refuses a filter in place of a function', async () => {
    const logs = await openLogs([])
    expect(() => logs.restricted({ visible: VISIBLE as never })).toThrow('must be a function')
    const wrong = logs.restricted({ visible: () => ({}) })
    await expect(wrong.list('', { logs: ['a'] })).rejects.toThrow('no condition')
  })
})

describe('tails', () => {
  const after = '2020-01-01'
  const ORDERS = ['acme', 'umbrella', 'acme'].map((tenant_id, n) => ({
    tenant_id,
    order_id: `A-${n}`,
  }))
  const shown = { attributes: { tenant_id: 'acme' }, source: null }
  const taken = async <Item>(tail: AsyncIterableIterator<Item>, count: number) => {
    const found: unknown[] = []
    for (let n = 0; n < count; n++) found.push((await tail.next()).value)
    await tail.return!()
    return found
  }
  const record = async (audit: AuditLog): Promise<void> => {
    for (const order of ORDERS) await audit.recordSystem('api:orders:update', order)
  }

  it('obey visible without changes, and conceal the source with a link attribute', async () => {
    const audit = await openLog([])
    await record(audit)
    const { where: visible } = parseQuery({ filter: { tenant_id_eq: 'acme' } })
    const found = await taken(audit.tail('', { after, visible, conceal: ['order_id'] }), 2)
    expect(found).toMatchObject([shown, shown])
    const named = audit.tail('filter[order_id_eq]=A-1', { after, conceal: ['order_id'] })
    await expect(named.next()).rejects.toMatchObject({ code: 'UNKNOWN_ATTRIBUTE' })
  })

  it('of restricted logs have what the reader sees', async () => {
    const visible = { tenant_id_eq: 'acme' }
    const conceal = ['order_id']
    const audit = await openLog([])
    await record(audit)
    const one = audit.restricted({ visible, conceal })
    expect(await taken(one.tail('', { after }), 2)).toMatchObject([shown, shown])
    const logs = await openLogs([])
    await record(logs.log('b'))
    const several = logs.restricted({ visible: () => visible, conceal })
    const tail = several.tail('', { after, logs: ['a', 'b'] })
    const event = { log: 'b', event: shown }
    expect(await taken(tail, 2)).toMatchObject([event, event])
    expect(tail.cursor).toBeDefined()
  })
})
