/* Compiled by `tsc`, never run. Only the calls under `@ts-expect-error` must not compile. */
import {
  AuditLog,
  type AuditLogOptions,
  type AuditEvent,
  type EventData,
  defineEventTypes,
  type EventStore,
  type EventTypes,
  type LinkTable,
  parseQuery,
} from 'daybook'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import type Database from 'better-sqlite3'
import type { PoolClient } from 'pg'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'

declare const store: EventStore
declare const anyText: string

const types = defineEventTypes({
  'api:orders:create': {
    data: ['total', 'currency'],
    throttle: { period: { hours: 1 }, scope: ['shop'] },
  },
  'api:orders:open': {},
  'api:orders:none': { data: [] },
  'api:orders:pay': {
    data: v.object({ amount: v.number(), note: v.optional(v.string(), 'none') }),
  },
  'warn:pool:full': { data: ['pool'], throttle: { period: { minutes: 5 } } },
})
const audit = new AuditLog({ store, types })

// The type of an event.
void audit.record('api:orders:open')
// @ts-expect-error not in the registry
void audit.record('api:orders:opened')
// @ts-expect-error not any string
void audit.record(anyText)
// @ts-expect-error the type is missing
void audit.record()

// Data keys that the type declares. All are optional.
void audit.record('api:orders:create', {})
void audit.record('api:orders:create', undefined, { username: 'ann' })
void audit.record('api:orders:create', { total: 5 })
void audit.record('api:orders:create', { total: 5, currency: { code: 'EUR' } })
// @ts-expect-error misspelt
void audit.record('api:orders:create', { totl: 5 })
// @ts-expect-error not declared, beside one that is
void audit.record('api:orders:create', { total: 5, discount: 1 })
// @ts-expect-error data is an object
void audit.record('api:orders:create', 'total')
// @ts-expect-error a declaration of no keys takes none
void audit.record('api:orders:none', { total: 5 })

// The common keys go with every type.
void audit.record('api:orders:create', {
  name: 'n',
  message: 'm',
  parent: { code: 'c', node_type: 'project' },
  error: 'e',
  backtrace: 'b',
  occurred_at: '2026-03-01T12:00:00.000000Z',
  on_behalf_of: 'ann',
  request_id: 'r',
  trace_id: 't',
  outcome: 'denied',
  reason: 'r',
  approved_by: ['bob'],
})
// @ts-expect-error not an outcome
void audit.record('api:orders:create', { outcome: 'ok' })
expectTypeOf<keyof EventData<{ data: [] }>>().toEqualTypeOf<
  | 'name'
  | 'message'
  | 'parent'
  | 'error'
  | 'backtrace'
  | 'occurred_at'
  | 'on_behalf_of'
  | 'request_id'
  | 'trace_id'
  | 'outcome'
  | 'reason'
  | 'approved_by'
>()
void audit.record('api:orders:none', { message: 'm' })

// The link attributes of the log and the names of their resources are accepted. Other keys are not.
const linked = new AuditLog({ store, types, links: workflowLinks })
const own = new AuditLog({
  store,
  types,
  links: [
    { attribute: 'order_id', kind: 'integer', path: '/orders/{order_id}', rank: 1 },
    { attribute: 'shelf', kind: ['/shelves/{code}'], path: '/api{shelf}', rank: 2 },
  ],
})
void own.record('api:orders:create', {
  total: 5,
  order_id: 7,
  order_name: 'n',
  shelf: '/shelves/a',
})
void own.intents().open('api:orders:create', { order_id: 7 })
void own.recordLive('api:orders:create', { order_id: 7 })
// @ts-expect-error a link attribute of another table
void own.record('api:orders:create', { change_id: 's' })
// @ts-expect-error no link attribute without a table
void audit.record('api:orders:create', { change_id: 's' })
// If the compiler does not know the names of a table, it accepts none.
const loose: LinkTable = workflowLinks
void new AuditLog({ store, types, links: loose }).record('api:orders:open', { change_id: 's' })
// @ts-expect-error misspelt or a link attribute that is not known
void new AuditLog({ store, types, links: loose }).record('api:orders:create', { change_id: 's' })
const given: AuditLogOptions<typeof types> = { store, types, links: workflowLinks }
void new AuditLog(given).record('api:orders:create', { total: 5 })
// @ts-expect-error not a kind
const odd: LinkTable = [{ attribute: 'a', kind: 'number', path: '/a/{a}', rank: 1 }]
void odd
void linked.record('api:orders:create', {
  step_id: 's',
  workflow_step_id: 's',
  change_id: 's',
  workflow_run_id: 's',
  scheduled_change_id: 's',
  properties_version_id: 's',
  settings_version_id: 's',
  template_version_id: 's',
  properties_id: 's',
  settings_id: 's',
  template_id: 's',
  bookmark_id: 's',
  git_remote_id: 's',
  node_id: 's',
  node_path: 's',
  project_path: 's',
  project_id: 's',
  project_name: 's',
})
// @ts-expect-error not a link attribute of the interface
void linked.record('api:orders:create', { workflow_id: 's' })

