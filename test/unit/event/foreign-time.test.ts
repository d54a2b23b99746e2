import { expect, it } from 'vitest'
import { readForeignTime } from '../../../src/event/foreign-time.js'

const TIME = 1_719_828_000_123_456

// Files of records are in test/cli/record-lines.test.ts.
it.each<[value: unknown, time: number | undefined]>([
  [new Date(1_719_828_000_123), 1_719_828_000_123_000],
  [new Date(Number.NaN), undefined],
  [{ toJSON: () => '1719828000123456789' }, TIME],
  ['1719828000.123456', TIME],
  ['171982800012.3456', 171_982_800_012_345],
  [{ text: '1719828000' }, undefined],
  [[1_719_828_000], undefined],
  [true, undefined],
  [undefined, undefined],
  [Number.NaN, undefined],
])('reads %j as %j', (value, time) => {
  expect(readForeignTime(value)).toBe(time)
})
