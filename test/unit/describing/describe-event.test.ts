import { describeEvent, type JsonObject, sentenceText } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { words } from '../../support/words.js'
import { change, eventOf, step, version } from './examples.js'

const sentenceOf = (
  type: string,
  attributes: JsonObject = {},
  username: string | null = 'ann',
): string => sentenceText(describeEvent(eventOf({ type, attributes, username })))

describe('the rules', () => {
  it.each<[string, JsonObject, string, string]>([
    [
      'api:orders:create',
      { request_body: { name: 'Spring' } },
      'ann created order Spring',
      'order Spring created',
    ],
    [
      'api:orders:update',
      { name: 'Spring', changes: [{ op: 'add', path: '/a~1b' }], changes_cut: 1200 },
      'ann changed 1,201 fields of order Spring: a/b',
      '1,201 fields of order Spring changed: a/b',
    ],
    ['api:orders:update', { changes: [] }, 'ann updated an order', 'order updated'],
    [
      'api:orders:update',
      { request_body: { a: 1, b: 1, c: 1, d: 1, e: 1 } },
      'ann updated an order: a, b, c, d and more',
      'order updated: a, b, c, d and more',
    ],
    ['api:orders:ship', { code: 4711 }, 'ann: orders ship 4,711', 'orders ship 4,711'],
    ['api:boxes:destroy', {}, 'ann deleted a box', 'box deleted'],
    ['api:policies:update', {}, 'ann updated a policy', 'policy updated'],
    ['api:accesses:create', {}, 'ann created an access', 'access created'],
    ['api:users:create', {}, 'ann created a user', 'user created'],
    [
      'audit:orders:approve:denied',
      {},
      'ann was not allowed to approve an order',
      'order could not be approved: not allowed',
    ],
    [
      'error:orders:create',
      { request_body: { code: 'x1' }, url_params: { project_code: 'acme' }, error: 'taken' },
      'ann could not create order x1 in project acme: taken',
      'order x1 in project acme could not be created: taken',
    ],
    [
      'error:orders:ship',
      { request_method: 'POST', request_path: '/orders/1/ship', error: { message: 'no truck' } },
      'ann was refused POST /orders/1/ship: no truck',
      'POST /orders/1/ship was refused: no truck',
    ],
    [
      'error:payments:charge',
      { name: 'x', error: 'late' },
      'ann: payments charge x failed: late',
      'payments charge x failed: late',
    ],
    ['warn:disk', { message: 'nearly full' }, 'ann: disk: nearly full', 'disk: nearly full'],
    ['info:import:failed', { error: 'late' }, 'ann: import failed: late', 'import failed: late'],
    [
      'info:data_cleanup:drafts',
      { removed_count: 3, rule: 'old' },
      'ann: 3 drafts removed by rule old',
      '3 drafts removed by rule old',
    ],
    [
      'api:unmatched:post',
      { request_method: 'POST', request_path: '/x' },
      'ann sent POST /x, which leads nowhere',
      'POST /x led nowhere',
    ],
    [
      'warn:audit_log:gap',
      { count: 14, first_at: '2026-11-20T13:00:00.000000Z' },
      'ann: 14 events are missing from the log since 2026-11-20 13:00 UTC',
      '14 events are missing from the log since 2026-11-20 13:00 UTC',
    ],
    ['constructor', {}, 'ann: constructor', 'constructor'],
    ['::', {}, 'ann: thing thing', 'thing thing'],
  ])('%s', (type, attributes, byAnn, byService) => {
    expect([sentenceOf(type, attributes), sentenceOf(type, attributes, null)]).toEqual([
      byAnn,
      byService,
    ])
  })

  it('names nodes by their type', () => {
    const request_path = '/api/projects/acme/environments'
    expect(
      sentenceOf('error:nodes:create', { request_path, url_params: { project_code: 'acme' } }),
    ).toBe('ann could not create an environment in project acme')
  })

  it('shows the route of a request: the names of its parameters, not their values', () => {
    const request_path = '/api/projects/acme/steps/S%201/acme2'
    const params = { project_code: 'acme', id: 'S 1', none: '', list: ['steps'] }
    const attributes = { request_method: 'POST', request_path, url_params: params, error: 'late' }
    expect(sentenceOf('error:api:controller:unhandled', attributes)).toBe(
      'ann hit an error at POST /api/projects/:project_code/steps/:id/acme2: late',
    )
    for (const url_params of [{}, null, 'acme', [['acme']]])
      expect(sentenceOf('error:api:controller:unhandled', { ...attributes, url_params })).toBe(
        `ann hit an error at POST ${request_path}: late`,
      )
  })

  it('shows the end of the id without a name', () => {
    const { name: _, change_name: __, ...nameless } = step
    expect(sentenceOf('api:steps:start', nameless)).toBe(
      'ann started step …9c0b7e of change …9c0b7e',
    )
  })

  it('applies a name only to its own resource', () => {
    const attributes = {
      name: 'every night',
      scheduled_change_id: change.change_id,
      change_id: change.change_id,
    }
    const type = 'api:scheduled_changes:change_creation:success'
    const event = eventOf({ type, attributes, source: `/api/changes/${change.change_id}` })
    expect(sentenceText(describeEvent(event, { types: workflowEventTypes }))).toBe(
      'change …9c0b7e created on schedule every night',
    )
  })

  it('marks the kind of each part', () => {
    const attributes = { ...change, message: 'waiting for ops' }
    const type = 'audit:changes:pause'
    expect(describeEvent(eventOf({ type, attributes, username: 'bob' }))).toEqual({
      who: 'bob',
      isVerbFirst: true,
      what: [
        { kind: 'text', text: 'paused change ' },
        { kind: 'name', text: 'nightly' },
        { kind: 'text', text: ': ' },
        { kind: 'quote', text: 'waiting for ops' },
      ],
    })
    expect(
      describeEvent(eventOf({ type: 'error:step:fetch', attributes: { error: 'late' } })),
    ).toEqual({
      who: null,
      isVerbFirst: false,
      what: [
        { kind: 'text', text: 'step could not be fetched: ' },
        { kind: 'reason', text: 'late' },
      ],
    })
  })
})

