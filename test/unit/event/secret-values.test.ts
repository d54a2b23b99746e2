import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { redact, redactWithin } from '../../../src/event/redact.js'
import { redactText } from '../../../src/event/secret-values.js'
import { secretsOf } from '../../../src/event/secrets.js'

const R = '[redacted]'
/** Joins parts of secrets, so that scanners of repositories do not report them. */
const join = (...parts: string[]): string => parts.join('')
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const JWT = join('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2lnbmF0dXJl')
const AWS_SECRET = join('wJalrXUtnFEMI/K7MDENG', '/bPxRfiCYEXAMPLEKEY')
const PEM = join('-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIEow-IBAAK\n-----END RSA PRIVATE KEY-----')

describe('a secret in a text', () => {
  it.each([
    [JWT, R],
    [`got ${JWT}, which expired`, `got ${R}, which expired`],
    [`token%3D${JWT}`, `token%3D${R}`],
    [`a ${PEM} b`, `a ${R} b`],
    [PEM.slice(0, 45), R],
    [PEM.slice(0, 50), R],
    [AWS_SECRET, R],
    [`AKIAIOSFODNN7EXAMPLE:${AWS_SECRET}`, `AKIAIOSFODNN7EXAMPLE:${R}`],
    [join('ghp_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'), R],
    [join('glpat-', 'x1y2z3x1y2z3x1y2z3x1'), R],
    [join('xoxb-', '123456789012-abcdefABCDEF'), R],
    [join('sk_live_', '4eC39HqLyjWDarjtT1zdp7dc'), R],
    [join('AIza', 'SyA1234567890abcdefghijklmnopqrstuv'), R],
    [`Authorization: Basic ${base64('ann:hush')}`, `Authorization: ${R}`],
    [`failed with Basic ${base64('ann:hush')}, `, `failed with Basic ${R}, `],
    ['sent Bearer abc.def_123 to x', `sent Bearer ${R} to x`],
    ['postgres://ann:hush@db/main', `postgres://ann:${R}@db/main`],
    ['postgres://ann:hu/sh@db:5432/main', `postgres://ann:${R}@db:5432/main`],
    ['https://x.org:8080/a?u=redis://:hush@r', `https://x.org:8080/a?u=redis://:${R}@r`],
    ['user=ann&password=hush&x=1', `user=ann&password=${R}&x=1`],
    ['user[password]=hush', `user[password]=${R}`],
    ['/cb?code=hush&state=1', `/cb?code=${R}&state=1`],
    ['Server=db;Password=hush;Port=1', `Server=db;Password=${R};Port=1`],
    ['{"user":"ann","apiKey": "hu sh","n":1}', `{"user":"ann","apiKey": "${R}","n":1}`],
    [
      String.raw`{\"token\":\"hush\",\"n\":1}`,
      String.raw`{\"token\":\"` + `${R}${String.raw`\",\"n\":1}`}`,
    ],
    ['{"password"=>"hush"}', `{"password"=>"${R}"}`],
    ['<user><password>hush</password></user>', `<user><password>${R}</password></user>`],
    ['login --password hush --port 1', `login --password ${R} --port 1`],
    ['aws_secret_access_key = abc', `aws_secret_access_key = ${R}`],
    ['Cookie: a=1; sid=2\nHost: x', `Cookie: ${R}\nHost: x`],
    ['Incorrect API key: q1w2', `Incorrect API key: ${R}`],
    ['password := "hush"', `password := "${R}"`],
  ])('%s', (text, shown) => {
    expect(redactText(text)).toBe(shown)
    expect(redactText(shown)).toBe(shown)
  })

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    'aws_access_key_id=AKIAIOSFODNN7EXAMPLE',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    '7b9c2ad0-9d3e-4c1b-8a57-0d6f7f0f6a11',
    'Basic authentication is required',
    'the bearer token is missing',
    'password: must be longer',
    'SubjectUserSid: S-1-5-18',
    'PublicKeyToken=b77a5c561934e089',
    'Token Elevation Type:\t%%1936',
    '-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----',
    'https://example.org:8080/@ann',
    'mailto:ann@example.org',
    'task-0123456789012345678901234567890',
    '2026-11-22T10:11:12.345Z',
    '/usr/local/lib/node_modules/typescript/lib',
    'country code=DE',
  ])('is not found in %s', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('is redacted in keys, deep values and errors', () => {
    const value = { [JWT]: 1, deep: [{ note: `x ${JWT}` }], error: new Error(`no ${JWT}`) }
    expect(redact(value)).toEqual({
      [R]: 1,
      deep: [{ note: `x ${R}` }],
      error: `Error: no ${R}`,
    })
  })

  it('is redacted before the text is cut', () => {
    const text = `${'x'.repeat(90)} ${JWT}`
    expect(JSON.stringify(redact(text, 110))).not.toContain('eyJ')
  })
})

