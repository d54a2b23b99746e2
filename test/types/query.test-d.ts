/* Compiled by `tsc`, never run. Only the calls under `@ts-expect-error` must not compile. */
import { type AuditLog, parseQuery } from 'daybook'

declare const audit: AuditLog
declare const anything: Record<string, unknown>
declare const names: readonly string[]

// Own fields with any predicate.
parseQuery({ filter: { type_eq: 'x', system_true: 1, username_null: true, system_eq: false } })
parseQuery({ filter: { type_in: names, username_not_in: ['ann', undefined], type_cont_any: 'x' } })
parseQuery({ filter: { created_at_gt: new Date(), created_at_lt: '2026-03-01', id_eq: undefined } })
parseQuery({ filter: { source_eq: '/api/projects/acme', source_null: true } })
// @ts-expect-error not a value of the field
parseQuery({ filter: { source_eq: 7 } })
// @ts-expect-error not a value of the field
parseQuery({ filter: { username_eq: 7 } })
// @ts-expect-error not a value of the field
parseQuery({ filter: { created_at_gt: 7 } })
// @ts-expect-error a list for a predicate that takes one value
parseQuery({ filter: { type_eq: ['x'] } })
// @ts-expect-error no value
parseQuery({ filter: { type_eq: null } })
// @ts-expect-error an object
void audit.list({ filter: { system_true: {} } })

// Other attributes, with any predicate.
parseQuery({
  filter: { name_eq: 7, started_at_gteq: new Date(), code_in: [1, 'x'], a_or_b_present: 1 },
})
void audit.list({ filter: { url_params_code_does_not_match: '%x', 'a-b_not_i_cont_all': ['x'] } })
// @ts-expect-error not a predicate
parseQuery({ filter: { name_equals: 'x' } })
// @ts-expect-error not a predicate
void audit.count({ filter: { type_is: 'x' } })
// @ts-expect-error no predicate
parseQuery({ filter: { name: 'x' } })

// Groupings, conditions and sorts.
parseQuery({ filter: { m: 'or', g: [{ type_eq: 'x' }, { m: 'and', g: { 0: { n_eq: 1 } } }] } })
parseQuery({ filter: { c: [{ a: ['name'], p: 'eq', v: 1 }], sorts: ['type', 'created_at desc'] } })
parseQuery({ filter: { s: { name: 'type', dir: 'desc' }, combinator: 'and' } })
// @ts-expect-error not a value of the field
parseQuery({ filter: { g: [{ username_eq: 7 }] } })
// @ts-expect-error not a predicate
parseQuery({ filter: { c: [{ a: 'name', p: 'equals', v: 1 }] } })
// @ts-expect-error not a sort
parseQuery({ filter: { sorts: [7] } })

// Filters that are built at run time.
parseQuery({ filter: anything })
parseQuery({ filter: Object.fromEntries(names.map((name) => [`${name}_eq`, 'x'])) })
