import { expect, it } from 'vitest'
import { attackParser, attackPost } from '../campaigns/parser.js'

// `npm run attack -- parser` has more rounds, and holds the time of each.
const SEED = 20_261_123

it('the parser refuses mutated queries with AuditLogError, and nothing else', () => {
  const failures: string[] = []
  const failed = (what: string): unknown => failures.push(what)
  const { refused, queries } = attackParser({ seed: SEED, from: 0, rounds: 5000, failed })
  expect(failures.filter((what) => !/\d ms for/.test(what))).toEqual([])
  expect(refused).toBeGreaterThan(queries / 10)
  expect(refused).toBeLessThan(queries)
})

it('POST answers mutated bodies with 201 or 4xx', async () => {
  const failures: string[] = []
  const failed = (what: string): unknown => failures.push(what)
  const { created, bodies } = await attackPost({ seed: SEED, from: 0, rounds: 1500, failed })
  expect(failures).toEqual([])
  expect(created).toBeGreaterThan(0)
  expect(created).toBeLessThan(bodies)
})
