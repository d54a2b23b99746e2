import { createRequire } from 'node:module'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { type Asked, pageOf } from '../harness/query-target.js'
import { type Ask, type Comparison, isOwn, type Term } from '../harness/query.js'
import { createSampler, sampleTypes } from '../harness/sample-events.js'

/* Logs in memory: our store's, and lists of events that sift and mingo match, newest first. */

export type Matcher = 'sift' | 'mingo'

// Their declarations do not compile with this project's settings.
const require = createRequire(import.meta.url)

type Test = (event: object) => boolean

const MATCHERS: { readonly [name in Matcher]: () => (query: object) => Test } = {
  sift: () => require('sift') as (query: object) => Test,
  mingo() {
    const { Query } = require('mingo') as { Query: new (query: object) => { test: Test } }
    return (query) => {
      const compiled = new Query(query)
      return (event) => compiled.test(event)
    }
  },
}

/** The values that are asked for hold no sign that means something in a pattern. */
const CONDITIONS: { readonly [name in Comparison]?: (value: string | number) => unknown } = {
  eq: (value) => value,
  not_eq: (value) => ({ $ne: value }),
  gt: (value) => ({ $gt: value }),
  start: (value) => new RegExp(`^${value}`, 'i'),
  cont: (value) => new RegExp(String(value), 'i'),
  null: () => null,
  not_null: () => ({ $exists: true }),
}

function toMongo({ combinator, terms }: Ask): object {
  const conditions = terms.map(({ path, comparison, value = '' }: Term) => ({
    [isOwn(path) ? path[0]! : `attributes.${path.join('.')}`]: CONDITIONS[comparison]!(value),
  }))
  if (combinator === 'or') return { $or: conditions }
  return Object.assign({}, ...conditions) as object
}

interface Kept {
  readonly type: string
  readonly username: string
  readonly attributes: Record<string, unknown>
}

export function openMatcher(name: Matcher, count: number): Asked {
  const compile = MATCHERS[name]()
  const next = createSampler()
  // Read from JSON as those of a store are.
  const events = Array.from({ length: count }, () => {
    const { type, username, data } = next()
    return JSON.parse(JSON.stringify({ type, username, attributes: data })) as Kept
  })
  return {
    prepare(ask) {
      const query = toMongo(ask)
      return () => {
        const test = compile(query)
        const rows: Kept[] = []
        for (let i = events.length - 1; i >= 0 && rows.length <= ask.limit; i--)
          if (test(events[i]!)) rows.push(events[i]!)
        return pageOf(rows, ask, ({ attributes }) => attributes)
      }
    },
    close() {},
  }
}

const AT_ONCE = 1000

/** Our store with so many events. */
export async function openMemory(count: number): Promise<AuditLog> {
  const clock = manualClock()
  const audit = new AuditLog({ store: memoryStore({ clock }), types: sampleTypes })
  const next = createSampler()
  for (let done = 0; done < count; done += AT_ONCE) {
    const events = Array.from({ length: Math.min(AT_ONCE, count - done) }, next)
    clock.advance(AT_ONCE * 1000)
    await Promise.all(
      events.map(({ type, data, username }) => audit.record(type, data, { username })),
    )
  }
  return audit
}
