import { expect, it } from 'vitest'
import { type LostAttempt, recoveryRequest } from '../../../adapters/sqlite/write/lost-attempts.js'

const lost = (since: number, ...suffixes: string[]): LostAttempt => ({
  suffixes,
  since,
  isShared: false,
  retriedLater: undefined,
})

it.each([
  ['in order', [lost(10, 'a'), lost(20, 'b')]],
  ['in the opposite order', [lost(20, 'a'), lost(10, 'b')]],
])('the events of several lost attempts, %s, are looked for since the first', (_, attempts) => {
  const { recovered, rejected } = recoveryRequest(attempts, [], undefined)
  expect(rejected).toEqual({ suffixes: ['a', 'b'], since: 10 })
  expect(recovered).toEqual({ events: new Map(), searchedTo: 10 })
})

it('drafts that other processes may append, or that are appended again later, are not removed', () => {
  const attempts: LostAttempt[] = [
    { ...lost(20, 'shared'), isShared: true },
    { ...lost(10, 'later', 'removed'), retriedLater: new Set(['later']) },
  ]
  expect(recoveryRequest(attempts, [], undefined).rejected?.suffixes).toEqual(['removed'])
})

it('without a lost attempt, nothing is looked for', () => {
  expect(recoveryRequest([], [], undefined)).toEqual({ drafts: [], recovered: undefined })
})
