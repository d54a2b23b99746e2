import fs from 'node:fs'
import { defineEventTypes, type EventTypeDefinition, type LinkTable, splitEventType } from 'daybook'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { checkData, commonKeysOf, eventTypeFault } from '../../../src/event/event-types.js'
import { words } from '../../support/words.js'

const invalid = (part: string): unknown =>
  expect.objectContaining({
    name: 'AuditLogError',
    code: 'INVALID_OPTION',
    message: expect.stringContaining(part) as unknown,
  })

const refusedAt = (pointer: string, message?: string): unknown =>
  expect.objectContaining({ code: 'INVALID_DATA', pointer, ...(message && { message }) })

describe('defineEventTypes', () => {
  it('returns the same table', () => {
    const types = { 'api:orders:create': { data: ['total'] } } as const
    expect(defineEventTypes(types)).toBe(types)
    expect(defineEventTypes({})).toEqual({})
  })

  it('accepts types combined by spreading', () => {
    const types = defineEventTypes({
      ...workflowEventTypes,
      'api:orders:create': { data: ['total'] },
    })
    expect(Object.keys(types)).toHaveLength(195)
    expect(types['api:orders:create']).toEqual({ data: ['total'] })
  })

  it.each([
    ['an empty type', { '': {} }, '""'],
    ['a type of 256 characters', { ['x'.repeat(256)]: {} }, 'x'.repeat(256)],
    ['a control character', { 'a\tb': {} }, 'a\\tb'],
    ['half of a surrogate pair', { 'a\uD83D': {} }, 'a\\ud83d'],
    ['a throttle without a period', { 'a:b:c': { throttle: { period: {} } } }, 'a:b:c'],
    [
      'an empty scope key',
      { 'a:b:c': { throttle: { period: { hours: 1 }, scope: ['ok', ''] } } },
      'a:b:c',
    ],
  ])('refuses %s and names the entry', (_, types, named) => {
    expect(() => defineEventTypes({ 'api:fine:create': {}, ...types })).toThrow(invalid(named))
  })

  it.each([['1h'], [3_600_000], [null], [undefined], [{ hours: '1' }], [{ fortnights: 1 }]])(
    'refuses %j as the period of a throttle',
    (period) => {
      const definition = { throttle: { period } } as unknown as EventTypeDefinition
      expect(() => defineEventTypes({ 'a:b:c': definition })).toThrow(invalid('a:b:c'))
    },
  )
})

describe('eventTypeFault', () => {
  it.each(['a', 'api:changes:create', 'linked:to:project:acme', ' ', '😀'.repeat(255), 'é\u00AD'])(
    'accepts %j',
    (type) => {
      expect(eventTypeFault(type)).toBeUndefined()
    },
  )

  it.each([
    [undefined, 'must be a text'],
    [7, 'must be a text'],
    ['', 'must have 1 to 255 characters'],
    ['x'.repeat(256), 'must have 1 to 255 characters'],
    ['😀'.repeat(256), 'must have 1 to 255 characters'],
    ['a\0', 'must not contain control characters'],
    ['a\n', 'must not contain control characters'],
    ['a\u007F', 'must not contain control characters'],
    ['a\u0085', 'must not contain control characters'],
    ['\uDE00', 'must not contain half of a surrogate pair'],
  ])('%j', (type, fault) => {
    expect(eventTypeFault(type)).toBe(fault)
  })
})

describe('splitEventType', () => {
  it.each([
    ['api:changes:create', 'api', 'changes', 'create'],
    ['audit:steps:approve:denied', 'audit', 'steps', 'approve:denied'],
    ['warn:approval_identity_unresolved', 'warn', 'approval_identity_unresolved', ''],
    ['own', 'own', '', ''],
    ['', '', '', ''],
    ['a::b', 'a', '', 'b'],
  ])('%s', (type, level, subject, action) => {
    expect(splitEventType(type)).toEqual({ level, subject, action })
  })
})

