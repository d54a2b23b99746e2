import { defineEventTypes, type JsonObject, type JsonValue } from 'daybook'
import { type OtlpLogRecord, type OtlpValue, toOtlp } from 'daybook/formats'
import { describe, expect, it } from 'vitest'
import { messageDepth, throughProtobuf, withoutDefaults } from '../../support/otlp-messages.js'
import { background, created, eventOf, SPAN_ID, TRACE_ID } from './events.js'

const recordOf = (...[event, types]: [Parameters<typeof toOtlp>[0][number], object?]) =>
  toOtlp([event], { service: 'orders', types: types && defineEventTypes({ ...types }) })
    .resourceLogs[0]!.scopeLogs[0]!.logRecords[0]!

const valueOf = ({ attributes }: OtlpLogRecord, name: string): OtlpValue | undefined =>
  attributes.find(({ key }) => key === name)?.value

describe('toOtlp', () => {
  it('makes one request of all events, in order', () => {
    const events = [created, background('info:email:sent')]
    const { resourceLogs } = toOtlp(events, { service: 'orders' })
    expect(resourceLogs).toHaveLength(1)
    expect(resourceLogs[0]!.resource).toEqual({
      attributes: [{ key: 'service.name', value: { stringValue: 'orders' } }],
    })
    const [{ scope, logRecords }] = resourceLogs[0]!.scopeLogs as [
      (typeof resourceLogs)[0]['scopeLogs'][0],
    ]
    expect(scope).toEqual({ name: 'daybook' })
    expect(logRecords.map(({ eventName }) => eventName)).toEqual([
      'api:projects:create',
      'info:email:sent',
    ])
  })

  it('writes the fields of a log record', () => {
    expect(recordOf(created)).toMatchObject({
      timeUnixNano: '1795363770280404000',
      observedTimeUnixNano: '1795363770280404000',
      severityNumber: 9,
      severityText: 'API',
      eventName: 'api:projects:create',
      body: { stringValue: 'ann created project Web shop' },
      traceId: TRACE_ID,
      spanId: SPAN_ID,
    })
  })

  it.each<[boolean, JsonObject, readonly (string | undefined)[]]>([
    [
      true,
      { actor_id: 'u-7', user_agent: 'curl/8', outcome: 'denied' },
      ['u-7', 'curl/8', 'denied'],
    ],
    [true, { actor_id: 7, user_agent: '', outcome: 'ok' }, [undefined, undefined, undefined]],
    // A client gave these.
    [
      false,
      { actor_id: 'u-7', user_agent: 'curl/8', outcome: 'denied' },
      [undefined, undefined, undefined],
    ],
  ])('names the ids and the outcome of an event with system %j and %j', (...row) => {
    const [system, attributes, values] = row
    const record = recordOf(eventOf({ system, attributes }))
    const names = ['user.id', 'user_agent.original', 'daybook.outcome']
    expect(names.map((name) => valueOf(record, name)?.stringValue)).toEqual(values)
  })

  it('names what it knows by the semantic conventions', () => {
    const { attributes } = recordOf(
      eventOf({
        type: 'error:projects:create',
        attributes: { ...created.attributes, error: 'no' },
      }),
    )
    expect(attributes.filter(({ key }) => key !== 'daybook.attributes')).toEqual([
      { key: 'log.record.uid', value: { stringValue: '01a20405-0fa8-7676-ba2c-be23e865d0a6' } },
      { key: 'user.name', value: { stringValue: 'ann' } },
      { key: 'client.address', value: { stringValue: '203.0.113.7' } },
      { key: 'url.path', value: { stringValue: '/api/projects' } },
      { key: 'exception.message', value: { stringValue: 'no' } },
      { key: 'http.request.method', value: { stringValue: 'POST' } },
      { key: 'http.response.status_code', value: { intValue: '201' } },
      { key: 'daybook.system', value: { boolValue: true } },
      { key: 'daybook.source', value: { stringValue: '/api/projects/shop' } },
    ])
  })

  it('does not treat attributes of custom events as attributes of a request', () => {
    const record = recordOf(eventOf({ system: false }))
    expect(record.attributes.map(({ key }) => key)).toEqual([
      'log.record.uid',
      'user.name',
      'daybook.system',
      'daybook.source',
      'daybook.attributes',
    ])
  })

  it('names a request method that is not registered _OTHER', () => {
    const record = recordOf(background('api:files:lock', { request_method: 'LOCK' }))
    expect(valueOf(record, 'http.request.method')).toEqual({ stringValue: '_OTHER' })
    expect(valueOf(record, 'http.request.method_original')).toEqual({ stringValue: 'LOCK' })
  })

  it.each([
    ['one text', 'at a\nat b'],
    ['a list', ['at a', { toString: null }, 'at b']],
  ])('joins a backtrace that is %s', (_, backtrace) => {
    const record = recordOf(background('error:jobs:run', { backtrace }))
    expect(valueOf(record, 'exception.stacktrace')).toEqual({ stringValue: 'at a\nat b' })
  })

  it('has the time when it happened, and when it was recorded', () => {
    const event = background('info:email:sent', { occurred_at: '2026-11-22T16:00:00.000001Z' })
    expect(recordOf(event)).toMatchObject({
      timeUnixNano: '1795363200000001000',
      observedTimeUnixNano: '1795363770280404000',
    })
  })

  it.each(['1969-12-31T23:59:59.999999Z', '2555-01-01T00:00:00.000000Z'])(
    'leaves out the time %s, which OTLP cannot express',
    (created_at) => {
      const record = recordOf(eventOf({ created_at }))
      expect(record).not.toHaveProperty('timeUnixNano')
      expect(record).not.toHaveProperty('observedTimeUnixNano')
    },
  )

  it('takes the severity of the registry', () => {
    const types = { 'api:reactors:start': { severity: 21 } }
    expect(recordOf(eventOf({ type: 'api:reactors:start' }), types).severityNumber).toBe(21)
  })

  it.each([
    ['a trace of zeros', { trace_id: '0'.repeat(32), span_id: SPAN_ID }, undefined, undefined],
    ['a short trace', { trace_id: 'abc', span_id: SPAN_ID }, undefined, undefined],
    ['no hexadecimal digits', { trace_id: 'z'.repeat(32) }, undefined, undefined],
    ['a number', { trace_id: 7 }, undefined, undefined],
    ['a span of zeros', { trace_id: TRACE_ID, span_id: '0'.repeat(16) }, TRACE_ID, undefined],
    ['both', { trace_id: TRACE_ID, span_id: SPAN_ID }, TRACE_ID, SPAN_ID],
  ])('reads ids with %s', (_, attributes, traceId, spanId) => {
    const record = recordOf(background('info:email:sent', attributes))
    expect([record.traceId, record.spanId]).toEqual([traceId, spanId])
  })

  it.each<[JsonValue, OtlpValue]>([
    [null, {}],
    ['', { stringValue: '' }],
    [false, { boolValue: false }],
    [0, { intValue: '0' }],
    [-7, { intValue: '-7' }],
    [9_007_199_254_740_991, { intValue: '9007199254740991' }],
    [9_007_199_254_740_992, { doubleValue: 9_007_199_254_740_992 }],
    [1.5, { doubleValue: 1.5 }],
    [[1, null], { arrayValue: { values: [{ intValue: '1' }, {}] } }],
    [[], { arrayValue: { values: [] } }],
    [{ a: 'b' }, { kvlistValue: { values: [{ key: 'a', value: { stringValue: 'b' } }] } }],
  ])('writes the value %j', (value, written) => {
    const record = recordOf(background('info:email:sent', { value }))
    expect(valueOf(record, 'daybook.attributes')).toEqual({
      kvlistValue: { values: [{ key: 'value', value: written }] },
    })
  })

  it('loses nothing on the way through protobuf', () => {
    const request = toOtlp([created, background('info:email:sent')], { service: 'orders' })
    expect(throughProtobuf(request).json).toEqual(withoutDefaults(request))
  })

  it('writes deeply nested values as text, so that readers of protobuf accept them', () => {
    let value: JsonValue = 'core'
    for (let depth = 0; depth < 63; depth += 1) value = depth % 2 === 0 ? { value } : [value]
    const request = toOtlp([background('info:email:sent', { value })], { service: 'orders' })
    expect(messageDepth(throughProtobuf(request).bytes)).toBeLessThanOrEqual(100)
    expect(JSON.stringify(request)).toContain('core')
  })
})
