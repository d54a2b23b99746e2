import {
  AuditLogError,
  defineEventTypes,
  describeEvent,
  type JsonObject,
  sentenceText,
} from 'daybook'
import { describe, expect, it } from 'vitest'
import { eventOf } from './examples.js'

const TYPE = 'host:thing:done'

function filled(
  sentence: string,
  attributes: JsonObject = {},
  username: string | null = null,
): string {
  const types = defineEventTypes({ [TYPE]: { sentence } })
  return sentenceText(describeEvent(eventOf({ type: TYPE, attributes, username }), { types }))
}

describe('a template', () => {
  it.each<[string, JsonObject, string]>([
    ['plain', {}, 'plain'],
    ['{a}', { a: 'x' }, 'x'],
    ['{a}', { a: 1234567.5 }, '1,234,567.5'],
    ['{a}', { a: false }, 'false'],
    ['{a}', { a: ['x', null, 'y', ['z']] }, 'x, y, z'],
    ['{a}', { a: ['1', '2', '3', '4', '5'] }, '1, 2, 3, 4 and more'],
    ['{parent_code}', { parent: { code: 'prod' } }, 'prod'],
    ['{url_params_project_code}', { url_params: { project_code: 'acme' } }, 'acme'],
    ['{items_sku}', { items: [{ sku: 'a' }, { sku: 'b' }] }, 'a, b'],
    ['x[ {a}]', {}, 'x'],
    ['x[ {a}]', { a: null }, 'x'],
    ['x[ {a}]', { a: {} }, 'x'],
    ['x[ {a}]', { a: '' }, 'x'],
    ['x[ {a}| {b}| none]', { b: 1 }, 'x 1'],
    ['x[ {a}| {b}| none]', {}, 'x none'],
    ['x[ {a}[ of {b}]]', { a: 1, b: 2 }, 'x 1 of 2'],
    ['x[ {a}[ of {b}]]', { b: 2 }, 'x'],
    ['[{ok=true}well|{ok=false}badly|somehow] done', { ok: true }, 'well done'],
    ['[{ok=true}well|{ok=false}badly|somehow] done', { ok: false }, 'badly done'],
    ['[{ok=true}well|{ok=false}badly|somehow] done', {}, 'somehow done'],
    ['{n} {n:event/events}', { n: 1 }, '1 event'],
    ['{n} {n:event/events}', { n: 2 }, '2 events'],
    ['{n:count} {n:event/events}', { n: [{}, {}, {}] }, '3 events'],
    ['{n:bytes}', { n: 999 }, '999 byte'],
    ['{n:bytes}', { n: 18_234 }, '18.2 kB'],
    ['{n:bytes}', { n: 5e15 }, '5,000 TB'],
    ['{n:bytes}', { n: 0 }, '0 byte'],
    ['x[ {n:bytes}]', { n: 'many' }, 'x'],
    ['{sha:sha}', { sha: 'b07d3a1c0ffee' }, 'b07d3a1'],
    ['{t:time}', { t: '2026-11-20T13:00:00Z' }, '2026-11-20 13:00 UTC'],
    ['{id}', { id: 'x' }, 'x'],
    ['{a_sha:sha}', { a_sha: null, a: { sha: 'b07d3a1' } }, 'b07d3a1'],
    ['[{@constructor}|none]', {}, 'none'],
    ['said “{a}”', { a: 'hi' }, 'said “hi”'],
    ['\\[\\{a\\}\\]\\|\\*\\*\\\\\\“\\”', {}, '[{a}]|**\\“”'],
    ['2 * 3', {}, '2 * 3'],
    ['[{@change}|{@thing}]', { change_name: 'nightly' }, 'change nightly'],
    ['in {@git_remote}', { git_remote: { name: 'infra' } }, 'in git remote infra'],
    ['did {@thing}', { name: 'it' }, 'did thing it'],
    ['bad: {@reason}', { message: 'm' }, 'bad: m'],
  ])('%s with %j', (sentence, attributes, text) => {
    expect(filled(sentence, attributes, null)).toBe(text)
  })

  it('continues after the user unless it begins with a bar', () => {
    expect(filled('done', {}, 'ann')).toBe('ann done')
    expect(filled('did it | it was done', {}, 'ann')).toBe('ann did it')
    expect(filled('did it | it was done')).toBe('it was done')
    expect(filled('| it was done', {}, 'ann')).toBe('ann: it was done')
    expect(filled('| it was done')).toBe('it was done')
  })

  it('marks names, quotes and reasons', () => {
    const types = { [TYPE]: { sentence: 'put **{a} {n}** up, “{a}”: {error}' } }
    const attributes = { a: 'x', n: 1000, error: 'late' }
    expect(describeEvent(eventOf({ type: TYPE, attributes }), { types }).what).toEqual([
      { kind: 'text', text: 'put ' },
      { kind: 'name', text: 'x 1,000' },
      { kind: 'text', text: ' up, ' },
      { kind: 'quote', text: 'x' },
      { kind: 'text', text: ': ' },
      { kind: 'reason', text: 'late' },
    ])
  })
})

describe('defineEventTypes', () => {
  it.each([
    ['', 'a sentence must be a text that is not blank'],
    [7, 'a sentence must be a text that is not blank'],
    ['a [b', '[ has no ] at character 3'],
    ['a b]', 'unexpected ]; write \\] for the character itself at character 4'],
    ['a **b', '** has no ** at character 3'],
    ['a “b', '“ has no ” at character 3'],
    ['a ”', 'unexpected ”; write \\” for the character itself at character 3'],
    ['a {b', 'unexpected {; write \\{ for the character itself at character 3'],
    ['a }', 'unexpected }; write \\} for the character itself at character 3'],
    ['a \\b', 'unexpected \\; write \\\\ for the character itself at character 3'],
    ['a | b | c', 'unexpected |; write \\| for the character itself at character 7'],
    ['**a | b**', 'unexpected |; write \\| for the character itself at character 5'],
    ['a |', 'there is no form without a user at character 3'],
    ['{}', '{} is not {name}, {name:format}, {name=text}, {@word} or {@word:name} at character 1'],
    [
      '{@Big}',
      '{@Big} is not {name}, {name:format}, {name=text}, {@word} or {@word:name} at character 1',
    ],
    [
      '{a:b:c}',
      '{a:b:c} is not {name}, {name:format}, {name=text}, {@word} or {@word:name} at character 1',
    ],
    [
      '{a:constructor}',
      'unknown format constructor; the formats are bytes, count, sha, time and two words such as item/items at character 1',
    ],
    [
      '{a:kilos}',
      'unknown format kilos; the formats are bytes, count, sha, time and two words such as item/items at character 1',
    ],
  ])('refuses the sentence %j', (sentence, message) => {
    const define = () => defineEventTypes({ 'a:b:c': { sentence: sentence as string } })
    expect(define).toThrow(AuditLogError)
    expect(define).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: `event type a:b:c: sentence: ${message}`,
      }),
    )
  })
})
