import vm from 'node:vm'
import {
  AuditLog,
  AuditLogError,
  AuditLogs,
  type JsonObject,
  type JsonValue,
  type Link,
  type LinkTable,
} from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { workflowLinks } from 'daybook/workflow'
import { linkRules, sourceOf as sourceBy } from '../../../src/event/links.js'
import { words } from '../../support/words.js'
import { failing } from '../fake-store.js'
import { errorWith, refusalOf } from '../errors.js'

const ID = '0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a'
const INVALID = { code: 'INVALID_LINK', pointer: '/change_id' }

/** Every link attribute, best source first, with a value and its path. */
const links: readonly (readonly [attribute: string, value: string, path: string])[] = [
  ['step_id', ID, `/api/steps/${ID}`],
  ['workflow_step_id', ID, `/api/workflow_steps/${ID}`],
  ['change_id', ID, `/api/changes/${ID}`],
  ['workflow_run_id', ID, `/api/workflow_runs/${ID}`],
  ['scheduled_change_id', ID, `/api/scheduled_changes/${ID}`],
  ['properties_version_id', ID, `/api/properties_versions/${ID}`],
  ['settings_version_id', ID, `/api/settings_versions/${ID}`],
  ['template_version_id', ID, `/api/template_versions/${ID}`],
  ['properties_id', ID, `/api/properties/${ID}`],
  ['settings_id', ID, `/api/settings/${ID}`],
  ['template_id', ID, `/api/templates/${ID}`],
  ['bookmark_id', ID, `/api/bookmarks/${ID}`],
  ['git_remote_id', ID, `/api/git_remotes/${ID}`],
  ['node_id', ID, `/api/nodes/${ID}`],
  ['node_path', '/projects/acme/environments/dev', '/api/projects/acme/environments/dev'],
  ['project_path', '/projects/acme', '/api/projects/acme'],
  ['project_id', ID, `/api/projects/${ID}`],
]

const rules = linkRules(workflowLinks)
const sourceOf = (attributes: JsonObject, system: boolean): string | null =>
  sourceBy(attributes, system, { rules })

const refusal = (attributes: JsonObject): AuditLogError =>
  refusalOf(() => sourceOf(attributes, false))

describe('the source of an event', () => {
  it('has the 17 link attributes of the interface, in this rank', () => {
    expect([...rules.keys()]).toEqual(links.map(([attribute]) => attribute))
  })

  it.each(links)('%s leads to its path', (attribute, value, path) => {
    expect(sourceOf({ name: 'x', [attribute]: value }, false)).toBe(path)
    expect(sourceOf({ name: 'x', [attribute]: value }, true)).toBe(path)
  })

  it('is null without a link', () => {
    expect(sourceOf({}, false)).toBeNull()
    expect(sourceOf({ name: 'x', id: ID, node: { node_id: ID } }, false)).toBeNull()
  })

  it('is the best of several links in any order', () => {
    const all = Object.fromEntries(links.map(([attribute, value]) => [attribute, value]))
    const reversed = Object.fromEntries(Object.entries(all).toReversed())
    for (const [rank, [attribute, , path]] of links.entries()) {
      const rest = new Set(links.slice(rank).map(([name]) => name))
      const keep = (from: JsonObject): JsonObject =>
        Object.fromEntries(Object.entries(from).filter(([name]) => rest.has(name)))
      expect(sourceOf(keep(all), false), attribute).toBe(path)
      expect(sourceOf(keep(reversed), false), attribute).toBe(path)
    }
  })

  it('does not count null as a link', () => {
    expect(sourceOf({ step_id: null, change_id: ID }, false)).toBe(`/api/changes/${ID}`)
    expect(sourceOf({ step_id: null }, false)).toBeNull()
  })

  it('has the UUID in lower case', () => {
    const upper = '0B7E9C1A-5D2F-4E6B-8A3C-1F2E3D4C5B6A'
    expect(sourceOf({ change_id: upper }, false)).toBe(`/api/changes/${ID}`)
  })

  it.each([
    '/projects/acme',
    '/projects/acme/environments/dev',
    '/projects/acme/environments/dev/assets/web',
    '/projects/A-1_b.c/environments/.../assets/0',
  ])('node_path accepts %s', (path) => {
    expect(sourceOf({ node_path: path }, false)).toBe(`/api${path}`)
  })
})

