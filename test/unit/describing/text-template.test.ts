import { describe, expect, it } from 'vitest'
import type { AuditEvent } from 'daybook'
import { readTextTemplate } from '../../../src/describing/text-template.js'

const event: AuditEvent = {
  id: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
  created_at: '2026-11-22T16:09:30.280404Z',
  username: 'ann',
  system: true,
  type: 'api:projects:create',
  source: null,
  attributes: { name: 'shop', count: 2, url_params: { code: 'a-7' } },
}

const fill = (template: string, changes: Partial<AuditEvent> = {}): string | undefined =>
  readTextTemplate(template)({ ...event, ...changes }, 'ann created project shop')

describe('a template of a text', () => {
  it.each([
    ['Projects', 'Projects'],
    ['{name} in {url_params_code}: {count} {count:file/files}', 'shop in a-7: 2 files'],
    ['{sentence} ({type}, {username})', 'ann created project shop (api:projects:create, ann)'],
    ['New: {@thing}[ by {nobody}]', 'New: project shop'],
    ['“{name}” by **{username}** | alone: {name}', 'alone: shop'],
  ])('%s', (template, text) => {
    expect(fill(template)).toBe(text)
  })

  it('uses the fields of the event rather than attributes of the same name', () => {
    const attributes = { sentence: 'mine', type: 'mine', username: 'mine' }
    expect(fill('{sentence}, {type}, {username}', { attributes })).toBe(
      'ann created project shop, api:projects:create, ann',
    )
  })

  it('applies to custom events too', () => {
    expect(fill('{name}!', { system: false })).toBe('shop!')
  })

  it('is not filled if the event lacks a value', () => {
    expect(fill('{nothing}')).toBeUndefined()
    expect(fill('{name} by {username}', { username: null })).toBeUndefined()
  })

  it('is one line of at most 200 visible characters', () => {
    const attributes = { name: 'a\r\nBcc: b\u202E', long: 'x'.repeat(1000) }
    expect(fill('{name}', { attributes })).toBe('a Bcc: bU+202E')
    const long = fill('{long} {long} {long}', { attributes })!
    expect([...long]).toHaveLength(200)
  })

  it.each(['', ' ', '{name', 'a ] b', '{name:nope}'])('cannot be %j', (template) => {
    expect(() => readTextTemplate(template)).toThrow(SyntaxError)
  })
})
