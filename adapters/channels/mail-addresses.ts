import { domainToASCII } from 'node:url'
import type { Fail } from './read-options.js'

/** A sender as nodemailer takes it. */
export interface MailSender {
  readonly name: string
  readonly address: string
}

const ADDRESS = String.raw`[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+`
const PLAIN = new RegExp(`^${ADDRESS}$`, 'u')
const NAMED = new RegExp(String.raw`^(?:([^<>"\p{C}]*)<(${ADDRESS})>|(${ADDRESS}))$`, 'u')

const MAX_ADDRESS = 254
const MAX_RECIPIENTS = 50

/** `audit@acme.example`, or `Audit <audit@acme.example>`. */
export function readSender(given: unknown, fail: Fail): MailSender {
  const [, name = '', inBrackets, plain = ''] =
    (typeof given === 'string' && NAMED.exec(given)) || []
  const address = inBrackets ?? plain
  if (address === '' || address.length > MAX_ADDRESS)
    throw fail('from', 'must be an e-mail address, or a name and an address in angle brackets')
  return { name: name.trim(), address }
}

/** Plain addresses, each once. */
export function readRecipients(given: unknown, fail: Fail): readonly string[] {
  const addresses: readonly unknown[] = Array.isArray(given) ? given : [given]
  const areValid = addresses.every(
    (one) => typeof one === 'string' && one.length <= MAX_ADDRESS && PLAIN.test(one),
  )
  if (!areValid || addresses.length === 0 || addresses.length > MAX_RECIPIENTS)
    throw fail('to', `must be 1 to ${MAX_RECIPIENTS} e-mail addresses`)
  return [...new Set(addresses as readonly string[])]
}

/** The domain in letters that every header can hold. */
export function domainOf({ address }: MailSender): string {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return domainToASCII(domain) || 'localhost'
}
