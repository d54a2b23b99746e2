import type { AuditEvent } from '../../event/event.js'
import { bothOf, type Grouping } from '../../filter/ast.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Scalar } from '../../filter/attributes.js'
import { compileFilterInSteps } from '../../filter/evaluate.js'
import type { Decide, Decision, Steps } from '../../filter/steps.js'
import { countPlan, type Span } from './count-plan.js'
import type { CountsQuery, EventCounts } from '../../store/counts.js'
import { createFacetTally, type FacetTally } from './facet-tally.js'
import { addToEach, type CountedEvent, type FigureTally } from './figure-tally.js'
import { figuresOf, type Tallied } from './figures.js'
import { type GroupField, groupFields } from './group-fields.js'
import { filterParts } from './own-conditions.js'
import { createSeenAttributes } from './seen-attributes.js'
import { durationOf, type Rounds, type Slice } from './slices.js'
import { createStrata, type Strata } from './strata.js'

/**
 * Defines the counts, for every store. A store processes the slices, round by round, until
 * `isOver`. It adds the events that pass `shared`, and reports each finished slice with `seen`.
 */
export interface Tally {
  /** The filter that events must pass to be added. The tally applies the rest of the query. */
  readonly shared: Grouping | undefined
  /** By facet, the conditions that apply to every figure except the facet's own. */
  readonly own: ReadonlyMap<string, Grouping>
  /** The fields by which a store may group the events of a slice; `undefined` if it must not. */
  readonly groupFields: readonly GroupField[] | undefined
  readonly rounds: Rounds
  /** True once the time limit of the query has passed, but never before the first round is complete. */
  isOver(): boolean
  /**
   * False once the values of facets and the attributes are not added any more: with them, the time would end before
   * all events are counted.
   */
  addsValues(): boolean
  /** Counts an event of a cell, or `count` events that are equal for the query. True, or the work that adds the event. */
  add(cell: number, event: AuditEvent, count?: number): Decision
  /**
   * Adds events of a cell, all of the level of the type, that an index has counted: the matching events, or events that
   * match without the facet's own conditions. Leaves out the values of facets.
   */
  addLevel(cell: number, type: string, count: number, facet?: string): void
  /** Adds the values of a facet of events that an index has counted, and the number of events without a value. */
  addValues(
    facet: string,
    values: Iterable<readonly [Scalar, number]>,
    missing: number,
  ): Steps<void>
  /** Marks a slice as counted, or the counted part of one that was interrupted. */
  seen(slice: Slice): void
  counts(): Steps<EventCounts>
}

/** The events that pass the whole filter, or all of it but one facet's own conditions. */
interface Population {
  readonly strata: Strata
  readonly matches: Decide<AuditEvent> | undefined
}

interface Added extends CountedEvent {
  readonly cell: number
  /** The only population that has the event; the main one if all have it. */
  readonly only: Population
}

/** A figure that reads the attributes of events. */
interface ReadingFigure {
  readonly tally: FigureTally
  /** The population that has events for this figure only. */
  readonly population: Population | undefined
}

function readingFigures(
  tallies: ReadonlyMap<string, FacetTally>,
  attributes: FigureTally | undefined,
  populations: ReadonlyMap<string, Population>,
): readonly ReadingFigure[] {
  const facets = Array.from(tallies, ([facet, tally]) => ({
    tally,
    population: populations.get(facet),
  }))
  return attributes ? [...facets, { tally: attributes, population: undefined }] : facets
}

/** The share of the time after which it is decided whether there is enough of it for facets and attributes. */
const VALUES_SHARE = 1 / 4

const lengthOf = (slices: readonly Slice[]): Microseconds =>
  slices.reduce((sum, slice) => sum + durationOf(slice), 0)

/** How much of the rounds is counted, and whether there is time for the rest. */
interface Progress {
  readonly start: number
  readonly isOver: () => boolean
  readonly addsValues: () => boolean
  readonly seen: (slice: Slice) => void
}

