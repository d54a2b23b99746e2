import { isIP } from 'node:net'
import path from 'node:path'
import {
  AuditLog,
  describeEvent,
  english,
  german,
  type JsonObject,
  type JsonValue,
  sentenceText,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import {
  cloudTrail,
  djangoAuditlog,
  github,
  kubernetes,
  paperTrail,
  type Preset,
  presets,
  vault,
  windowsSecurity,
} from 'daybook/presets'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseJson } from '../../../src/event/exact-numbers.js'
import { toJsonText } from '../../../src/event/json.js'
import { plainEvent } from '../../support/plain-events.js'
import { EXAMPLES, fileOf, recordsOf, TRIED_PRESETS } from '../../support/preset-records.js'

const trail = recordsOf('cloudtrail')
const windows = recordsOf('windows')

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
      '2020-09-14T01:02:34.000000Z',
      '2020-09-14T01:13:20.000000Z',
    ])
  })

  it('keeps the whole record beside the facts', () => {
    for (const record of trail) {
      const { data } = cloudTrail.eventOf(record)!
      expect(data).toMatchObject(record)
      expect(data['request_id']).toBe(record['requestID'])
      // Services that act for other users have their name in this field.
      const { sourceIPAddress: source } = record as { readonly sourceIPAddress: string }
      expect(data['remote_address']).toBe(isIP(source) ? source : undefined)
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

  const role = 'arn:aws:sts::1:assumed-role/Admin/ann@example.com'
  const issuer = { type: 'Role', userName: 'Admin' }
  it.each<[username: string | null, identity: JsonObject]>([
    [
      'ann@example.com',
      { type: 'AssumedRole', arn: role, sessionContext: { sessionIssuer: issuer } },
    ],
    ['bob', { arn: role, sessionContext: { sessionIssuer: issuer, sourceIdentity: 'bob' } }],
    [
      'ann',
      { type: 'AssumedRole', principalId: 'AROAX:ann', sessionContext: { sessionIssuer: issuer } },
    ],
    ['Admin', { type: 'AssumedRole', sessionContext: { sessionIssuer: issuer } }],
    [
      '544894e8',
      { type: 'IdentityCenterUser', accountId: '1', onBehalfOf: { userId: '544894e8' } },
    ],
    [null, { type: 'IAMUser', accountId: '1', userName: 'HIDDEN_DUE_TO_SECURITY_REASONS' }],
    [
      'carl',
      { type: 'FederatedUser', arn: 'arn:aws:sts::1:federated-user/carl', principalId: '1:carl' },
    ],
    ['dora', { type: 'IAMUser', arn: 'arn:aws:iam::1:user/division/dora' }],
    ['bob', { type: 'AWSAccount', principalId: 'AIDAQ:bob', accountId: '4' }],
    ['AIDAQ', { type: 'AWSAccount', principalId: 'AIDAQ', accountId: '4' }],
    ['4', { type: 'AWSAccount', accountId: '4' }],
    ['eve@example.com', { type: 'SAMLUser', principalId: 'x:1', userName: 'eve@example.com' }],
    ['s3.amazonaws.com', { type: 'AWSService', invokedBy: 's3.amazonaws.com' }],
    ['arn:aws:iam::1:role/Admin', { type: 'Role', arn: 'arn:aws:iam::1:role/Admin' }],
  ])('names %j', (username, userIdentity) => {
    const record = { eventSource: 's3.amazonaws.com', eventName: 'GetObject', userIdentity }
    expect(cloudTrail.eventOf(record)).toMatchObject({ username, data: { userIdentity } })
  })

  it.each([
    [cloudTrail, { eventSource: 's3.amazonaws.com', eventName: 'GetObject' }, 'eventTime'],
    [windowsSecurity, { Channel: 'Security', EventID: 4624 }, '@timestamp'],
  ])('writes times in one form (%#)', (preset, record, name) => {
    const at = (time: string) => preset.eventOf({ ...record, [name]: time })!.data['occurred_at']
    expect(at('2019-06-19T01:00:00.000+02:00')).toBe('2019-06-18T23:00:00.000000Z')
    expect(at('2019-06-19T00:30:00Z')).toBe('2019-06-19T00:30:00.000000Z')
    expect(at('soon')).toBeUndefined()
  })

  it('reads the answers of lookup-events', () => {
    const record = { eventSource: 's3.amazonaws.com', eventName: 'GetObject', eventID: 'e1' }
    const given = { EventId: 'e1', CloudTrailEvent: JSON.stringify(record) }
    expect(cloudTrail.eventOf(given)).toEqual(cloudTrail.eventOf(record))
    expect(cloudTrail.eventOf({ CloudTrailEvent: '{}' })).toBeUndefined()
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
})

const calls = recordsOf('vault')

describe('vault', () => {
  it('reads every record: its mount, its operation and its user', () => {
    expect(typesOf(vault, calls)).toEqual({
      'vault:auth/approle:create': 2,
      'vault:auth/approle:read': 2,
      'vault:auth/approle:update': 2,
      'vault:auth/token:read': 4,
      'vault:auth/token:update': 8,
      'vault:auth/userpass:create': 4,
      'vault:auth/userpass:delete': 2,
      'vault:auth/userpass:login': 6,
      'vault:old:create': 2,
      'vault:old:list': 2,
      'vault:old:read': 2,
      'vault:secret:create': 8,
      'vault:secret:delete': 6,
      'vault:secret:list': 2,
      'vault:secret:read': 12,
      'vault:secret:update': 4,
      'vault:sys:delete': 6,
      'vault:sys:list': 2,
      'vault:sys:read': 42,
      'vault:sys:update': 19,
      'vault:transit:update': 6,
    })
    expect(usersOf(vault, calls)).toEqual(new Set(['token', 'userpass-ann', 'userpass-bob', null]))
  })

  it('takes the errors of Vault and of its backends', () => {
    const errors = calls.map((record) => vault.eventOf(record)!.data['error'])
    const lines = errors.filter((error) => typeof error === 'string')
    expect(new Set(lines.map((error) => error.replace(/:[0-9a-f]{64}$/, ': …')))).toEqual(
      new Set([
        'permission denied',
        '1 error occurred:\n\t* permission denied\n\n',
        '1 error occurred:\n\t* invalid request\n\n',
        'hmac-sha256: …',
      ]),
    )
  })

  it('finds the request and the response by the id of the request', () => {
    const ids = new Map<string, unknown[]>()
    for (const record of calls) {
      const { data } = vault.eventOf(record)!
      const id = data['request_id'] as string
      ids.set(id, [...(ids.get(id) ?? []), data['attributes_type']])
    }
    const pairs = [...ids.values()].filter(({ length }) => length === 2)
    expect(new Set(pairs.map((pair) => pair.join(' ')))).toEqual(new Set(['request response']))
    // The device tests itself and then gets the response that enabled it. Sealing has no response.
    expect([ids.size, pairs.length]).toEqual([73, 70])
  })
})

describe('github', () => {
  const entry = EXAMPLES['github']!

  it('reads the category, the operation, the actor and the time', () => {
    expect(github.eventOf(entry)).toEqual({
      type: 'github:org:update_member',
      username: 'octocat',
      data: expect.objectContaining({
        occurred_at: '2025-11-24T16:00:00.123000Z',
        remote_address: '192.0.2.7',
        attributes_created_at: 1_764_000_000_123,
      }) as JsonObject,
      key: 'aCjok7V1YYqP1c9IE6qbkg',
    })
  })

  it.each([
    [{}, 'octocat [GitHub] changed the role of hubot in octo-org to admin'],
    [
      { action: 'team.add_member', team: 'octo-org/a' },
      'octocat [GitHub] added hubot to team octo-org/a',
    ],
    [{ action: 'team.add_member' }, 'octocat [GitHub] triggered team.add_member in octo-org'],
    [
      { action: 'hook.create', repo: 'octo-org/x' },
      'octocat [GitHub] triggered hook.create in octo-org/x',
    ],
    [{ actor: null }, '[GitHub] org.update_member in octo-org'],
  ])('describes an entry with %j', (more, sentence) => {
    expect(sentencesOf(github, [{ ...entry, ...more }])).toEqual([sentence])
  })
})

const objectIn = (value: JsonValue | undefined): JsonObject => Object(value) as JsonObject

const versions = recordsOf('papertrail')
const entries = recordsOf('django-auditlog')

/** The number of records of each type. */
function typesOf(preset: Preset, records: readonly JsonObject[]): Record<string, number> {
  const types = records.map((record) => preset.eventOf(record)?.type ?? 'refused')
  return Object.fromEntries(
    [...new Set(types)].toSorted().map((type) => [type, types.filter((t) => t === type).length]),
  )
}

const usersOf = (preset: Preset, records: readonly JsonObject[]): Set<string | null> =>
  new Set(records.map((record) => preset.eventOf(record)!.username))

describe('paperTrail', () => {
  it('reads every row: its item, its event and its user', () => {
    expect(typesOf(paperTrail, versions)).toEqual({
      'papertrail:Cms::Page:create': 10,
      'papertrail:Cms::Page:destroy': 4,
      'papertrail:Cms::Page:update': 15,
      'papertrail:Invoice:create': 14,
      'papertrail:Invoice:destroy': 5,
      'papertrail:Invoice:remind': 4,
      'papertrail:Invoice:update': 24,
      'papertrail:Member:create': 14,
      'papertrail:Member:destroy': 9,
      'papertrail:Member:update': 26,
    })
    const users = ['7', '12', 'ann@example.com', 'billing-job', 'ann', 'bob', 'carla', 'dave']
    const members = [1, 3, 5, 7, 9, 11, 13].map((n) => `m${n}@example.com`)
    expect(usersOf(paperTrail, versions)).toEqual(new Set([...users, ...members, null]))
  })

  it('reads the changes of JSON columns and of JSON text, and the names of YAML', () => {
    const changesOf = (event: string, kind: string) => {
      const isIt = (row: JsonObject) => row['event'] === event && row['item_type'] === kind
      const { data } = paperTrail.eventOf(versions.find(isIt)!)!
      return { changed: data['changed'], changes: data['changes'] }
    }
    expect(changesOf('update', 'Member')).toEqual({
      changed: ['role'],
      changes: [
        { op: 'replace', path: '/role', old_value: 'reader', value: 'editor' },
        expect.objectContaining({ path: '/updated_at' }),
      ],
    })
    expect(changesOf('update', 'Cms::Page')).toEqual({
      changed: ['published_at'],
      changes: [
        {
          op: 'replace',
          path: '/published_at',
          old_value: null,
          value: '2026-11-24T09:00:00.000Z',
        },
        expect.objectContaining({ path: '/updated_at' }),
      ],
    })
    expect(changesOf('update', 'Invoice')).toEqual({ changed: ['paid'], changes: undefined })
  })

  it('reads times with and without a zone as UTC', () => {
    const timed = versions.filter(
      (row) => paperTrail.eventOf(row)!.data['occurred_at'] !== undefined,
    )
    expect(timed).toHaveLength(versions.length)
    const row = { item_type: 'Page', item_id: 1, event: 'create' }
    const at = (created_at: JsonValue) =>
      paperTrail.eventOf({ ...row, created_at })!.data['occurred_at']
    expect(at('2026-11-24 17:03:17.437157')).toBe('2026-11-24T17:03:17.437157Z')
    expect(at('2026-11-24T18:03:17.437+01:00')).toBe('2026-11-24T17:03:17.437000Z')
    expect(at('yesterday')).toBeUndefined()
  })

  it('escapes names in paths', () => {
    const row = { item_type: 'Page', item_id: 1, event: 'update' }
    const { data } = paperTrail.eventOf({ ...row, object_changes: '{"a/b~":[1,2]}' })!
    expect(data['changes']).toEqual([{ op: 'replace', path: '/a~1b~0', old_value: 1, value: 2 }])
  })

  it('keeps integers beyond 2^53 in changes and keys', () => {
    const text = '{"item_type":"Page","event":"update","item_id":9007199254740993,"id":1e400}'
    const row = {
      ...(parseJson(text) as JsonObject),
      created_at: 'now',
      object_changes: '{"n":[9007199254740993,2]}',
    }
    const { data, key } = paperTrail.eventOf(row)!
    expect(key).toBe('Page 1e400 now')
    expect(data['item']).toBe('Page 9007199254740993')
    expect(toJsonText(data).attributes).toMatchObject({
      changes: [{ old_value: '9007199254740993', value: 2 }],
      recording: {
        replaced: expect.arrayContaining(['/changes/0/old_value', '/attributes_id', '/item_id']),
      },
    })
  })
})

describe('djangoAuditlog', () => {
  it('reads every row: its model, its action and its user', () => {
    expect(typesOf(djangoAuditlog, entries)).toEqual({
      'django:shop.customer:create': 14,
      'django:shop.customer:delete': 5,
      'django:shop.customer:update': 14,
      'django:shop.order:create': 14,
      'django:shop.order:delete': 7,
      'django:shop.product:access': 7,
      'django:shop.product:create': 14,
      'django:shop.product:delete': 3,
      'django:shop.product:update': 32,
    })
    expect(usersOf(djangoAuditlog, entries)).toEqual(new Set(['ann', 'bob', null]))
  })

  it('reads both forms to the same attributes', () => {
    const { content_type__model: _, ...row } = djangoAuditlog.eventOf(entries[0]!)!.data
    expect(row).toMatchObject({
      model: 'shop.product',
      attributes_id: 1,
      changed: expect.any(Array),
    })
    const serialized = djangoAuditlog.eventOf(entries.at(-1)!)!
    expect(serialized.data).toMatchObject({
      model: 'shop.order',
      attributes_id: entries.length,
      action_name: 'create',
      object_repr: 'A-13',
      request_id: 'req-13',
      remote_address: '192.0.2.13',
    })
  })

  it.each([
    ['the id of the user', { actor_id: 3 }, '3'],
    ['the key of the user', { actor: 3 }, '3'],
    ['a deleted user with an address', { actor_email: 'ann@example.com' }, 'ann@example.com'],
    ['no user', { actor: null }, null],
  ])('reads %s', (_, more, username) => {
    const row = { content_type_id: 7, object_pk: '1', action: 1, ...more }
    const event = djangoAuditlog.eventOf(row)
    expect(event).toMatchObject({ type: 'django:7:update', username })
  })

  it('reads changes that are JSON text, as in versions before 3', () => {
    const row = { content_type_id: 7, object_pk: '1', action: 1, changes: '{"name":["a","b"]}' }
    expect(djangoAuditlog.eventOf(row)!.data['changed']).toEqual(['name'])
  })
})

const requests = recordsOf('kubernetes')

describe('kubernetes', () => {
  it('reads every event: its resource, its verb and its user', () => {
    const types = typesOf(kubernetes, requests)
    expect(Object.keys(types)).toHaveLength(47)
    expect(types).toMatchObject({
      'kubernetes:url:get': 12,
      'kubernetes:pods/exec:create': 2,
      'kubernetes:secrets:create': 2,
      'kubernetes:secrets:list': 4,
      'kubernetes:configmaps:list': 4,
      'kubernetes:namespaces:create': 3,
      'kubernetes:deployments/scale:patch': 2,
      'kubernetes:serviceaccounts/token:create': 1,
    })
    expect(usersOf(kubernetes, requests)).toEqual(
      new Set(['system:apiserver', 'ann', 'bob', 'ci-deployer', 'system:anonymous', null]),
    )
  })

  it('has the error of a failed request, but no other error', () => {
    const failed = requests.filter((record) => kubernetes.eventOf(record)!.data['error'])
    const errors = failed.map((record) => kubernetes.eventOf(record)!.data['error'])
    expect(new Set(errors)).toEqual(
      new Set(['HTTP 500', 'AlreadyExists', 'Forbidden', 'NotFound', 'Unauthorized']),
    )
    const codes = failed.map(({ responseStatus }) => (responseStatus as JsonObject)['code'])
    expect(new Set(codes)).toEqual(new Set([500, 409, 403, 404, 401]))
    const response = { kind: 'Event', apiVersion: 'audit.k8s.io/v1', verb: 'get' }
    const of = (responseStatus: JsonObject) =>
      kubernetes.eventOf({ ...response, responseStatus })!.data['error']
    expect(of({ code: 403, reason: 'Forbidden', message: 'bob may not' })).toBe('bob may not')
    expect(of({ code: 200, reason: 'Forbidden' })).toBeUndefined()
  })

  it('has different keys for requests with the same id chosen by clients', () => {
    const base = { kind: 'Event', apiVersion: 'audit.k8s.io/v1', verb: 'get', auditID: 'a' }
    const keys = ['2026-11-20T10:00:00.000002Z', '2026-11-20T10:00:05.000002Z', null].map(
      (time) => kubernetes.eventOf({ ...base, stage: 'Panic', stageTimestamp: time })!.key,
    )
    expect(new Set(keys).size).toBe(3)
    expect(keys).not.toContain(undefined)
  })

  it('finds the stages of a request by its id', () => {
    const stages = requests.filter(({ objectRef }) => 'exec' === objectIn(objectRef)['subresource'])
    const ids = stages.map((record) => kubernetes.eventOf(record)!.data['request_id'])
    expect([stages.length, new Set(ids).size]).toEqual([4, 2])
  })
})

const named = (name: string): Preset => presets.find((one) => one.name === name)!

it.each(presets)('the preset $name refuses an empty record', ({ eventOf }) => {
  expect(eventOf({})).toBeUndefined()
})

it.each<[name: string, record: object]>([
  ['cloudtrail', { eventSource: 's3.amazonaws.com' }],
  ['cloudtrail', { eventSource: 's3', eventName: 'GetObject' }],
  ['cloudtrail', { eventSource: 's3.amazonaws.com', eventName: 7 }],
  ['cloudtrail', { Channel: 'Security', EventID: 4624 }],
  ['windows', { Channel: 'Security' }],
  ['windows', { Channel: 'Security', EventID: 'x' }],
  ['windows', { Channel: '//', EventID: 1 }],
  ['windows', { EventID: 4624 }],
  ['vault', { type: 'request' }],
  ['vault', { type: 'request', request: { operation: 'read' } }],
  ['vault', { type: 'request', request: { path: 'secret/a' } }],
  ['vault', { type: 'log', request: { operation: 'read', path: 'secret/a' } }],
  ['vault', { type: 'request', request: 'read secret/a' }],
  ['github', { action: 'repo.create' }],
  ['github', { action: 'create', created_at: 1 }],
  ['github', { action: 'repo.create', created_at: 'soon' }],
  ['github', { action: 'repo.create', created_at: 1e300 }],
  ['papertrail', { item_type: 'Page', item_id: 1 }],
  ['papertrail', { item_type: 'Page', event: 'create' }],
  ['papertrail', { item_type: '', item_id: 1, event: 'create' }],
  ['papertrail', { item_type: 'Page', item_id: 1, event: 7 }],
  ['django-auditlog', { model: 'auth.user', pk: 1, fields: { action: 0 } }],
  ['django-auditlog', { content_type_id: 7, object_pk: '1', action: 4 }],
  ['django-auditlog', { content_type_id: 7, object_pk: '1', action: '1' }],
  ['django-auditlog', { content_type_id: 7, action: 1 }],
  ['django-auditlog', { object_pk: '1', action: 1 }],
  ['kubernetes', { kind: 'Event', apiVersion: 'v1', verb: 'get' }],
  ['kubernetes', { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [] }],
  ['kubernetes', { kind: 'Event', apiVersion: 'audit.k8s.io/v1' }],
])('the preset %s refuses %j', (name, record) => {
  expect(named(name).eventOf(record as JsonObject)).toBeUndefined()
})

describe.each(TRIED_PRESETS)('records of %s', (name) => {
  const preset = named(name)
  const records = recordsOf(name)

  it('are at least 100', () => {
    expect(records.length).toBeGreaterThanOrEqual(100)
    expect(preset.isUntried).toBeUndefined()
  })

  it('have a unique key, or none', () => {
    const keys = records.map((record) => preset.eventOf(record)!.key)
    expect(new Set(keys).size).toBe(name === 'windows' ? 1 : records.length)
  })

  it('become events that the log need not change', async () => {
    const audit = new AuditLog({ store: memoryStore(), types: {} })
    onTestFinished(() => audit.close())
    for (const record of records) {
      const { type, data, username } = preset.eventOf(record)!
      const event = await audit.recordCustom(type, data, { username })
      expect(event).toMatchObject({ type, username, attributes: data })
    }
  })
})

it('lists the untried presets', () => {
  const untried = presets.filter(({ isUntried }) => isUntried).map(({ name }) => name)
  expect(untried).toEqual(Object.keys(EXAMPLES))
  expect(presets.map(({ name }) => name).toSorted()).toEqual(
    [...TRIED_PRESETS, ...untried].toSorted(),
  )
})

/** The sentences of all records. If sentences of a type differ only in numbers, the first of them. */
function sentencesOf(
  { eventOf, customTypes }: Preset,
  records: readonly JsonObject[],
  language = english,
): string[] {
  const found = new Map<string, string>()
  for (const record of records) {
    const { type, username, data } = eventOf(record)!
    const event = plainEvent({ username, system: false, type, attributes: data })
    const text = sentenceText(describeEvent(event, { customTypes, language }))
    const like = `${type} ${text.replaceAll(/\d+/g, '#')}`
    if (!found.has(like)) found.set(like, text)
  }
  return [...new Set(found.values())].toSorted()
}

describe.each([
  ['cloudTrail', 'cloudtrail', '[CloudTrail] '],
  ['windowsSecurity', 'windows', '[Windows] '],
  ['kubernetes', 'kubernetes', '[Kubernetes] '],
  ['vault', 'vault', '[Vault] '],
  ['paperTrail', 'papertrail', '[PaperTrail] '],
  ['djangoAuditlog', 'django-auditlog', '[Django] '],
] as const)('sentences of %s', (name, preset, tag) => {
  it.each([
    ['English', english],
    ['German', german],
  ] as const)('are whole in %s', async (language, data) => {
    const read = named(preset)
    const sentences = sentencesOf(read, recordsOf(preset), data)
    expect(sentences.filter((text) => !text.includes(tag))).toEqual([])
    // A sentence that lacks its values shows the type.
    const type = /(?<!arn:)\b(?:aws|windows|kubernetes|vault|papertrail|django):\w/
    expect(sentences.filter((text) => type.test(text))).toEqual([])
    const file = path.join(path.dirname(fileOf(preset)), `${name}.${language.toLowerCase()}.txt`)
    await expect(`${sentences.join('\n')}\n`).toMatchFileSnapshot(file)
  })
})
