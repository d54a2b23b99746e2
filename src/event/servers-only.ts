import { redactText } from './secret-values.js'
import { REDACTED } from './secrets.js'

/* The path of a webhook URL of Slack, Discord or Teams is a secret, because anyone who has it can post there. */

// A URL up to its end, in any text. The expression begins after the scheme, so a match never fails after it has read
// much.
const URL_REST = /:\/\/([^\s"'<>`\\]*)/g
const HOST = /^(?:[\p{L}\p{N}._-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/iu

/** Punctuation at the end of a URL in a sentence. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && '.,;:)}'.includes(text[end - 1]!)) end--
  return end
}

/** The server in the text after a scheme: without user, password, path, query and fragment. */
function serverIn(rest: string): string {
  const [authority = ''] = rest.split(/[/?#]/, 1)
  const end = endOf(authority)
  const host = authority.slice(authority.lastIndexOf('@') + 1, end)
  // A password with a slash in it would become the port, or a part of it would become the host.
  const isUser = authority.includes(':') && rest.lastIndexOf('@') > authority.length
  if (isUser || !HOST.test(host)) return REDACTED
  return rest === authority ? host + rest.slice(end) : host
}

/** The text with each URL cut to its server, and without recognisable secrets. */
export const serversOnly = (text: string): string =>
  redactText(text.replaceAll(URL_REST, (_, rest: string) => `://${serverIn(rest)}`))

/** A copy in which each text is as {@link serversOnly} returns it. The value is JSON. */
export function withServersOnly<Value>(value: Value): Value {
  if (typeof value === 'string') return serversOnly(value) as Value
  if (Array.isArray(value)) return value.map(withServersOnly) as Value
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => [name, withServersOnly(member)])
  return Object.fromEntries(members) as Value
}
