import assert from 'node:assert/strict'
import type { AuditLog } from '../../audit-log.js'
import type { JsonObject } from '../../event/event.js'
import type { QueryObject } from '../../filter/parse.js'
import { type Case, cases } from './context.js'
import { draft, labels, rejectsWith } from './helpers.js'

const long = (start: string, end: string): string => `${start}${'x'.repeat(1000)}${end}`

/** Events by type, with the texts that the cases look for. */
const EVENTS: Readonly<Record<string, JsonObject>> = {
  top: { message: 'Deploy by hand' },
  nested: { a: { b: [{ c: 'deploy' }, 'by hand'] } },
  name: { deploy: 1, 'by hand': true },
  other: { text: 'undeployed', n: 404, list: ['b', ['hand']] },
  greek: { text: 'ΣΊΣΥΦΟΣ', kelvin: '\u212Aelvin', dotted: 'İx' },
  marks: { text: 'say "yes" - 100%_\\', path: 'C:\\temp\\new', line: 'one\ntwo\tthree' },
  emoji: { text: '😀 up', empty: '', blank: '  ' },
  cut: { text: long('beginning', 'ending'), other: long('', 'second') },
}

/** Values of `q`, with the types of the events that they find. */
const FOUND: readonly (readonly [q: string | readonly string[], matching: string])[] = [
  ['deploy', 'top nested other'],
  ['DEPLOY', 'top nested other'],
  ['ploy', 'top nested other'],
  ['deploy hand', 'top nested other'],
  ['"deploy by"', 'top'],
  ['"by hand"', 'top nested'],
  ['"by  hand"', ''],
  ['deploy -undeployed', 'top nested'],
  ['deploy -"by hand"', 'other'],
  ['-deploy -x', 'name marks emoji'],
  [['deploy', '-undeployed hand'], 'top nested'],
  [[], 'top nested name other greek marks emoji cut'],
  ['  ', 'top nested name other greek marks emoji cut'],
  ['404', ''],
  ['true', ''],
  ['σίσυφος', ''],
  ['σίσυφοσ', 'greek'],
  ['kelvin', 'greek'],
  ['İX', 'greek'],
  ['ix', ''],
  ['say"yes"', ''],
  ['"say ""yes"""', 'marks'],
  ['""""', 'marks'],
  ['"- 100%_\\"', 'marks'],
  ['c:\\TEMP\\n', 'marks'],
  ['"one\ntwo\tthree"', 'marks'],
  ['"one two"', ''],
  ['😀', 'emoji'],
  ['"😀 up"', 'emoji'],
  ['"  "', 'refused'],
  ['beginningx', 'cut'],
  ['xending', 'cut'],
  ['ending second', 'cut'],
  ['-xending', 'top nested name other greek marks emoji'],
  ['top', 'top'],
  ['up', 'emoji'],
  ['oth', 'other'],
]

const recordAll = (audit: AuditLog): Promise<unknown> =>
  Promise.all(Object.entries(EVENTS).map(([type, data]) => audit.recordSystem(type, data)))

/** The types of the matching events. Lists, pages and counts must agree. */
async function find(audit: AuditLog, query: QueryObject): Promise<string> {
  const { events } = await audit.list({ limit: 1000, ...query })
  const { total } = await audit.count(query)
  assert.equal(total, events.length, JSON.stringify(query))
  return labels(events)
}

export const freeTextCases: readonly Case[] = [
  ...cases({
    async 'free text: words and phrases in all texts of an event'({ audit }) {
      await recordAll(audit)
      for (const [q, matching] of FOUND) {
        if (matching === 'refused') await rejectsWith(audit.list({ q }), 'INVALID_VALUE')
        else assert.equal(await find(audit, { q }), matching, JSON.stringify(q))
      }
    },

    async 'free text: together with a filter, also in groups and with sorts'({ audit }) {
      await recordAll(audit)
      const q = 'deploy'
      assert.equal(await find(audit, { q, filter: { n_eq: 404 } }), 'other')
      const either = { m: 'or', type_eq: 'top', n_eq: 404 }
      assert.equal(await find(audit, { q, filter: either }), 'top other')
      const groups = [{ '*_cont': 'sisyphos' }, { '*_cont': 'kelvin' }, { '*_i_cont': 'by hand' }]
      assert.equal(await find(audit, { filter: { m: 'or', g: groups } }), 'top nested greek')
      assert.equal(
        await find(audit, { filter: { '*_cont_all': ['deploy', 'by hand'] } }),
        'top nested',
      )
      assert.equal(
        await find(audit, { filter: { '*_or_n_cont_any': ['😀', 'two'] } }),
        'marks emoji',
      )
      const sorted = await audit.list({ q, filter: { sorts: 'type desc' } })
      assert.equal(labels(sorted.events), 'top other nested')
    },

    async 'free text: usernames, sources and whole ids'({ store, audit }) {
      const given = [
        draft({}, { type: 'a', username: 'Ann.Smith', suffix: '8badf00ddeadbeef' }),
        draft(
          { path: 'x' },
          { type: 'b', source: '/api/changes/Nightly', suffix: '8000000000000bad' },
        ),
        draft({ change_id: 'c-77' }, { type: 'c', source: '/api/changes/c-77' }),
        draft({ ids: ['f00ddeadbeef'] }, { type: 'd', username: 'bob' }),
      ]
      const [first] = await store.append(given)
      const found: readonly (readonly [q: string, matching: string])[] = [
        ['smith', 'a'],
        ['changes', 'b c'],
        ['/api/changes/n', 'b'],
        ['changes/c-7', 'c'],
        ['nges/c-77', 'c'],
        ['-changes', 'a d'],
        ['F00DDEADBEEF', 'd'],
        ['-f00ddeadbeef', 'a b c'],
        [first!.id, 'a'],
        [first!.id.toUpperCase(), 'a'],
        [`-${first!.id}`, 'b c d'],
        [first!.id.slice(1), ''],
      ]
      for (const [q, matching] of found) assert.equal(await find(audit, { q }), matching, q)
    },

    async 'free text: tails and removals select by it'({ audit }) {
      await recordAll(audit)
      const { events } = await audit.list({ q: 'hand', limit: 1 })
      const seen: string[] = []
      const after = '2000-01-01'
      for await (const event of audit.tail({ q: 'hand -other -undeployed' }, { after })) {
        seen.push(event.type)
        if (seen.length === 2) break
      }
      assert.deepEqual(seen, ['top', 'nested'])
      assert.equal(labels(events), 'other')
    },

    async 'free text: removed events are not found, and later ones are'({ store, audit }) {
      await recordAll(audit)
      const page = await audit.list({ q: 'deploy', limit: 1000 })
      await store.remove(page.events.slice(0, 2).map(({ id }) => id))
      assert.equal(await find(audit, { q: 'deploy' }), 'other')
      await audit.recordSystem('late', { text: 'DEPLOY' })
      assert.equal(await find(audit, { q: 'deploy' }), 'other late')
    },
  }),
]