// The keys of the throttle's scope.
void audit.record('api:orders:create', { total: 5, shop: 'berlin' })
void audit.record('warn:pool:full', { pool: 'p' })
// @ts-expect-error another type's scope
void audit.record('warn:pool:full', { pool: 'p', shop: 'berlin' })

// Without a declaration, any key is accepted.
void audit.record('api:orders:open', { whatever: 1, nested: { list: [() => 1] } })

// For such a type, editors still suggest the common keys, and the keys of its sentence and its scope.
type KnownKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] }
type CatalogKeys<Type extends keyof typeof workflowEventTypes> = KnownKeys<
  EventData<(typeof workflowEventTypes)[Type]>
>
expectTypeOf<'name' | 'error'>().toExtend<CatalogKeys<'api:changes:create'>>()
expectTypeOf<'approver' | 'approvers'>().toExtend<
  CatalogKeys<'warn:approval_identity_unresolved'>
>()
expectTypeOf<'removed_count'>().toExtend<CatalogKeys<'info:data_cleanup:jobs'>>()
expectTypeOf<'channel'>().toExtend<CatalogKeys<'warn:notification_channel:disabled'>>()
expectTypeOf<'node_id'>().not.toExtend<CatalogKeys<'api:changes:create'>>()
expectTypeOf<'thing' | '@thing' | 'reason'>().not.toExtend<CatalogKeys<'api:changes:error'>>()
expectTypeOf<'@thing'>().not.toExtend<CatalogKeys<'api:changes:error'>>()
declare const catalog: AuditLog<typeof workflowEventTypes>
void catalog.record('api:changes:create', { whatever: 1, name: 'n' })
void catalog.record('info:data_cleanup:jobs', { removed_count: 1, rule: 'r' })
// @ts-expect-error declared: nothing else
void catalog.record('audit:changes:pause', { whatever: 1 })

// A Standard Schema defines the input. The common keys are accepted, too.
void audit.record('api:orders:pay', { amount: 5 })
void audit.record('api:orders:pay', { amount: 5, note: 'n', message: 'm' })
// @ts-expect-error of the wrong type
void audit.record('api:orders:pay', { amount: '5' })
// @ts-expect-error not optional in the schema
void audit.record('api:orders:pay', { note: 'n' })
// @ts-expect-error not in the schema
void audit.record('api:orders:pay', { amount: 5, tip: 1 })

// Options.
void audit.record('api:orders:open', {}, { username: 'ann', signal: AbortSignal.timeout(100) })
void audit.record('api:orders:open', {}, { username: null })
// @ts-expect-error misspelt
void audit.record('api:orders:open', {}, { user: 'ann' })
// @ts-expect-error a name is a text
void audit.record('api:orders:open', {}, { username: 7 })

