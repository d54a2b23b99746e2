import assert from 'node:assert/strict'
import { AuditLog } from '../audit-log.js'
import { AuditLogError, type AuditLogErrorCode } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event.js'
import { parseEventId } from '../event-id.js'
import { predicates } from '../filter/predicates.js'
import type { EventStore } from '../store.js'
import { type Clock, parseTimestamp } from '../timestamp.js'
import { filterTables, hostileTexts, longTexts, sortTable } from './filter-cases.js'
import { manualClock, type ManualClock } from './manual-clock.js'

/** A store made for one case, empty, on the clock it was asked for. */
export interface StoreUnderTest {
  readonly store: EventStore
  /** A further store on the same events, as another process would open it; where there can be one. */
  readonly reopen?: () => Promise<EventStore>
  /** Removes what the store left behind; called once the case has closed it. */
  readonly dispose?: () => Promise<void>
}

export type CreateStore = (options: { clock: Clock }) => Promise<StoreUnderTest> | StoreUnderTest

export interface ConformanceCase {
  readonly name: string
  /** What the case cannot do without; where the store cannot, `run` resolves to the reason. */
  readonly needs?: 'reopen'
  /** Rejects with an `AssertionError` where the store is wrong; resolves to why it was skipped. */
  readonly run: () => Promise<string | undefined>
}

interface Context {
  readonly store: EventStore
  readonly audit: AuditLog
  readonly clock: ManualClock
  readonly reopen: () => Promise<EventStore>
}

type Body = (context: Context) => Promise<void>

async function rejectsWith(promise: Promise<unknown>, code: AuditLogErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof AuditLogError, `expected an AuditLogError, got ${String(error)}`)
    assert.equal(error.code, code)
    return true
  })
}

const labels = (events: readonly AuditEvent[]): string =>
  events.map((event) => event.type).join(' ')

async function recordAll(
  audit: AuditLog,
  events: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  await Promise.all(Object.entries(events).map(([label, data]) => audit.recordSystem(label, data)))
}

async function recordSome(audit: AuditLog, count: number): Promise<AuditEvent[]> {
  const calls = Array.from({ length: count }, (_, n) => audit.recordCustom('test:event', { n }))
  return (await Promise.all(calls)).map((event) => event!)
}

const numbers = (events: readonly AuditEvent[]): unknown[] =>
  events.map((event) => event.attributes['n'])

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

function imported(overrides: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: '0196b3c2-0000-4000-8000-000000000001',
    created_at: '2025-05-01T10:00:00.000001Z',
    username: 'ann',
    system: true,
    type: 'legacy:thing:done',
    source: '/api/projects/acme',
    attributes: { name: 'old', nested: { list: [1, null, 'x'] } },
    ...overrides,
  }
}

const exactData: JsonObject = {
  zebra: 1,
  apple: { nested: [{ deep: [[], {}, null] }] },
  numbers: [0, -1, 0.1, 1e21, 1e-7, 9_007_199_254_740_991, -9_214_364_837_600_035_000, 5e-324],
  text: 'quote " backslash \\ slash / newline \n tab \t bell \u0007 é 😀 \u2028',
  'key with . [0] " and \\': true,
  empty: '',
  long: 'x'.repeat(10_000),
  nothing: null,
}

