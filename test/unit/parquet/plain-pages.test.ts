import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPlainPages, type PlainPage } from '../../../src/parquet/plain-pages.js'

const PAGE_BYTES = 64

const pagesOf = () => createPlainPages(PAGE_BYTES, { level: 4 })

function textsIn({ bytes, size, rows }: PlainPage): string[] {
  const page = gunzipSync(bytes)
  expect(page.length).toBe(size)
  const texts: string[] = []
  let at = 0
  while (at < page.length) {
    const start = at + 4
    const end = start + page.readUInt32LE(at)
    texts.push(page.toString('utf8', start, end))
    at = end
  }
  expect(texts).toHaveLength(rows)
  return texts
}

const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      '',
      'x'.repeat(60),
      'x'.repeat(61),
      '€'.repeat(20),
      '€'.repeat(21),
      '😀'.repeat(99),
    ),
  ),
)

describe('pages of texts', () => {
  it('have all texts in their order, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, async (first, second) => {
        const pages = pagesOf()
        for (const given of [first, second]) {
          const sizes = given.map((text) => pages.add(text))
          expect(sizes).toEqual(given.map((text) => Buffer.byteLength(text)))
          const taken = await pages.take()
          expect(taken.flatMap(textsIn)).toEqual(given)
          for (const [index, page] of taken.entries()) {
            if (page.rows > 1) expect(page.size).toBeLessThanOrEqual(PAGE_BYTES)
            const next = taken[index + 1]
            // The first text of the next page had no room in this one.
            if (next)
              expect(page.size + 4 + Buffer.byteLength(textsIn(next)[0]!)).toBeGreaterThan(
                PAGE_BYTES,
              )
          }
        }
      }),
    )
  })

  it('are filled while others are compressed', async () => {
    const pages = pagesOf()
    const given = Array.from({ length: 1000 }, (_, n) => `text ${n} `.repeat(3))
    for (const text of given) pages.add(text)
    expect((await pages.take()).flatMap(textsIn)).toEqual(given)
    for (const text of given) pages.add(text)
    expect((await pages.take()).flatMap(textsIn)).toEqual(given)
  })

  it('without texts there are no pages', async () => {
    expect(await pagesOf().take()).toEqual([])
  })
})