// Intents, and their outcomes.
async function intended(): Promise<void> {
  const intent = await audit.intents().open('api:orders:create', { total: 5, error: 'e' })
  // @ts-expect-error misspelt key
  await audit.intents().open('api:orders:create', { totl: 5 })
  // @ts-expect-error not in the registry
  await audit.intents().open('api:orders:creat', {})
  // @ts-expect-error of the wrong type
  await audit.intents().open('api:orders:pay', { amount: '5' })
  // @ts-expect-error misspelt option
  await audit.intents().open('api:orders:create', {}, { user: 'ann' })
  await intent.record('api:orders:pay', { amount: 5 }, { username: 'ann' })
  await intent.record('api:orders:open')
  // @ts-expect-error misspelt key
  await intent.record('api:orders:create', { curency: 'EUR' })
  // @ts-expect-error not in the registry
  await intent.record('api:orders:paid', { amount: 5 })
  expectTypeOf(intent.fail).returns.toEqualTypeOf<Promise<AuditEvent | undefined>>()
  expectTypeOf(intent.record).returns.toEqualTypeOf<Promise<AuditEvent | undefined>>()
  expectTypeOf(intent.cancel).returns.toEqualTypeOf<Promise<void>>()
}
void intended

// A transaction handle of the host; the types of its driver are not needed.
declare const database: Database.Database
declare const client: PoolClient
void audit.record('api:orders:open', {}, { transaction: database })
void audit.recordSystem('api:anything:goes', {}, { transaction: client })
void audit.recordCustom('deploy:note', {}, { transaction: undefined })
// @ts-expect-error a handle is an object
void audit.recordCustom('deploy:note', {}, { transaction: 'BEGIN' })

// The returned event.
expectTypeOf<ReturnType<typeof audit.record>>().toEqualTypeOf<Promise<AuditEvent | undefined>>()
async function recorded(): Promise<void> {
  const event = await audit.record('api:orders:open')
  // @ts-expect-error there may be no event, if it was suppressed
  void event.id
  if (!event) return
  expectTypeOf<typeof event.created_at>().toEqualTypeOf<string>()
  expectTypeOf<typeof event.username>().toEqualTypeOf<string | null>()
  expectTypeOf<typeof event.source>().toEqualTypeOf<string | null>()
  expectTypeOf<typeof event.system>().toEqualTypeOf<boolean>()
  // @ts-expect-error events are read-only
  event.type = 'other'
  // @ts-expect-error attributes are read-only
  event.attributes = {}
  // @ts-expect-error the type of an attribute must be checked first
  event.attributes['name'].trim()
  // @ts-expect-error attributes are JSON
  event.attributes['name'] = undefined
}
void recorded

// Types with a name known only at run time, and custom events.
void audit.recordSystem('api:anything:goes', { any: 1 })
void audit.recordCustom('deploy:note', { text: 'hello' }, { username: 'ann' })
void audit.recordCustom('deploy:note')
// @ts-expect-error a type is a text
void audit.recordCustom(7)
// @ts-expect-error data is an object
void audit.recordCustom('deploy:note', 'hello')

// Tables are combined by spreading them.
const combined = new AuditLog({
  store,
  types: defineEventTypes({ ...workflowEventTypes, 'api:orders:create': { data: ['total'] } }),
  links: workflowLinks,
})
void combined.record('api:orders:create', { total: 5 })
void combined.record('api:changes:create', { anything: 1 })
void combined.record('audit:changes:pause', { message: 'lunch', change_id: 'c' })
void combined.record('warn:resource_slot_pool:full', { pool: 'p', cluster: 'c' })
// @ts-expect-error not declared by the workflow service
void combined.record('audit:changes:pause', { cause: 'lunch' })
// @ts-expect-error in neither table
void combined.record('api:orders:open')

// Invalid tables.
defineEventTypes({
  'a:b:c': {
    // @ts-expect-error misspelt
    descripton: 'd',
  },
})
defineEventTypes({
  'a:b:c': {
    // @ts-expect-error keys are texts
    data: [7],
  },
})
defineEventTypes({
  'a:b:c': {
    // @ts-expect-error a period is a Duration
    throttle: { period: '1h' },
  },
})

