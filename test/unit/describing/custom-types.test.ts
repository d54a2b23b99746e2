import {
  AuditLog,
  describeEvent,
  german,
  sentenceText,
  type AuditEvent,
  type JsonObject,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { customTypeOf } from '../../../src/event/custom-types.js'

const customTypes = {
  'shop:*': { label: 'Shop', sentence: '| something happened in the shop' },
  'shop:orders:*': { sentence: 'changed order **{number}**' },
  'shop:orders:pay': {
    label: 'Till',
    description: 'an order was paid',
    sentence: 'paid order **{number}**[: {error}]',
    sentences: { de: 'bezahlte die Bestellung **{number}**[: {error}]' },
  },
}

const event = (type: string, attributes: JsonObject = {}, system = false): AuditEvent => ({
  id: '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77',
  created_at: '2026-11-24T00:00:00.000000Z',
  username: 'ann',
  system,
  type,
  source: null,
  attributes,
})

const told = (...args: Parameters<typeof event>): string =>
  sentenceText(describeEvent(event(...args), { customTypes }))

describe('customTypeOf', () => {
  it.each([
    ['shop:orders:pay', 'shop:orders:pay'],
    ['shop:orders:refund', 'shop:orders:*'],
    ['shop:orders:refund:denied', 'shop:orders:*'],
    ['shop:open', 'shop:*'],
    ['shop', undefined],
    ['shops:open', undefined],
    ['constructor', undefined],
  ])('of %s is %s', (type, key) => {
    expect(customTypeOf(customTypes, type)).toBe(
      key === undefined ? undefined : customTypes[key as keyof typeof customTypes],
    )
  })
})

describe('sentences of custom events', () => {
  it('are the sentences of their type, after its label', () => {
    expect(told('shop:orders:pay', { number: 7 })).toBe('ann [Till] paid order 7')
    expect(told('shop:orders:refund', { number: 7 })).toBe('ann [custom] changed order 7')
    expect(told('shop:open')).toBe('ann: [Shop] something happened in the shop')
  })

  it('show the type if the event lacks a value of the sentence', () => {
    expect(told('shop:orders:pay', { amount: 3 })).toBe('ann: [Till] shop:orders:pay: 3')
  })

  it('exist in other languages', () => {
    const sentence = describeEvent(event('shop:orders:pay', { number: 7, error: 'no money' }), {
      customTypes,
      language: german,
    })
    expect(sentenceText(sentence)).toBe('ann [Till] bezahlte die Bestellung 7: no money')
  })

  it('are not used for system events, which have other sentences', () => {
    expect(told('shop:orders:pay', { number: 7 }, true)).not.toContain('paid order')
  })
})

describe('the option customTypes', () => {
  const logWith = (types: object): AuditLog =>
    new AuditLog({ store: memoryStore(), types: {}, customTypes: types as never })

  it('is kept by the log', async () => {
    const audit = logWith(customTypes)
    expect(audit.customTypes).toBe(customTypes)
    await audit.close()
  })

  it.each([
    [{ 'shop:*:pay': {} }, '"shop:*:pay" may have a * only at its end, after a colon'],
    [{ 'shop*': {} }, '"shop*" may have a * only at its end, after a colon'],
    [{ 'a:b': null }, '"a:b" takes an object with label'],
    [{ 'a:b': { label: '' } }, '"a:b" label must be a text of 1 to 40 characters'],
    [{ 'a:b': { sentence: '{' } }, '"a:b" sentence: '],
    [{ 'a:b': { sentences: { de: '[' } } }, '"a:b" sentences.de: '],
  ])('refuses %j', (types, message) => {
    expect(() => logWith(types)).toThrow(`customTypes: ${message}`)
  })
})
