import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { carriesTime, eventId, parseEventId, suffixSource } from '../../../src/event/event-id.js'
import { isUuid } from '../../../src/event/uuid.js'

/** 2026-03-01T12:00:00Z is 1,772,366,400,000 ms, in hexadecimal 19ca9450a00. */
const NOON = 1_772_366_400_000_000
const SUFFIX = '98c4dc0c0c07398f'

const anySuffix = fc
  .tuple(fc.constantFrom('8', '9', 'a', 'b'), fc.bigInt({ min: 0n, max: 2n ** 60n - 1n }))
  .map(([variant, random]) => variant + random.toString(16).padStart(15, '0'))

it('an id contains the time from which it was made', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), anySuffix, (time, other, suffix) => {
      const id = eventId(time, suffix)
      expect(carriesTime(id, time)).toBe(true)
      expect(carriesTime(id, time + 1)).toBe(false)
      expect(carriesTime(id, other)).toBe(time === other)
    }),
  )
  expect(carriesTime('019ca945-0a00-4000-98c4-dc0c0c07398f', NOON)).toBe(false)
})

describe('eventId', () => {
  it('carries the millisecond, the microsecond as a fraction of 4096, and the suffix', () => {
    expect(eventId(NOON, SUFFIX)).toBe('019ca945-0a00-7000-98c4-dc0c0c07398f')
    // 42 * 4096 / 1000 = 172.03
    expect(eventId(NOON + 42, SUFFIX)).toBe('019ca945-0a00-70ac-98c4-dc0c0c07398f')
    // 999 * 4096 / 1000 = 4091.9
    expect(eventId(NOON + 999, SUFFIX)).toBe('019ca945-0a00-7ffb-98c4-dc0c0c07398f')
    expect(eventId(NOON + 1000, SUFFIX)).toBe('019ca945-0a01-7000-98c4-dc0c0c07398f')
  })

  it('contains the millisecond of the example in RFC 9562, appendix A.6', () => {
    expect(eventId(1_645_557_742_000_000, SUFFIX)).toBe('017f22e2-79b0-7000-98c4-dc0c0c07398f')
  })

  it('can represent the first and the last time', () => {
    expect(eventId(0, SUFFIX)).toBe('00000000-0000-7000-98c4-dc0c0c07398f')
    // 991 * 4096 / 1000 = 4059.1
    expect(eventId(9_007_199_254_740_991, SUFFIX)).toBe('083126e9-78d4-7fdb-98c4-dc0c0c07398f')
  })

  it('is a UUID of version 7 and of the RFC variant', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), anySuffix, (time, suffix) => {
        expect(eventId(time, suffix)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
      }),
    )
  })

  it('sorts by time', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.nat({ max: 3000 }),
        anySuffix,
        anySuffix,
        (from, step, a, b) => {
          const to = Math.min(from + step + 1, Number.MAX_SAFE_INTEGER)
          fc.pre(to > from)
          expect(eventId(from, a) < eventId(to, b)).toBe(true)
        },
      ),
    )
  })
})

describe('parseEventId', () => {
  it('returns every microsecond of a millisecond', () => {
    const times = Array.from({ length: 1000 }, (_, micro) => NOON + micro)
    expect(times.map((time) => parseEventId(eventId(time, SUFFIX)))).toEqual(
      times.map((time) => ({ time, suffix: SUFFIX })),
    )
  })

  it('gives back any time and suffix', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), anySuffix, (time, suffix) => {
        expect(parseEventId(eventId(time, suffix))).toEqual({ time, suffix })
      }),
    )
  })

  it.each([
    ['version 4', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'],
    ['version 1', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
    [
      'a version 7 with a fraction that is not a whole microsecond',
      '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    ],
    ['a fraction beyond the last microsecond', '019ca945-0a00-7fff-98c4-dc0c0c07398f'],
    ['the nil UUID', '00000000-0000-0000-0000-000000000000'],
    ['upper case', '019CA945-0A00-7000-98C4-DC0C0C07398F'],
    ['braces', '{019ca945-0a00-7000-98c4-dc0c0c07398f}'],
    ['no hyphens', '019ca9450a00700098c4dc0c0c07398f'],
    ['a digit too few', '019ca945-0a00-7000-98c4-dc0c0c07398'],
    ['a line break after it', '019ca945-0a00-7000-98c4-dc0c0c07398f\n'],
    ['no digits', '019ca945-0a00-7000-98c4-dc0c0c07398g'],
    ['nothing', ''],
  ])('returns undefined for %s', (_, id) => {
    expect(parseEventId(id)).toBeUndefined()
  })
})

describe('isUuid', () => {
  it('accepts any UUID in lower case', () => {
    expect(isUuid('f81d4fae-7dec-41d0-a765-00a0c91e6bf6')).toBe(true)
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true)
    expect(isUuid('F81D4FAE-7dec-41d0-a765-00a0c91e6bf6')).toBe(false)
    expect(isUuid('f81d4fae7dec41d0a76500a0c91e6bf6')).toBe(false)
    expect(isUuid('x')).toBe(false)
  })
})

describe('suffixSource', () => {
  it('makes suffixes of the given random bytes, with the variant bits set', () => {
    const fill = (byte: number) => suffixSource((bytes) => bytes.fill(byte))
    expect(fill(0x00)()).toBe('8000000000000000')
    expect(fill(0xff)()).toBe('bfffffffffffffff')
    expect(fill(0x5a)()).toBe('9a5a5a5a5a5a5a5a')
  })

  it('uses each random byte once', () => {
    let next = 0
    const suffix = suffixSource((bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = next++ & 0xff
      return bytes
    })
    expect([suffix(), suffix(), suffix()]).toEqual([
      '8001020304050607',
      '88090a0b0c0d0e0f',
      '9011121314151617',
    ])
  })

  it('draws suffixes that are all different', () => {
    const suffix = suffixSource()
    const suffixes = new Set(Array.from({ length: 10_000 }, () => suffix()))
    expect(suffixes.size).toBe(10_000)
    for (const drawn of suffixes) expect(drawn).toMatch(/^[89ab][0-9a-f]{15}$/)
  })

  it('draws new random bytes when the old ones are used up', () => {
    let fills = 0
    const suffix = suffixSource((bytes) => bytes.fill(fills++))
    const suffixes = new Set(Array.from({ length: 1000 }, () => suffix()))
    expect(suffixes.size).toBe(fills)
    expect(fills).toBeGreaterThan(1)
  })
})