describe('the end of a sentence', () => {
  it('is the number of suppressed calls', () => {
    const suppressed_since = '2026-11-20T13:00:00.000007Z'
    const attributes = { suppressed_count: 14, suppressed_since }
    expect(sentenceOf('api:notification:error', attributes, null)).toBe(
      'notification failed (14 more suppressed since 2026-11-20 13:00 UTC)',
    )
    expect(describeEvent(eventOf({ type: 'warn:x', attributes })).what).toContainEqual({
      kind: 'time',
      text: suppressed_since,
    })
    expect(sentenceOf('warn:x', { suppressed_count: 14, suppressed_since: 'noon' }, null)).toBe(
      'x (14 more suppressed)',
    )
  })

  it('names the user for whom the actor acts', () => {
    const attributes = { ...change, actor_kind: 'agent', on_behalf_of: 'bob\n' }
    expect(sentenceOf('api:changes:start', attributes)).toBe(
      'ann on behalf of bob started change nightly',
    )
    expect(sentenceOf('api:changes:start', attributes, null)).toBe('change nightly started')
    expect(sentenceOf('api:changes:start', { ...change, on_behalf_of: 7 })).toBe(
      'ann started change nightly',
    )
  })

  it('says that work is unfinished', () => {
    expect(sentenceOf('api:changes:start', { ...change, unfinished: true })).toBe(
      'ann started change nightly, left unfinished',
    )
  })
})

