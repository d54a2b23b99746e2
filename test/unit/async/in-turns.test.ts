import { expect, it } from 'vitest'
import { callInTurns } from '../../../src/async/in-turns.js'

it('calls for each item once, some in each turn of the event loop', async () => {
  const items = new Set(Array.from({ length: 600 }, (_, i) => i))
  const called: number[] = []
  let inFirstTurn = 0
  setImmediate(() => {
    inFirstTurn = called.length
    items.delete(599)
  })
  await callInTurns(items, (item) => called.push(item))
  expect(called).toEqual(Array.from({ length: 599 }, (_, i) => i))
  expect(inFirstTurn).toBeGreaterThan(0)
  expect(inFirstTurn).toBeLessThan(600)
})
