import { type AuditEvent, defineEventTypes, type EventTypes, type JsonObject } from 'daybook'
import { type OcsfEvent, toOcsf } from 'daybook/formats'
import { workflowEventTypes } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import { ownEventTypes } from '../../../src/recording/own-event-types.js'
import { ocsfFaults } from '../../support/ocsf-schema.js'
import { background, created, eventOf, request, TRACE_ID } from './events.js'

const product = { name: 'orders', vendor_name: 'Acme' }

/** The OCSF event, which has to be valid. */
function ocsf(event: AuditEvent, types: EventTypes = workflowEventTypes): OcsfEvent {
  const made = toOcsf(event, { product, types })
  expect(ocsfFaults(made)).toEqual([])
  return made
}

describe('toOcsf', () => {
  it('makes API activity of a recorded request', () => {
    expect(ocsf(created)).toEqual({
      category_uid: 6,
      class_uid: 6003,
      activity_id: 1,
      type_uid: 600_301,
      time: 1_795_363_770_280,
      severity_id: 1,
      status_id: 1,
      status_code: '201',
      duration: 13,
      message: 'ann created project Web shop',
      metadata: {
        version: '1.8.0',
        product: { name: 'orders', vendor_name: 'Acme' },
        uid: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
        event_code: 'api:projects:create',
        log_name: 'audit',
        original_time: '2026-11-22T16:09:30.280404Z',
        logged_time: 1_795_363_770_280,
        correlation_uid: 'r-1',
        profiles: ['trace'],
      },
      actor: { user: { name: 'ann' } },
      src_endpoint: { ip: '203.0.113.7' },
      http_request: { http_method: 'POST', url: { path: '/api/projects' } },
      http_response: { code: 201 },
      api: { operation: 'api:projects:create', request: { uid: 'r-1' } },
      resources: [{ uid: '/api/projects/shop', name: 'Web shop', type: 'project' }],
      trace: { uid: TRACE_ID },
      unmapped: created.attributes,
    })
  })

  it.each([
    ['api:projects:create', {}, 6003, 1],
    ['api:projects:update', {}, 6003, 3],
    ['api:projects:destroy', {}, 6003, 4],
    ['audit:steps:approve', {}, 6003, 99],
    ['error:step:action', {}, 6008, 1],
    ['error:projects:update', request, 6003, 3],
    ['error:api:controller:unhandled', request, 6003, 99],
    ['warn:settings:override', {}, 0, 99],
    ['info:image_build:started', {}, 0, 99],
    ['own', {}, 0, 99],
  ])('makes of %s by its level, with %j, class %i and activity %i', (...row) => {
    const [type, attributes, class_uid, activity_id] = row
    expect(ocsf(background(type, attributes), {})).toMatchObject({ class_uid, activity_id })
  })

  it('names another activity', () => {
    expect(ocsf(background('audit:steps:approve:denied'))).toMatchObject({
      activity_name: 'approve:denied',
    })
    expect(ocsf(background('warn:unresolved'))).toMatchObject({ activity_name: 'unresolved' })
    expect(ocsf(eventOf({ type: 'own', system: false }))).toMatchObject({ activity_name: 'own' })
  })

  it('makes an attempt to log on of a request that was refused with 401', () => {
    const attributes = {
      ...request,
      response_status: 401,
      suppressed_count: 11,
      error: 'wrong password',
    }
    const refused = eventOf({ type: 'error:projects:create', username: null, attributes })
    expect(ocsf(refused)).toMatchObject({
      class_uid: 3002,
      activity_id: 1,
      status_id: 2,
      status_detail: 'wrong password',
      user: { name: 'unknown', type_id: 0 },
      service: { name: 'orders' },
      src_endpoint: { ip: '203.0.113.7' },
      count: 12,
    })
  })

  it('makes a base event of any custom event', () => {
    const custom = ocsf(eventOf({ system: false }))
    expect(custom).toMatchObject({
      class_uid: 0,
      activity_id: 99,
      metadata: { labels: ['custom'], profiles: ['host'] },
      actor: { user: { name: 'ann' } },
      unmapped: { source: '/api/projects/shop', request_method: 'POST', response_status: 201 },
    })
    expect(custom).not.toHaveProperty('status_code')
    expect(custom).not.toHaveProperty('http_request')
  })

  it.each([
    ['api:projects:create', {}, 1, undefined],
    ['api:projects:create', { response_status: 500 }, 2, undefined],
    ['error:step:action', {}, 2, undefined],
    ['api:changes:error', {}, 2, undefined],
    ['info:image_build:failed', {}, 2, undefined],
    ['warn:runner_base_image_warm:failed', {}, 2, undefined],
    ['audit:steps:approve:denied', {}, 2, undefined],
    ['info:template_version:fetch_complete', { success: false }, 2, undefined],
    ['info:template_version:fetch_complete', { success: true }, 1, undefined],
    ['warn:settings:override', {}, 99, 'Warning'],
  ])('gives %s with %j the status %i', (type, attributes, status_id, status) => {
    const made = ocsf(background(type, attributes))
    expect([made.status_id, made['status']]).toEqual([status_id, status])
  })

  it.each([
    [24, 6],
    [21, 6],
    [20, 4],
    [17, 4],
    [13, 3],
    [12, 1],
    [1, 1],
  ])('turns the severity number %i into the severity %i', (severity, severity_id) => {
    const types = defineEventTypes({ 'info:reactor:noted': { severity } })
    expect(ocsf(background('info:reactor:noted'), types).severity_id).toBe(severity_id)
  })

  it.each([
    ['203.0.113.7', { ip: '203.0.113.7' }],
    ['2001:db8::1', { ip: '2001:db8::1' }],
    ['::ffff:203.0.113.7', { ip: '203.0.113.7' }],
    ['203.0.113.256', { name: '203.0.113.256' }],
    ['203.0.113', { name: '203.0.113' }],
    ['::1]/x?[', { name: '::1]/x?[' }],
    ['unix socket', { name: 'unix socket' }],
    ['', { svc_name: 'orders' }],
    [7, { svc_name: 'orders' }],
  ])('writes the endpoint for the address %j', (remote_address, src_endpoint) => {
    const made = ocsf(background('api:projects:create', { remote_address }))
    expect(made['src_endpoint']).toEqual(src_endpoint)
  })

  it.each([
    [{}, { user: { name: 'ann' } }],
    [{ actor_kind: 'user' }, { user: { name: 'ann', type_id: 1 } }],
    [{ actor_kind: 'service' }, { user: { name: 'ann', type_id: 4 } }],
    [{ actor_kind: 'agent' }, { user: { name: 'ann', type_id: 99, type: 'Agent' } }],
    [{ actor_kind: 'toString' }, { user: { name: 'ann' } }],
    [{ session_id: 's-1' }, { user: { name: 'ann' }, session: { uid: 's-1' } }],
    [{ agent_session_id: 'run-1' }, { user: { name: 'ann' }, session: { uid: 'run-1' } }],
    [{ actor_id: 'u-7' }, { user: { name: 'ann', uid: 'u-7' } }],
  ])('writes the actor with %j', (attributes, actor) => {
    expect(ocsf(eventOf({ attributes }))['actor']).toEqual(actor)
  })

  it.each<[JsonObject, number, string | undefined]>([
    [{ outcome: 'success', response_status: 500 }, 1, undefined],
    [{ outcome: 'failure' }, 2, undefined],
    [{ outcome: 'denied' }, 2, 'denied'],
    [{ outcome: 'denied', error: 'no right' }, 2, 'no right'],
    [{ outcome: 'ok' }, 1, undefined],
  ])('writes the status of a system event with %j', (attributes, id, detail) => {
    const made = ocsf(eventOf({ attributes }))
    expect([made.status_id, made['status_detail']]).toEqual([id, detail])
    expect(ocsf(eventOf({ attributes, system: false })).status_id).toBe(1)
  })

  it('writes the program of the client, and why an entity was changed', () => {
    const attributes = { user_agent: 'curl/8', reason: 'ticket 7' }
    const types = defineEventTypes({ 'api:projects:create': { ocsf: { class: 3004 } } })
    const made = ocsf(eventOf({ attributes }), types)
    expect(made).toMatchObject({ http_request: { user_agent: 'curl/8' }, comment: 'ticket 7' })
  })

  it('leaves out what it cannot write in the form of OCSF', () => {
    const attributes = { ...request, request_method: 'LOCK', request_path: 7, response_status: 'x' }
    const made = ocsf(eventOf({ attributes }))
    expect(made).not.toHaveProperty('http_request')
    expect(made).not.toHaveProperty('http_response')
  })

  it('has the time when it happened, and when it was recorded', () => {
    const event = background('info:email:sent', { occurred_at: '2026-11-22T16:00:00.000001Z' })
    expect(ocsf(event)).toMatchObject({
      time: 1_795_363_200_000,
      metadata: { original_time: '2026-11-22T16:00:00.000001Z', logged_time: 1_795_363_770_280 },
    })
  })

  it('names the product as it is given', () => {
    const full = { name: 'orders', vendor_name: 'Acme', version: '4.2', uid: 'o-1' }
    const { metadata } = toOcsf(created, { product: full, version: '1.8.0' })
    expect(metadata).toMatchObject({ version: '1.8.0', product: full })
  })

  it.each([{ name: '' }, {}, undefined, null])('refuses the product %j', (wrong) => {
    expect(() => toOcsf(created, { product: wrong as { name: string } })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('the workflow catalog', () => {
  it.each([
    ['api:agent:started', {}, 6002, 3, { app: { name: 'agent' } }],
    ['error:agent:stop', { name: 'runner-1' }, 6002, 4, { app: { name: 'runner-1' } }],
    ['info:maintenance_mode:disabled', {}, 6002, 7, { app: { name: 'maintenance mode' } }],
    ['api:job:error', {}, 6008, 1, { severity_id: 4, status_id: 2 }],
    ['info:data_cleanup:events', {}, 1008, 2, { log_name: 'audit', actor: { app_name: 'orders' } }],
    [
      'api:policy_rules:create',
      { name: 'deploy' },
      ...[3004, 1, { entity: { name: 'deploy', type_id: 5, type: 'Policy' } }],
    ],
    [
      'api:secrets:resolve',
      { name: 'token' },
      ...[6005, 10, { databucket: { name: 'token', type_id: 99, type: 'Secret vault' } }],
    ],
    [
      'info:email:sent',
      {
        sender: 'Audit <audit@acme.example>',
        recipients: ['ops@acme.example', 'no address', 7, '"Eve, X" <eve@acme.example>'],
        subject: 'hello',
        message_id: '<1@acme.example>',
      },
      4009,
      1,
      {
        direction_id: 2,
        email: {
          from: 'audit@acme.example',
          to: ['ops@acme.example', 'eve@acme.example'],
          subject: 'hello',
          message_uid: '<1@acme.example>',
        },
      },
    ],
    [
      'error:email:send_failed',
      { recipients: 'a@acme.example, b@acme.example' },
      ...[4009, 1, { status_id: 2, email: { to: ['a@acme.example', 'b@acme.example'] } }],
    ],
    // The class requires an address.
    ['info:email:sent', { sender: 'root@localhost' }, 0, 99, {}],
  ] as [string, AuditEvent['attributes'], number, number, object][])(
    'maps %s with %j',
    (type, attributes, class_uid, activity_id, rest) => {
      expect(ocsf(background(type, attributes))).toMatchObject({ class_uid, activity_id, ...rest })
    },
  )

  it('maps the types that the log records itself', () => {
    expect(ocsf(background('api:notification:error'), ownEventTypes)).toMatchObject({
      class_uid: 6008,
      severity_id: 4,
    })
  })

  it('uses the classes that fit', () => {
    const attributes = { sender: 'audit@acme.example' }
    const classes = Object.keys(workflowEventTypes).map(
      (type) => ocsf(background(type, attributes)).class_uid,
    )
    const counts = Object.fromEntries(
      [...new Set(classes)].map((one) => [one, classes.filter((other) => other === one).length]),
    )
    expect(counts).toEqual({
      ...{ 0: 45, 1008: 2, 3004: 10, 4009: 2, 6002: 8, 6003: 82, 6005: 2, 6008: 43 },
    })
  })
})

describe('a mapping in the registry', () => {
  const made = (ocsfMapping: EventTypes[string]['ocsf'], attributes = {}): OcsfEvent =>
    ocsf(eventOf({ type: 'info:orders:paid', attributes }), {
      'info:orders:paid': { ocsf: ocsfMapping! },
    })

  it('sets values by their paths, within existing and new objects', () => {
    const set = {
      'entity.type': 'Order',
      'entity.name': '{number} of {customer_name}',
      'entity.user.name': '{customer_name}',
      comment: 'paid {currency}',
      'http_response.code': 200,
    }
    const attributes = { number: 17, customer: { name: 'Eve' } }
    expect(made({ class: 3004, activity: 3, set }, attributes)).toMatchObject({
      class_uid: 3004,
      activity_id: 3,
      entity: {
        type: 'Order',
        name: '17 of Eve',
        user: { name: 'Eve' },
        uid: '/api/projects/shop',
      },
      http_response: { code: 200 },
    })
    expect(made({ class: 3004, activity: 3, set }, attributes)).not.toHaveProperty('comment')
  })

  it('changes neither lists nor inherited members', () => {
    const set = { 'resources.name': 'x', 'constructor.prototype.polluted': 'x' }
    const event = eventOf({ type: 'info:orders:paid' })
    const types = { 'info:orders:paid': { ocsf: { class: 6003, set } } }
    const { resources } = toOcsf(event, { product, types })
    expect(resources).toEqual([{ uid: '/api/projects/shop', name: 'Web shop', type: 'order' }])
    expect(Object.prototype).not.toHaveProperty('polluted')
    expect(Function.prototype).not.toHaveProperty('polluted')
  })

  it('gives the actor of the profile host to classes without an actor', () => {
    expect(made({ class: 6008, activity: 1 })).toMatchObject({
      actor: { user: { name: 'ann' } },
      metadata: { profiles: ['host'] },
    })
  })

  it('is ignored if it is not valid', () => {
    expect(made({ class: 6009 }).class_uid).toBe(0)
  })
})

describe('defineEventTypes', () => {
  it.each([
    [{ ocsf: { class: 6009 } }, 'class 6009 is not a class of OCSF 1.8.0'],
    [{ ocsf: { class: 'toString' } }, 'class toString is not a class of OCSF 1.8.0'],
    [{ ocsf: {} }, 'class undefined is not a class of OCSF 1.8.0'],
    [{ ocsf: null }, 'ocsf takes an object with class'],
    [{ ocsf: { class: 3004, activity: 14 } }, 'activity 14 is not an activity of class 3004'],
    [{ ocsf: { class: 3004, activity: 1.5 } }, 'activity 1.5 is not an activity of class 3004'],
    [{ ocsf: { class: 4003, activity: 3 } }, 'activity 3 is not an activity of class 4003'],
    [{ ocsf: { class: 0, set: 'x' } }, 'set must be an object'],
    [{ ocsf: { class: 0, set: { 'Entity.name': 'x' } } }, 'set "Entity.name": must be names of'],
    [{ ocsf: { class: 0, set: { 'a.__proto__.b': 'x' } } }, 'must be names of attributes'],
    [{ ocsf: { class: 0, set: { 'metadata.uid': 'x' } } }, 'metadata cannot be set'],
    [{ ocsf: { class: 0, set: { class_uid: 1 } } }, 'class_uid cannot be set'],
    [{ ocsf: { class: 0, set: { a: true } } }, 'set "a": must be a text or a number'],
    [{ ocsf: { class: 0, set: { a: Number.NaN } } }, 'set "a": must be a text or a number'],
    [{ ocsf: { class: 0, set: { a: '{name' } } }, 'braces in "{name" are not in pairs'],
    [{ ocsf: { class: 0, set: { a: 'x{}' } } }, 'braces in "x{}" have no attribute'],
    [{ severity: 0 }, 'severity must be a whole number from 1 to 24'],
    [{ severity: 25 }, 'severity must be a whole number from 1 to 24'],
    [{ severity: '9' }, 'severity must be a whole number from 1 to 24'],
  ])('refuses %j', (definition, message) => {
    expect(() => defineEventTypes({ 'a:b:c': definition } as unknown as EventTypes)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/^event type a:b:c: /) as string,
      }),
    )
    expect(() => defineEventTypes({ 'a:b:c': definition } as unknown as EventTypes)).toThrow(
      message,
    )
  })

  it('accepts a mapping', () => {
    const types = defineEventTypes({
      'a:b:c': {
        severity: 24,
        ocsf: { class: 4003, activity: 6, set: { 'query.hostname': '{h}' } },
      },
      'a:b:d': { severity: 1, ocsf: { class: 2004, activity: 99 } },
    })
    expect(types['a:b:c'].ocsf.class).toBe(4003)
  })
})