function createProgress(rounds: Rounds, within: number, hasValues: boolean): Progress {
  const start = performance.now()
  const all = lengthOf(rounds.flat())
  let left = all
  /** Duration of the slices of the first round that are not counted yet. */
  let unseen = lengthOf(rounds[0] ?? [])
  let addsValues = true
  /** True if the rest will take longer than the remaining time, at the speed of the counted part. */
  const isTooSlow = (elapsed: number): boolean =>
    elapsed > VALUES_SHARE * within && left > 0 && elapsed * all > within * (all - left)
  return {
    start,
    isOver() {
      if (unseen > 0) return false
      const elapsed = performance.now() - start
      if (hasValues && isTooSlow(elapsed)) addsValues = false
      return elapsed >= within
    },
    addsValues: () => addsValues,
    seen(slice) {
      unseen -= durationOf(slice)
      left -= durationOf(slice)
    },
  }
}

export function createTally(query: CountsQuery, span: Span): Tally {
  const { shared, own } = filterParts(query)
  const { buckets, cells, rounds } = countPlan(query, bothOf(query.visible, query.where), span)

  const main = populationOf(cells.length)
  const populations = new Map(
    Array.from(own, ([facet, where]) => [facet, populationOf(cells.length, where)]),
  )
  const restricted = [...populations.values()]
  const tallies = facetTallies(query)
  const attributes = query.attributes ? createSeenAttributes() : undefined
  const readers = readingFigures(tallies, attributes, populations)
  const seen = cells.map(() => 0)
  const progress = createProgress(rounds, query.within, readers.length > 0)
  const { isOver, addsValues } = progress
  let events = 0

  /** The only population whose own conditions the event fails; `main` if it fails none. */
  function* failed(event: AuditEvent): Steps<Population | undefined> {
    let found = main
    for (const one of restricted) {
      const decision = one.matches!(event)
      if (typeof decision === 'boolean' ? decision : yield* decision) continue
      if (found !== main) return undefined
      found = one
    }
    return found
  }

  const addToReaders = addToEach(
    readers,
    ({ population }, { only }: Added) => only === main || only === population,
  )
  const addTo = (added: Added): Decision => {
    const { only, cell, event, count } = added
    only.strata.add(cell, event.type, count)
    if (only === main) for (const one of restricted) one.strata.add(cell, event.type, count)
    return addsValues() && addToReaders(added)
  }

  function* addInSteps(added: Added): Steps<boolean> {
    const only = yield* failed(added.event)
    const decision = only ? addTo({ ...added, only }) : true
    return typeof decision === 'boolean' ? decision : yield* decision
  }

  const tallied = { query, buckets, cells, seen, main, populations, tallies, attributes }

  return {
    shared,
    own,
    groupFields: groupFields(query),
    rounds,
    isOver,
    addsValues,

    add(cell, event, count = 1) {
      const added = { cell, event, count, number: ++events, only: main }
      return restricted.length > 0 ? addInSteps(added) : addTo(added)
    },

    ...indexedFigures(tallied),

    seen(slice) {
      seen[slice.cell]! += durationOf(slice)
      progress.seen(slice)
    },

    *counts() {
      const counts = yield* figuresOf(tallied, addsValues())
      return { ...counts, took_ms: Math.round(performance.now() - progress.start) }
    },
  }
}

const populationOf = (cells: number, where?: Grouping): Population => ({
  strata: createStrata(cells),
  matches: where && compileFilterInSteps(where),
})

const facetTallies = ({ facets }: CountsQuery): ReadonlyMap<string, FacetTally> =>
  new Map(
    facets.filter((facet) => facet !== 'level').map((facet) => [facet, createFacetTally(facet)]),
  )

/** Adds what an index has counted. */
const indexedFigures = ({
  main,
  populations,
  tallies,
}: Pick<Tallied, 'main' | 'populations' | 'tallies'>): Pick<Tally, 'addLevel' | 'addValues'> => ({
  addLevel(cell, type, count, facet) {
    const one = facet === undefined ? main : populations.get(facet)!
    one.strata.add(cell, type, count)
  },
  addValues: (facet, values, missing) => tallies.get(facet)!.addCounted(values, missing),
})
