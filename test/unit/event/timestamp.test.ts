import { formatTimestamp, parseTimestamp } from 'daybook'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/event/timestamp.js'
import { words } from '../../support/words.js'

const SECOND = 1_000_000
/** 2026-03-01T12:00:00Z */
const NOON = 1_772_366_400 * SECOND

describe('formatTimestamp', () => {
  const printed: readonly (readonly [time: number, text: string])[] = [
    [0, '1970-01-01T00:00:00.000000Z'],
    [1, '1970-01-01T00:00:00.000001Z'],
    [999_999, '1970-01-01T00:00:00.999999Z'],
    [-1, '1969-12-31T23:59:59.999999Z'],
    [NOON + 42, '2026-03-01T12:00:00.000042Z'],
    [NOON + 120_000, '2026-03-01T12:00:00.120000Z'],
    [1_709_251_199 * SECOND, '2024-02-29T23:59:59.000000Z'],
    [951_782_400 * SECOND, '2000-02-29T00:00:00.000000Z'],
    [-2_203_891_200 * SECOND, '1900-03-01T00:00:00.000000Z'],
    [-62_167_219_200 * SECOND, '0000-01-01T00:00:00.000000Z'],
    [253_402_300_799 * SECOND, '9999-12-31T23:59:59.000000Z'],
    [9_007_199_254_740_991, '2255-06-05T23:47:34.740991Z'],
  ]
  it.each(printed)('formats %d as %s', (time, text) => {
    expect(formatTimestamp(time)).toBe(text)
  })

  it('formats consecutive times of one second', () => {
    expect([NOON + 999_999, NOON + SECOND, NOON + 7].map(formatTimestamp)).toEqual([
      '2026-03-01T12:00:00.999999Z',
      '2026-03-01T12:00:01.000000Z',
      '2026-03-01T12:00:00.000007Z',
    ])
  })
})

describe('parseTimestamp', () => {
  const read: readonly (readonly [text: string, time: number])[] = [
    ['2026-03-01T12:00:00.000042Z', NOON + 42],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['1900-02-28T00:00:00Z', -2_203_977_600 * SECOND],
    ['1900-03-01T00:00:00Z', -2_203_891_200 * SECOND],
    ['2000-02-29T00:00:00Z', 951_782_400 * SECOND],
    ['2024-02-29T23:59:59Z', 1_709_251_199 * SECOND],
    ['2024-02-29T24:00:00Z', 1_709_251_200 * SECOND],
    ['20240229T2400+0100', 1_709_247_600 * SECOND],
    ['0000-01-01T00:00:00Z', -62_167_219_200 * SECOND],
    ['0000-02-29T00:00:00Z', -62_162_121_600 * SECOND],
    ['9999-12-31T23:59:59Z', 253_402_300_799 * SECOND],
    ['2255-06-05T23:47:34.740991Z', 9_007_199_254_740_991],
    // A leap second, as POSIX counts it.
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1) * 1000],
    ['20161231T235960.5+0000', Date.UTC(2017, 0, 1) * 1000 + 500_000],
    // Fractions of any length: digits beyond microseconds are cut, not rounded.
    ['2026-03-01T12:00:00.1Z', NOON + 100_000],
    ['2026-03-01T12:00:00.12Z', NOON + 120_000],
    ['2026-03-01T12:00:00.123Z', NOON + 123_000],
    ['2026-03-01T12:00:00.1234Z', NOON + 123_400],
    ['2026-03-01T12:00:00.12345Z', NOON + 123_450],
    ['2026-03-01T12:00:00.123456Z', NOON + 123_456],
    ['2026-03-01T12:00:00.1234567Z', NOON + 123_456],
    ['2026-03-01T12:00:00.12345678Z', NOON + 123_456],
    ['2026-03-01T12:00:00.123456789Z', NOON + 123_456],
    ['2026-03-01T12:00:00.000000999Z', NOON],
    ['2026-03-01T12:00:00.999999999Z', NOON + 999_999],
    ['2026-03-01T12:00:00,5Z', NOON + 500_000],
    // Offsets.
    ['2026-03-01T12:00:00', NOON],
    ['2026-03-01T12:00:00+00:00', NOON],
    ['2026-03-01T12:00:00-00:00', NOON],
    ['2026-03-01T14:00:00+02:00', NOON],
    ['2026-03-01T14:00:00+0200', NOON],
    ['2026-03-01T14:00:00+02', NOON],
    ['2026-03-01T14:00:00 02:00', NOON],
    ['2026-03-01T14:00:00.000042 0200', NOON + 42],
    ['2026-03-01T06:30:00-05:30', NOON],
    ['2026-03-02T02:00:00+14:00', NOON],
    ['2026-03-01T00:00:00-12:00', NOON],
    ['2024-03-01T00:59:59+01:00', 1_709_251_199 * SECOND],
    // Missing parts, other separators, lower case.
    ['2026-03-01', NOON - 43_200 * SECOND],
    ['2026-03-01T12:00', NOON],
    ['2026-03-01T12:00Z', NOON],
    ['2026-03-01T14:00+02:00', NOON],
    ['2026-03-01T14:00 02:00', NOON],
    ['2026-03-01 12:00:00Z', NOON],
    ['2026-03-01t12:00:00z', NOON],
    // Basic form.
    ['20260301', NOON - 43_200 * SECOND],
    ['20260301T1200', NOON],
    ['20260301T120000Z', NOON],
    ['20260301T120000.000042Z', NOON + 42],
    ['20260301T140000+0200', NOON],
    ['20260301t120000z', NOON],
  ]
  it.each(read)('parses %s', (text, time) => {
    expect(parseTimestamp(text)).toBe(time)
  })

  const refused = words(`
    now yesterday 1772366400 2026 2026-03 2026-3-1 2026-02-30 2026-02-29 1900-02-29 2100-02-29
    2026-04-31 2026-00-10 2026-13-01 2026-03-00 2026-03-32 20260230 2026-03-01T24:00:01Z
    2026-03-01T24:00:00.1Z 2026-03-01T24:01Z 2026-03-01T25:00:00Z 2026-03-01T12:60:00Z
    2026-03-01T12:00:61Z 2026-03-01T12:00:00+24:00 2026-03-01T12:00:00+02:60
    2026-03-01T12:00:00+2 2026-03-01T12:00:00.Z 2026-03-01T12:00:00.5.5Z 2026-03-01T12:00:00ZZ
    2026-03-01T12:00:00Z+01:00 2026-03-01T12:00:00UTC 2026-03-01T 2026-03-01TT12:00:00Z
    -2026-03-01 +012026-03-01 10000-01-01 ２０２６-03-01 2026-W09-7 2026/03/01 01.03.2026
  `)
  it.each([
    ...refused,
    '',
    ' ',
    ' 2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00Z ',
    '2026-03-01T12:00:00Z\n',
    'Sun Mar 01 2026',
  ])('refuses %j', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })

  it('has the same results for the format of events as for other formats', () => {
    const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`))
    const twoDigits = fc.oneof(digits(2), fc.constantFrom('00', '01', '12', '23', '24', '29', '59'))
    const year = fc.oneof(digits(4), fc.constantFrom('0000', '2024', '9999'))
    fc.assert(
      fc.property(
        year,
        fc.array(twoDigits, { minLength: 5, maxLength: 5 }),
        digits(6),
        (year, parts, fraction) => {
          const [month, day, hour, minute, second] = parts
          const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}`
          const expected = parseTimestamp(`${local}+00:00`)
          expect(parseTimestamp(`${local}Z`)).toBe(expected)
          expect(parseTimestamp(`${local}Z`)).toBe(expected)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('stays within the years 0000 to 9999 with any offset', () => {
    expect(formatTimestamp(parseTimestamp('0000-01-01T00:00:00+01:00')!)).toBe(
      '0000-01-01T00:00:00.000000Z',
    )
    expect(formatTimestamp(parseTimestamp('9999-12-31T23:59:59-01:00')!)).toBe(
      '9999-12-31T23:59:59.000000Z',
    )
  })
})

