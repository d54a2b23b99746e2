import { randomBytes } from 'node:crypto'
import type { AuditEvent, JsonObject, QueryObject } from 'daybook'
import { parseQuery } from 'daybook'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LazyEvent } from '../../../../src/event/lazy-event.js'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { finishSteps, type Steps } from '../../../../src/filter/steps.js'
import { createBlock } from '../../../../src/store-kit/index/block.js'
import { extractedSource } from '../../../../src/store-kit/index/block-source.js'
import { type Columns, createColumns } from '../../../../src/store-kit/index/columns.js'
import { findPostings, type TimesOf } from '../../../../src/store-kit/index/find-postings.js'
import { INDEX_BOUNDS } from '../../../../src/store-kit/index/index-bounds.js'
import { indexFilter } from '../../../../src/store-kit/index/index-filter.js'
import { nameHash } from '../../../../src/store-kit/index/other-names.js'
import type { IndexPart } from '../../../../src/store-kit/index/part.js'
import { ordinalsOf } from '../../../support/index-values.js'
import { plainEvent } from '../../../support/plain-events.js'
import { eventsOf, query, searches } from '../../../property/arbitraries.js'

const range = (length: number): number[] => Array.from({ length }, (_, i) => i)

const eventOf = (attributes: JsonObject): AuditEvent => plainEvent({ attributes })

/** An event with `count` names that no other event has. */
const uniqueNames = (at: number, count: number): JsonObject =>
  Object.fromEntries(range(count).map((i) => [`unique-${at}-${i}`, i]))

const finish = (rest: Steps<void> | undefined): void => rest && finishSteps(rest)

function columnsOf(events: readonly JsonObject[], bounds = INDEX_BOUNDS): Columns {
  const columns = createColumns(bounds)
  for (const attributes of events) finish(columns.add(eventOf(attributes)))
  return columns
}

/** The part after all events were added. `ask` gets the part after each fifth event. */
function partOf(
  events: readonly AuditEvent[],
  bounds = INDEX_BOUNDS,
  ask: (part: IndexPart) => void = () => {},
): IndexPart {
  const block = createBlock('block', () => extractedSource(bounds))
  for (const [time, event] of events.entries()) {
    finish(block.add(time, event))
    if (time % 5 === 4) ask(block.part())
  }
  return block.part()
}

function candidates(
  part: IndexPart,
  query: string | QueryObject,
  timesOf: TimesOf = () => [],
): number[] {
  const found = findPostings(part, indexFilter(parseQuery(query).where), timesOf)
  if ('seek' in found) return ordinalsOf(found)
  for (;;) {
    const next = found.next()
    if (next.done) return ordinalsOf(next.value)
  }
}

it('events with many names get no more columns, and take memory in proportion to their names', () => {
  const columns = columnsOf(range(1000).map((at) => uniqueNames(at, 100)))
  expect(columns.byName.size).toBeLessThanOrEqual(INDEX_BOUNDS.names)
  expect(columns.bytes).toBeLessThan(1000 * 100 * 40)
  expect(ordinalsOf(columns.otherNames.find(nameHash('unique-999-7')))).toEqual([999])
})

it('names that occur often get columns although many others came first', () => {
  const events = range(1000).map((at) => ({ ...uniqueNames(at, 20), order: at % 10 }))
  const part = partOf(events.slice(1).map(eventOf), { ...INDEX_BOUNDS, names: 16 })
  expect(ordinalsOf(part.find('order', 3))).toHaveLength(100)
  expect(ordinalsOf(part.partial('order')).length).toBeLessThan(3)
  expect(candidates(part, 'filter[unique-500-7_eq]=7')).toEqual([499])
  expect(candidates(part, 'filter[nothing_eq]=7')).toEqual([])
})

