import { AuditLog, AuditLogError } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { afterAll, it } from 'vitest'

const audit = new AuditLog({ store: memoryStore(), types: { 'api:known': {} } })
afterAll(() => audit.close())

type Call = (value: never) => unknown

/** Reads and writes with an id, a query, a type or data that may be anything. */
const CALLS: Readonly<Record<string, Call>> = {
  get: (value) => audit.get(value),
  list: (value) => audit.list(value),
  explain: (value) => audit.explain(value),
  count: (value) => audit.count(value),
  pages: (value) => audit.pages(value).next(),
  tail: (value) => audit.tail(value, { signal: AbortSignal.abort() }).next(),
  record: (value) => audit.record(value),
  'record data': (value) => audit.record('api:known', value),
  recordSystem: (value) => audit.recordSystem(value),
  recordCustom: (value) => audit.recordCustom(value),
  'recordCustom data': (value) => audit.recordCustom('own', value),
  recordChange: (value) => audit.recordChange('api:known', value, value),
  recordLive: (value) => audit.recordLive(value),
  importEvents: (value) => audit.importEvents(value),
  'importEvents element': (value) => audit.importEvents([value]),
}

const VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  'text',
  0,
  Number.NaN,
  1n,
  true,
  Symbol('x'),
  [],
  {},
  [null],
  { filter: null },
  () => {},
  new Date(0),
  new Map(),
  Object.create(null),
]

it.each(Object.entries(CALLS))(
  '%s of anything gives a result or an AuditLogError',
  async (_, call) => {
    for (const value of VALUES) {
      try {
        await call(value as never)
      } catch (error) {
        if (!(error instanceof AuditLogError))
          throw new Error(`with ${typeof value} ${Object.prototype.toString.call(value)}`, {
            cause: error,
          })
      }
    }
  },
)
