import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import { drafts, numbersOf, recordSome, rejectsWith, range } from './helpers.js'

export const readCases: readonly Case[] = cases({
  async 'get: finds an event by its id'({ audit }) {
    const [, second] = await recordSome(audit, 3)
    assert.deepEqual(await audit.get(second!.id), second)
    assert.deepEqual(await audit.get(second!.id.toUpperCase()), second)
  },

  async 'get: returns undefined for an unknown id'({ store, audit }) {
    const [event] = await recordSome(audit, 1)
    const other = event!.id.slice(0, -1) + (event!.id.endsWith('0') ? '1' : '0')
    const ids = [other, event!.id.replaceAll('-', ''), ` ${event!.id}`, `${event!.id}\n`]
    ids.push('', 'nonsense', '%', "' OR 1=1 --", '\u0000', '😀', 'f'.repeat(100_000))
    ids.push('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff')
    for (const id of ids) assert.equal(await store.get(id), undefined, id.slice(0, 100))
  },

  async 'get: an aborted signal rejects'({ store }) {
    await rejectsWith(store.get('x', { signal: AbortSignal.abort() }), 'ABORTED')
  },

  async 'list: returns the newest events, oldest first, and whether more match'({ audit }) {
    await recordSome(audit, 12)
    const page = await audit.list()
    assert.deepEqual(numbersOf(page.events), range(2, 11))
    assert.equal(page.truncated, true)
    assert.deepEqual(numbersOf((await audit.list({ limit: 3 })).events), [9, 10, 11])
    const all = await audit.list({ limit: 12 })
    assert.deepEqual(numbersOf(all.events), range(0, 11))
    assert.equal(all.truncated, false)
    assert.equal((await audit.list({ limit: 11 })).truncated, true)
  },

  async 'list: a page has at most 1000 events'({ audit }) {
    await recordSome(audit, 1001)
    const page = await audit.list({ limit: 1000 })
    assert.deepEqual(numbersOf(page.events), range(1, 1000))
    assert.equal(page.truncated, true)
    const oldest = await audit.list({ filter: { sorts: 'created_at' }, limit: 1000 })
    assert.deepEqual(numbersOf(oldest.events), range(0, 999))
    const byValue = await audit.list({ filter: { sorts: 'n' }, limit: 1000 })
    assert.deepEqual(numbersOf(byValue.events), range(0, 999))
    assert.equal(byValue.truncated, true)
    const all = await audit.list({ filter: { n_gt: 0, sorts: 'n desc' }, limit: 1000 })
    assert.deepEqual(numbersOf(all.events), range(1, 1000).toReversed())
    assert.equal(all.truncated, false)
  },

  async 'list: an empty log gives an empty page'({ audit }) {
    assert.deepEqual(await audit.list(), { events: [], truncated: false })
    assert.deepEqual(await audit.list('filter[sorts]=type'), { events: [], truncated: false })
  },

  async 'list: includes an event as soon as its append resolves'({ store, audit }) {
    for (const n of range(0, 19)) {
      const [event] = await store.append(drafts(1, n))
      assert.deepEqual((await audit.list({ limit: 1 })).events, [event])
      assert.deepEqual(await store.get(event!.id), event)
    }
  },

  async 'list: paging back by created_at_lt returns each event once'({ audit }) {
    await recordSome(audit, 5500)
    const seen: unknown[] = []
    let before = '2099-01-01'
    for (;;) {
      const page = await audit.list({ filter: { created_at_lt: before }, limit: 1000 })
      if (page.events.length === 0) break
      seen.unshift(...numbersOf(page.events))
      before = page.events[0]!.created_at
    }
    assert.deepEqual(seen, range(0, 5499))
  },

  async 'list: polling by created_at_gt finds the later events'({ audit }) {
    const [first, second] = await recordSome(audit, 2)
    const after = (event: AuditEvent): Promise<unknown[]> =>
      audit
        .list({ filter: { created_at_gt: event.created_at } })
        .then((page) => numbersOf(page.events))
    assert.deepEqual(await after(first!), [1])
    assert.deepEqual(await after(second!), [])
  },

  async 'list: created_at works with every predicate that takes a time'({ audit, clock }) {
    const events: AuditEvent[] = []
    for (let n = 0; n < 4; n++) {
      events.push((await audit.recordCustom('tick', { n }))!)
      clock.advance(SECOND)
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
      [{ created_at_gt: '9999-12-31' }, []],
      [{ created_at_lt: '0001-01-01' }, []],
    ]
    for (const [filter, matching] of expected)
      assert.deepEqual(
        numbersOf((await audit.list({ filter })).events),
        matching,
        JSON.stringify(filter),
      )
  },

  async 'list: filters by id'({ audit }) {
    const events = await recordSome(audit, 3)
    const [, second, third] = events
    const find = (filter: Record<string, unknown>): Promise<unknown[]> =>
      audit.list({ filter }).then((page) => numbersOf(page.events))
    assert.deepEqual(await find({ id_eq: second!.id }), [1])
    assert.deepEqual(await find({ id_in: [third!.id, second!.id, 'none'] }), [1, 2])
    assert.deepEqual(await find({ id_not_eq: second!.id }), [0, 2])
    assert.deepEqual(await find({ id_start: second!.id.slice(0, 8).toUpperCase() }), [0, 1, 2])
  },

  async 'list: an aborted signal rejects'({ store, audit }) {
    const signal = AbortSignal.abort()
    await rejectsWith(audit.list('', { signal }), 'ABORTED')
    await rejectsWith(store.list({ where: undefined, sorts: [], limit: 1 }, { signal }), 'ABORTED')
  },

  async 'list: aborted while running, it returns the page or rejects with ABORTED'({ audit }) {
    await recordSome(audit, 1000)
    const whole = await audit.list('filter[n_not_eq]=x&filter[sorts]=n&limit=1000')
    for (const delayMs of [0, 0, 1, 2, 4]) {
      const signal = AbortSignal.timeout(delayMs)
      const call = audit.list('filter[n_not_eq]=x&filter[sorts]=n&limit=1000', { signal })
      await call.then(
        (page) => assert.deepEqual(page, whole),
        () => rejectsWith(call, 'ABORTED'),
      )
    }
    assert.deepEqual(await audit.list('filter[n_not_eq]=x&filter[sorts]=n&limit=1000'), whole)
  },

  async 'list: accepts long lists, many conditions and long patterns'({ audit }) {
    await recordSome(audit, 3)
    const many = range(0, 9000).map(String)
    const page = await audit.list({ filter: { n_in: many } })
    assert.deepEqual(numbersOf(page.events), [0, 1, 2])
    const g = range(1, 900).map((n) => ({ n_eq: String(n % 3), m: 'or' }))
    const or = await audit.list({ filter: { m: 'or', g } })
    assert.deepEqual(numbersOf(or.events), [0, 1, 2])
    const long = await audit.list({ filter: { type_cont: `test${'%_'.repeat(20_000)}` } })
    assert.deepEqual(long.events, [])
  },

  async 'pages: yields every match once, newest page first'({ audit }) {
    await recordSome(audit, 2300)
    const sizes: number[] = []
    const seen: unknown[] = []
    for await (const events of audit.pages('filter[n_gteq]=100')) {
      sizes.push(events.length)
      seen.unshift(...numbersOf(events))
    }
    assert.deepEqual(sizes, [1000, 1000, 200])
    assert.deepEqual(seen, range(100, 2299))
  },

  async 'pages: starts at the oldest event when sorted by created_at'({ audit }) {
    await recordSome(audit, 1500)
    const seen: unknown[] = []
    for await (const events of audit.pages('filter[sorts]=created_at'))
      seen.push(...numbersOf(events))
    assert.deepEqual(seen, range(0, 1499))
    await rejectsWith(audit.pages('filter[sorts]=type').next(), 'INVALID_VALUE')
  },
})
