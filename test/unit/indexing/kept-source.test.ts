import type { AuditEvent, JsonObject } from 'daybook'
import { expect, it } from 'vitest'
import { extractedSource, keptSource } from '../../../src/indexing/block.js'

const eventOf = (attributes: JsonObject, at: number): AuditEvent => ({
  id: `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`,
  created_at: '2026-01-01T00:00:00.000000Z',
  type: 'info:runs:start',
  username: at % 2 === 0 ? 'ann' : null,
  source: null,
  system: false,
  attributes,
})

const EVENTS = [
  { a: 1 },
  { a_b: { c: 'x' }, type: 'hidden' },
  { a: { b: { c: ['y', 'z'] } } },
  { '': { x: 2 }, _: 3, a__b: true },
  { '': 4, b: [], c: {}, d: [{ e_f: 5 }] },
  { late: null },
].map(eventOf)

const NAMES = [
  ...['a', 'a_b', 'a_b_c', '', '_x', '_', 'a__b', 'b', 'c', 'd', 'd_e_f', 'd_e', 'late'],
  ...['type', 'username', 'system', 'x', 'a_c', 'b_c', 'ab', '_a', 'a_'],
]

it('finds all that a name leads to, also by keys that have the mark between keys', () => {
  const [kept, extracted] = [keptSource(), extractedSource()]
  for (const event of EVENTS) {
    kept.add(event)
    extracted.add(event)
    for (const name of NAMES) {
      const [column, truth] = [kept.column(name), extracted.column(name)]
      expect([name, column?.values ?? []]).toEqual([name, truth?.values ?? []])
      expect([name, column?.ordinals ?? []]).toEqual([name, truth?.ordinals ?? []])
      expect([name, column?.containers ?? []]).toEqual([name, truth?.containers ?? []])
    }
  }
})

it('gathers nothing for a name to which no key leads', () => {
  const source = keptSource()
  for (const event of EVENTS) source.add(event)
  expect(['x', 'ab', 'lat', 'late_'].map((name) => source.column(name)?.values)).toEqual([
    undefined,
    undefined,
    undefined,
    [],
  ])
})
