import { usageError } from '../terminal/exit-codes.js'

export type TargetKind = 'sqlite' | 'postgres' | 'http'

/** The address of a log. */
export type Target =
  | { readonly kind: 'sqlite'; readonly filename: string }
  | {
      readonly kind: 'postgres'
      readonly connectionString: string
      readonly schema?: string | undefined
    }
  | { readonly kind: 'http'; readonly url: URL }

const POSTGRES = /^postgres(?:ql)?:\/\//
const HTTP = /^https?:\/\//

/** The part of an address with several hosts. The store checks these. */
const HOSTS = /(?<=^[^/]*\/\/(?:[^/?#]*@)?)[^@/?#]*,[^@/?#]*(?=[/?#]|$)/

/**
 * True if the driver can read the address. The driver accepts an empty host after a user, and percent signs that
 * encode nothing, except at the end.
 */
const isPostgresAddress = (text: string): boolean =>
  URL.canParse(text.replace('@/', '@localhost/').replace(HOSTS, 'localhost')) &&
  !/%[\da-f]?$/i.test(text)

/** Reads a path, a Postgres URL or the address of a feed. */
export function readTarget(text: string, { schema }: { readonly schema?: string } = {}): Target {
  if (text === '') throw usageError('the log has no name')
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(text)?.[1]
  if (POSTGRES.test(text) && !isPostgresAddress(text))
    throw usageError('the address of Postgres is not valid')
  if (POSTGRES.test(text)) return { kind: 'postgres', connectionString: text, schema }
  if (schema !== undefined) throw usageError('--schema is only for a log on Postgres')
  if (HTTP.test(text)) {
    if (!URL.canParse(text)) throw usageError('the address of the feed is not valid')
    return { kind: 'http', url: new URL(text) }
  }
  const isFile = scheme === undefined || /^(?:sqlite|file)$/i.test(scheme)
  if (!isFile)
    throw usageError(
      `${scheme}:// is not a log: give the path of a SQLite file, postgres://… or http(s)://…`,
    )
  return { kind: 'sqlite', filename: text.replace(/^sqlite:(?:\/\/)?|^file:\/\//i, '') }
}

/** An address without user, password, query and fragment. */
function withoutCredentials(address: string): string {
  const [, scheme = '', rest = ''] = /^(\w+:\/\/)(.*)$/s.exec(address) ?? []
  const end = rest.search(/[?#]/)
  const head = end === -1 ? rest : rest.slice(0, end)
  // An unencoded `?` or `#` in a password ends the head too early. Then the rest is hidden.
  const isUser = !head.includes('@') && rest.includes('@')
  return scheme + (isUser ? '…' : head.slice(head.lastIndexOf('@') + 1))
}

/** The target for messages, without a password. */
export function targetName(target: Target): string {
  if (target.kind === 'sqlite') return target.filename
  if (target.kind === 'http') return target.url.origin + target.url.pathname
  return withoutCredentials(target.connectionString)
}