it('a few events with many names do not keep columns from names that occur often', () => {
  const many = Object.fromEntries(range(5000).map((i) => [`name-${i}`, `text ${i}`]))
  const events = range(1000).map((at) =>
    at < 5 ? many : { user: `u${at % 10}`, n: at, list: [at] },
  )
  const part = partOf(events.map(eventOf))
  expect(candidates(part, 'filter[user_eq]=nobody').length).toBeLessThan(250)
  const ofUser = range(1000).filter((at) => at >= 5 && at % 10 === 3)
  expect(candidates(part, 'filter[user_eq]=u3')).toEqual(expect.arrayContaining(ofUser))
  expect(ordinalsOf(part.find('n', 777))).toEqual([777])
  for (const name of ['name-0', 'name-1500', 'name-4999']) {
    const found = candidates(part, `filter[${name}_not_null]=true`)
    expect(found).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]))
  }
  expect(candidates(part, 'q=text 1')).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]))
})

it('the texts of a name that has lost its column are found', () => {
  const often = Object.fromEntries(range(20).map((i) => [`often-${i}`, i]))
  const events = [{ rare: 'needle' }, ...range(20).map(() => often)]
  const part = partOf(events.map(eventOf), { ...INDEX_BOUNDS, names: 16 })
  expect(ordinalsOf(part.valued('rare'))).toEqual([])
  expect(candidates(part, 'q=needle')).toEqual([0])
  expect(candidates(part, 'filter[rare_eq]=needle')).toEqual([0])
})

it('an event that is not parsed is a candidate for every attribute, but not for another type', () => {
  const own = { ...eventOf({}), type: 'large', source: '/a/b/c' }
  const unparsed = new LazyEvent(own, 'not JSON')
  const part = partOf([eventOf({ n: 1 }), unparsed, eventOf({ n: 2 })])
  expect(candidates(part, 'filter[n_eq]=2')).toEqual([1, 2])
  expect(candidates(part, 'filter[n_null]=true')).toEqual([1])
  expect(candidates(part, 'filter[other_lt]=2')).toEqual([1])
  expect(candidates(part, 'q=nothing')).toEqual([1])
  expect(candidates(part, 'filter[type_eq]=large')).toEqual([1])
  expect(candidates(part, 'filter[type_eq]=a:b:c')).toEqual([0, 2])
})

it('an event with too many values is a candidate for the names of the rest only', () => {
  const long = `${'x'.repeat(300)}_${'y'.repeat(300)}`
  const events = [
    { order: 1, list: range(5000), after: 1, [long]: { deep: 1 } },
    { order: 2 },
    { order: 3, list: [7], after: 2 },
  ]
  const part = partOf(events.map(eventOf), { ...INDEX_BOUNDS, values: 2000 })
  expect(['order', 'list', 'after', 'type'].map((name) => ordinalsOf(part.partial(name)))).toEqual([
    [],
    [0],
    [0],
    [],
  ])
  expect(candidates(part, 'filter[order_eq]=3')).toEqual([2])
  expect(candidates(part, 'filter[order_gteq]=2')).toEqual([1, 2])
  expect(candidates(part, 'filter[list_eq]=7')).toEqual([0, 2])
  expect(candidates(part, 'filter[after_eq]=2')).toEqual([0, 2])
  expect(candidates(part, `filter[${long}_deep_eq]=2`)).toEqual([0])
})

it('a name has one column, also if several paths lead to it', () => {
  const keys = range(12)
  const paths = range(2 ** keys.length).map((bits) => {
    let value: JsonObject[string] = 1
    let key = 'k'
    for (const i of keys)
      if ((bits >> i) & 1) {
        value = { [key]: value }
        key = 'k'
      } else key += '_k'
    return { [key]: value }
  })
  const columns = columnsOf(paths.slice(0, 500), { ...INDEX_BOUNDS, names: 32 })
  expect(columns.byName.get(Array(13).fill('k').join('_'))!.ordinals).toHaveLength(500)
})

