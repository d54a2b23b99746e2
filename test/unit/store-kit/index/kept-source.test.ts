import type { AuditEvent, JsonObject } from 'daybook'
import { expect, it } from 'vitest'
import type { Scalar } from '../../../../src/filter/attributes.js'
import {
  type BlockSource,
  extractedSource,
  keptSource,
} from '../../../../src/store-kit/index/block-source.js'
import { numberedId, plainEvent } from '../../../support/plain-events.js'

const eventOf = (attributes: JsonObject, at: number): AuditEvent =>
  plainEvent({ id: numberedId(at), username: at % 2 === 0 ? 'ann' : null, attributes })

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

/** Returns a function that reads the entries that were added to the name since its last call. */
function newIn(source: BlockSource, name: string): () => unknown {
  const read = source.read(name)
  return () => {
    const values: [Scalar, number][] = []
    const containers = new Set<number>()
    read({
      value: (value, ordinal) => void values.push([value, ordinal]),
      container: (ordinal) => void containers.add(ordinal),
    })
    return { name, values, containers: [...containers] }
  }
}

it('finds all values of a name, also for keys that contain the separator', () => {
  const [kept, extracted] = [keptSource(), extractedSource()]
  const readers = NAMES.map((name) => [newIn(kept, name), newIn(extracted, name)] as const)
  for (const event of EVENTS) {
    kept.add(event)
    extracted.add(event)
    for (const [found, truth] of readers) expect(found()).toEqual(truth())
    for (const name of NAMES) {
      expect(newIn(kept, name)()).toEqual(newIn(extracted, name)())
      if (extracted.mayLead(name)) expect([name, kept.mayLead(name)]).toEqual([name, true])
    }
  }
})

it('excludes names that no key leads to', () => {
  const source = keptSource()
  for (const event of EVENTS) source.add(event)
  const names = ['x', 'ab', 'lat', 'late_', 'type']
  expect(names.map((name) => source.mayLead(name))).toEqual([false, false, false, true, true])
})

it('excludes no name once the events have very many keys', () => {
  const source = keptSource()
  source.add(eventOf(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, i])), 0))
  expect(source.mayLead('x')).toBe(true)
  source.add(eventOf({ x: 1 }, 1))
  expect(newIn(source, 'x')()).toEqual({ name: 'x', values: [[1, 1]], containers: [] })
})