describe('a live event', () => {
  const type = 'info:template_version:fetch'
  const sentenceWith = (
    progress: JsonObject[string],
    isOpen?: boolean,
    username: string | null = null,
  ) => {
    const event = eventOf({ type, username, attributes: { ...version, progress } })
    return sentenceText(describeEvent(event, { types: workflowEventTypes, isOpen }))
  }

  it('shows the latest percentage while it is open', () => {
    const log =
      'Counting objects: 100% (3/3)\rReceiving objects:  33% (1/3)\rReceiving objects:  62% (2/3)'
    expect(sentenceWith(log, true)).toBe('template version main is being fetched, 62 %')
    expect(sentenceWith(log, true, 'ann')).toBe('ann is fetching template version main, 62 %')
    expect(sentenceWith(12.5, true)).toBe('template version main is being fetched, 12 %')
    const event = eventOf({ type, attributes: { progress: '62 %' } })
    expect(describeEvent(event, { types: workflowEventTypes, isOpen: true }).what).toContainEqual({
      kind: 'progress',
      text: '62 %',
      percent: 62,
    })
  })

  it.each<[JsonObject[string], boolean | undefined]>([
    ['Receiving objects:  62% (2/3)', false],
    ['Receiving objects:  62% (2/3)', undefined],
    ['no number yet', true],
    ['900%', true],
    [-1, true],
    [null, true],
    [{}, true],
  ])(
    'states that the work started if the progress is unknown or unusable: %j, %s',
    (progress, isOpen) => {
      expect(sentenceWith(progress, isOpen)).toBe('fetch of template version main started')
    },
  )
})

describe('a custom event', () => {
  const custom = (attributes: JsonObject, type = 'deploy:frontend:done'): string =>
    sentenceText(
      describeEvent(eventOf({ type, attributes, username: 'ci', system: false }), {
        types: { ...workflowEventTypes, [type]: { sentence: 'deployed' } },
      }),
    )

  it.each<[JsonObject, string]>([
    [{ name: 'frontend 4.18.0', duration: 92 }, ': frontend 4.18.0'],
    [
      { change_id: 'x', ok: true, text: '', version: '4.18.0', duration: 92, more: 1 },
      ': 4.18.0, 92',
    ],
    [
      { on_behalf_of: 'bob', actor_kind: 'agent', remote_address: '192.0.2.7', request_id: 'r' },
      '',
    ],
    [{ outcome: 'success', reason: 'a', approved_by: 'bob', user_agent: 'curl/8', n: 7 }, ': 7'],
    [{ log: 'x'.repeat(41), nested: { a: 1 }, list: [1] }, ''],
    [{}, ''],
  ])('is its type and its name, or two short values: %j', (attributes, rest) => {
    expect(custom(attributes)).toBe(`ci: [custom] deploy:frontend:done${rest}`)
  })

  it('cannot look like an event of the service', () => {
    expect(custom({ name: 'acme' }, 'api:projects:destroy')).toBe(
      'ci: [custom] api:projects:destroy: acme',
    )
  })
})

describe('the sentence of a registered type', () => {
  const types = {
    'api:deploys:create': { sentence: 'deployed **{name}**[ to {environment}][: {error}]' },
    'api:deploys:destroy': { sentence: 'broken [' },
  }
  const sentenceWith = (attributes: JsonObject, type = 'api:deploys:create') =>
    sentenceText(describeEvent(eventOf({ type, attributes, username: 'ann' }), { types }))

  it('takes precedence over the rules', () => {
    expect(sentenceWith({ name: 'web', environment: 'prod' })).toBe('ann deployed web to prod')
    expect(sentenceWith({ name: 'web', error: 'late' })).toBe('ann deployed web: late')
  })

  it('falls back to the rules if the event lacks a value or the sentence is invalid', () => {
    expect(sentenceWith({})).toBe('ann created a deploy')
    expect(sentenceWith({}, 'api:deploys:destroy')).toBe('ann deleted a deploy')
  })
})

