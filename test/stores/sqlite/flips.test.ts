import { expect, it } from 'vitest'
import { choosePlace, flipOnce, rightAnswers, seededNumbers } from '../../support/flips.js'
import { sqliteFlips } from '../../support/sqlite-flips.js'

const SEED = 7
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
    const flips = []
    for (let i = 0; i < 20; i++)
      flips.push(await flipOnce(target, choosePlace(pages, next), right, 'wrong'))
    const wrong = flips.filter(({ outcome, isVerified }) => outcome === 'wrong' && !isVerified)
    expect(wrong).toEqual([])
    expect(flips.filter(({ outcome }) => outcome !== 'right').length).toBeGreaterThan(10)
  } finally {
    await target.close()
  }
})