describe('an invalid link', () => {
  const notIds: readonly JsonValue[] = [
    '',
    'acme',
    ID.slice(0, -1),
    `${ID}0`,
    `{${ID}}`,
    ` ${ID}`,
    `${ID}\n`,
    ID.replaceAll('-', ''),
    'zzzzzzzz-5d2f-4e6b-8a3c-1f2e3d4c5b6a',
    0,
    17,
    true,
    false,
    [ID],
    { id: ID },
  ]
  it.each(notIds)('change_id refuses %j', (value) => {
    const error = refusal({ change_id: value })
    expect(error.code).toBe('INVALID_LINK')
    expect(error.pointer).toBe('/change_id')
    expect(error.message).toBe('change_id must be a UUID')
  })

  const notPaths: readonly JsonValue[] = [
    ...words(`
      / projects/acme /projects /projects/ /projects/acme/ //acme /projects//environments/dev
      /project/acme /Projects/acme /environments/dev /api/projects/acme
      /projects/acme/environments /projects/acme/assets/web
      /projects/acme/environments/dev/assets /projects/acme/environments/dev/environments/prod
      /projects/acme/environments/dev/assets/web/ /projects/acme/environments/dev/assets/web/agents
      /projects/acme/environments/dev/assets/web/agents/a
      /projects/. /projects/.. /projects/acme/environments/..
      /projects/acme/environments/../assets/web
      /projects/a%2Fb /projects/acmé /projects/acme?x=1 /projects/acme#x
      https://example.test/projects/acme
    `),
    '',
    '/projects/a b',
    '/projects/acme\n',
    7,
    true,
    ['/projects/acme'],
    { path: '/projects/acme' },
  ]
  it.each(notPaths)('node_path refuses %j', (value) => {
    const error = refusal({ node_path: value })
    expect(error.code).toBe('INVALID_LINK')
    expect(error.pointer).toBe('/node_path')
    expect(error.message).toContain('node_path')
  })

  it.each([
    ...notPaths,
    '/projects/acme/environments/dev',
    '/projects/acme/environments/dev/assets/web',
  ])('project_path refuses %j', (value) => {
    const error = refusal({ project_path: value })
    expect([error.code, error.pointer]).toEqual(['INVALID_LINK', '/project_path'])
  })

  it.each([...rules.keys()])('%s is also checked if a better link is present', (attribute) => {
    const better = attribute === 'step_id' ? {} : { step_id: ID }
    expect(refusal({ ...better, [attribute]: 'nothing' }).pointer).toBe(`/${attribute}`)
  })
})

describe('resolveSource', () => {
  const types = { 'api:changes:start': {} }
  const openLog = (
    resolveSource?: (link: Link, event: { system: boolean }) => string | null,
    strict = false,
  ) =>
    new AuditLog({
      store: memoryStore(),
      types,
      links: workflowLinks,
      strict,
      ...(resolveSource ? { resolveSource } : {}),
    })

  it('receives each link, best first, and whether it is a system event', async () => {
    const seen: unknown[] = []
    await using audit = openLog((link, event) => {
      seen.push({ ...link, ...event })
      return link.path
    })
    await audit.record('api:changes:start', { project_path: '/projects/acme', change_id: ID })
    await audit.recordCustom('own', { node_id: ID.toUpperCase() })
    expect(seen).toEqual([
      { attribute: 'change_id', value: ID, path: `/api/changes/${ID}`, system: true },
      {
        attribute: 'project_path',
        value: '/projects/acme',
        path: '/api/projects/acme',
        system: true,
      },
      { attribute: 'node_id', value: ID.toUpperCase(), path: `/api/nodes/${ID}`, system: false },
    ])
  })

  it('replaces the convention and runs once, when the event is recorded', async () => {
    await using audit = openLog((link) => `/other${link.path}`)
    const event = await audit.recordCustom('own', { change_id: ID })
    expect(event?.source).toBe(`/other/api/changes/${ID}`)
    expect((await audit.get(event!.id))?.source).toBe(`/other/api/changes/${ID}`)
  })

  it('that returns null leaves the source to the next link', async () => {
    await using audit = openLog((link) => (link.attribute === 'change_id' ? null : link.path))
    const both = await audit.recordCustom('own', { change_id: ID, project_path: '/projects/acme' })
    expect(both?.source).toBe('/api/projects/acme')
    const one = await audit.recordCustom('own', { change_id: ID })
    expect(one?.source).toBeNull()
    expect(one?.attributes).toEqual({ change_id: ID })
  })

  const refuse = (link: Link): string => {
    if (link.attribute === 'project_path') return link.path
    throw new AuditLogError('INVALID_LINK', 'there is no such change', {
      pointer: `/${link.attribute}`,
    })
  }

  it('rejects a custom event whose source does not exist', async () => {
    await using audit = openLog(refuse)
    await expect(audit.recordCustom('own', { change_id: ID })).rejects.toMatchObject({
      ...INVALID,
      message: 'there is no such change',
    })
    expect((await audit.list()).events).toEqual([])
  })

  it('removes only the source of a system event', async () => {
    await using audit = openLog(refuse)
    const none = await audit.record('api:changes:start', { change_id: ID })
    expect(none).toMatchObject({ source: null, attributes: { change_id: ID } })
    const other = await audit.record('api:changes:start', {
      change_id: ID,
      project_path: '/projects/acme',
    })
    expect(other?.source).toBe('/api/projects/acme')
  })

  it('that throws another error only removes the source of a system event', async () => {
    const broken = new Error('cannot look it up')
    await using audit = openLog(failing(broken))
    const event = await audit.record('api:changes:start', { change_id: ID })
    expect(event?.source).toBeNull()
    await expect(audit.recordCustom('own', { change_id: ID })).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'INVALID_EVENT',
      cause: broken,
    })
  })

  it('rejects system events too in strict mode', async () => {
    await using audit = openLog(refuse, true)
    await expect(audit.record('api:changes:start', { change_id: ID })).rejects.toMatchObject(
      INVALID,
    )
  })

  it('is optional: without it an invalid link rejects a custom event but not a system event', async () => {
    await using audit = openLog()
    await expect(audit.recordCustom('own', { change_id: 'c1' })).rejects.toMatchObject(INVALID)
    const event = await audit.record('api:changes:start', {
      change_id: 'c1',
      project_path: '/projects/acme',
    })
    expect(event).toMatchObject({
      source: '/api/projects/acme',
      attributes: { change_id: 'c1', project_path: '/projects/acme' },
    })
    await using strict = openLog(undefined, true)
    await expect(strict.record('api:changes:start', { change_id: 'c1' })).rejects.toMatchObject(
      INVALID,
    )
  })
})

