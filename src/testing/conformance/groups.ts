import assert from 'node:assert/strict'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent, JsonObject } from '../../event/event.js'
import { parseQuery, type QueryObject } from '../../filter/parse.js'
import type { EventGroups, GroupOptions } from '../../store/groups.js'
import { type Case, cases } from './context.js'
import { imported, rejectsWith } from './helpers.js'
import { openLive } from './live-events.js'

type Given = readonly [type: string, username: string | null, attributes: JsonObject]

/** Imports one event per second in May 2025, from 10:00 on. */
async function importEvents(audit: AuditLog, given: readonly Given[]): Promise<void> {
  const events = given.map(([type, username, attributes], n): AuditEvent => {
    const seconds = String(n).padStart(2, '0')
    return imported({
      id: `0196b3c2-0000-4000-8000-${String(n).padStart(12, '0')}`,
      created_at: `2025-05-01T10:00:${seconds}.000000Z`,
      type,
      username,
      attributes,
    })
  })
  assert.equal((await audit.importEvents(events)).imported, given.length)
}

const REQUESTS: readonly Given[] = [
  ['api:things:show', 'ann', { status: 200, ms: 10, tags: ['a', 'b', 'a'] }],
  ['api:things:show', 'ann', { status: 500, ms: 20, tags: ['b'] }],
  ['api:things:show', 'bob', { status: 500, ms: 30 }],
  ['error:things:show', 'bob', { status: '500', ms: [40, 50] }],
  ['error:things:show', null, { status: null, ms: 'long' }],
  ['deploy', null, { nested: { status: 200 } }],
]

const groupsOf = (
  audit: AuditLog,
  filter: QueryObject['filter'],
  options: GroupOptions,
): Promise<EventGroups> => audit.groups({ filter }, { within: 60_000, ...options })

/** For example `"ann" 2, null 1`. */
const textOf = ({ groups }: EventGroups): string =>
  groups
    .map(
      ({ values, count }) => `${values.map((value) => JSON.stringify(value)).join('/')} ${count}`,
    )
    .join(', ')

