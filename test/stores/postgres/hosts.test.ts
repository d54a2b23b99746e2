import { describe, expect, it } from 'vitest'
import { hostsOf } from '../../../adapters/postgres/ha/hosts.js'

const stringsOf = (text: string, given?: readonly string[]): string[] =>
  hostsOf(text, given).map(({ connectionString }) => connectionString)

describe('a connection string for each host', () => {
  it.each<[text: string, strings: string[]]>([
    ['postgres://h1:5432,h2:5433/db', ['postgres://h1:5432/db', 'postgres://h2:5433/db']],
    ['postgresql://h1,h2', ['postgresql://h1', 'postgresql://h2']],
    [
      'postgres://app:a,b%40c@h1,[::1]:5433/db?sslmode=require',
      [
        'postgres://app:a,b%40c@h1/db?sslmode=require',
        'postgres://app:a,b%40c@[::1]:5433/db?sslmode=require',
      ],
    ],
    [
      'postgres://h1,h2/db?target_session_attrs=read-write&application_name=x',
      ['postgres://h1/db?application_name=x', 'postgres://h2/db?application_name=x'],
    ],
    [
      'postgres://app@/db?host=h1,::1,/var/run&port=1,,3',
      ['postgres://app@h1:1/db', 'postgres://app@[::1]/db', 'postgres://app@%2Fvar%2Frun:3/db'],
    ],
    ['postgres:///db?host=h1,h2&port=7', ['postgres://h1:7/db', 'postgres://h2:7/db']],
  ])('%s', (text, strings) => {
    expect(stringsOf(text)).toEqual(strings)
  })

  it('passes a connection string with one host to pg', () => {
    for (const text of ['postgres://app@h1:1/db?host=/tmp&port=x', '/tmp db', 'socket:/tmp?db=a'])
      expect(stringsOf(text)).toEqual([text])
  })

  it('uses the given hosts instead of the hosts in the connection string', () => {
    expect(stringsOf('postgres://app@h1,h2/db', ['h3', 'h4:5'])).toEqual([
      'postgres://app@h3/db',
      'postgres://app@h4:5/db',
    ])
    expect(stringsOf('postgres://app@/db?host=h1', ['h2'])).toEqual(['postgres://app@h2/db'])
  })

  it('names hosts without user and password', () => {
    const hosts = hostsOf('postgres://app:secret@h1:1,h2/db', undefined)
    expect(hosts.map(({ name }) => name)).toEqual(['h1:1', 'h2'])
  })

  it.each<[text: string, given: readonly string[] | undefined, message: RegExp]>([
    ['postgres://a:secret@h1,/db', undefined, /^host 2 of the Postgres store is empty$/],
    ['postgres://a:secret@,h2/db', undefined, /^host 1 of the Postgres store is empty$/],
    ['postgres://a:secret@h1:x,h2/db', undefined, /^host 1 .* it is h1:x$/],
    ['postgres://a:secret@h1,h2:65536/db', undefined, /^the port of the host h2 .* it is 65536$/],
    ['postgres://a:secret@h1,::1/db', undefined, /^host 2 .* it is ::1$/],
    ['postgres:///db?host=h1,h2&port=1,2,3', undefined, /has 2 hosts, but 3 ports$/],
    ['postgres:///db?host=h1,h2&port=1,x', undefined, /^the port of the host h2 .* it is x$/],
    ['postgres://h1,h2/db?target_session_attrs=any', undefined, /^target_session_attrs .* is any$/],
    ['postgres://h1/db', [], /^hosts must be an array of at least one host$/],
    ['postgres://h1/db', ['h1', 'a:secret@h2'], /^host 2 .* it is …@h2$/],
    ['/tmp db', ['h1', 'h2'], /connectionString must begin with postgres:\/\/$/],
  ])('refuses %s with %j', (text, given, message) => {
    let error: unknown
    try {
      hostsOf(text, given)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(message),
    })
    expect((error as Error).message).not.toContain('secret')
  })
})
