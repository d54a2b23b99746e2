import assert from 'node:assert/strict'
import type { JsonObject } from '../../event/event.js'
import { PERSONAL } from '../../event/personal.js'
import { parseQuery, type QueryObject } from '../../filter/parse.js'
import type { EventCounts } from '../../store/counts.js'
import type { EventStore } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { draft, labels } from './helpers.js'

const ANN = 'AnnAnnAnnAnnAnnAnnAnnA'
const BOB = 'BobBobBobBobBobBobBobB'
const part = (subject: string, word: string): JsonObject => ({
  subject,
  data: `${word}-`.repeat(8),
})

/** Events by type. Those with a name that begins with `sealed` have ciphertexts, which look like words here. */
const EVENTS: Readonly<Record<string, JsonObject>> = {
  sealed: { n: 1, [PERSONAL]: [part(ANN, 'alpha')] },
  'sealed:twice': { n: 2, [PERSONAL]: [part(ANN, 'aaaaa'), part(BOB, 'delta')] },
  'sealed:found': { n: 3, text: 'alpha', personal_data: 'alpha', [PERSONAL]: [part(BOB, 'omega')] },
  'own:object': { n: 4, [PERSONAL]: part(ANN, 'alpha') },
  'own:member': { n: 5, [PERSONAL]: [{ ...part(ANN, 'alpha'), more: true }] },
  'own:mixed': { n: 6, [PERSONAL]: [part(ANN, 'alpha'), 'alpha'] },
  'own:subject': { n: 7, [PERSONAL]: [part('ann', 'alpha')] },
  'own:data': { n: 8, [PERSONAL]: [{ subject: ANN, data: 'alpha' }] },
  'own:empty': { n: 9, [PERSONAL]: [] },
  'own:below': { n: 10, a: { [PERSONAL]: [part(ANN, 'alpha')] } },
}

const OWN = 'own:member own:mixed own:subject own:data'

/** Queries, with the types of the events that they find. */
const FOUND: readonly (readonly [query: QueryObject, matching: string])[] = [
  [
    { filter: { personal_subject_eq: ANN } },
    'sealed sealed:twice own:object own:member own:mixed own:data',
  ],
  [{ filter: { personal_subject_eq: BOB } }, 'sealed:twice sealed:found'],
  [{ filter: { a_personal_subject_eq: ANN } }, 'own:below'],
  [{ q: ANN.toLowerCase(), filter: { n_lt: 4 } }, 'sealed sealed:twice'],
  [{ q: 'alpha' }, `sealed:found own:object ${OWN} own:below`],
  [{ q: 'pha-al' }, 'own:object own:member own:mixed own:subject own:below'],
  [{ q: '-alpha' }, 'sealed sealed:twice own:empty'],
  [{ q: '-aaaaa -delta', filter: { n_lt: 4 } }, 'sealed sealed:twice sealed:found'],
  [{ filter: { personal_data_cont: 'alpha' } }, `sealed:found own:object ${OWN}`],
  [{ filter: { personal_data_not_cont: 'alp' } }, ''],
  [{ filter: { personal_data_not_eq: 'omega' } }, `sealed:found own:object ${OWN}`],
  [{ filter: { personal_data_null: '1' } }, 'sealed sealed:twice own:empty own:below'],
  [{ filter: { personal_data_blank: '1' } }, 'sealed sealed:twice own:empty own:below'],
  [{ filter: { personal_data_present: '1' } }, `sealed:found own:object ${OWN}`],
  [{ filter: { personal_null: '1' } }, 'own:empty own:below'],
  [{ filter: { n_in: ['2', '8'], sorts: 'personal_data' } }, 'own:data sealed:twice'],
]

const recordAll = (store: EventStore): Promise<unknown> =>
  store.append(Object.entries(EVENTS).map(([type, data]) => draft(data, { type })))

const count = (store: EventStore, query: QueryObject): Promise<EventCounts> =>
  store.count({
    where: parseQuery(query).where,
    visible: undefined,
    buckets: undefined,
    facets: ['personal_data'],
    top: 20,
    attributes: true,
    within: 10_000,
  })

export const sealedPartCases: readonly Case[] = [
  ...cases({
    async 'sealed parts: queries find the subject, and no ciphertext'({ store }) {
      await recordAll(store)
      for (const [query, matching] of FOUND) {
        const { events } = await store.list(parseQuery({ limit: 100, ...query }))
        assert.equal(labels(events), matching, JSON.stringify(query))
        const { total } = await count(store, query)
        assert.equal(total, events.length, JSON.stringify(query))
      }
    },

    async 'sealed parts: the stored event has them as they were recorded'({ store }) {
      await recordAll(store)
      const { events } = await store.list(parseQuery({ limit: 100 }))
      const stored = Object.fromEntries(events.map(({ type, attributes }) => [type, attributes]))
      assert.deepEqual(stored, EVENTS)
    },

    async 'sealed parts: facets and the list of attributes have no ciphertext'({ store }) {
      await recordAll(store)
      const sealed = await count(store, { filter: { type_start: 'sealed' } })
      assert.deepEqual(sealed.facets['personal_data']?.values, [{ value: 'alpha', count: 1 }])
      const attributes = new Map(sealed.attributes?.map((one) => [one.name, one]))
      assert.deepEqual([...attributes.keys()].toSorted(), [
        'n',
        'personal_data',
        'personal_subject',
        'text',
      ])
      assert.equal(attributes.get('personal_data')?.count, 1)
      const { values } = attributes.get('personal_subject')!
      assert.deepEqual(new Set(values.map(({ value }) => value)), new Set([ANN, BOB]))
    },
  }),
]
