import { createRequire } from 'node:module'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { type Condition, isOwnField, type Predicate, type Query } from '../harness/query.js'
import { type Matcher, pageOf, type QueryTarget } from '../harness/query-target.js'
import { createSampler, recordAll, sampleLinks, sampleTypes } from '../harness/sample-events.js'

/* Events in memory: the memory store, and arrays that sift and mingo search from the newest event on. */

// Their type declarations do not compile with the settings of this project.
const require = createRequire(import.meta.url)

type Test = (event: object) => boolean

/** Compiles a MongoDB query. */
export const MATCHERS: { readonly [name in Matcher]: () => (query: object) => Test } = {
  sift: () => require('sift') as (query: object) => Test,
  mingo() {
    const { Query } = require('mingo') as { Query: new (query: object) => { test: Test } }
    return (query) => {
      const compiled = new Query(query)
      return (event) => compiled.test(event)
    }
  },
}

/** The values of the query cases need no escaping in a regular expression. */
const CONDITIONS: { readonly [name in Predicate]?: (value: string | number) => unknown } = {
  eq: (value) => value,
  not_eq: (value) => ({ $ne: value }),
  gt: (value) => ({ $gt: value }),
  start: (value) => new RegExp(`^${value}`, 'i'),
  cont: (value) => new RegExp(String(value), 'i'),
  null: () => null,
  not_null: () => ({ $exists: true }),
}

function toMongo({ combinator, conditions }: Query): object {
  const parts = conditions.map(({ path, predicate, value = '' }: Condition) => ({
    [isOwnField(path) ? path[0]! : `attributes.${path.join('.')}`]: CONDITIONS[predicate]!(value),
  }))
  if (combinator === 'or') return { $or: parts }
  return Object.assign({}, ...parts) as object
}

interface StoredEvent {
  readonly type: string
  readonly username: string
  readonly attributes: Record<string, unknown>
}

/** Holds the first `count` sample events. */
export function openMatcher(name: Matcher, count: number): QueryTarget {
  const compile = MATCHERS[name]()
  const next = createSampler()
  // Parsed from JSON, as the events of a store are.
  const events = Array.from({ length: count }, () => {
    const { type, username, data } = next()
    return JSON.parse(JSON.stringify({ type, username, attributes: data })) as StoredEvent
  })
  return {
    prepare(query) {
      const mongo = toMongo(query)
      return () => {
        const test = compile(mongo)
        const rows: StoredEvent[] = []
        for (let i = events.length - 1; i >= 0 && rows.length <= query.limit; i--)
          if (test(events[i]!)) rows.push(events[i]!)
        return pageOf(rows, query, ({ attributes }) => attributes)
      }
    },
    close() {},
  }
}

const BATCH = 1000

/** A memory store with the first `count` sample events. */
export async function openMemoryLog(count: number): Promise<AuditLog> {
  const clock = manualClock()
  const audit = new AuditLog({
    store: memoryStore({ clock }),
    types: sampleTypes,
    links: sampleLinks,
  })
  const next = createSampler()
  for (let done = 0; done < count; done += BATCH) {
    clock.advance(BATCH * 1000)
    await recordAll(audit, Array.from({ length: Math.min(BATCH, count - done) }, next))
  }
  return audit
}
