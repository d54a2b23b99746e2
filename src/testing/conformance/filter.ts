import assert from 'node:assert/strict'
import { AuditLogError } from '../../errors.js'
import type { AuditLog } from '../../audit-log.js'
import type { JsonObject } from '../../event/event.js'
import { predicates } from '../../filter/predicates.js'
import { filterTables, hostileTexts, longTexts, sortTable } from './filter-cases.js'
import { type Case, cases } from './context.js'
import { labels } from './helpers.js'

async function recordAll(
  audit: AuditLog,
  events: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  await Promise.all(Object.entries(events).map(([label, data]) => audit.recordSystem(label, data)))
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
    // Uses every text as a value of every predicate and as a name, then checks that the log is unchanged.
    async 'filter: hostile names and values match or are refused, and change nothing'({ audit }) {
      for (const [i, text] of [...hostileTexts, 'x'.repeat(100_000)].entries())
        await audit.recordCustom('test:text', { i, text, [text.slice(0, 100)]: [text] })
      const before = await audit.list({ limit: 1000 })
      const inherited = Object.getOwnPropertyNames(Object.prototype)

      const tryList = async (filter: Readonly<Record<string, unknown>>): Promise<void> => {
        try {
          await audit.list({ filter, limit: 3 })
        } catch (error) {
          assert.ok(error instanceof AuditLogError, String(error))
          assert.ok(error.message.length <= 1000, 'the message repeats the whole query')
        }
      }
      for (const text of hostileTexts)
        await Promise.all(
          Array.from(predicates.keys(), (predicate) => tryList({ [`text_${predicate}`]: text })),
        )
      for (const text of longTexts)
        for (const predicate of [
          'eq',
          'not_in',
          'cont',
          'not_end',
          'matches',
          'does_not_match_any',
        ])
          await tryList({ [`text_${predicate}`]: text, i_gt: 30 })
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
      assert.deepEqual(await audit.list({ limit: 1000 }), before)
      assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), inherited)
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
  }),
]
