import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  type AuditEvent,
  describeEvent,
  english,
  german,
  type JsonObject,
  sentenceText,
} from 'daybook'
import { cloudTrail, type Preset, windowsSecurity } from 'daybook/presets'
import { describe, expect, it } from 'vitest'

const FOLDER = path.resolve(import.meta.dirname, '../../fixtures/security-datasets')

/** Records of real systems: see the license in their folder. */
function recordsIn(name: string): JsonObject[] {
  const text = gunzipSync(fs.readFileSync(path.join(FOLDER, `${name}.ndjson.gz`))).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}

const trail = recordsIn('aws-cloudtrail')
const windows = recordsIn('windows-security')

const eventsOf = (preset: Preset, records: readonly JsonObject[]) =>
  records.map((record) => preset.eventOf(record))

describe('cloudTrail', () => {
  it('reads every record: its service, its action and its user', () => {
    const events = eventsOf(cloudTrail, trail)
    expect(events).toHaveLength(103)
    expect(events.filter((event) => event === undefined)).toEqual([])
    expect(new Set(events.map((event) => event!.username))).toEqual(
      new Set(['pedro', 'ec2.amazonaws.com', 'MordorNginxStack-BankingWAFRole-9S3E0UAE1MM0']),
    )
    const read = events.filter((event) => event!.type === 'aws:s3:GetObject')
    expect(read.map((event) => event!.data['occurred_at'])).toEqual([
      '2020-09-14T01:02:34.000Z',
      '2020-09-14T01:13:20.000Z',
    ])
  })

  it('keeps the whole record beside the facts', () => {
    for (const record of trail) {
      const { data } = cloudTrail.eventOf(record)!
      expect(data).toMatchObject(record)
      expect(data['request_id']).toBe(record['requestID'])
      expect(data['remote_address']).toBe(record['sourceIPAddress'])
    }
  })

  it.each([
    ['a root user', { userIdentity: { type: 'Root', arn: 'arn:aws:iam::1:root' } }, 'root'],
    ['no identity', {}, null],
    ['an identity of no object', { userIdentity: 'pedro' }, null],
  ])('reads the user of %s', (_, more, username) => {
    const record = { eventSource: 's3.amazonaws.com', eventName: 'GetObject', ...more }
    expect(cloudTrail.eventOf(record)?.username).toBe(username)
  })

  it.each([
    [{}],
    [{ eventSource: 's3.amazonaws.com' }],
    [{ eventSource: 's3', eventName: 'GetObject' }],
    [{ eventSource: 's3.amazonaws.com', eventName: 7 }],
    [{ Channel: 'Security', EventID: 4624 }],
  ])('refuses %j', (record) => {
    expect(cloudTrail.eventOf(record)).toBeUndefined()
  })

  it('takes the error of a call that failed', () => {
    const failed = { eventSource: 's3.amazonaws.com', eventName: 'GetObject', errorCode: 'Denied' }
    expect(cloudTrail.eventOf(failed)?.data['error']).toBe('Denied')
    const told = { ...failed, errorMessage: 'You may not' }
    expect(cloudTrail.eventOf(told)?.data['error']).toBe('You may not')
    expect(cloudTrail.eventOf({ ...told, error: 'its own' })?.data['error']).toBe('its own')
  })
})

describe('windowsSecurity', () => {
  it('reads every record: its channel and its id', () => {
    const events = eventsOf(windowsSecurity, windows)
    expect(events).toHaveLength(220)
    expect(events.filter((event) => event === undefined)).toEqual([])
    const channels = new Set(events.map((event) => event!.type.split(':')[1]!))
    expect([...channels].toSorted()).toEqual([
      'microsoft-windows-wmi-activity-operational',
      'powershell',
      'security',
      'sysmon',
      'system',
      'windows-powershell',
    ])
  })

  it.each([
    ['the account that logs on', 4624, { SubjectUserName: '-', TargetUserName: 'ann' }, 'ann'],
    ['the account that reports', 4625, { SubjectUserName: 'svc', TargetUserName: 'ann' }, 'svc'],
    ['an account with its domain', 4769, { TargetUserName: 'ann@CORP.LOCAL' }, 'ann'],
    ['an account of Sysmon', 1, { User: String.raw`CORP\ann`, AccountName: 'SYSTEM' }, 'ann'],
    ['no account', 5156, { SubjectUserName: '-' }, null],
  ])('reads %s', (_, EventID, more, username) => {
    const record = { Channel: 'Security', EventID, ...more }
    expect(windowsSecurity.eventOf(record)).toMatchObject({
      type: `windows:security:${EventID}`,
      username,
    })
  })

  it('leaves out an address that is not there', () => {
    const record = { Channel: 'Security', EventID: '4624', IpAddress: '-' }
    expect(windowsSecurity.eventOf(record)?.data).toEqual({ ...record, event_code: '4624' })
  })

  it.each([
    [{}],
    [{ Channel: 'Security' }],
    [{ Channel: 'Security', EventID: 'x' }],
    [{ Channel: '//', EventID: 1 }],
    [{ EventID: 4624 }],
  ])('refuses %j', (record) => {
    expect(windowsSecurity.eventOf(record)).toBeUndefined()
  })
})

/** The sentences of all records, each once, without values that differ between records. */
function sentencesOf(
  { eventOf, customTypes }: Preset,
  records: readonly JsonObject[],
  language = english,
): string[] {
  const texts = records.map((record) => {
    const { type, username, data } = eventOf(record)!
    const event: AuditEvent = {
      id: '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77',
      created_at: '2026-11-24T00:00:00.000000Z',
      username,
      system: false,
      type,
      source: null,
      attributes: data,
    }
    return sentenceText(describeEvent(event, { customTypes, language }))
  })
  return [...new Set(texts)].toSorted()
}

describe.each([
  ['cloudTrail', cloudTrail, trail, '[CloudTrail] '],
  ['windowsSecurity', windowsSecurity, windows, '[Windows] '],
] as const)('sentences of %s', (name, preset, records, tag) => {
  it.each([
    ['English', english],
    ['German', german],
  ] as const)('are whole in %s', async (language, data) => {
    const sentences = sentencesOf(preset, records, data)
    expect(sentences.filter((text) => !text.includes(tag))).toEqual([])
    // A sentence that lacks its values shows the type.
    expect(sentences.filter((text) => /(?<!arn:)\b(?:aws|windows):\w/.test(text))).toEqual([])
    await expect(`${sentences.join('\n')}\n`).toMatchFileSnapshot(
      path.join(FOLDER, `${name}.${language.toLowerCase()}.txt`),
    )
  })
})
