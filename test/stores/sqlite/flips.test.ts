import { expect, it } from 'vitest'
import {
  choosePlace,
  type Flip,
  flipOnce,
  rightAnswers,
  seededNumbers,
} from '../../support/flips.js'
import { sqliteFlips } from '../../support/sqlite-flips.js'

const SEED = 7
// About every second flip is noticed. Ids and times differ in each run, so the same places hold other bytes.
const MIN_NOTICED = 4
const MAX_FLIPS = 60
const TABLES: ReadonlySet<string> = new Set([
  'daybook_events',
  'daybook_chunks',
  'daybook_segment_times',
  'daybook_segments',
])

it('a flipped bit in events and segments gives no wrong list that nothing reports', async () => {
  const target = await sqliteFlips()
  try {
    const right = await rightAnswers(target)
    const pages = new Map([...target.pages].filter(([table]) => TABLES.has(table)))
    const next = seededNumbers(SEED)
    const wrong: Flip[] = []
    let noticed = 0
    for (let i = 0; i < MAX_FLIPS && noticed < MIN_NOTICED; i++) {
      const flip = await flipOnce(target, choosePlace(pages, next), right, 'wrong')
      if (flip.outcome === 'wrong' && !flip.isVerified) wrong.push(flip)
      if (flip.outcome !== 'right') noticed += 1
    }
    expect(wrong).toEqual([])
    expect(noticed).toBe(MIN_NOTICED)
  } finally {
    await target.close()
  }
})
