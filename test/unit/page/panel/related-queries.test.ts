import { describe, expect, it } from 'vitest'
import type { AuditEvent, JsonValue } from '../../../../src/event/event.js'
import {
  beforeAndAfter,
  resultQuery,
  centredOn,
  relationsOf,
  sourceLink,
} from '../../../../adapters/page/panel/related-queries.js'
import { formatPageQuery } from '../../../../adapters/page/data/query.js'

const STEP = '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77'
const CHANGE = '0199f08e-11f4-7b90-a3c8-0d5e7f2a9b64'

const event = (part: Partial<AuditEvent> = {}): AuditEvent => ({
  id: '0199f2b3-9a1b-7c52-8e4d-5b0f6a7c1d38',
  created_at: '2026-11-20T12:58:21.307114Z',
  username: null,
  system: true,
  type: 'info:template_version:fetch',
  source: `/api/steps/${STEP}`,
  attributes: { change_id: CHANGE, step_id: STEP },
  ...part,
})

const numbered = (...numbers: readonly number[]): AuditEvent[] =>
  numbers.map((number) => event({ id: String(number) }))

const ids = (events: readonly AuditEvent[]): string => events.map(({ id }) => id).join(' ')

describe('sourceLink', () => {
  it('finds the attribute that determines the source', () => {
    expect(sourceLink(event())).toEqual(['step_id', STEP])
    const attributes = { node_path: '/projects/acme', other: 'acme' }
    expect(sourceLink(event({ source: '/api/projects/acme', attributes }))).toEqual([
      'node_path',
      '/projects/acme',
    ])
  })

  it('finds none without a source, or if no value matches it', () => {
    expect(sourceLink(event({ source: null }))).toBeUndefined()
    expect(sourceLink(event({ attributes: { step_id: CHANGE, name_id: '' } }))).toBeUndefined()
  })
})

describe('relationsOf', () => {
  it('lists the closest relation first', () => {
    const relations = (part: Partial<AuditEvent>) =>
      relationsOf(event(part)).map(({ relation }) => relation)
    expect(relations({})).toEqual(['change', 'source', 'time', 'type'])
    expect(relations({ username: 'ann', source: null, attributes: {} })).toEqual(['user', 'type'])
  })

  it('includes the request and the trace, if their ids are texts', () => {
    const relations = (request_id: JsonValue, trace_id: JsonValue) =>
      relationsOf(event({ source: null, attributes: { request_id, trace_id } })).map(
        ({ relation, query }) => [relation, decodeURIComponent(formatPageQuery(query))],
      )
    expect(relations('r1', 't1').slice(0, 2)).toEqual([
      ['request', 'range=all&filter[request_id_eq]=r1'],
      ['trace', 'range=all&filter[trace_id_eq]=t1'],
    ])
    expect(relations('', 7).map(([relation]) => relation)).toEqual(['time', 'type'])
  })

  it('lists a change once, even if it is the source', () => {
    const change = { source: `/api/changes/${CHANGE}`, attributes: { change_id: CHANGE } }
    const [first, second] = relationsOf(event(change))
    expect([first!.relation, second!.relation]).toEqual(['source', 'time'])
  })

  it('covers five minutes before and after', () => {
    const { query } = relationsOf(event({ username: 'ann' })).find(
      ({ relation }) => relation === 'user',
    )!
    expect(decodeURIComponent(formatPageQuery(query))).toBe(
      'filter[created_at_gteq]=2026-11-20T12:53:21.307Z&filter[created_at_lt]=2026-11-20T13:03:21.307Z&filter[username_eq]=ann',
    )
  })
})

describe('beforeAndAfter', () => {
  it('queries the nearest events on either side', () => {
    const { before, after } = beforeAndAfter(relationsOf(event())[0]!, event())
    expect(decodeURIComponent(before)).toBe(
      `filter[change_id_eq]=${CHANGE}&filter[created_at_lt]=2026-11-20T12:58:21.307114Z`,
    )
    expect(decodeURIComponent(after).replaceAll('+', ' ')).toBe(
      `filter[change_id_eq]=${CHANGE}&filter[created_at_gt]=2026-11-20T12:58:21.307114Z&filter[sorts][]=created_at asc`,
    )
  })
})

describe('centredOn', () => {
  it.each([
    [[1, 2, 3, 4], [6, 7, 8, 9], '3 4 5 6 7'],
    [[1, 2, 3, 4], [6], '2 3 4 5 6'],
    [[4], [6, 7, 8, 9], '4 5 6 7 8'],
    [[], [6, 7, 8, 9], '5 6 7 8 9'],
    [[1, 2, 3, 4], [], '1 2 3 4 5'],
    [[4], [6], '4 5 6'],
  ])('shows five of the events before and after: %j 5 %j', (before, after, row) => {
    expect(ids(centredOn(numbered(...before), event({ id: '5' }), numbered(...after)))).toBe(row)
  })
})

describe('resultQuery', () => {
  it('queries the first later event of the same source and action', () => {
    expect(decodeURIComponent(resultQuery(event())!).replaceAll('+', ' ')).toBe(
      `filter[step_id_eq]=${STEP}&filter[type_cont]=:template_version:fetch&filter[type_not_eq]=info:template_version:fetch&filter[created_at_gt]=2026-11-20T12:58:21.307114Z&filter[sorts][]=created_at asc`,
    )
  })

  it('is undefined without a source, or for a type without an action', () => {
    expect(resultQuery(event({ source: null }))).toBeUndefined()
    expect(resultQuery(event({ type: 'note' }))).toBeUndefined()
  })
})
