import { CloudEvent, HTTP } from 'cloudevents'
import type { AuditEvent, JsonObject, JsonValue } from 'daybook'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
import { identityEventTypes } from 'daybook/presets'
import { workflowEventTypes } from 'daybook/workflow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownEventTypes } from '../../src/recording/own-event-types.js'
import { ocsfFaults } from '../support/ocsf-schema.js'
import { throughProtobuf, withoutDefaults } from '../support/otlp-messages.js'
import { created, request } from '../unit/formats/events.js'

/* All types of the workflow catalog, of identities and of the log, with and without a request, with random attributes. */

const types = { ...ownEventTypes, ...identityEventTypes, ...workflowEventTypes }

const text = fc.oneof(
  fc.constantFrom('', 'boom', 'ops@acme.example', 'A <a@acme.example>', 'é\u0000\uFFFF😀'),
  fc.constantFrom('2026-11-22T16:09:30.280404Z', '1905-01-01', '9999-12-31T24:00', 'user', 'LOCK'),
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ unit: 'binary' }),
)
const scalar = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(401, 0, -1, 2 ** 53, 1e300, 5e-324, -0.5) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
)
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(text, tie('value'), { maxKeys: 3 }) },
  ),
}))

/** The attributes that the formats read. */
const READ = [
  ...['name', 'error', 'backtrace', 'occurred_at', 'actor_kind', 'session_id', 'count', 'success'],
  ...['sender', 'recipients', 'subject', 'message_id', 'trace_id', 'span_id', 'request_id'],
  ...['user_name', 'user_id', 'role', 'privileges'],
  ...['request_method', 'request_path', 'response_status', 'remote_address', 'duration_ms'],
  ...['outcome', 'actor_id', 'user_agent', 'agent_session_id', 'reason'],
]
const attributes: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.oneof(fc.constantFrom(...READ), text),
  value,
  { maxKeys: 8 },
)

interface Draft {
  readonly type: string
  readonly hasRequest: boolean
  readonly attributes: JsonObject
}

const events: fc.Arbitrary<AuditEvent> = fc
  .record({
    username: fc.option(fc.oneof(fc.constantFrom('ann', 'a\nb'), text)),
    source: fc.constantFrom(null, '/api/projects/shop'),
    created_at: fc.constantFrom('2026-11-22T16:09:30.280404Z', '1960-01-01T00:00:00.000001Z'),
    system: fc.boolean(),
    draft: fc.record<Draft>({
      type: fc.constantFrom(...Object.keys(types)),
      hasRequest: fc.boolean(),
      attributes,
    }),
  })
  .map(({ draft, ...event }) => eventOf(draft, event))

const eventOf = (
  { type, hasRequest, attributes: own }: Draft,
  event: Partial<AuditEvent>,
): AuditEvent => ({
  ...created,
  ...event,
  type,
  attributes: { ...(hasRequest && request), ...own },
})

const NAMED = { role: 'owner', name: 'nightly', error: 'boom', sender: 'A <a@acme.example>' }

/** Events of each type: with a request, with a refused request, and without a request. Random events are added. */
const examples: readonly [AuditEvent][] = Object.keys(types).flatMap((type): [AuditEvent][] => [
  [eventOf({ type, hasRequest: true, attributes: NAMED }, {})],
  [eventOf({ type, hasRequest: true, attributes: { response_status: 401 } }, {})],
  [eventOf({ type, hasRequest: false, attributes: {} }, { username: null, source: null })],
])

const RUNS = { numRuns: examples.length + 1000, examples: [...examples] }
const json = <Value>(made: Value): Value => JSON.parse(JSON.stringify(made)) as Value

describe('an event of any type with any attributes', () => {
  it('becomes a CloudEvent that the SDK accepts', () => {
    fc.assert(
      fc.property(events, (event) => {
        const made = json(toCloudEvent(event, { source: '/audit', types }))
        expect(new CloudEvent(made).validate()).toBe(true)
        const { severitynumber, authid } = made
        expect(severitynumber).toBeGreaterThanOrEqual(1)
        expect(authid ?? '').not.toMatch(/\p{Cc}/u)
        const headers = { 'content-type': 'application/cloudevents+json' }
        const read = HTTP.toEvent({ headers, body: JSON.stringify(made) }) as CloudEvent<object>
        expect(json(read.data)).toEqual(json(made.data))
      }),
      RUNS,
    )
  })

  it('becomes a log record that protobuf keeps completely', () => {
    fc.assert(
      fc.property(events, (event) => {
        const made = json(toOtlp([event], { service: 'orders', types }))
        expect(throughProtobuf(made).json).toEqual(withoutDefaults(made))
      }),
      RUNS,
    )
  })

  it('becomes a valid event of OCSF', () => {
    const seen = new Set<number>()
    fc.assert(
      fc.property(events, (event) => {
        const made = json(toOcsf(event, { product: { name: 'orders' }, types }))
        expect(ocsfFaults(made)).toEqual([])
        seen.add(made.class_uid)
      }),
      RUNS,
    )
    expect([...seen].toSorted((a, b) => a - b)).toEqual([
      0, 1008, 3001, 3002, 3003, 3004, 3005, 4009, 6002, 6003, 6005, 6008,
    ])
  })
})