const anyTime = fc.oneof(
  fc.maxSafeNat(),
  // The first and last microseconds of a second, where rounding errors would be visible.
  fc
    .tuple(fc.nat({ max: 9_007_199_253 }), fc.constantFrom(0, 1, 999_999))
    .map(([second, fraction]) => second * SECOND + fraction),
)

describe('format and parse together', () => {
  it('return every time up to 2^53 - 1 microseconds', () => {
    fc.assert(
      fc.property(anyTime, (time) => {
        const text = formatTimestamp(time)
        expect(text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/)
        expect(parseTimestamp(text)).toBe(time)
      }),
      { numRuns: 2000 },
    )
  })

  it('agree with Date to the millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 9_007_199_254_740 }), (ms) => {
        expect(formatTimestamp(ms * 1000)).toBe(new Date(ms).toISOString().replace('Z', '000Z'))
      }),
      { numRuns: 2000 },
    )
  })

  it('format later times as greater texts', () => {
    fc.assert(
      fc.property(anyTime, anyTime, (left, right) => {
        const order = Math.sign(left - right)
        const [a, b] = [formatTimestamp(left), formatTimestamp(right)]
        expect(a < b ? -1 : a > b ? 1 : 0).toBe(order)
      }),
    )
  })
})

describe('systemClock', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  type Reading = readonly [wallMs: number, fineMs: number, microseconds: number]

  it.each<[title: string, readings: readonly Reading[]]>([
    [
      'counts microseconds from the time of the wall clock',
      [
        [0, 100, 0],
        [0, 100.042, 42],
        [1, 101.25, 1250],
      ],
    ],
    [
      'follows a wall clock that is stepped forward or back',
      [
        [0, 0, 0],
        [60_000, 10, 60 * SECOND],
        [-60_000, 20, -60 * SECOND],
        [-60_000, 20.5, -60 * SECOND + 500],
      ],
    ],
    [
      'follows a wall clock that is slewed away by more than 2 ms',
      [
        [0, 0, 0],
        [12, 10, 10_000],
        [23, 20, 23_000],
      ],
    ],
    [
      'returns whole microseconds',
      [
        [0, 0, 0],
        [0, 0.123_456_789, 123],
      ],
    ],
  ])('%s', (_, [first, ...others]) => {
    const wall = vi.spyOn(Date, 'now')
    const fine = vi.spyOn(performance, 'now')
    const set = ([wallMs, fineMs]: Reading): void => {
      wall.mockReturnValue(NOON / 1000 + wallMs)
      fine.mockReturnValue(fineMs)
    }
    set(first!)
    const clock = systemClock()
    for (const reading of [first!, ...others]) {
      set(reading)
      expect(clock() - NOON).toBe(reading[2])
    }
  })

  it('works with the fake timers of a test runner, which have no timeOrigin', () => {
    vi.stubGlobal('performance', { now: () => 5 })
    vi.spyOn(Date, 'now').mockReturnValue(NOON / 1000)
    const clock = systemClock()
    vi.unstubAllGlobals()
    expect(clock()).toBeGreaterThanOrEqual(NOON)
  })

  it('returns whole microseconds with the real clocks', () => {
    const clock = systemClock()
    const times = Array.from({ length: 1000 }, () => clock())
    expect(times.filter((time) => !Number.isInteger(time))).toEqual([])
  })
})
