import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { AuditLogError } from '../../errors.js'
import type { AuditLog } from '../../audit-log.js'
import type { JsonObject } from '../../event/event.js'
import type { FilterObject } from '../../filter/filter-object.js'
import { predicates } from '../../filter/predicates.js'
import { filterTables, hostileTexts, longTexts, sortTable } from './filter-cases.js'
import { type Case, cases } from './context.js'
import { draft, imported, labels, range } from './helpers.js'

async function recordAll(
  audit: AuditLog,
  events: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  await Promise.all(Object.entries(events).map(([label, data]) => audit.recordSystem(label, data)))
}

const LONG_TEXT_PREDICATES = ['eq', 'not_in', 'cont', 'not_end', 'matches', 'does_not_match_any']

const joiningPredicates = Array.from(predicates.keys()).filter((name) => /_(any|all)$/.test(name))
const simplePredicates = Array.from(predicates.keys()).filter(
  (name) => !joiningPredicates.includes(name),
)

type TryList = (filter: Readonly<Record<string, unknown>>) => Promise<void>

/** Checks that no query of `act` changes the log, and that each query is answered or refused. */
async function expectUnchanged(
  audit: AuditLog,
  act: (tryList: TryList) => Promise<void>,
): Promise<void> {
  // The longest text is in the oldest event, so that most lists do not return it.
  const texts = [...[...hostileTexts, 'x'.repeat(100_000)].entries()].toReversed()
  for (const [i, text] of texts)
    await audit.recordCustom('test:text', { i, text, [text.slice(0, 100)]: [text] })
  const before = await audit.list({ limit: 1000 })
  const inherited = Object.getOwnPropertyNames(Object.prototype)
  await act(async (filter) => {
    try {
      await audit.list({ filter, limit: 3 })
    } catch (error) {
      assert.ok(error instanceof AuditLogError, String(error))
      assert.ok(error.message.length <= 1000, 'the message repeats the whole query')
    }
  })
  assert.deepEqual(await audit.list({ limit: 1000 }), before)
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), inherited)
}

async function tryEvery(names: readonly string[], tryList: TryList): Promise<void> {
  for (const text of hostileTexts)
    await Promise.all(names.map((name) => tryList({ [`text_${name}`]: text })))
}

const tableCases = filterTables.flatMap(({ title, events, queries }) =>
  cases({
    async [`filter: ${title}`]({ audit }) {
      await recordAll(audit, events)
      for (const [filter, matching] of queries) {
        const page = await audit.list({ filter, limit: 100 })
        assert.equal(labels(page.events), matching, JSON.stringify(filter))
      }
    },
  }),
)

