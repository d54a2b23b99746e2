import { type AuditEvent, parseQuery } from 'daybook'
import type * as Evaluate from '../../src/filter/evaluate.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { MATCH_CASES, matchEvents, PARSE_CASES, WILDCARD_CASES } from './filter-cases.js'
import { MATCHERS } from './matchers.js'

/* A process that holds events and runs the trials of one library on them. */

export type Library = 'daybook' | 'sift' | 'mingo' | 'URLSearchParams' | 'RegExp'

export interface Setup {
  readonly library: Library
  readonly events: number
}

export type Job =
  /** Tests every event with MATCH_CASES[at]. */
  | { readonly job: 'scan'; readonly at: number }
  /** Compiles MATCH_CASES[at]. */
  | { readonly job: 'compile'; readonly at: number }
  /** Parses PARSE_CASES[at]. */
  | { readonly job: 'parse'; readonly at: number }
  /** Tests one text with a pattern of WILDCARD_CASES[at]. */
  | {
      readonly job: 'wildcards'
      readonly at: number
      readonly wildcards: number
      readonly length: number
    }

export interface Answer {
  /** The mean time of a run. */
  readonly milliseconds: number
  /** Matching events, or parsed parameters. */
  readonly found: number
}

type Tester = (event: AuditEvent) => boolean

const sift = MATCHERS.sift()
const mingo = MATCHERS.mingo()

// Not public: users reach the filter through a store, which does more than match events.
const evaluate = new URL('./filter/evaluate.js', import.meta.resolve('daybook')).href
const { compileFilter } = (await import(evaluate)) as typeof Evaluate

/** For each library a function that compiles; reading the query string is not measured. */
const COMPILERS: { readonly [library in Library]?: (at: number) => () => Tester } = {
  daybook(at) {
    const { where } = parseQuery(MATCH_CASES[at]!.query)
    return () => compileFilter(where)
  },
  sift: (at) => () => sift(MATCH_CASES[at]!.mongo),
  mingo: (at) => () => mingo(MATCH_CASES[at]!.mongo),
}

const PARSERS: { readonly [library in Library]?: (query: string) => number } = {
  daybook: (query) => parseQuery(query).where!.conditions.length,
  URLSearchParams: (query) => new URLSearchParams(query).size,
}

/** Lazy quantifiers find a match soonest. */
function patternToRegExp(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('%', '.*?')
    .replaceAll('_', '.')
  return new RegExp(`^${source}$`, 'isu')
}

const WILDCARD_TESTERS: { readonly [library in Library]?: (pattern: string) => Tester } = {
  daybook: (pattern) =>
    compileFilter({
      combinator: 'and',
      conditions: [
        { attributes: ['text'], combinator: 'and', predicate: 'matches', values: [pattern] },
      ],
      groupings: [],
    }),
  RegExp(pattern) {
    const expression = patternToRegExp(pattern)
    return ({ attributes }) => expression.test(attributes['text'] as string)
  },
}

/** Repeats the run for `duration` milliseconds. */
function repeatFor(duration: number, run: () => number): Answer {
  let found = 0
  let runs = 0
  const start = performance.now()
  let elapsed = 0
  for (let batch = 1; elapsed < duration; batch *= 2) {
    for (let i = 0; i < batch; i++) found = run()
    runs += batch
    elapsed = performance.now() - start
  }
  return { milliseconds: elapsed / runs, found }
}

function count(events: readonly AuditEvent[], test: Tester): number {
  let matches = 0
  for (const event of events) if (test(event)) matches++
  return matches
}

const textEvent = (text: string): AuditEvent => ({
  id: '',
  created_at: '',
  username: null,
  system: true,
  type: '',
  source: null,
  attributes: { text },
})

function run(job: Job, library: Library, events: readonly AuditEvent[]): Answer {
  switch (job.job) {
    case 'scan': {
      const test = COMPILERS[library]!(job.at)()
      return repeatFor(20, () => count(events, test))
    }
    case 'compile': {
      const compile = COMPILERS[library]!(job.at)
      return repeatFor(100, () => compile().length)
    }
    case 'parse': {
      const { query } = PARSE_CASES[job.at]!
      const parse = PARSERS[library]!
      return repeatFor(100, () => parse(query))
    }
    case 'wildcards': {
      const { pattern, text } = WILDCARD_CASES[job.at]!
      const test = WILDCARD_TESTERS[library]!(pattern(job.wildcards))
      // The texts are made by `join`, so the first test does not have to flatten a rope.
      const event = textEvent(text(job.length))
      return repeatFor(50, () => Number(test(event)))
    }
  }
}

const { library, events } = readSetup() as Setup
const scanned = matchEvents(events)
serveJobs((job: Job) => run(job, library, scanned))
