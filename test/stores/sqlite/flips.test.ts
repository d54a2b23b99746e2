import { afterAll, expect, it } from 'vitest'
import { flipOnce, makeFile, pagesOf, rightAnswers, seededNumbers } from '../../support/flips.js'
import { tempDir } from '../../support/temp.js'

const temp = tempDir()
afterAll(() => temp.remove())

const SEED = 7
const TABLES = new Set([
  'daybook_events',
  'daybook_chunks',
  'daybook_segment_times',
  'daybook_segments',
])

it('a flipped bit in events and segments gives no wrong list that nothing reports', async () => {
  const files = { base: temp.file('base.db'), copy: temp.file('copy.db') }
  await makeFile(files.base)
  const right = await rightAnswers(files.base)
  const pages = new Map([...pagesOf(files.base)].filter(([table]) => TABLES.has(table)))
  const next = seededNumbers(SEED)
  const flips = []
  for (let i = 0; i < 20; i++)
    flips.push(await flipOnce(files, pages, right, { next, asks: 'wrong' }))
  const wrong = flips.filter(({ outcome, isVerified }) => outcome === 'wrong' && !isVerified)
  expect(wrong).toEqual([])
  expect(flips.filter(({ outcome }) => outcome === 'reported').length).toBeGreaterThan(10)
})