it('with few columns and values, no event is missed', () => {
  const bounds = fc.record({
    names: fc.integer({ min: 3, max: 30 }),
    values: fc.integer({ min: 0, max: 12 }),
    bytes: fc.constant(Infinity),
    unsealedBytes: fc.constant(Infinity),
    listedValues: fc.constant(Infinity),
    largeSize: fc.constant(Infinity),
  })
  const any = fc.oneof({ weight: 4, arbitrary: query }, { weight: 1, arbitrary: searches })
  const queries = fc.array(any, { minLength: 20, maxLength: 20 })
  let excluded = 0
  const check = (events: readonly AuditEvent[], part: IndexPart, one: QueryObject): void => {
    const { where } = parseQuery(one)
    // The part has made-up times.
    if (JSON.stringify(where ?? '').includes('created_at')) return
    const matches = compileFilter(where)
    const timesOf: TimesOf = (ids) =>
      [...events.keys()].filter((at) => ids.includes(events[at]!.id))
    const found = new Set(candidates(part, one, timesOf))
    for (const [at, event] of events.entries())
      if (matches(event)) expect(found.has(at), JSON.stringify(one)).toBe(true)
    if (found.size < events.length) excluded += 1
  }
  fc.assert(
    fc.property(eventsOf(20, 30), queries, bounds, (events, some, few) => {
      const stored = events.map((event, at) =>
        at % 3 > 0 ? event : new LazyEvent(event, JSON.stringify(event.attributes)),
      )
      // Postings that a query has read for a name include events that are added later.
      const ask = (part: IndexPart): void => some.forEach((one) => void candidates(part, one))
      for (const part of [partOf(events, few, ask), partOf(stored, few)])
        for (const one of some) check(events, part, one)
    }),
    { numRuns: 20 },
  )
  expect(excluded).toBeGreaterThan(100)
})

it('an event of 100,000 values is added in steps, and found by each of its names', () => {
  const names = range(25_000)
  const wide = {
    list: names.map((i) => ({ [`l${i}`]: i })),
    nulls: Object.fromEntries(names.map((i) => [`n${i}`, null])),
    first: 1,
    ...Object.fromEntries(names.map((i) => [`k${i}`, i])),
    last: { of: { all: 1 } },
  }
  const columns = createColumns()
  expect(columns.add(eventOf({ first: 1 }))).toBeUndefined()
  const rest = columns.add(eventOf(wide))!
  let steps = 0
  while (!rest.next().done) steps += 1
  expect(steps).toBeGreaterThanOrEqual(9)
  expect(columns.size).toBe(2)

  const part = partOf([eventOf({ first: 1 }), eventOf(wide), eventOf({ last_of_all: 1 })])
  for (const name of ['list_l0', 'list_l24999', 'k0', 'k12000', 'k24999'])
    expect(candidates(part, `filter[${name}_gteq]=0`)).toEqual([1])
  expect(candidates(part, 'filter[first_eq]=1')).toEqual([0, 1])
  expect(candidates(part, 'filter[last_of_all_eq]=1')).toEqual([1, 2])
  // The event is not a candidate for other names that have a column.
  const both = partOf([eventOf({ other: 1 }), eventOf({ other: 1 }), eventOf(wide)])
  expect(candidates(both, 'filter[other_eq]=1')).toEqual([0, 1])
})

it('sealed parts take no more space than their subjects', () => {
  const subjects = range(100).map((n) => `subject-${String(n % 9).padStart(14, '0')}`)
  const sealed = subjects.map((subject, n) => ({
    n,
    personal: [{ subject, data: randomBytes(90).toString('base64url') }],
  }))
  const plain = subjects.map((subject, n) => ({ n, personal: [{ subject }] }))
  const [a, b] = [columnsOf(sealed), columnsOf(plain)]
  expect(Array.from(a.byName.keys())).toEqual(Array.from(b.byName.keys()))
  expect(a.byName.get('personal_subject')!.values).toEqual(subjects)
  expect(a.bytes).toBe(b.bytes)
  expect(a.partialTexts).toEqual([])
})
