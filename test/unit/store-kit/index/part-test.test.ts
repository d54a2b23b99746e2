import { expect, it } from 'vitest'
import { parseQuery } from '../../../../src/index.js'
import type { AuditEvent, JsonObject } from '../../../../src/event/event.js'
import {
  type BlockSource,
  extractedSource,
  keptSource,
} from '../../../../src/store-kit/index/block-source.js'
import { createGrowingIndex } from '../../../../src/store-kit/index/growing-index.js'
import { indexFilter } from '../../../../src/store-kit/index/index-filter.js'
import { unindexedPart } from '../../../../src/store-kit/index/unindexed-part.js'
import { compilePartTest } from '../../../../src/store-kit/index/part-test.js'
import type { IndexPart } from '../../../../src/store-kit/index/part.js'
import { plainEvent } from '../../../support/plain-events.js'

const eventOf = (attributes: JsonObject): AuditEvent => plainEvent({ attributes })

const partsOf = (index: ReturnType<typeof createGrowingIndex>): readonly IndexPart[] =>
  index.parts(() => false)!

const passes = (parts: readonly IndexPart[], query: string): readonly boolean[] => {
  const mayMatch = compilePartTest(indexFilter(parseQuery(query).where))
  return parts.map((part) => mayMatch?.(part) ?? true)
}

/** Parts of two events each. Their attributes were searched once, so that their columns exist. */
function blocks(source: () => BlockSource, ...attributes: JsonObject[]): readonly IndexPart[] {
  const index = createGrowingIndex(2, source)
  for (const [at, one] of attributes.entries()) index.add(at, eventOf(one))
  const parts = partsOf(index)
  for (const part of parts) for (const name of ['code', 'kind']) part.find(name, 'nothing')
  return parts
}

const EVENTS = [
  { code: 'a', kind: 1 },
  { code: 'b' },
  { code: 'c', kind: 1 },
  { code: 'd', other: true },
]

for (const [name, source] of Object.entries({ kept: keptSource, extracted: extractedSource }))
  it(`${name} events: parts without a value are excluded`, () => {
    const parts = blocks(source, ...EVENTS)
    expect(passes(parts, 'filter[code_eq]=a')).toEqual([true, false])
    expect(passes(parts, 'filter[code_in][]=x&filter[code_in][]=d')).toEqual([false, true])
    expect(passes(parts, 'filter[kind_eq]=1&filter[code_eq]=d')).toEqual([false, true])
    expect(passes(parts, 'filter[m]=or&filter[code_eq]=a&filter[code_eq_any][]=d')).toEqual([
      true,
      true,
    ])
    expect(passes(parts, 'filter[code_eq]=x')).toEqual([false, false])
    expect(passes(parts, 'filter[nothing_here_eq]=x')).toEqual([false, false])
    expect(passes(parts, 'filter[other_true]=1')).toEqual([false, true])
  })

it('filters other than by values exclude no part', () => {
  const parts = blocks(keptSource, ...EVENTS)
  expect(passes(parts, 'filter[code_not_eq]=a')).toEqual([true, true])
  expect(passes(parts, 'filter[m]=or&filter[code_eq]=x&filter[kind_gt]=3')).toEqual([true, true])
  expect(passes(parts, 'filter[code_eq]=a&filter[kind_gt]=3')).toEqual([true, false])
  expect(passes(parts, '')).toEqual([true, true])
})

it('events with known times only are never excluded', () => {
  expect(passes([unindexedPart('open', [1, 2])], 'filter[code_eq]=x')).toEqual([true])
})

it('events that are added later are found in the same block', () => {
  const index = createGrowingIndex(10, keptSource)
  index.add(1, eventOf({ code: 'a' }))
  expect(partsOf(index)[0]!.find('code', 'b').size).toBe(0)
  expect(passes(partsOf(index), 'filter[code_eq]=b')).toEqual([false])
  index.add(2, eventOf({ code: 'b', kind: [{ of: 'x' }] }))
  expect(passes(partsOf(index), 'filter[code_eq]=b')).toEqual([true])
  const [part] = partsOf(index)
  expect(part!.find('code', 'b').seek(0, 1)).toBe(1)
  expect(part!.find('kind_of', 'x').seek(1, -1)).toBe(1)
  expect(part!.containers('kind').seek(0, 1)).toBe(1)
})

it('a part does not count values of events that are added later', () => {
  const index = createGrowingIndex(10, keptSource)
  index.add(1, eventOf({ code: 'a' }))
  index.add(2, eventOf({}))
  const [before] = partsOf(index)
  index.add(3, eventOf({ code: 'b' }))
  index.add(4, eventOf({ code: 'c' }))
  expect([before!.size, before!.valued('code').size]).toEqual([2, 1])
  expect(partsOf(index)[0]!.valued('code').size).toBe(3)
  expect(before!.valued('code').size).toBe(1)
})
