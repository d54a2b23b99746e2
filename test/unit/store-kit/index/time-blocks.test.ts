import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  TIMES_PER_BLOCK,
  decodeTimes,
  encodeTimes,
} from '../../../../src/store-kit/index/time-blocks.js'

it('decoding gives the encoded times, with any distances', () => {
  const gap = fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 1e13 }))
  fc.assert(
    fc.property(fc.array(gap, { minLength: 1, maxLength: 3 * TIMES_PER_BLOCK }), (gaps) => {
      let time = 1_700_000_000_000_000
      const times = gaps.map((gap) => (time += gap))
      const read: number[] = []
      for (let from = 0; from < times.length; from += TIMES_PER_BLOCK)
        read.push(...decodeTimes(times[from]!, encodeTimes(times, from)))
      expect(read).toEqual(times)
    }),
  )
})
