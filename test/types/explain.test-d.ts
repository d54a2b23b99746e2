/* Compiled by `tsc`, never run. Only the calls under `@ts-expect-error` must not compile. */
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
// @ts-expect-error must be a number of milliseconds
void new AuditLog({ store, types: {}, slowQueryMs: '500' })

expectTypeOf(audit.explain()).resolves.toEqualTypeOf<QueryExplanation>()
void audit.explain('filter[type_eq]=own', { signal: new AbortController().signal })
void audit.explain(parseQuery({ filter: { type_eq: 'own' } }))
// @ts-expect-error `explain` has no option `lazy`
void audit.explain('', { lazy: true })

audit.on('slow-query', (slow) => expectTypeOf(slow).toEqualTypeOf<SlowQuery>())
// @ts-expect-error slow counts have no explanation
audit.on('slow-query', ({ explanation }) => explanation.steps)

// A custom store records its steps.
trace.enter('probe').rows += 10
// @ts-expect-error unknown method
trace.enter('look')
// @ts-expect-error the steps are read-only
trace.steps.push()
const explanation = await audit.explain()
// @ts-expect-error the explanation is read-only
explanation.steps[0]!.rows = 0
