import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  countDrafts,
  decodeDrafts,
  encodeDrafts,
  type WrittenDraft,
} from '../../../adapters/sqlite/schema/draft-memory.js'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const textOrNull = fc.option(text)

const drafts: fc.Arbitrary<WrittenDraft[]> = fc.array(
  fc.record({
    suffix: fc.string({ minLength: 16, maxLength: 16 }),
    username: textOrNull,
    system: fc.boolean(),
    type: text,
    source: textOrNull,
    json: fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify(value)),
      text,
    ),
    throttle: fc.option(
      fc.record({ key: text, scope: fc.dictionary(text, text), period: fc.nat() }),
      { nil: undefined },
    ),
    live: fc.constantFrom(undefined, true as const),
  }),
)

it('drafts in memory are the drafts that were given', () => {
  fc.assert(
    fc.property(drafts, (given) => {
      // Without `Object.prototype` of scopes.
      const plain = JSON.parse(JSON.stringify(given)) as WrittenDraft[]
      const memory = encodeDrafts(given)
      expect(countDrafts(memory)).toBe(given.length)
      expect(JSON.parse(JSON.stringify(decodeDrafts(memory)))).toEqual(plain)
    }),
  )
})