export const filterCases: readonly Case[] = [
  ...tableCases,
  ...cases({
    // Every text is a value of every predicate.
    async 'filter: hostile values match or are refused, and change nothing'({ audit }) {
      await expectUnchanged(audit, (tryList) => tryEvery(simplePredicates, tryList))
    },

    async 'filter: hostile values of _any and _all match or are refused, and change nothing'({
      audit,
    }) {
      await expectUnchanged(audit, (tryList) => tryEvery(joiningPredicates, tryList))
    },

    async 'filter: long values match or are refused, and change nothing'({ audit }) {
      await expectUnchanged(audit, async (tryList) => {
        for (const text of longTexts)
          for (const predicate of LONG_TEXT_PREDICATES)
            await tryList({ [`text_${predicate}`]: text, i_gt: 30 })
      })
    },

    // Every text is an attribute, a predicate, a sort and each other part of a query.
    async 'filter: hostile names match or are refused, and change nothing'({ audit }) {
      await expectUnchanged(audit, async (tryList) => {
        for (const text of [...hostileTexts, ...longTexts]) {
          await tryList({ type_matches: text, username_not_eq: text, id_in: [text] })
          await tryList({ [`${text}_eq`]: 'x' })
          await tryList({ [`${text}_or_a_cont`]: 'x' })
          await tryList({ [text]: text })
          await tryList({ m: text })
          await tryList({ sorts: `${text} desc` })
          await tryList({ sorts: [text] })
          await tryList({ c: [{ a: [text, 'text'], p: 'not_eq', v: [text], m: 'or' }] })
          await tryList({ g: [{ [text]: text }, { sorts: text }] })
        }
      })
    },

    async 'sort: by the smallest or the largest value, in a total order'({ audit }) {
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

    async 'filter: a number that no double means is beside the nearest one'({ audit }) {
      const numbers = [-0.1, 0, 0.1, 5, 2 ** 53 - 1, 2 ** 53, 1e21]
      await Promise.all(numbers.map((n) => audit.recordCustom('test:number', { n })))
      const [text, ...others] = ['9007199254740993', '10000000000000000000']
      await Promise.all([text, ...others].map((n) => audit.recordCustom('test:text', { n })))
      /** Number of stored numbers that are less than the text, and number of those that are less or equal. */
      const expected: readonly (readonly [text: string, less: number, lessOrEqual: number])[] = [
        ['9007199254740993', 6, 6],
        ['9007199254740991.5', 5, 5],
        ['9007199254740992', 5, 6],
        ['+9007199254740992.0', 5, 6],
        ['9007199254740992.0000000001', 6, 6],
        ['0.1', 2, 3],
        ['.1', 2, 3],
        ['0.10000000000000000001', 3, 3],
        ['0.1000000000000000055511151231257827', 3, 3],
        ['0.09999999999999999999999', 2, 2],
        ['-0.10000000000000000001', 0, 0],
        ['5.0000000000000000001', 4, 4],
        ['4.9999999999999999999', 3, 3],
        [`5.${'0'.repeat(2000)}1`, 4, 4],
        ['1e21', 6, 7],
        ['1e400', 7, 7],
        ['-1e99999', 0, 0],
        ['1e-400', 2, 2],
        ['-1e-400', 1, 1],
        ['-0', 1, 2],
      ]
      const count = async (filter: FilterObject): Promise<number> => {
        const where = { type_eq: 'test:number', ...filter }
        const { events } = await audit.list({ filter: where, limit: 100 })
        assert.equal((await audit.count({ filter: where })).total, events.length)
        return events.length
      }
      for (const [n, less, lessOrEqual] of expected) {
        const equal = lessOrEqual - less
        const counts: Readonly<Record<string, number>> = {
          lt: less,
          lteq: lessOrEqual,
          gt: numbers.length - lessOrEqual,
          gteq: numbers.length - less,
          eq: equal,
          not_eq: numbers.length - equal,
        }
        for (const [predicate, found] of Object.entries(counts))
          assert.equal(
            await count({ [`n_${predicate}`]: n }),
            found,
            `${predicate} ${n.slice(0, 40)}`,
          )
        assert.equal(await count({ n_in: [n, '7'] }), equal, `in ${n.slice(0, 40)}`)
      }
      // Texts are compared as texts.
      assert.equal(await count({ type_eq: 'test:text', n_eq: text }), 1)
      assert.equal(await count({ type_eq: 'test:text', n_gt: text }), 0)
    },

    async 'filter: a time between two microseconds is before one event and after the other'({
      audit,
    }) {
      const at = (micros: number): string => `2020-01-02T03:04:05.12345${micros}Z`
      const events = range(1, 3).map((n) =>
        imported({
          id: `0196b3c2-0000-4000-8000-00000000000${n}`,
          created_at: at(n),
          attributes: { n },
        }),
      )
      await audit.importEvents(events)
      const found: Readonly<Record<string, number[]>> = {
        lt: [1, 2],
        lteq: [1, 2],
        gt: [3],
        gteq: [3],
        eq: [],
        not_eq: [1, 2, 3],
        in: [],
        not_in: [1, 2, 3],
        lt_any: [1, 2],
        gteq_all: [3],
      }
      const time = at(2).replace('Z', '7Z')
      for (const [predicate, expected] of Object.entries(found)) {
        const value = /_a|in$/.test(predicate) ? [time] : time
        const filter = { [`created_at_${predicate}`]: value, sorts: 'created_at' }
        const list = await audit.list({ filter })
        const numbers = list.events.map(({ attributes }) => attributes['n'])
        assert.deepEqual(numbers, expected, predicate)
        const { sorts: _, ...counted } = filter
        assert.equal((await audit.count({ filter: counted })).total, expected.length, predicate)
        const nested = { g: [{ m: 'or', ...counted, type_eq: 'none' }], sorts: 'created_at' }
        const alternative = await audit.list({ filter: nested })
        assert.equal(alternative.events.length, expected.length, `${predicate} or another`)
      }
    },

    async 'filter: source is that of the event, and an attribute of this name'({ store, audit }) {
      const [one, two] = ['/api/changes/1', '/api/changes/2']
      const given: Readonly<Record<string, [string | null, JsonObject]>> = {
        a: [one, {}],
        b: [two, { n: 1 }],
        c: [null, { source: one }],
        d: [two, { source: [one, 7] }],
        e: [null, { n: 1 }],
        f: [null, { nested: { source: one } }],
      }
      const drafted = Object.entries(given).map(([type, [source, attributes]]) =>
        draft(attributes, { type, source }),
      )
      await store.append(drafted)
      const expected: readonly (readonly [filter: FilterObject, matching: string])[] = [
        [{ source_eq: one }, 'a c d'],
        [{ source_eq: '7' }, 'd'],
        [{ source_in: [two, 'x'] }, 'b d'],
        [{ source_start: '/API/changes' }, 'a b c d'],
        [{ source_end: '2' }, 'b d'],
        [{ source_matches: '%changes_1' }, 'a c d'],
        [{ source_cont_any: ['S/2', 'y'] }, 'b d'],
        [{ source_gt: one }, 'b d'],
        [{ source_not_eq: one }, 'b'],
        [{ source_not_in: [two] }, 'a c'],
        [{ source_not_cont: '1' }, 'b'],
        [{ source_null: 1 }, 'e f'],
        [{ source_present: 1 }, 'a b c d'],
        [{ source_true: 1 }, ''],
        [{ source_or_n_eq: two }, 'b d'],
        [{ source_or_n_eq: 1 }, 'b e'],
        [{ source_and_n_present: 1 }, 'b'],
        [{ m: 'or', source_eq: one, n_eq: 1 }, 'a b c d e'],
        [{ source_eq: one, g: [{ source_eq: two }] }, 'd'],
        [{ nested_source_eq: one }, 'f'],
      ]
      for (const [filter, matching] of expected) {
        assert.equal(labels((await audit.list({ filter })).events), matching, inspect(filter))
        const { total } = await audit.count({ filter })
        assert.equal(total, matching.split(' ').filter(Boolean).length, inspect(filter))
      }
      const sorted = async (sorts: string): Promise<string> =>
        labels((await audit.list({ filter: { sorts } })).events)
      assert.equal(await sorted('source'), 'd a c b e f')
      assert.equal(await sorted('source desc'), 'e f b d a c')
      const { facets } = await audit.count({}, { facets: ['source'] })
      assert.deepEqual(
        facets['source']!.values.map(({ value, count }) => [value, count]),
        [
          [one, 3],
          [two, 2],
          [7, 1],
        ],
      )
    },
  }),
]
