import { describe, expect, it } from 'vitest'
import { redactWithin } from '../../../src/event/redact.js'
import { type RedactOptions, secretsOf } from '../../../src/event/secrets.js'
import { words } from '../../support/words.js'
import { errorWith } from '../errors.js'

const redactBody = (body: unknown, options: RedactOptions): unknown =>
  redactWithin(body, ['request_body'], secretsOf(options), Infinity).copy

const isSecret = (key: string, options?: RedactOptions): boolean => secretsOf(options)(['x', key])

describe('keys that are secret by default', () => {
  const secret = words(`
    password passwd newPassword Password_Confirmation pwd pass passphrase token tokens csrfToken
    refresh-token authorization Proxy-Authorization cookie Set-Cookie client_secret credentials
    clientSecret access_token Authorization apiKey api-key API_KEY x-api-key PRIVATE_KEY
    access_key signingKey encryption_key ssh_key sessionId jwt pin card_pin cardPin pin2 otp
    OTP_code cvv cvc sid connect.sid PHPSESSID JSESSIONID auth_code authorizationCode
    recovery_codes backupCodes verification_code passkey security_answer SAMLResponse assertion
    client_assertion code_verifier connection_string DATABASE_URL redisUrl dsn mnemonic
    seed_phrase pw card_number creditCardNumber cvv2 iban ssn _csrf X-XSRF-Token 2fa_code
    secret_access_key secret_id storageKey
  `)
  it.each(secret)('%s', (key) => {
    expect(isSecret(key)).toBe(true)
  })

  const others = words(`
    key project_key keyboard primaryKey foreign_key name shipping opinion pinned spinner
    passenger pass_count bypass author description SubjectUserSid TargetSid TerminalSessionId
    accessKeyId aws_access_key_id NextToken TokenElevationType ElevatedToken max_tokens
    password_changed_at token_expires_in secret_name cookie_policy iban_country pwned code
    status_code country_code zipCode discard processId assessId 0
  `)
  it.each([...others, ''])('does not include %s', (key) => {
    expect(isSecret(key)).toBe(false)
  })
})

describe('the key code', () => {
  it('is secret in a body, unless it is the code of a thing', () => {
    const things = { project: { code: 'A', name: 'x' }, parent: { code: 'B', node_type: 'x' } }
    expect(redactBody({ code: '123456', grant_type: 'x', ...things }, {})).toEqual({
      code: '[redacted]',
      grant_type: 'x',
      ...things,
    })
    expect(redactBody({ code: '1' }, { except: ['code'] })).toEqual({ code: '1' })
  })

  it('is not secret in the path or in data that the host describes', () => {
    const secret = secretsOf()
    expect(redactWithin({ code: 'A' }, ['url_params'], secret, 99).copy).toEqual({ code: 'A' })
    expect(redactWithin({ code: 'A' }, [], secret, 99).copy).toEqual({ code: 'A' })
  })
})

describe('redaction settings', () => {
  it('can add keys, in any spelling', () => {
    const isSecret = secretsOf({ keys: ['shoeSize', /^iban_/g, 'größe'] })
    const keys = ['shoe_size', 'Shoe-Size', 'SHOESIZE', 'iban_1', 'iban_2', 'GRÖßE', 'größe']
    expect(keys.filter((key) => isSecret(['x', key]))).toEqual(keys)
    const others = ['shoe_size_2', 'my_iban_1', 'grösse']
    expect(others.filter((key) => isSecret(['x', key]))).toEqual([])
  })

  it('can add paths', () => {
    const body = {
      card: { number: '4711', brand: 'visa' },
      number: 1,
      items: [{ note: 'n', number: 2 }, { note: 'm' }],
      by: { ann: { note: 'x' } },
    }
    const paths = ['request_body.card.number', 'request_body.items.*.note', 'request_body.by.*']
    expect(redactBody(body, { paths })).toEqual({
      card: { number: '[redacted]', brand: 'visa' },
      number: 1,
      items: [{ note: '[redacted]', number: 2 }, { note: '[redacted]' }],
      by: { ann: '[redacted]' },
    })
    expect(redactBody(body, { paths: ['request_body'] })).toBe('[redacted]')
    expect(redactBody(body, { paths: ['request_body.items.1'] })).toMatchObject({
      items: [{ note: 'n' }, '[redacted]'],
    })
  })

  it('can exempt keys, which paths still redact', () => {
    const body = { tokenSum: 7, token: 't' }
    expect(redactBody(body, { except: ['token_sum'] })).toEqual({
      tokenSum: 7,
      token: '[redacted]',
    })
    const paths = ['request_body.tokenSum']
    expect(redactBody(body, { except: ['token_sum'], paths })).toMatchObject({
      tokenSum: '[redacted]',
    })
  })

  it.each([
    [{ keys: 'password' }, 'redact.keys must be a list of keys and expressions'],
    [{ keys: [''] }, 'redact.keys'],
    [{ keys: [7] }, 'redact.keys'],
    [{ paths: [''] }, 'redact.paths must be a list of keys joined by dots'],
    [{ paths: ['a..b'] }, 'redact.paths'],
    [{ paths: [/a/] }, 'redact.paths'],
    [{ except: [/a/] }, 'redact.except must be a list of keys'],
  ])('cannot be %j', (options, message) => {
    expect(() => secretsOf(options as RedactOptions)).toThrow(errorWith('INVALID_OPTION', message))
  })
})
