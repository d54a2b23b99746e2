import { File } from 'node:buffer'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact, redactWithin } from '../../../src/event/redact.js'
import { type RedactOptions, secretsOf } from '../../../src/event/secrets.js'

const redactBody = (body: unknown, options?: RedactOptions): unknown =>
  redactWithin(body, ['request_body'], secretsOf(options), Infinity).copy

const within = (body: unknown, maxBytes: number) => {
  const { copy, isCut } = redactWithin(body, ['request_body'], secretsOf(), maxBytes)
  return { copy, isCut }
}

describe('a redacted copy', () => {
  it('hides an object only in secret places', () => {
    const shared = { number: 1 }
    expect(redactBody({ a: shared, b: shared }, { paths: ['request_body.b.number'] })).toEqual({
      a: { number: 1 },
      b: { number: '[redacted]' },
    })
  })

  it('hides secret values of any kind at any depth, and leaves the original as it is', () => {
    const body = {
      name: 'ann',
      password: 'pw',
      nested: { list: [{ apiKey: 'k', other: 1 }] },
      access_token: { raw: 't' },
      'set-cookie': ['a=b'],
      clientSecret: 1,
      passphrase: '',
    }
    const R = '[redacted]'
    expect(redact(body)).toEqual({
      name: 'ann',
      password: R,
      nested: { list: [{ apiKey: R, other: 1 }] },
      access_token: R,
      'set-cookie': R,
      clientSecret: R,
      passphrase: R,
    })
    expect(body.password).toBe('pw')
  })

  it.each([[undefined], [null], [1], ['password'], [true]])('of %j is the same', (value) => {
    expect(redact(value)).toBe(value)
  })

  it('does not read secrets', () => {
    const body = {
      get password(): string {
        throw new Error('read')
      },
    }
    expect(redact(body)).toEqual({ password: '[redacted]' })
  })

  it('redacts secrets wherever JSON would contain them', () => {
    class User {
      name = 'ann'
      password = 'hush'
    }
    const body = {
      user: new User(),
      map: new Map([['token', 'hush']]),
      set: new Set([{ pin: 'hush' }]),
      own: { toJSON: () => ({ secret: 'hush', shown: 1 }) },
      bare: Object.assign(Object.create(null) as object, { cvv: 'hush' }),
      date: new Date(0),
      error: new TypeError('broken'),
    }
    expect(redact(body)).toEqual({
      user: { name: 'ann', password: '[redacted]' },
      map: { token: '[redacted]' },
      set: [{ pin: '[redacted]' }],
      own: { secret: '[redacted]', shown: 1 },
      bare: { cvv: '[redacted]' },
      date: '1970-01-01T00:00:00.000Z',
      error: 'TypeError: broken',
    })
  })

  it('describes bytes, files and streams', () => {
    const body = {
      buffer: Buffer.alloc(10_000, 1),
      numbers: new Float64Array(3),
      plain: new ArrayBuffer(5),
      file: new File(['hello'], 'a.txt', { type: 'text/plain' }),
      stream: new PassThrough(),
      web: new ReadableStream(),
    }
    expect(redact(body)).toEqual({
      buffer: { bytes: 10_000 },
      numbers: { bytes: 24 },
      plain: { bytes: 5 },
      file: { name: 'a.txt', type: 'text/plain', bytes: 5 },
      stream: { stream: true },
      web: { stream: true },
    })
  })

  it('terminates for any value', () => {
    const cycle: Record<string, unknown> = { password: 'p' }
    cycle['self'] = cycle
    expect(redact(cycle)).toEqual({ password: '[redacted]', self: null })

    const deep = JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) as unknown
    expect(JSON.stringify(redact(deep)).length).toBeLessThan(300)

    let wide: unknown = 'x'
    for (let i = 0; i < 60; i++) wide = [wide, wide]
    expect(within(wide, 10_000).isCut).toBe(true)

    const endless = { toJSON: (): unknown => ({ next: { toJSON: endless.toJSON } }) }
    expect(JSON.stringify(redact(endless)).length).toBeLessThan(2000)

    const long: unknown[] = []
    long.length = 2 ** 32 - 1
    expect(within(long, 100).isCut).toBe(true)
  })

  it('has null for unreadable values', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no')
        },
      },
    )
    const body = {
      before: 1,
      proxy,
      hostile,
      get getter() {
        throw new Error('no')
      },
      toJSON: 'just a text',
      after: 2,
    }
    const expected = { before: 1, proxy: null, hostile: null, getter: null, after: 2 }
    expect(redact(body)).toEqual({ ...expected, toJSON: 'just a text' })
    expect(redact(proxy)).toBeNull()
  })

  it('keeps a key named __proto__', () => {
    const body = JSON.parse('{"__proto__":{"pin":1,"x":2},"constructor":3}') as unknown
    const copy = redact(body) as object
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"pin":"[redacted]","x":2},"constructor":3}')
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })
})

describe('a copy with a size limit', () => {
  it('is complete if it fits', () => {
    const body = { text: 'x'.repeat(90), n: 1 }
    const bytes = JSON.stringify(body).length
    expect(within(body, bytes + 2)).toEqual({ copy: body, isCut: false })
    expect(within(body, bytes - 1).isCut).toBe(true)
  })

  it('has the beginning of long texts and the short members after them', () => {
    const body = { text: 'x'.repeat(5000), list: Array.from({ length: 999 }, () => 'y'), id: 7 }
    const { copy, isCut } = within(body, 1000)
    expect(isCut).toBe(true)
    const { text, list, id } = copy as typeof body
    expect(text).toMatch(/^x{450,500}$/)
    expect(list.length).toBeGreaterThan(40)
    expect(id).toBe(7)
  })

  it('cuts text between characters', () => {
    expect(within('ab😀😀', 10)).toEqual({ copy: 'ab😀', isCut: true })
    expect(within('ab😀😀', 9)).toEqual({ copy: 'ab', isCut: true })
    expect(within('\0\0\0', 18)).toEqual({ copy: '\0\0', isCut: true })
    expect(within('abc', 2)).toEqual({ copy: undefined, isCut: true })
  })

  it('is empty if nothing fits', () => {
    expect(within({ a: 1 }, 0)).toEqual({ copy: undefined, isCut: true })
    expect(within({ a: 1 }, 2)).toEqual({ copy: {}, isCut: true })
  })

  it('never exceeds the limit, and equals the full copy if it is not cut', () => {
    const keys = fc.string({ unit: 'binary', maxLength: 8 }).map((key) => `_${key}_`)
    const { body } = fc.letrec((tie) => ({
      body: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(true, false, null),
        fc.array(tie('body')),
        fc.dictionary(keys, tie('body')),
      ),
    }))
    let cuts = 0
    fc.assert(
      fc.property(body, fc.nat(300), (value, maxBytes) => {
        const { copy, isCut } = redactWithin(value, ['x'], () => false, maxBytes)
        if (isCut) cuts++
        else expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
        expect(Buffer.byteLength(JSON.stringify(copy) ?? '')).toBeLessThanOrEqual(maxBytes)
      }),
      { numRuns: 400 },
    )
    expect(cuts).toBeGreaterThan(20)
  })

  it('is made of an object with so many references that a full copy would never end', () => {
    let value: unknown = 'x'
    for (let i = 0; i < 90; i++) value = [value, value]
    expect(JSON.stringify(redact(value, 1000)).length).toBeLessThanOrEqual(1000)
  })
})
