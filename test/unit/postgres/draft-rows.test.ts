import type { EventDraft } from 'daybook'
import { expect, it } from 'vitest'
import { createDraftEncoder } from '../../../adapters/postgres/write/draft-rows.js'

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

const rowsOf = (drafts: readonly EventDraft[], foundAt?: ReadonlyMap<string, number>): Buffer =>
  createDraftEncoder().rows(drafts, 16_384, foundAt)

it('prepared drafts have the same rows as others', () => {
  const encoder = createDraftEncoder()
  const drafts = makeDrafts()
  encoder.prepare(drafts)
  const rows = encoder.rows(drafts, 16_384)
  expect(rows.equals(rowsOf(makeDrafts()))).toBe(true)
  expect(rows.length).toBeGreaterThan(drafts[2]!.json.length)
})

it('the rows are those of the drafts that are asked for, whatever was prepared', () => {
  const drafts = makeDrafts()
  const encoder = createDraftEncoder()
  const foundAt = new Map([['8000000000000001', 1_800_000_000_000_000]])
  for (const prepared of [drafts.slice(1), [...drafts, draft(3, {})], drafts.toReversed()]) {
    encoder.prepare(prepared)
    expect(encoder.rows(drafts, 16_384).equals(rowsOf(drafts))).toBe(true)
  }
  encoder.prepare(drafts)
  const found = encoder.rows(drafts, 16_384, foundAt)
  expect(found.equals(rowsOf(drafts, foundAt))).toBe(true)
  expect(found.length).toBe(rowsOf(drafts).length + 8)
  encoder.prepare(drafts)
  expect(encoder.rows([], 16_384).equals(rowsOf([]))).toBe(true)
  expect(rowsOf([]).length).toBe(12)
})
