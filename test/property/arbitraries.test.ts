import { expect, it } from 'vitest'
import { query } from './arbitraries.js'
import { selectiveShare } from './selective-share.js'

it('more than a third of the random queries return some of the random events, but not all', async () => {
  expect(await selectiveShare(query)).toBeGreaterThan(1 / 3)
})
