import { defineEventTypes } from 'daybook'
import { toOcsf } from 'daybook/formats'
import { describe, expect, it } from 'vitest'
import { ocsfFaults, ocsfFixture } from '../../support/ocsf-schema.js'
import { created } from './events.js'

/* Tests that the check itself finds faults. */

const valid = (): Record<string, unknown> =>
  JSON.parse(JSON.stringify(toOcsf(created, { product: { name: 'orders' } }))) as Record<
    string,
    unknown
  >

describe('the check of OCSF events', () => {
  it('accepts a valid event', () => {
    expect(ocsfFaults(valid())).toEqual([])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a missing attribute', { actor: undefined }, 'api_activity.actor is missing'],
    ['an unknown attribute', { colour: 'red' }, 'api_activity.colour is not an attribute'],
    ['an unknown activity', { activity_id: 7 }, 'api_activity.activity_id is 7'],
    ['a wrong type_uid', { type_uid: 600_302 }, 'type_uid'],
    ['a wrong category', { category_uid: 3 }, 'category_uid'],
    ['a text for a number', { time: '1' }, 'api_activity.time is no timestamp_t'],
    ['an object for a list', { resources: {} }, 'api_activity.resources is not a list'],
    ['an empty actor', { actor: {} }, 'api_activity.actor has none of process,user'],
    ['a wrong address', { src_endpoint: { ip: 'here' } }, 'src_endpoint.ip is no ip_t'],
    ['an unknown method', { http_request: { http_method: 'LOCK' } }, 'http_method is LOCK'],
    ['a nested fault', { api: {} }, 'api_activity.api.operation is missing'],
    ['another class', { class_uid: 6009 }, 'class 6009 is not in the fixture'],
  ])('finds %s', (_, change, fault) => {
    const changed = JSON.parse(JSON.stringify({ ...valid(), ...change })) as Record<string, unknown>
    expect(ocsfFaults(changed).join('\n')).toContain(fault)
  })

  it('finds an attribute whose profile is not named', () => {
    const event = valid()
    const metadata = { ...(event['metadata'] as object), profiles: [] }
    expect(ocsfFaults({ ...event, metadata, device: {} })).toEqual([
      'api_activity.trace needs the profile trace',
      'api_activity.device needs the profile host',
    ])
  })
})

describe('defineEventTypes', () => {
  const isAccepted = (ofClass: number, activity: number): boolean => {
    try {
      defineEventTypes({ 'a:b:c': { ocsf: { class: ofClass, activity } } })
      return true
    } catch {
      return false
    }
  }

  it('knows exactly the classes and the activities of the schema', () => {
    const numbers = Array.from({ length: 101 }, (_, number) => number)
    const classes = Array.from({ length: 9000 }, (_, number) => number)
    const known = classes.filter((one) => isAccepted(one, 0))
    expect(known.map(String)).toEqual(Object.keys(ocsfFixture.activities))
    for (const one of known) {
      const accepted = numbers.filter((activity) => isAccepted(one, activity))
      expect(accepted, `class ${one}`).toEqual(ocsfFixture.activities[one])
    }
  })
})
