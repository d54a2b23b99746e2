import { AuditLog, type AuditLogError, type JsonValue } from 'daybook'
import { describe, expect, it } from 'vitest'
import { VIEW_LIMITS, type ViewDefinition } from '../../../src/views/view.js'
import { createViews, type Views } from '../../../src/views/views.js'
import { type CreatePlace, eachStore } from '../../support/event-stores.js'

const named = (name: string): ViewDefinition => ({
  name,
  query: '',
  range: null,
  display: {},
  shared: false,
})

const allow = (): void => {}

type UseTwo = (views: [Views, Views], audit: AuditLog) => Promise<void>

/** Runs a function with the views of two logs on one store, which represent two processes. */
const twoLogs =
  (kind: string, createPlace: CreatePlace) =>
  async (run: UseTwo): Promise<void> => {
    const place = await createPlace()
    const first = new AuditLog({ store: place.open(), types: {} })
    // A store in memory belongs to one process.
    const second = kind === 'memory' ? first : new AuditLog({ store: place.open(), types: {} })
    try {
      await run([createViews(first), createViews(second)], first)
    } finally {
      await first.close()
      await second.close()
      await place.remove()
    }
  }

describe.each(eachStore)('on %s', (kind, createPlace) => {
  const withTwo = twoLogs(kind, createPlace)

  it('keeps each change of two processes that write at once', async () => {
    await withTwo(async ([one, other], audit) => {
      const { id } = await one.create(named('a'), 'ann')
      const changes: Partial<ViewDefinition>[] = [
        { name: 'b' },
        { query: 'filter[name_eq]=x' },
        { range: '7d' },
        { display: { zone: 'UTC' } },
        { shared: true },
      ]
      await Promise.all(
        changes.map((change, i) =>
          [one, other][i % 2]!.update(id, change, { username: 'ann', allow }),
        ),
      )
      const expected = Object.assign({}, ...changes) as ViewDefinition
      expect(await one.get(id)).toMatchObject(expected)
      expect(await other.get(id)).toMatchObject(expected)
      const { events } = await audit.list('filter[type_start]=api:views:')
      expect(events.map(({ type }) => type)).toEqual([
        'api:views:create',
        ...changes.map(() => 'api:views:update'),
      ])
    })
  })

  it('stores no more than the limit, in all processes together', async () => {
    await withTwo(async (both, audit) => {
      const { views: limit } = VIEW_LIMITS
      const present = new Map<string, JsonValue>([['views', { count: limit - 3 }]])
      await audit.store.updateStates(['views'], () => present)
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, i) => both[i % 2]!.create(named(`view ${i}`), 'ann')),
      )
      const refused = results.flatMap((result) =>
        result.status === 'rejected' ? [(result.reason as AuditLogError).code] : [],
      )
      expect(refused).toEqual(Array.from({ length: 7 }, () => 'INVALID_VIEW'))
      const stored = await both[1].list()
      expect(stored).toHaveLength(3)
      await both[0].remove(stored[0]!.id, { username: 'ann', allow })
      await both[1].create(named('again'), 'ann')
      await expect(both[0].create(named('beyond'), 'ann')).rejects.toMatchObject({
        code: 'INVALID_VIEW',
        message: 'a log has at most 1000 views',
      })
    })
  })

  it('changes nothing, and leaves no event, if the change is refused', async () => {
    await withTwo(async ([one, other], audit) => {
      const made = await one.create(named('a'), 'ann')
      const refusal = new Error('not yours')
      const refused = {
        username: 'bob',
        allow: (): void => {
          throw refusal
        },
      }
      await expect(other.update(made.id, { name: 'b' }, refused)).rejects.toBe(refusal)
      await expect(other.remove(made.id, refused)).rejects.toBe(refusal)
      expect(await one.get(made.id)).toEqual(made)
      expect((await audit.list()).events).toHaveLength(1)
    })
  })

  it('lists each view once, by name, even if the store has other states', async () => {
    await withTwo(async ([one, other], audit) => {
      await audit.store.updateStates(
        ['viewer', 'view', 'subscription:x'],
        () =>
          new Map([
            ['view', 1],
            ['viewer', 2],
          ]),
      )
      for (const name of ['b', 'a', 'b']) await one.create(named(name), 'ann')
      expect((await other.list()).map(({ name }) => name)).toEqual(['a', 'b', 'b'])
    })
  })
})

it('on SQLite stores no more of one user than the limit, in all processes together', async () => {
  const withTwo = twoLogs(...eachStore.find(([kind]) => kind === 'SQLite')!)
  await withTwo(async (both) => {
    const { viewsOfOwner: limit } = VIEW_LIMITS
    for (let i = 0; i < limit - 3; i++) await both[0].create(named(`view ${i}`), 'ann')
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, (_, i) => both[i % 2]!.create(named(`at once ${i}`), 'ann')),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    await expect(both[0].create(named('beyond'), 'ann')).rejects.toMatchObject({
      code: 'INVALID_VIEW',
      message: 'a user has at most 100 views',
    })
    // Other users, with any name, have as much room as before.
    for (const other of ['bob', '__proto__', 'ann '.repeat(1000)])
      await both[1].create(named('one'), other)
    const [first] = await both[1].list()
    await both[1].remove(first!.id, { username: 'eve', allow })
    await both[0].create(named('again'), 'ann')
  })
})

it('lets a log hold a thousand views', async () => {
  const [, createPlace] = eachStore.find(([kind]) => kind === 'memory')!
  const place = await createPlace()
  const audit = new AuditLog({ store: place.open(), types: {} })
  const views = createViews(audit)
  for (let i = 0; i < VIEW_LIMITS.views; i++)
    await views.create(named(`view ${i}`), `user ${i % 10}`)
  await expect(views.create(named('one more'), 'ann')).rejects.toMatchObject({
    code: 'INVALID_VIEW',
  })
  expect(await views.list()).toHaveLength(VIEW_LIMITS.views)
  await audit.close()
})
