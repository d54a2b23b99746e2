import type { AuditEvent, EventCounts } from 'daybook'
import type { Page } from 'playwright-core'
import type { Random } from '../../../benchmarks/harness/random.js'
import { FACETS, type RandomQuery, textOf, withoutFacet } from './random-log.js'
import {
  bars,
  builderNumber,
  exportHeading,
  facetValues,
  headline,
  legend,
  offers,
  openCounted,
  relaxedNumbers,
  searchTypes,
  type ShownValue,
} from './shown-numbers.js'
import { isTrue, levelsOf, matchingOf, MISSING, readNumber, valuesOf } from './truth.js'

/* Compares each number on the page with the right number, which is computed from all events. */

export interface NumberFigures {
  queries: number
  /** Number of compared numbers. */
  numbers: number
  lowerBounds: number
  /** Offers of the query bar that were taken. */
  offers: number
  /** Number of queries whose total was exact. */
  exactTotals: number
  false: string[]
}

export const noFigures = (): NumberFigures => ({
  queries: 0,
  numbers: 0,
  lowerBounds: 0,
  offers: 0,
  exactTotals: 0,
  false: [],
})

export interface ComparedPage {
  readonly page: Page
  /** The address of the page. */
  readonly url: string
  readonly events: readonly AuditEvent[]
  readonly figures: NumberFigures
}

/** Chooses the facets of the page. Call it once, before the first query. */
export async function chooseFacets({ page, url }: ComparedPage): Promise<void> {
  await page.goto(url)
  const names = JSON.stringify(JSON.stringify(FACETS))
  await page.evaluate(`localStorage.setItem('daybook.facets', ${names})`)
}

type Check = (what: string, text: string, truth: number) => void

/** Notes a number that is not true. */
function checkerOf({ figures }: ComparedPage, query: string): Check {
  return (what, text, truth) => {
    const shown = readNumber(text)
    if (shown) figures.numbers += 1
    if (shown && !shown.isExact) figures.lowerBounds += 1
    if (!isTrue(text, truth)) figures.false.push(`${what} is ${text}, not ${truth}: ${query}`)
  }
}

function checkBars(
  shown: Awaited<ReturnType<typeof bars>>,
  { buckets }: EventCounts,
  matching: readonly AuditEvent[],
  check: Check,
): void {
  const all = buckets?.buckets ?? []
  for (const [i, { levels, total }] of shown.entries()) {
    const { from, to } = all[i]!
    const inside = matching.filter(({ created_at }) => created_at >= from && created_at < to)
    const truth = levelsOf(inside)
    check(`the bar from ${from}`, total, inside.length)
    for (const [level, number] of Object.entries(levels))
      check(`${level} in the bar from ${from}`, number, truth.get(level) ?? 0)
  }
}

/** Compares values of facets, each counted without the conditions on the facet. */
function checkValues(
  compared: ComparedPage,
  query: RandomQuery,
  shown: readonly ShownValue[],
  check: Check,
): void {
  const truths = new Map<string, ReadonlyMap<string, number>>()
  for (const { facet, text, isMissing, number } of shown) {
    const truth =
      truths.get(facet) ??
      valuesOf(matchingOf(compared.events, textOf(withoutFacet(query, facet))), facet)
    truths.set(facet, truth)
    check(`${facet} ${text}`, number, truth.get(isMissing ? MISSING : text) ?? 0)
  }
}

/** Takes a suggestion of the query bar. Its number must be the number of events in the resulting list. */
async function checkOffers(compared: ComparedPage, typed: string, check: Check): Promise<void> {
  const { page, events, figures } = compared
  const [first] = await offers(page, typed)
  if (!first) return
  await first.take()
  figures.offers += 1
  const search = decodeURIComponent(new URL(page.url()).search.slice(1))
  check(`an offer for ${typed}`, first.number, matchingOf(events, search).length)
}

async function checkRelaxed(
  compared: ComparedPage,
  query: RandomQuery,
  numbers: readonly string[],
  check: Check,
): Promise<void> {
  const { range, conditions } = query
  for (const [i, { text }] of conditions.entries()) {
    const others = textOf({ range, conditions: conditions.filter((_, at) => at !== i) })
    check(`without ${text}`, numbers[i] ?? '', matchingOf(compared.events, others).length)
  }
}

/** Opens the query, and compares each number that the page shows of it. */
export async function compareNumbers(
  compared: ComparedPage,
  query: RandomQuery,
  random: Random,
): Promise<void> {
  const { page, url, events, figures } = compared
  const search = textOf(query)
  const check = checkerOf(compared, search)
  const relaxed = relaxedNumbers(page)
  const counts = await openCounted(page, `${url}?${search}`)
  const matching = matchingOf(events, search)
  figures.queries += 1
  if (counts.exact.total) figures.exactTotals += 1

  check('the heading', await headline(page), matching.length)
  checkBars(await bars(page), counts, matching, check)
  const levels = levelsOf(matchingOf(events, textOf(withoutFacet(query, 'level'))))
  for (const [level, number] of await legend(page))
    check(`${level} in the legend`, number, levels.get(level) ?? 0)
  checkValues(compared, query, await facetValues(page), check)
  check('the export', await exportHeading(page), matching.length)
  check('the button of the builder', await builderNumber(page), matching.length)
  checkValues(
    compared,
    query,
    await searchTypes(page, random.pick(['rem', 'cre', 'expired', 'po'])),
    check,
  )
  if (matching.length === 0 && query.conditions.length > 0)
    await checkRelaxed(compared, query, await relaxed(query.conditions.length), check)
  await checkOffers(compared, random.pick(['ann', '404', 'projects', 'thing', 'acme']), check)
}
