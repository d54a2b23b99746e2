import type { EventDraft } from 'daybook'
import { expect, it } from 'vitest'
import { draftRows, encodeAhead } from '../../../adapters/postgres/write/draft-rows.js'

const draft = (number: number, attributes: EventDraft['attributes']): EventDraft => ({
  suffix: `800000000000000${number}`,
  username: number % 2 === 0 ? null : 'ann',
  system: number % 2 === 0,
  type: 'api:orders:create',
  source: number === 1 ? '/api/orders/ü' : null,
  attributes,
  json: JSON.stringify(attributes),
})

const makeDrafts = (): EventDraft[] => [
  draft(0, {}),
  draft(1, { text: 'grün 😀', list: [1, null, { deep: true }] }),
  draft(2, Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`name-${n}`, n]))),
]

it('drafts that are encoded ahead have the same rows', () => {
  const drafts = makeDrafts()
  encodeAhead(drafts.slice(1))
  encodeAhead(drafts)
  const rows = draftRows(drafts, 16_384)
  expect(rows.equals(draftRows(makeDrafts(), 16_384))).toBe(true)
  expect(rows.length).toBeGreaterThan(drafts[2]!.json.length)
})

it('a draft that was encoded ahead and found afterwards has its time', () => {
  const foundAt = new Map([['8000000000000001', 1_800_000_000_000_000]])
  const drafts = makeDrafts()
  encodeAhead(drafts)
  const rows = draftRows(drafts, 16_384, foundAt)
  expect(rows.equals(draftRows(makeDrafts(), 16_384, foundAt))).toBe(true)
  expect(rows.length).toBe(draftRows(drafts, 16_384).length + 8)
})