describe('checkData', () => {
  const check = (definition: EventTypeDefinition, data: object, links: LinkTable = []): void =>
    checkData({ type: 'a:b:c', definition, commonKeys: commonKeysOf(links) }, data)

  const list: EventTypeDefinition = {
    data: ['total', 'currency'],
    throttle: { period: { hours: 1 }, scope: ['shop'] },
  }

  it('accepts declared keys, scope keys, common keys, links and the names of the linked resources', () => {
    const names = words(`
      total shop name message parent error backtrace request_method request_path request_body
      url_params response_status occurred_at change_id change_name node_path
    `)
    const data = Object.fromEntries(names.map((name) => [name, null]))
    expect(() => check(list, data, workflowLinks)).not.toThrow()
    expect(() => check(list, data)).toThrow(refusedAt('/change_id'))
    expect(() => check({}, { whatever: 1 })).not.toThrow()
  })

  it('points to the first key that is not declared', () => {
    expect(() => check(list, { total: 1, totl: 2, other: 3 })).toThrow(
      refusedAt(
        '/totl',
        'a:b:c does not declare the data key totl; it declares total, currency, shop; did you mean total?',
      ),
    )
    expect(() => check({ data: [] }, { constructor: 1 })).toThrow(refusedAt('/constructor'))
  })

  it('escapes the pointer', () => {
    expect(() => check(list, { 'a/b~c': 1 })).toThrow(refusedAt('/a~1b~0c'))
    const schema: EventTypeDefinition = { data: v.object({ 'a/b': v.number() }) }
    expect(() => check(schema, { 'a/b': 'x' })).toThrow(refusedAt('/a~1b'))
  })

  const schema: EventTypeDefinition = {
    data: v.object({ total: v.number(), items: v.array(v.object({ sku: v.string() })) }),
  }

  it('validates data with a Standard Schema', () => {
    expect(() => check(schema, { total: 1, items: [{ sku: 's' }] })).not.toThrow()
    expect(() => check(schema, { total: 1, items: [{ sku: 5 }] })).toThrow(
      refusedAt('/items/0/sku', 'a:b:c: Invalid type: Expected string but received 5'),
    )
  })

  it('refuses an asynchronous schema', () => {
    const later: EventTypeDefinition = {
      data: v.objectAsync({
        total: v.pipeAsync(
          v.number(),
          v.checkAsync(async () => true),
        ),
      }),
    }
    expect(() => check(later, { total: 1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('the catalogue of the workflow service', () => {
  interface Row {
    readonly type: string
    readonly area: string
    readonly level: string
    readonly dataKeys?: readonly string[]
    readonly throttle?: { period: '1h' | '5m'; per?: readonly string[]; periodStated?: false }
    readonly onlyWhile?: string
    readonly live?: true
    readonly cadence?: string
  }
  const rows = JSON.parse(
    fs.readFileSync(new URL('../../fixtures/event-types.json', import.meta.url), 'utf8'),
  ) as readonly Row[]
  const catalogue: Readonly<Record<string, EventTypeDefinition>> = workflowEventTypes
  // The interface names the switch of the summary in prose.
  const switches: Readonly<Record<string, string>> = {
    'info:git_remote:periodic_fetch:summary': 'git_remote.periodic_fetch_summary.enabled',
  }
  const periods = { '1h': { hours: 1 }, '5m': { minutes: 5 } }

  it('has the 194 types in the order of the interface', () => {
    expect(rows).toHaveLength(194)
    expect(Object.keys(catalogue)).toEqual(rows.map((row) => row.type))
  })

  it.each(rows.map((row) => [row.type, row] as const))('%s', (type, row) => {
    const { description, ...definition } = catalogue[type]!
    const {
      sentence: _,
      sentences: _sentences,
      source: _source,
      severity: _severity,
      ocsf: _ocsf,
      ...facts
    } = definition
    const { throttle, onlyWhile = switches[type] } = row
    expect(facts).toEqual({
      area: row.area,
      ...(row.dataKeys && { data: row.dataKeys }),
      ...(throttle && {
        throttle: {
          period: periods[throttle.period],
          ...(throttle.per && { scope: throttle.per }),
          ...(throttle.periodStated === false && { periodStated: false }),
        },
      }),
      ...(onlyWhile && { onlyWhile }),
      ...(row.live && { live: true }),
      ...(row.cadence === 'once a day by default' && { cadence: { days: 1 } }),
    })
    expect(splitEventType(type).level).toBe(row.level)
    expect(description?.trim()).toBe(description)
    expect(description).toMatch(/\w+ \w+/)
  })

  it('describes each type differently', () => {
    const descriptions = Object.values(catalogue).map(({ description }) => description)
    expect(new Set(descriptions).size).toBe(194)
  })
})
