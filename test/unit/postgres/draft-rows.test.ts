import type { EventDraft } from 'daybook'
import { expect, it } from 'vitest'
import { draftRows } from '../../../adapters/postgres/write/draft-rows.js'

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

it('only rows of found drafts have times', () => {
  const drafts = makeDrafts()
  const rows = draftRows(drafts, 16_384)
  const found = draftRows(drafts, 16_384, new Map([['8000000000000001', 1_800_000_000_000_000]]))
  const time = Buffer.alloc(8)
  time.writeBigInt64BE(1_800_000_000_000_000n)
  expect(found.length).toBe(rows.length + time.length)
  expect([rows, found].map((all) => all.includes(time))).toEqual([false, true])
  for (const { json } of drafts) expect(rows.includes(json)).toBe(true)
})

it('an array without rows has no dimension', () => {
  expect(draftRows([], 16_384).length).toBe(12)
})
