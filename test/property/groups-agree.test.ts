import { type AuditEvent, type EventGroups, type GroupOptions, parseQuery } from 'daybook'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { eventAttributes, type Scalar, scalarsInSteps } from '../../src/filter/attributes.js'
import { compareScalars } from '../../src/filter/order.js'
import { finishSteps } from '../../src/filter/steps.js'
import { levelOf } from '../../src/event/level.js'
import { openSealedStores } from '../support/sealed-stores.js'
import { events, filter } from './arbitraries.js'

const withStores = openSealedStores('groups_')

const NAMES = ['level', 'type', 'username', 'system', 'a', 'a_b', 'a_b_c', 't', 'n', 'a_or_t', 'zz']

const options: fc.Arbitrary<GroupOptions> = fc.record({
  by: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }),
  numbers: fc.uniqueArray(fc.constantFrom('n', 'a', 'a_b'), { maxLength: 2 }),
  buckets: fc.option(
    fc.record({
      count: fc.integer({ min: 1, max: 50 }),
      zone: fc.constantFrom('UTC', 'Asia/Kathmandu'),
    }),
    { nil: undefined },
  ),
  top: fc.constantFrom(1, 3, 1000),
  visible: fc.constantFrom(
    undefined,
    undefined,
    parseQuery('filter[username_not_null]=1').where,
    parseQuery('filter[type_start]=api:').where,
  ),
  within: fc.constant(60_000),
})

/* The definition, in plain JavaScript over all matching events. */

function valuesOf(event: AuditEvent, name: string): readonly (Scalar | null)[] {
  if (name === 'level') return [levelOf(event.type)]
  const scalars = finishSteps(
    scalarsInSteps(finishSteps(eventAttributes.valuesInSteps(event, name))),
  )
  if (scalars.length === 0) return [null]
  return [...new Set(scalars)].filter((value) => typeof value !== 'string' || value.length <= 1000)
}

const compareValues = (left: Scalar | null, right: Scalar | null): number =>
  left === null || right === null
    ? Number(left === null) - Number(right === null)
    : compareScalars(left, right)

function percentile(numbers: readonly number[], share: number): object {
  const value = numbers.toSorted((a, b) => a - b)[Math.ceil(share * numbers.length) - 1]!
  return { value, low: value, high: value }
}

interface Group {
  readonly values: readonly (Scalar | null)[]
  readonly events: readonly AuditEvent[]
}

function groupsOf(events: readonly AuditEvent[], by: readonly string[]): readonly Group[] {
  const groups = new Map<string, { values: Group['values']; events: AuditEvent[] }>()
  for (const event of events)
    for (const one of valuesOf(event, by[0]!))
      for (const other of by.length > 1 ? valuesOf(event, by[1]!) : [undefined]) {
        const values = other === undefined ? [one] : [one, other]
        const key = JSON.stringify(values)
        const group = groups.get(key) ?? { values, events: [] }
        groups.set(key, group)
        group.events.push(event)
      }
  return [...groups.values()].toSorted(
    (left, right) =>
      right.events.length - left.events.length ||
      compareValues(left.values[0]!, right.values[0]!) ||
      (by.length > 1 ? compareValues(left.values[1]!, right.values[1]!) : 0),
  )
}

function expected(
  matching: readonly AuditEvent[],
  { by, numbers, top }: GroupOptions,
  buckets: EventGroups['buckets'],
): Partial<EventGroups> {
  const all = groupsOf(matching, by)
  return {
    groups: all.slice(0, top).map(({ values, events }) => ({
      values,
      count: events.length,
      exact: true,
      error: 0,
      buckets: buckets?.edges
        .slice(0, -1)
        .map(
          (from, i) =>
            events.filter(
              ({ created_at }) => from <= created_at && created_at < buckets.edges[i + 1]!,
            ).length,
        ),
      numbers: Object.fromEntries(
        numbers!.flatMap((name) => {
          const found = events
            .flatMap((event) =>
              finishSteps(scalarsInSteps(finishSteps(eventAttributes.valuesInSteps(event, name)))),
            )
            .filter((value) => typeof value === 'number')
          if (found.length === 0) return []
          const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(found, share))
          return [[name, { exact: true, read: found.length, p50, p95, p99 }]]
        }),
      ) as EventGroups['groups'][number]['numbers'],
    })),
    distinct: all.length,
    total: matching.length,
    exact: { total: true, groups: true },
    read: matching.length,
  }
}

describe('groups', () => {
  let grouped = 0
  let pairs = 0

  it.each([1, 2])('are those of all matching events, on every store (part %i)', () =>
    fc.assert(
      fc.asyncProperty(
        events,
        fc.array(fc.tuple(filter, options), { minLength: 30, maxLength: 30, size: 'max' }),
        (events, queries) =>
          withStores(events, async (all) => {
            for (const [filter, options] of queries) {
              const { where } = parseQuery({ filter })
              const visible = options.visible ? [options.visible] : []
              const both = {
                combinator: 'and',
                conditions: [],
                groupings: [...visible, ...(where ? [where] : [])],
              } as const
              const page = await all[0]!.list({ where: both, sorts: [], limit: 1000 })
              for (const audit of all) {
                const groups = await audit.groups({ filter }, options)
                expect(groups, JSON.stringify([filter, options])).toMatchObject(
                  expected(page.events, options, groups.buckets),
                )
                if (groups.total > 0) grouped++
                if (groups.total > 0 && options.by.length > 1) pairs++
              }
            }
          }),
      ),
      { numRuns: 1, endOnFailure: true },
    ),
  )

  afterAll(() => {
    expect(grouped).toBeGreaterThan(0)
    expect(pairs).toBeGreaterThan(0)
  })
})