export const groupCases: readonly Case[] = cases({
  async 'groups: counts the events of each value, and those without one'({ audit }) {
    await importEvents(audit, REQUESTS)
    const { took_ms, ...groups } = await groupsOf(audit, {}, { by: ['username'] })
    assert.ok(Number.isInteger(took_ms) && took_ms >= 0)
    const exact = { exact: true, error: 0, buckets: undefined, numbers: {} }
    assert.deepEqual(groups, {
      by: ['username'],
      groups: [
        { values: ['ann'], count: 2, ...exact },
        { values: ['bob'], count: 2, ...exact },
        { values: [null], count: 2, ...exact },
      ],
      distinct: 3,
      total: 6,
      exact: { total: true, groups: true },
      read: 6,
      buckets: undefined,
    })
    const textBy = async (...by: string[]): Promise<string> =>
      textOf(await groupsOf(audit, {}, { by }))
    assert.equal(await textBy('level'), '"api" 3, "error" 2, "custom" 1')
    assert.equal(await textBy('status'), '500 2, null 2, 200 1, "500" 1')
  },

  async 'groups: an event is in a group for each of its values'({ audit }) {
    await importEvents(audit, REQUESTS)
    assert.equal(textOf(await groupsOf(audit, {}, { by: ['tags'] })), 'null 4, "b" 2, "a" 1')
    assert.equal(
      textOf(await groupsOf(audit, { tags_present: '1' }, { by: ['tags', 'status'] })),
      '"a"/200 1, "b"/200 1, "b"/500 1',
    )
  },

  async 'groups: pairs of values, the most frequent first'({ audit }) {
    await importEvents(audit, REQUESTS)
    const groups = await groupsOf(audit, {}, { by: ['type', 'username'], top: 2 })
    assert.equal(textOf(groups), '"api:things:show"/"ann" 2, "api:things:show"/"bob" 1')
    assert.equal(groups.distinct, 5)
    assert.deepEqual(groups.exact, { total: true, groups: true })
  },

  async 'groups: the filter, also on the attribute itself, and `visible` apply'({ audit }) {
    await importEvents(audit, REQUESTS)
    const { where: visible } = parseQuery('filter[username_in][]=ann&filter[username_in][]=bob')
    const by = ['username']
    assert.equal(textOf(await groupsOf(audit, { username_not_eq: 'bob' }, { by })), '"ann" 2')
    assert.equal(textOf(await groupsOf(audit, {}, { by, visible })), '"ann" 2, "bob" 2')
    const all = await groupsOf(audit, { status_gteq: 500 }, { by, visible })
    assert.equal(textOf(all), '"bob" 2, "ann" 1')
    assert.equal(all.total, 3)
    const none = await groupsOf(audit, { type_eq: 'none' }, { by, buckets: {} })
    assert.deepEqual([none.groups, none.total, none.distinct], [[], 0, 0])
    assert.deepEqual(none.exact, { total: true, groups: true })
  },

  async 'groups: by the level of events, whatever attribute has the name'({ audit }) {
    await importEvents(audit, [
      ['error:x', null, { level: 30 }],
      ['api:x', null, { level: 'error' }],
      ['api:x', null, {}],
    ])
    const { groups } = await groupsOf(audit, {}, { by: ['level'] })
    assert.deepEqual(
      groups.map(({ values, count }) => [...values, count]),
      [
        ['api', 2],
        ['error', 1],
      ],
    )
    assert.equal((await groupsOf(audit, { level_eq: 'error' }, { by: ['level'] })).total, 1)
  },

  async 'groups: percentiles of the numbers of each group'({ audit }) {
    await importEvents(audit, REQUESTS)
    const { groups } = await groupsOf(audit, {}, { by: ['level'], numbers: ['ms', 'none'] })
    const exact = (value: number): object => ({ value, low: value, high: value })
    assert.deepEqual(
      groups.map(({ values, numbers }) => [values[0], numbers]),
      [
        ['api', { ms: { exact: true, read: 3, p50: exact(20), p95: exact(30), p99: exact(30) } }],
        ['error', { ms: { exact: true, read: 2, p50: exact(40), p95: exact(50), p99: exact(50) } }],
        ['custom', {}],
      ],
    )
  },

  async 'groups: counts of each group over time'({ audit }) {
    await importEvents(audit, REQUESTS)
    const filter = {
      created_at_gteq: '2025-05-01T10:00:00Z',
      created_at_lt: '2025-05-01T10:00:06Z',
    }
    const { groups, buckets } = await groupsOf(audit, filter, {
      by: ['username'],
      buckets: { count: 3, zone: 'Asia/Tokyo' },
    })
    assert.deepEqual(buckets, {
      width: 2,
      zone: 'Asia/Tokyo',
      edges: ['00', '02', '04', '06'].map((at) => `2025-05-01T10:00:${at}.000000Z`),
    })
    assert.deepEqual(
      groups.map((group) => [group.values[0], group.buckets]),
      [
        ['ann', [2, 0, 0]],
        ['bob', [0, 2, 0]],
        [null, [0, 0, 2]],
      ],
    )
  },

  async 'groups: live events have their current attributes'({ store, audit }) {
    const by = ['state']
    const live = await openLive(store, { state: 'open' })
    assert.equal(textOf(await groupsOf(audit, {}, { by })), '"open" 1')
    await store.changeLive(live.id, { revision: 1, json: '{"state":"half"}' })
    assert.equal(textOf(await groupsOf(audit, {}, { by })), '"half" 1')
    await store.closeLive(live.id, { revision: 2 })
    assert.equal(textOf(await groupsOf(audit, {}, { by })), '"half" 1')
  },

  async 'groups: reject with `ABORTED` and `CLOSED`'({ audit }) {
    const signal = AbortSignal.abort()
    await rejectsWith(audit.groups('', { by: ['type'], signal }), 'ABORTED')
    await audit.close()
    await rejectsWith(audit.groups('', { by: ['type'] }), 'CLOSED')
  },
})