describe('events of other systems', () => {
  const redactedIn = (file: string): string[] =>
    fs
      .readFileSync(new URL(`../../fixtures/${file}`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .flatMap((line) => redactWithin(JSON.parse(line), [], secretsOf(), Infinity).redacted)

  it('are shown without their secrets', () => {
    // The fixture contains a session token.
    expect(redactedIn('cloud-trail.ndjson')).toEqual(['/responseElements/credentials'])
    expect(redactedIn('windows-log.ndjson')).toEqual([])
  })
})

describe('a hostile text', () => {
  const parts = ['eyJ', 'eyJa.', '-----BEGIN PRIVATE KEY-----', '-a', '://a:', 'a:', 'password=']
    .concat(['"password":"', String.raw`\"password\":\"`, 'bearer ', 'ghp_', 'aA0+/', 'cookie:x\n'])
    .concat(['password ', '--password ', '://a:b@', '<password>', ' ', '=', 'SG.', '\\', 'key '])
    .concat([String.raw`\a`, 'a', '-'])
    .concat([
      'password:{',
      'password:',
      'password: a ',
      'password: |\n a',
      'password:a(',
      'é=',
      '密码：',
    ])
    .concat(['the password is a ', 'password is ', "password '", "password'", 'identified with a '])
    .concat([
      'login a ',
      'name=a ',
      '"name":"a",',
      '"name":"password","value":',
      'value=',
      'key: a\n',
    ])
    .concat([
      'curl -u ',
      'curl ',
      'mysql -',
      'docker login -p',
      ' -u a',
      'form-data; name="a"\r\n\r\n',
    ])
    .concat(['" is not valid JSON', 'Unexpected token a, "', 'JSON Parse error: "', ':AA', '1'])
    .concat(['hooks.slack.com/', 'discord.com/api/v1/', 'https://a@', '...', 'passe ', "l'"])
  const hostile = parts.concat(parts.map((part) => `password="${part}`))

  /** The processor time of all expressions, so that other processes do not count. */
  function cost(bytes: number): number {
    const texts = hostile.map((part) => part.repeat(bytes / part.length))
    const { user } = process.cpuUsage()
    for (const text of texts)
      redactText(`eyJ PRIVATE KEY :// @ bearer -- JSON value login .com/ is ${text}`)
    return process.cpuUsage().user - user
  }

  it('takes time in proportion to its length', () => {
    cost(1 << 14)
    const perByte = cost(1 << 15) / (1 << 15)
    // If an expression took quadratic time, its time would be 16 times as long.
    expect(cost(1 << 18) / (1 << 18)).toBeLessThan(4 * perByte)
  })

  it('is searched by expressions that read a bounded part from each position', () => {
    const sources = ['assigned-secrets', 'spoken-secrets'].map((name) =>
      fs.readFileSync(new URL(`../../../src/event/${name}.ts`, import.meta.url), 'utf8'),
    )
    const literals = sources.flatMap(
      (source) => source.match(/\/(?![/*]).+\/[a-z]*g[a-z]*(?=[,)\n])/g) ?? [],
    )
    expect(literals.length).toBeGreaterThan(10)
    // The text without escapes and classes: then a star, a plus or an open range is an unbounded repetition.
    const unbounded = literals.filter((literal) =>
      /[*+]|\{\d+,\}/.test(literal.replaceAll(/\\./g, 'a').replaceAll(/\[[^\]]*\]/g, 'a')),
    )
    expect(unbounded).toEqual([])
  })

  it('of one long value does not exhaust the stack', () => {
    for (const part of ['a', String.raw`\a`, '-', '\\', '-a', '.a']) {
      const long = part.repeat(2 << 20)
      expect(redactText(`password="${long}`)).toBe(`password="${R}`)
      expect(redactText(`eyJ${long}`).length).toBeGreaterThan(0)
      expect(redactText(`-----BEGIN PRIVATE KEY-----${long}`)).toMatch(/^\[redacted\]-*$/)
    }
  })
})
