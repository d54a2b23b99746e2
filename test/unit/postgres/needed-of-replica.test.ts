import { expect, it } from 'vitest'
import { neededFor } from '../../../adapters/postgres/log/replica.js'

it.each([
  ['no token', undefined, 50],
  ['an older token', 20, 50],
  ['a newer token', 70, 70],
])('with %s, a replica needs the events of this process and of the token', (_, time, needed) => {
  const token = time === undefined ? undefined : { time, wal: undefined }
  expect(neededFor({ appended: 50, walPosition: undefined }, token).time).toBe(needed)
})