describe('a log without the option links', () => {
  it('has no link attributes', async () => {
    await using audit = new AuditLog({ store: memoryStore(), types: { 'api:mails:send': {} } })
    expect(audit.links).toEqual([])
    const mail = await audit.record('api:mails:send', { template_id: ID })
    expect(mail!.source).toBeNull()
    const note = await audit.recordCustom('note', { node_id: 17 })
    expect(note).toMatchObject({ source: null, attributes: { node_id: 17 } })
  })
})

const ORDER = { attribute: 'order_id', kind: 'integer', path: '/shop/orders/{order_id}', rank: 2 }
const SHELF = {
  attribute: 'shelf',
  kind: ['/shops/{code}', '/shops/{code}/v1.0/{code}'],
  path: '/api{shelf}',
  rank: 1,
}

describe('the option links', () => {
  const open = (links: unknown): AuditLog =>
    new AuditLog({ store: memoryStore(), types: {}, links: links as LinkTable })

  const bare = Object.assign(Object.create(null) as object, ORDER)
  it.each([
    ['rows', [ORDER]],
    ['frozen rows', Object.freeze([Object.freeze({ ...ORDER })])],
    ['rows without a prototype', [bare]],
    ['rows of another realm', vm.runInNewContext(`[${JSON.stringify(ORDER)}]`) as unknown],
  ])('takes %s', async (_name, links) => {
    await using audit = open(links)
    expect(audit.links).toEqual([ORDER])
    expect((await audit.recordCustom('a', { order_id: 7 }))!.source).toBe('/shop/orders/7')
  })

  it('is read once', async () => {
    const row = { ...ORDER }
    const rows = [row, SHELF]
    await using audit = open(rows)
    row.path = '/other/{order_id}'
    rows.pop()
    const attributes = { order_id: 7, shelf: '/shops/a' }
    expect(await audit.recordCustom('a', attributes)).toMatchObject({ source: '/api/shops/a' })
    expect(await audit.recordCustom('a', { order_id: 7 })).toMatchObject({
      source: '/shop/orders/7',
    })
    expect(Object.isFrozen(audit.links[0])).toBe(true)
  })

  it.each<[object, string | null | undefined]>([
    [{ order_id: 0 }, '/shop/orders/0'],
    [{ order_id: '9007199254740993' }, '/shop/orders/9007199254740993'],
    [{ order_id: -1 }, undefined],
    [{ order_id: 1.5 }, undefined],
    [{ order_id: '07' }, undefined],
    [{ order_id: [7] }, undefined],
    [{ order_id: null }, null],
    [{ constructor: 'a' }, '/api/c/a'],
    [{ constructor: '..' }, undefined],
    [{ constructor: 7 }, undefined],
    [{ shelf: '/shops/a/v1.0/b' }, '/api/shops/a/v1.0/b'],
    [{ shelf: '/shops/a/v1x0/b' }, undefined],
    [{ shelf: '/shops/a', order_id: 'x' }, undefined],
    // Of links with equal ranks, the earlier row gives the source.
    [{ a_id: 'b', shelf: '/shops/a' }, '/api/shops/a'],
    [{ toString: 'a' }, null],
  ])('gives %j the source %j', async (attributes, source) => {
    await using audit = open([
      ORDER,
      SHELF,
      { attribute: 'constructor', kind: 'code', path: '/api/c/{constructor}', rank: 3 },
      { attribute: 'a_id', kind: 'code', path: '/a/{a_id}', rank: 1 },
    ])
    const call = audit.recordCustom('a', attributes)
    if (source === undefined) await expect(call).rejects.toMatchObject({ code: 'INVALID_LINK' })
    else expect((await call)!.source).toBe(source)
  })

  it.each<[unknown, string]>([
    [null, 'links must be a list of at least one row'],
    [{}, 'links must be a list of at least one row'],
    [[], 'links must be a list of at least one row'],
    ['order_id', 'links must be a list of at least one row'],
    [[null], 'links[0] takes an object with attribute, kind, path, rank'],
    [['order_id'], 'links[0] takes an object with attribute, kind, path, rank'],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is not a row
    [[ORDER, ,], 'links[1] takes an object with attribute, kind, path, rank'],
    [
      [{}],
      'links[0]: attribute must be the name of an attribute, without braces and slashes; it is undefined',
    ],
    [[ORDER, { ...SHELF, ranc: 1 }], 'links[1] has no option ranc; did you mean rank?'],
    [[ORDER, SHELF, ORDER], 'links[2]: attribute must not be order_id again, as in links[0]'],
    [[{ ...ORDER, attribute: '' }], 'links[0]: attribute must be the name of an attribute'],
    [[{ ...ORDER, attribute: 'a/b' }], 'links[0]: attribute must be the name of an attribute'],
    [[{ ...ORDER, attribute: 'id' }], 'links[0]: attribute must not be id, a field of every event'],
    [
      [{ ...ORDER, kind: 'number' }],
      "links[0]: kind must be uuid, code, integer, or paths such as /shops/{code}; it is 'number'",
    ],
    [[{ ...ORDER, kind: 'toString' }], 'links[0]: kind must be'],
    [[{ ...ORDER, kind: undefined }], 'links[0]: kind must be'],
    [[{ ...SHELF, kind: [] }], 'links[0]: kind must be'],
    [[{ ...SHELF, kind: Array.from({ length: 1 }) }], 'links[0]: kind must be'],
    [[{ ...SHELF, kind: ['/shops'] }], 'links[0]: kind must be'],
    [[{ ...SHELF, kind: ['/shops/{id}'] }], 'links[0]: kind must be'],
    [[{ ...SHELF, kind: ['/shops/{code}', 'uuid'] }], 'links[0]: kind must be'],
    [[{ ...ORDER, rank: '1' }], "links[0]: rank must be a number; it is '1'"],
    [[{ ...ORDER, rank: Number.NaN }], 'links[0]: rank must be a number; it is NaN'],
    [[{ ...ORDER, rank: undefined }], 'links[0]: rank must be a number; it is undefined'],
    ...[
      ...words(
        '/orders /orders/{id} /orders/{order_id}/x orders/{order_id} /a b/{order_id} /../{order_id}',
      ),
      ...words(
        '/orders{order_id} /{order_id}/{order_id} https://a.test/{order_id} /a?id={order_id} //{order_id}',
      ),
      '',
      undefined,
      7,
    ].map((path): [unknown, string] => [
      [{ ...ORDER, path }],
      'links[0]: path must be a path such as /api/orders/{order_id}, which ends with {order_id}',
    ]),
    ...words('/api/{shelf} /api /api{shelf}x api{shelf}').map((path): [unknown, string] => [
      [{ ...SHELF, path }],
      'links[0]: path must be a path such as /api{shelf}, which ends with {shelf}',
    ]),
  ])('refuses %j', (links, message) => {
    expect(() => open(links)).toThrow(errorWith('INVALID_OPTION', `AuditLog: ${message}`))
    const logs = (): unknown =>
      new AuditLogs({ stores: memoryLogs(), types: {}, links: links as LinkTable })
    expect(logs).toThrow(errorWith('INVALID_OPTION', `AuditLogs: ${message}`))
  })
})

it('all logs of AuditLogs have its links', async () => {
  const links = [{ attribute: 'order_id', kind: 'uuid', path: '/o/{order_id}', rank: 1 }] as const
  await using logs = new AuditLogs({
    stores: memoryLogs(),
    types: { 'audit:orders:update': { data: ['table'] } },
    links,
  })
  expect(logs.links).toEqual(links)
  await expect(logs.log('a').recordCustom('x', { order_id: 1 })).rejects.toMatchObject({
    code: 'INVALID_LINK',
  })
  await logs.log('a').recordSystem('audit:orders:update', {
    order_id: ID,
    previous_order_id: ID.replace('0', '1'),
    ...{ before: { n: 1 }, after: { n: 2 } },
  })
  const states: unknown[] = []
  for await (const { state } of logs.history(`/o/${ID.replace('0', '1')}`)) states.push(state)
  expect(states).toEqual([null])
})