// A log with declared types is assignable where only its methods are used.
type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types' | 'intents'>
type EndpointAudit = Pick<AuditLog, 'list' | 'get' | 'recordCustom' | 'limits'>
const recording: RecordingAudit = audit
const endpoint: EndpointAudit = combined
void [recording, endpoint]
expectTypeOf<RecordingAudit['types']>().toEqualTypeOf<EventTypes>()

// A log without declared types accepts any type.
const open: AuditLog = new AuditLog({ store, types: {} })
void open.record('api:anything:goes', { any: 1 })

// @ts-expect-error `store` is required
void new AuditLog({ types })
// @ts-expect-error `types` is required
void new AuditLog({ store })
// @ts-expect-error misspelt
void new AuditLog({ store, types, strickt: true })

// Queries: text, parameters, an object of the same form, or a parsed query.
void audit.list()
void audit.list('filter[type_eq]=x&limit=10', { signal: AbortSignal.timeout(100) })
void audit.list(new URLSearchParams('limit=1'))
void audit.list({ filter: { type_in: ['a', 'b'], system_true: true, n_gt: 5 }, limit: 10 })
void audit.list({ filter: { m: 'or', g: [{ a_eq: 1 }], sorts: ['type desc'] }, limit: '10' })
void audit.list({ filter: undefined })
void audit.list(parseQuery('limit=1'))
// @ts-expect-error misspelt
void audit.list({ filters: { type_eq: 'x' } })
// @ts-expect-error a filter is an object
void audit.list({ filter: 'type_eq' })
// @ts-expect-error a limit is a number or its text
void audit.list({ limit: true })

async function listed(): Promise<void> {
  const page = await audit.list()
  expectTypeOf<typeof page.events>().toEqualTypeOf<readonly AuditEvent[]>()
  expectTypeOf<typeof page.truncated>().toEqualTypeOf<boolean>()
  // @ts-expect-error pages are read-only
  page.events.push()
  for await (const events of audit.pages('limit=1'))
    expectTypeOf<typeof events>().toEqualTypeOf<readonly AuditEvent[]>()
  for await (const event of audit.tail('filter[type_start]=error:', { after: anyText }))
    expectTypeOf<typeof event>().toEqualTypeOf<AuditEvent>()
  await using tail = audit.tail({ filter: { a_eq: 1 } }, { signal: AbortSignal.timeout(100) })
  const next = await tail.next()
  if (!next.done) expectTypeOf<typeof next.value>().toEqualTypeOf<AuditEvent>()
  // @ts-expect-error a time is a text
  audit.tail('', { after: 0 })
  const event = await audit.get('id')
  expectTypeOf<typeof event>().toEqualTypeOf<AuditEvent | undefined>()
}
void listed

// Listeners receive typed events.
audit.on('recorded', (event) => expectTypeOf<typeof event>().toEqualTypeOf<AuditEvent>())
audit.on('rejected', ({ type, error }) => void [type.length, error.code])
audit.on('error', (error) => expectTypeOf<typeof error>().toEqualTypeOf<unknown>())
// @ts-expect-error unknown event name
audit.on('stored', () => {})

// A type that requires a reason.
const strict = new AuditLog({
  store,
  types: defineEventTypes({ 'api:keys:delete': { data: ['key'], reason: 'required' }, 'a:b': {} }),
})
void strict.record('api:keys:delete', { key: 'k' }, { reason: 'lost', approvedBy: 'bob' })
void strict.record('api:keys:delete', undefined, { reason: 'lost' })
void strict.recordChange('api:keys:delete', 1, 2, { reason: 'lost' })
void strict.recordLive('api:keys:delete', {}, { reason: 'lost' })
void strict.record('a:b')
// @ts-expect-error no reason
void strict.record('api:keys:delete')
// @ts-expect-error no reason
void strict.record('api:keys:delete', { key: 'k' }, { username: 'ann' })
// @ts-expect-error no reason
void strict.recordChange('api:keys:delete', 1, 2)
// @ts-expect-error no reason
void strict.recordLive('api:keys:delete', {})
// @ts-expect-error not a word that types know
defineEventTypes({ 'a:b': { reason: 'optional' } })