const cases: Readonly<Record<string, Body>> = {
  async 'append: gives events in order, each with a later created_at'({ audit, clock }) {
    const first = await recordSome(audit, 20)
    clock.advance(1)
    const second = await recordSome(audit, 20)
    const times = [...first, ...second].map((event) => event.created_at)
    assert.deepEqual(times, times.toSorted())
    assert.equal(new Set(times).size, 40)
    assert.match(times[0]!, /^2026-01-01T00:00:00\.\d{6}Z$|^2025-12-31T23:59:59\.\d{6}Z$/)
    assert.deepEqual(numbers(first), upTo(0, 19))
  },

  async 'append: an id is a UUID version 7 that carries created_at'({ audit }) {
    for (const event of await recordSome(audit, 3)) {
      assert.match(
        event.id,
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      assert.equal(parseEventId(event.id)?.time, parseTimestamp(event.created_at))
    }
  },

  async 'append: time goes on when the clock steps back'({ audit, clock }) {
    const [before] = await recordSome(audit, 1)
    clock.advance(-3_600_000_000)
    const [after] = await recordSome(audit, 1)
    assert.ok(after!.created_at > before!.created_at)
    clock.advance(7_200_000_000)
    const [later] = await recordSome(audit, 1)
    assert.equal(later!.created_at, '2026-01-01T01:00:00.000000Z')
  },

  async 'append: nothing of nothing'({ store }) {
    assert.deepEqual(await store.append([]), [])
  },

  async 'append: keeps JSON exactly, with the order of its keys'({ audit }) {
    const event = await audit.recordCustom('test:exact', exactData, { username: 'ann' })
    const read = await audit.get(event!.id)
    assert.deepEqual(read, { ...event, attributes: exactData })
    assert.equal(JSON.stringify(read.attributes), JSON.stringify(exactData))
    const { events } = await audit.list()
    assert.equal(JSON.stringify(events[0]!.attributes), JSON.stringify(exactData))
  },

  async 'append: an aborted signal keeps nothing'({ store, audit }) {
    await rejectsWith(store.append([], { signal: AbortSignal.abort() }), 'ABORTED')
    await rejectsWith(audit.recordCustom('a:b:c', {}, { signal: AbortSignal.abort() }), 'ABORTED')
    assert.deepEqual((await audit.list()).events, [])
  },

  async 'append: events keep user, kind, type and source'({ audit }) {
    await audit.recordSystem('api:changes:create', { project_path: '/projects/acme' })
    await audit.recordCustom('own', {}, { username: 'bob' })
    const { events } = await audit.list()
    assert.deepEqual(
      events.map(({ username, system, type, source }) => ({ username, system, type, source })),
      [
        { username: null, system: true, type: 'api:changes:create', source: '/api/projects/acme' },
        { username: 'bob', system: false, type: 'own', source: null },
      ],
    )
  },

  async 'append: concurrent batches do not mix'({ audit }) {
    const events = await recordSome(audit, 2500)
    assert.deepEqual(numbers(events), upTo(0, 2499))
    const times = events.map((event) => event.created_at)
    assert.deepEqual(times, times.toSorted())
  },

  async 'get: one event by its id'({ audit }) {
    const [, second] = await recordSome(audit, 3)
    assert.deepEqual(await audit.get(second!.id), second)
    assert.deepEqual(await audit.get(second!.id.toUpperCase()), second)
  },

  async 'get: undefined for what is no id of an event'({ audit }) {
    const [event] = await recordSome(audit, 1)
    const other = event!.id.slice(0, -1) + (event!.id.endsWith('0') ? '1' : '0')
    for (const id of [other, '', 'nonsense', '%', '00000000-0000-0000-0000-000000000000'])
      assert.equal(await audit.get(id), undefined, id)
  },

  async 'list: the newest, oldest first, and whether more match'({ audit }) {
    await recordSome(audit, 12)
    const page = await audit.list()
    assert.deepEqual(numbers(page.events), upTo(2, 11))
    assert.equal(page.truncated, true)
    assert.deepEqual(numbers((await audit.list({ limit: 3 })).events), [9, 10, 11])
    const all = await audit.list({ limit: 12 })
    assert.deepEqual(numbers(all.events), upTo(0, 11))
    assert.equal(all.truncated, false)
    assert.equal((await audit.list({ limit: 11 })).truncated, true)
  },

  async 'list: an empty log has an empty page'({ audit }) {
    assert.deepEqual(await audit.list(), { events: [], truncated: false })
    assert.deepEqual(await audit.list('filter[sorts]=type'), { events: [], truncated: false })
  },

  async 'list: paging back by created_at_lt meets each event once'({ audit }) {
    await recordSome(audit, 5500)
    const seen: unknown[] = []
    let before = '2099-01-01'
    for (;;) {
      const page = await audit.list({ filter: { created_at_lt: before }, limit: 1000 })
      if (page.events.length === 0) break
      seen.unshift(...numbers(page.events))
      before = page.events[0]!.created_at
    }
    assert.deepEqual(seen, upTo(0, 5499))
  },

  async 'list: waiting by created_at_gt finds what came after'({ audit }) {
    const [first, second] = await recordSome(audit, 2)
    const after = (event: AuditEvent): Promise<unknown[]> =>
      audit
        .list({ filter: { created_at_gt: event.created_at } })
        .then((page) => numbers(page.events))
    assert.deepEqual(await after(first!), [1])
    assert.deepEqual(await after(second!), [])
  },

  async 'list: created_at in every predicate that takes a time'({ audit, clock }) {
    const events: AuditEvent[] = []
    for (let n = 0; n < 4; n++) {
      events.push((await audit.recordCustom('tick', { n }))!)
      clock.advance(1_000_000)
    }
    const third = events[2]!.created_at
    const expected: readonly (readonly [Record<string, unknown>, number[]])[] = [
      [{ created_at_eq: third }, [2]],
      [{ created_at_not_eq: third }, [0, 1, 3]],
      [{ created_at_lt: third }, [0, 1]],
      [{ created_at_lteq: third }, [0, 1, 2]],
      [{ created_at_gt: third }, [3]],
      [{ created_at_gteq: third }, [2, 3]],
      [{ created_at_in: [third, events[0]!.created_at] }, [0, 2]],
      [{ created_at_not_in: [third, events[0]!.created_at] }, [1, 3]],
      [{ created_at_lt_any: [events[1]!.created_at, third] }, [0, 1]],
      [{ created_at_gteq_all: [events[1]!.created_at, third] }, [2, 3]],
      [{ created_at_gteq: '2026-01-01T01:00:02+01:00' }, [2, 3]],
      [{ created_at_lt: '20260101T000002' }, [0, 1]],
      [{ created_at_gt: '2025-12-31' }, [0, 1, 2, 3]],
      [{ created_at_start: '2026-01-01T00:00:0' }, [0, 1, 2, 3]],
      [{ created_at_cont: ':02.' }, [2]],
      [{ created_at_not_null: '1', n_eq: '1' }, [1]],
      [{ m: 'or', created_at_lt: events[1]!.created_at, created_at_gt: third }, [0, 3]],
    ]
    for (const [filter, matching] of expected)
      assert.deepEqual(
        numbers((await audit.list({ filter })).events),
        matching,
        JSON.stringify(filter),
      )
  },

  async 'list: id is found by eq and in'({ audit }) {
    const events = await recordSome(audit, 3)
    const [, second, third] = events
    const find = (filter: Record<string, unknown>): Promise<unknown[]> =>
      audit.list({ filter }).then((page) => numbers(page.events))
    assert.deepEqual(await find({ id_eq: second!.id }), [1])
    assert.deepEqual(await find({ id_in: [third!.id, second!.id, 'none'] }), [1, 2])
    assert.deepEqual(await find({ id_not_eq: second!.id }), [0, 2])
    assert.deepEqual(await find({ id_start: second!.id.slice(0, 8).toUpperCase() }), [0, 1, 2])
  },

  async 'list: an aborted signal'({ audit }) {
    await rejectsWith(audit.list('', { signal: AbortSignal.abort() }), 'ABORTED')
  },

  async 'list: long lists, many conditions, long patterns'({ audit }) {
    await recordSome(audit, 3)
    const many = upTo(0, 9000).map(String)
    const page = await audit.list({ filter: { n_in: many } })
    assert.deepEqual(numbers(page.events), [0, 1, 2])
    const g = upTo(1, 900).map((n) => ({ n_eq: String(n % 3), m: 'or' }))
    const or = await audit.list({ filter: { m: 'or', g } })
    assert.deepEqual(numbers(or.events), [0, 1, 2])
    const long = await audit.list({ filter: { type_cont: `test${'%_'.repeat(20_000)}` } })
    assert.deepEqual(long.events, [])
  },

  async 'pages: every match once, newest page first'({ audit }) {
    await recordSome(audit, 2300)
    const sizes: number[] = []
    const seen: unknown[] = []
    for await (const events of audit.pages('filter[n_gteq]=100')) {
      sizes.push(events.length)
      seen.unshift(...numbers(events))
    }
    assert.deepEqual(sizes, [1000, 1000, 200])
    assert.deepEqual(seen, upTo(100, 2299))
  },

  async 'pages: from the oldest on with created_at asc'({ audit }) {
    await recordSome(audit, 1500)
    const seen: unknown[] = []
    for await (const events of audit.pages('filter[sorts]=created_at'))
      seen.push(...numbers(events))
    assert.deepEqual(seen, upTo(0, 1499))
    await rejectsWith(audit.pages('filter[sorts]=type').next(), 'INVALID_VALUE')
  },

  async 'import: events keep id and time, and take their place in the past'({ audit, clock }) {
    await recordSome(audit, 1)
    clock.advance(1_000_000)
    const old = imported()
    assert.deepEqual(await audit.importEvents([old]), { imported: 1, skipped: 0 })
    assert.deepEqual(await audit.get(old.id), old)
    const { events } = await audit.list()
    assert.deepEqual(events[0], old)
    assert.deepEqual((await audit.list({ filter: { id_eq: old.id } })).events, [old])
    assert.deepEqual((await audit.list({ filter: { created_at_lt: '2025-06-01' } })).events, [old])
  },

  async 'import: an id that carries the time needs no more than itself'({ audit, clock }) {
    const [event] = await recordSome(audit, 1)
    clock.advance(10_000_000)
    assert.deepEqual(await audit.importEvents([event!]), { imported: 0, skipped: 1 })
  },

  async 'import: repeated, it skips what is there'({ audit }) {
    const first = imported()
    const second = imported({
      id: '0196b3c2-0000-4000-8000-000000000002',
      created_at: '2025-05-01T10:00:00.000002Z',
    })
    assert.deepEqual(await audit.importEvents([first]), { imported: 1, skipped: 0 })
    assert.deepEqual(await audit.importEvents([first, second, second]), { imported: 1, skipped: 2 })
    assert.deepEqual((await audit.list()).events, [first, second])
  },

  async 'import: a clash of id or time keeps nothing of the call'({ audit }) {
    const there = imported()
    await audit.importEvents([there])
    const fresh = imported({
      id: '0196b3c2-0000-4000-8000-00000000000f',
      created_at: '2024-01-01T00:00:00.000000Z',
    })
    const clashes = [
      { ...there, type: 'other' },
      { ...there, id: '0196b3c2-0000-4000-8000-000000000003' },
      { ...there, created_at: '2025-05-01T10:00:00.000009Z' },
      imported({ id: '0196b3c2-0000-4000-8000-000000000004', created_at: '2026-02-01T00:00:00Z' }),
    ]
    for (const clash of clashes)
      await rejectsWith(audit.importEvents([fresh, clash]), 'IMPORT_CONFLICT')
    assert.deepEqual((await audit.list()).events, [there])
  },

  async 'import: what is recorded next comes later'({ audit }) {
    const newest = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
    await audit.importEvents([newest])
    const [next] = await recordSome(audit, 1)
    assert.ok(next!.created_at > newest.created_at)
  },

  async 'import: reaches no listener'({ audit }) {
    const heard: string[] = []
    audit.on('recorded', (event) => heard.push(event.type))
    await audit.importEvents([imported()])
    await audit.recordCustom('own')
    assert.deepEqual(heard, ['own'])
  },

  async 'close: refuses everything after, and may be called twice'({ store, audit }) {
    await audit.close()
    await store.close()
    await rejectsWith(store.append([]), 'CLOSED')
    await rejectsWith(store.list({ where: undefined, sorts: [], limit: 1 }), 'CLOSED')
    await rejectsWith(store.get('x'), 'CLOSED')
    await rejectsWith(store.importEvents([]), 'CLOSED')
    await rejectsWith(audit.recordCustom('own'), 'CLOSED')
  },
}

const reopenCases: Readonly<Record<string, Body>> = {
  async 'reopen: everything is there, and time goes on'({ audit, clock, reopen }) {
    const before = await recordSome(audit, 5)
    await audit.importEvents([imported()])
    await audit.close()
    clock.advance(-60_000_000)
    const again = new AuditLog({ store: await reopen(), types: {} })
    const { events } = await again.list()
    assert.deepEqual(events, [imported(), ...before])
    assert.deepEqual(await again.get(imported().id), imported())
    const [after] = await recordSome(again, 1)
    assert.ok(after!.created_at > before.at(-1)!.created_at)
    await again.close()
  },

  async 'reopen: two at a time see each other, in one order'({ audit, reopen }) {
    const other = new AuditLog({ store: await reopen(), types: {} })
    const rounds = upTo(0, 9)
    const recorded: AuditEvent[] = []
    for (const round of rounds) recorded.push(...(await recordSome(round % 2 ? audit : other, 3)))
    const times = recorded.map((event) => event.created_at)
    assert.deepEqual(times, times.toSorted())
    for (const log of [audit, other])
      assert.deepEqual((await log.list({ limit: 30 })).events, recorded)
    await other.close()
  },

  async 'reopen: concurrent writers on one store lose and repeat nothing'({ audit, reopen }) {
    const other = new AuditLog({ store: await reopen(), types: {} })
    const written = await Promise.all([recordSome(audit, 500), recordSome(other, 500)])
    const { events } = await audit.list({ limit: 1000 })
    const ids = written.flat().map((event) => event.id)
    assert.deepEqual(events.map((event) => event.id).toSorted(), ids.toSorted())
    await other.close()
  },
}

function filterCases(): [name: string, body: Body][] {
  return filterTables.map(({ title, events, queries }) => [
    `filter: ${title}`,
    async ({ audit }) => {
      await recordAll(audit, events)
      for (const [filter, matching] of queries) {
        const page = await audit.list({ filter, limit: 100 })
        assert.equal(labels(page.events), matching, JSON.stringify(filter))
      }
    },
  ])
}

const sortCase: [name: string, body: Body] = [
  'sort: by the least or the greatest value, in a total order',
  async ({ audit }) => {
    await recordAll(audit, sortTable.events)
    for (const [sorts, order] of sortTable.orders) {
      const page = await audit.list({ filter: { sorts }, limit: 100 })
      assert.equal(labels(page.events), order, sorts)
      const first = await audit.list({ filter: { sorts }, limit: 3 })
      assert.equal(labels(first.events), order.split(' ').slice(0, 3).join(' '), sorts)
      assert.equal(first.truncated, true)
    }
    const several = await audit.list({
      filter: { sorts: ['v_x', 'v desc', 'type desc'] },
      limit: 4,
    })
    assert.equal(labels(several.events), 'object none smile private')
  },
]

/** Every text as a value of every predicate, and as a name; then everything is as it was. */
const hostileCase: [name: string, body: Body] = [
  'filter: hostile names and values are answered or refused, and change nothing',
  async ({ audit }) => {
    for (const [i, text] of [...hostileTexts, 'x'.repeat(100_000)].entries())
      await audit.recordCustom('test:text', { i, text, [text.slice(0, 100)]: [text] })
    const everything = await audit.list({ limit: 1000 })
    const inherited = Object.getOwnPropertyNames(Object.prototype)

    const ask = async (filter: Readonly<Record<string, unknown>>): Promise<void> => {
      try {
        await audit.list({ filter, limit: 3 })
      } catch (error) {
        assert.ok(error instanceof AuditLogError, String(error))
        assert.ok(error.message.length <= 1000, 'the message repeats all that was sent')
      }
    }
    for (const text of hostileTexts)
      for (const predicate of predicates.keys()) await ask({ [`text_${predicate}`]: text })
    for (const text of longTexts)
      for (const predicate of ['eq', 'not_in', 'cont', 'not_end', 'matches', 'does_not_match_any'])
        await ask({ [`text_${predicate}`]: text, i_gt: 30 })
    for (const text of [...hostileTexts, ...longTexts]) {
      await ask({ type_matches: text, username_not_eq: text, id_in: [text] })
      await ask({ [`${text}_eq`]: 'x' })
      await ask({ [`${text}_or_a_cont`]: 'x' })
      await ask({ [text]: text })
      await ask({ m: text })
      await ask({ sorts: `${text} desc` })
      await ask({ sorts: [text] })
      await ask({ c: [{ a: [text, 'text'], p: 'not_eq', v: [text], m: 'or' }] })
      await ask({ g: [{ [text]: text }, { sorts: text }] })
    }
    assert.deepEqual(await audit.list({ limit: 1000 }), everything)
    assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), inherited)
  },
]

/**
 * The rules of the store contract as cases for any test runner: `run` rejects where the store
 * breaks one. A case that needs an ability which `createStore` does not give resolves to the reason
 * it was skipped; print it.
 */
export function storeConformance(createStore: CreateStore): ConformanceCase[] {
  const toCase = ([name, body]: [string, Body], needs?: 'reopen'): ConformanceCase => ({
    name,
    ...(needs ? { needs } : {}),
    async run() {
      const clock = manualClock()
      const { store, reopen, dispose } = await createStore({ clock })
      const audit: AuditLog = new AuditLog({ store, types: {} })
      try {
        if (needs && !reopen) return `the ${store.name} store cannot be opened twice`
        await body({ store, audit, clock, reopen: reopen ?? (() => Promise.resolve(store)) })
        return undefined
      } finally {
        await audit.close()
        await dispose?.()
      }
    },
  })
  return [
    ...[...Object.entries(cases), ...filterCases(), hostileCase, sortCase].map((entry) =>
      toCase(entry),
    ),
    ...Object.entries(reopenCases).map((entry) => toCase(entry, 'reopen')),
  ]
}
