/*
 * Never run: `tsc` compiles it. Each call under `@ts-expect-error` must not compile, every other one
 * must.
 */
import {
  AuditLog,
  type EventStore,
  parseQuery,
  type QueryExplanation,
  type QueryTrace,
  type SlowQuery,
} from 'daybook'
import { expectTypeOf } from 'vitest'

declare const store: EventStore
declare const trace: QueryTrace

const audit = new AuditLog({ store, types: {}, slowQueryMs: 500 })
void new AuditLog({ store, types: {}, slowQueryMs: undefined })
// @ts-expect-error a number of milliseconds
void new AuditLog({ store, types: {}, slowQueryMs: '500' })

expectTypeOf(audit.explain()).resolves.toEqualTypeOf<QueryExplanation>()
void audit.explain('filter[type_eq]=own', { signal: new AbortController().signal })
void audit.explain(parseQuery({ filter: { type_eq: 'own' } }))
// @ts-expect-error it reads no events
void audit.explain('', { lazy: true })

audit.on('slow-query', (slow) => expectTypeOf(slow).toEqualTypeOf<SlowQuery>())
// @ts-expect-error a count has none
audit.on('slow-query', ({ explanation }) => explanation.steps)

// What a store of one's own does.
trace.enter('probe').rows += 10
// @ts-expect-error there is no such way
trace.enter('look')
// @ts-expect-error what was told is read only
trace.steps.push()
const explanation = await audit.explain()
// @ts-expect-error as is the explanation
explanation.steps[0]!.rows = 0
