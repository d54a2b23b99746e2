import { CloudEvent } from 'cloudevents'
import { defineEventTypes } from 'daybook'
import { toCloudEvent } from 'daybook/formats'
import { describe, expect, it } from 'vitest'
import { background, created, eventOf } from './events.js'

const source = 'https://orders.example/audit'

describe('toCloudEvent', () => {
  it('puts the own fields into context attributes, and the event with its sentence into data', () => {
    expect(toCloudEvent(created, { source })).toEqual({
      specversion: '1.0',
      id: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
      source: 'https://orders.example/audit',
      type: 'api:projects:create',
      subject: '/api/projects/shop',
      time: '2026-11-22T16:09:30.280404Z',
      recordedtime: '2026-11-22T16:09:30.280404Z',
      severitytext: 'INFO',
      severitynumber: 9,
      authtype: 'app_user',
      authid: 'ann',
      datacontenttype: 'application/json',
      data: { ...created, sentence: 'ann created project Web shop' },
    })
  })

  it('is accepted by the SDK of CloudEvents', () => {
    const read = new CloudEvent(toCloudEvent(created, { source }))
    expect(read.validate()).toBe(true)
    expect(read.data).toMatchObject({ attributes: { name: 'Web shop' } })
  })

  it('has no subject and no id of the user if the event has none', () => {
    const made = toCloudEvent(background('info:data_cleanup:jobs'), { source })
    expect(made).not.toHaveProperty('subject')
    expect(made).not.toHaveProperty('authid')
    expect(made.authtype).toBe('system')
  })

  it.each([
    ['error:steps:run', 17, 'ERROR'],
    ['warn:settings:override', 13, 'WARN'],
    ['warning:settings:override', 13, 'WARN'],
    ['audit:steps:approve', 10, 'INFO2'],
    ['info:email:sent', 9, 'INFO'],
    ['own', 9, 'INFO'],
  ])('gives %s the severity %i, %s', (type, severitynumber, severitytext) => {
    expect(toCloudEvent(eventOf({ type }), { source })).toMatchObject({
      severitynumber,
      severitytext,
    })
  })

  it('takes the severity of the registry, for system events only', () => {
    const types = defineEventTypes({ 'api:reactors:start': { severity: 24 } })
    const event = eventOf({ type: 'api:reactors:start' })
    expect(toCloudEvent(event, { source, types }).severitytext).toBe('FATAL4')
    expect(toCloudEvent({ ...event, system: false }, { source, types }).severitytext).toBe('INFO')
  })

  it.each([
    ['ann', true, {}, 'app_user'],
    ['ann', true, { actor_kind: 'user' }, 'app_user'],
    ['ci', true, { actor_kind: 'service' }, 'service_account'],
    ['helper', true, { actor_kind: 'agent' }, 'service_account'],
    ['ann', false, { actor_kind: 'service' }, 'app_user'],
    [null, true, {}, 'system'],
    [null, false, {}, 'unknown'],
  ])('names the principal %j of an event with system %j and %j: %s', (...row) => {
    const [username, system, attributes, authtype] = row
    const event = eventOf({ username, system, attributes })
    expect(toCloudEvent(event, { source }).authtype).toBe(authtype)
  })

  it.each([
    ['ann', true, { actor_id: 'u-7', outcome: 'denied' }, 'u-7', 'denied'],
    ['ann', true, { actor_id: 7, outcome: 'ok' }, 'ann', undefined],
    [null, true, { actor_id: 'u-7' }, undefined, undefined],
    // A client gave these.
    ['ann', false, { actor_id: 'u-7', outcome: 'success' }, 'ann', undefined],
  ])('writes the id of %j and the outcome, system %j and %j', (...row) => {
    const [username, system, attributes, authid, outcome] = row
    const made = toCloudEvent(eventOf({ username, system, attributes }), { source })
    expect([made.authid, made.outcome]).toEqual([authid, outcome])
  })

  it('has the time when it happened, and when it was recorded', () => {
    const event = background('info:email:sent', { occurred_at: '2026-11-22T17:00:00+01:00' })
    expect(toCloudEvent(event, { source })).toMatchObject({
      time: '2026-11-22T16:00:00.000000Z',
      recordedtime: '2026-11-22T16:09:30.280404Z',
    })
  })

  it.each(['yesterday', 7, null, '2026-02-30'])('ignores %j as the time of an event', (value) => {
    const event = background('info:email:sent', { occurred_at: value })
    expect(toCloudEvent(event, { source }).time).toBe('2026-11-22T16:09:30.280404Z')
  })

  it('replaces characters that context attributes must not have', () => {
    const event = eventOf({ username: 'a\nb\uFFFF\u{1FFFE}c\u0085😀', type: 'own\uFDD0' })
    expect(toCloudEvent(event, { source })).toMatchObject({
      authid: 'a\uFFFDb\uFFFD\uFFFDc\uFFFD😀',
      type: 'own\uFFFD',
      data: { username: 'a\nb\uFFFF\u{1FFFE}c\u0085😀' },
    })
  })

  it.each(['', 'with space', 'https://x.example/ü', '%zz', 7 as unknown as string])(
    'refuses the source %j',
    (wrong) => {
      expect(() => toCloudEvent(created, { source: wrong })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      )
    },
  )

  it.each(['/audit', 'urn:example:log', 'daybook', 'https://x.example/%C3%BC?a=b#c'])(
    'accepts the source %j',
    (good) => {
      expect(toCloudEvent(created, { source: good }).source).toBe(good)
    },
  )
})
