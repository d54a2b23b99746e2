import {
  AuditLogError,
  defineEventTypes,
  describeEvent,
  german,
  sentenceText,
  type SentenceLanguage,
  sourceLabel,
} from 'daybook'
import { describe, expect, it } from 'vitest'
import { change, eventOf, step } from './examples.js'

const inGerman = (event: Parameters<typeof eventOf>[0], types = {}): string =>
  sentenceText(describeEvent(eventOf(event), { types, language: german }), german)

describe('German sentences of types without a template', () => {
  it.each([
    ['api:changes:create', change, 'ann hat die Änderung nightly im Projekt acme angelegt'],
    ['api:changes:create', {}, 'ann hat eine Änderung angelegt'],
    [
      'audit:steps:approve:denied',
      step,
      'ann durfte den Schritt Warm cache der Änderung nightly nicht genehmigen',
    ],
    ['api:orders:create', { name: 'A-17' }, 'ann hat order A-17 angelegt'],
    ['api:orders:update', { name: 'A-17' }, 'ann hat order A-17 geändert'],
    [
      'api:projects:update',
      {
        name: 'Acme',
        changes: [
          { op: 'replace', path: '/limit', value: 2, before: 1 },
          { op: 'add', path: '/owner', value: 'bob' },
        ],
      },
      'ann hat das Projekt Acme geändert (2 Felder): limit, owner',
    ],
    [
      'error:agent:start',
      { name: 'runner-1', error: 'timeout' },
      'ann konnte den Agenten runner-1 nicht starten: timeout',
    ],
    ['warn:disk:almost_full', { error: '93 %' }, 'ann: disk almost full: 93 %'],
    [
      'audit:steps:reject',
      { ...step, message: 'nicht am Freitag' },
      'ann hat den Schritt Warm cache der Änderung nightly abgelehnt: „nicht am Freitag“',
    ],
    [
      'api:changes:start',
      { ...change, on_behalf_of: 'bob' },
      'ann im Auftrag von bob hat die Änderung nightly gestartet',
    ],
    [
      'api:changes:start',
      { ...change, suppressed_count: 14 },
      'ann hat die Änderung nightly gestartet (14 weitere unterdrückt)',
    ],
  ])('%s with %o', (type, attributes, expected) => {
    expect(inGerman({ type, username: 'ann', attributes })).toBe(expected)
  })

  it('are headlines without a user', () => {
    expect(inGerman({ type: 'api:changes:start', attributes: change })).toBe(
      'Änderung nightly gestartet',
    )
    expect(inGerman({ type: 'error:agent:stop', attributes: {} })).toBe(
      'Agent konnte nicht gestoppt werden',
    )
  })

  it('show custom events as they are', () => {
    expect(
      inGerman({
        type: 'deploy:done',
        system: false,
        username: 'ann',
        attributes: { name: 'web', size: 12_000 },
      }),
    ).toBe('ann: [eigenes] deploy:done: web')
  })

  it('write numbers, sizes and times as German does', () => {
    const types = defineEventTypes({
      'api:pushes:create': {
        sentences: { de: 'hat {count} Commits gepusht, {bytes:bytes}' },
      },
    })
    const attributes = { count: 12_480, bytes: 18_200 }
    const event = { type: 'api:pushes:create', username: 'ann', attributes }
    expect(inGerman(event, types)).toBe('ann hat 12.480 Commits gepusht, 18,2 kB')
  })

  it('name the kind of the source', () => {
    const event = eventOf({ type: 'api:steps:start', attributes: step })
    expect(sourceLabel(event, { language: german })).toEqual({
      kind: 'Schritt',
      name: 'Warm cache',
    })
  })
})

describe('the sentences of a type', () => {
  const types = defineEventTypes({
    'api:orders:create': {
      sentence: 'ordered **{name}**',
      sentences: { de: 'hat **{name}** bestellt', fr: 'a commandé **{name}**' },
    },
    'api:orders:cancel': { sentence: 'took **{name}** back' },
  })
  const order = (type: string) => eventOf({ type, username: 'ann', attributes: { name: 'A-17' } })

  it('are used in their language', () => {
    const french: SentenceLanguage = { ...german, tag: 'fr', quotes: ['« ', ' »'] }
    const textIn = (language?: SentenceLanguage): string =>
      sentenceText(describeEvent(order('api:orders:create'), { types, language }))
    expect(textIn()).toBe('ann ordered A-17')
    expect(textIn(german)).toBe('ann hat A-17 bestellt')
    expect(textIn(french)).toBe('ann a commandé A-17')
  })

  it('are the sentences without a language if the language has none', () => {
    const sentence = describeEvent(order('api:orders:cancel'), { types, language: german })
    expect(sentenceText(sentence)).toBe('ann took A-17 back')
  })

  it('are checked', () => {
    const define = () => defineEventTypes({ 'a:b:c': { sentences: { de: 'hat {name' } } })
    expect(define).toThrow(AuditLogError)
    expect(define).toThrow(/^event type a:b:c: sentences\.de: /)
  })

  it('can show only the names of resources', () => {
    const named = defineEventTypes({
      'api:steps:start': { sentence: '| {@thing:name} in {@change:name}[ of {@project:name}]' },
    })
    const event = eventOf({ type: 'api:steps:start', attributes: step })
    expect(sentenceText(describeEvent(event, { types: named }))).toBe(
      'Warm cache in nightly of acme',
    )
  })
})