describe('hostile values', () => {
  it('are shown in one line, with invisible characters made visible', () => {
    const name = 'a\u202Egpj.exe\u0000\u001B[31m\u200B\r\n\u2028b\u2066'
    expect(sentenceOf('api:projects:create', { name })).toBe(
      'ann created project aU+202Egpj.exeU+0000U+001B[31mU+200B U+2028bU+2066',
    )
    expect(describeEvent(eventOf({ type: 'x\u202Ey:z', username: 'an\nn\u202E' }))).toEqual({
      who: 'an nU+202E',
      what: [{ kind: 'text', text: 'z' }],
      isVerbFirst: false,
    })
  })

  it('are not interpreted as templates or markup', () => {
    expect(sentenceOf('api:projects:create', { name: '**{code}** [x|y] <b>', code: 'c' })).toBe(
      'ann created project **{code}** [x|y] <b>',
    )
  })

  it('count as missing if they have no visible character', () => {
    expect(sentenceOf('api:projects:create', { name: ' \n ', code: 'acme' })).toBe(
      'ann created project acme',
    )
    expect(sentenceText(describeEvent(eventOf({ type: 'api:a:start', username: ' ' })))).toBe(
      'a started',
    )
  })

  it('are cut if they are long', () => {
    const text = 'ä😀'.repeat(500_000)
    const sentence = sentenceOf('audit:changes:pause', {
      name: text,
      message: text,
      change_id: 'x',
    })
    expect(sentence).toMatch(/^ann paused change (ä😀){39}ä…: “(ä😀){59}ä…”$/u)
  })

  it('are not read from prototypes', () => {
    const attributes = JSON.parse(
      '{"__proto__": {"name": "x"}, "request_body": {"__proto__": 1}}',
    ) as JsonObject
    expect(sentenceOf('api:projects:update', attributes)).toBe('ann updated a project: __proto__')
    expect(sentenceOf('api:constructor:create', {})).toBe('ann created a constructor')
    expect(sentenceOf('api:x:constructor', {})).toBe('ann: x constructor')
    expect(sentenceOf('api:__proto__:create', {})).toBe('ann created a proto')
  })
})

describe('any event', () => {
  const names = words(`
    name code error message changes changes_cut request_body url_params progress
    suppressed_count suppressed_since removed_count analyzed_tables recipients subject change_id
    node_path project_path unfinished success __proto__ constructor
  `)
  const attributes = fc.dictionary(
    fc.oneof(fc.constantFrom(...names), fc.string()),
    fc.oneof(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.string({ unit: 'binary', maxLength: 1000 }),
    ),
    { noNullPrototype: true },
  )
  const type = fc.oneof(
    fc.constantFrom(...Object.keys(workflowEventTypes)),
    fc.string({ unit: 'binary', maxLength: 255 }),
    fc
      .array(fc.constantFrom('api', 'error', 'x', 'update', 'denied', '', 'nodes'), {
        maxLength: 5,
      })
      .map((parts) => parts.join(':')),
  )

  it('looks at the first 10,000 elements of arrays', () => {
    const types = { 'x:y': { sentence: 'saw {item_code}' } }
    const named = (before: number): string => {
      const items: JsonObject[] = Array.from({ length: before }, () => ({}))
      const attributes = { item: [...items, { code: 'last' }] }
      return sentenceText(describeEvent(eventOf({ type: 'x:y', attributes }), { types }))
    }
    expect(named(9999)).toContain('last')
    expect(named(10_000)).not.toContain('last')
  })

  it('has a sentence of one bounded line', () => {
    fc.assert(
      fc.property(
        type,
        attributes,
        fc.record({
          username: fc.option(fc.string({ unit: 'binary' })),
          system: fc.boolean(),
          source: fc.option(fc.oneof(fc.webPath(), fc.string())),
        }),
        fc.boolean(),
        (type, attributes, fields, isOpen) => {
          const event = eventOf({ type, attributes: attributes as JsonObject, ...fields })
          const sentence = describeEvent(event, { types: workflowEventTypes, isOpen })
          const text = sentenceText(sentence)
          expect(text).toMatch(/\S/)
          expect(text).not.toMatch(
            /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202A-\u202E\u2066-\u2069]|undefined|\[object/u,
          )
          expect(text.length).toBeLessThan(2500)
          expect(sentence.what.every(({ text }) => text !== '')).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})
