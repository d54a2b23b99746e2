import { createRequire } from 'node:module'
import { type AuditEvent, parseQuery } from 'daybook'
import type * as Evaluate from '../../src/filter/evaluate.js'
import { MATCH_CASES, matchEvents, PARSE_CASES, WILDCARD_CASES } from './filter-cases.js'

/*
 * One library with its events in a process of its own: `filter-trial.ts <JSON of a Setup>`. It says
 * `ready`, then answers each Job that it is sent with an Answer.
 */

export type Library = 'daybook' | 'sift' | 'mingo' | 'URLSearchParams' | 'RegExp'

export interface Setup {
  readonly library: Library
  readonly events: number
}

export type Job =
  /** Tests every event by MATCH_CASES[at]. */
  | { readonly job: 'scan'; readonly at: number }
  /** Makes the tester of MATCH_CASES[at]. */
  | { readonly job: 'compile'; readonly at: number }
  /** Parses PARSE_CASES[at]. */
  | { readonly job: 'parse'; readonly at: number }
  /** Tests one text by a pattern of WILDCARD_CASES[at]. */
  | {
      readonly job: 'wildcards'
      readonly at: number
      readonly wildcards: number
      readonly length: number
    }

export interface Answer {
  /** Of one run: the mean of as many as fill the time. */
  readonly milliseconds: number
  /** What a run found: matching events, parameters. */
  readonly found: number
}

type Tester = (event: AuditEvent) => boolean

// Their declarations do not compile with this project's settings.
const require = createRequire(import.meta.url)
const sift = require('sift') as (query: object) => Tester
const { Query } = require('mingo') as { Query: new (query: object) => { test: Tester } }

// Where the compiled filter lies: users get it through the stores only, which do more than match.
const evaluate = new URL('./filter/evaluate.js', import.meta.resolve('daybook')).href
const { compileFilter } = (await import(evaluate)) as typeof Evaluate

/** For each library what makes a tester; a query is read before, as it is not part of compiling. */
const COMPILERS: { readonly [library in Library]?: (at: number) => () => Tester } = {
  daybook(at) {
    const { where } = parseQuery(MATCH_CASES[at]!.query)
    return () => compileFilter(where)
  },
  sift(at) {
    const { mongo } = MATCH_CASES[at]!
    return () => sift(mongo)
  },
  mingo(at) {
    const { mongo } = MATCH_CASES[at]!
    return () => {
      const query = new Query(mongo)
      return (event) => query.test(event)
    }
  },
}

const PARSERS: { readonly [library in Library]?: (query: string) => number } = {
  daybook: (query) => parseQuery(query).where!.conditions.length,
  URLSearchParams: (query) => new URLSearchParams(query).size,
}

/** Lazy, as that finds a match soonest. */
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

/** The mean time of as many runs as fill so many milliseconds. */
function timed(fill: number, run: () => number): Answer {
  let found = 0
  let runs = 0
  const start = performance.now()
  let elapsed = 0
  for (let batch = 1; elapsed < fill; batch *= 2) {
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

function answer(job: Job, library: Library, events: readonly AuditEvent[]): Answer {
  switch (job.job) {
    case 'scan': {
      const test = COMPILERS[library]!(job.at)()
      return timed(20, () => count(events, test))
    }
    case 'compile': {
      const compile = COMPILERS[library]!(job.at)
      return timed(100, () => compile().length)
    }
    case 'parse': {
      const { query } = PARSE_CASES[job.at]!
      const parse = PARSERS[library]!
      return timed(100, () => parse(query))
    }
    case 'wildcards': {
      const { pattern, text } = WILDCARD_CASES[job.at]!
      const test = WILDCARD_TESTERS[library]!(pattern(job.wildcards))
      // Made from an array and joined: no rope that the first test would have to flatten.
      const event = textEvent(text(job.length))
      return timed(50, () => Number(test(event)))
    }
  }
}

const { library, events } = JSON.parse(process.argv[2] ?? '') as Setup
const scanned = matchEvents(events)
process.on('message', (job: Job) => process.send!(answer(job, library, scanned)))
process.send!('ready')
