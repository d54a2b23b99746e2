import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSeals } from '../../../src/subscriptions/seals.js'

const keyOf = (): string => randomBytes(32).toString('base64')

describe('secrets', () => {
  it('are encrypted, differently each time, and decrypted by the same key', () => {
    const seals = createSeals(keyOf())
    const secrets = { secret: 'whsec_ä', headers: { authorization: 'Bearer x' } }
    const [first, second] = [seals.seal('id', secrets)!, seals.seal('id', secrets)!]
    expect(first).not.toBe(second)
    expect(Buffer.from(first, 'base64').includes('whsec_')).toBe(false)
    expect(seals.open('id', first)).toEqual(secrets)
    expect(seals.open('id', second)).toEqual(secrets)
  })

  it('are decrypted by any of the keys, and encrypted by the first', () => {
    const [former, next] = [keyOf(), keyOf()]
    const sealed = createSeals(former).seal('id', { a: 1 })
    const both = createSeals([next, former])
    expect(both.open('id', sealed)).toEqual({ a: 1 })
    const again = both.seal('id', { a: 2 })
    expect(createSeals(next).open('id', again)).toEqual({ a: 2 })
    expect(() => createSeals(former).open('id', again)).toThrow(
      expect.objectContaining({ code: 'NO_SECRETS_KEY' }),
    )
  })

  it('of one channel are not decrypted for another channel, or after a change of a bit', () => {
    const seals = createSeals(keyOf())
    const sealed = seals.seal('one', { a: 1 })!
    const refused = expect.objectContaining({ code: 'NO_SECRETS_KEY' })
    expect(() => seals.open('two', sealed)).toThrow(refused)
    const bytes = Buffer.from(sealed, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(() => seals.open('one', changed.toString('base64'))).toThrow(refused)
    }
    expect(() => seals.open('one', 'AAAA')).toThrow(refused)
  })

  it('need no key if they are empty', () => {
    const seals = createSeals(undefined)
    expect(seals.seal('id', {})).toBeUndefined()
    expect(seals.open('id', undefined)).toEqual({})
    expect(() => seals.seal('id', { a: 1 })).toThrow(
      expect.objectContaining({ code: 'NO_SECRETS_KEY' }),
    )
  })

  it.each([
    ['short', randomBytes(16).toString('base64')],
    ['long', randomBytes(33).toString('base64')],
    ['empty', ''],
    ['no text', 7 as never],
  ])('are not encrypted with a key that is %s', (_, key) => {
    const message = 'secretsKey must be the base64 of 32 bytes'
    expect(() => createSeals([keyOf(), key])).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    )
  })
})
