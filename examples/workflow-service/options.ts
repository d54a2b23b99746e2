import { parse, join } from 'node:path'

/** Where the log and the service's own data are kept: the same for both. */
export type StoreOption =
  | { readonly kind: 'sqlite'; readonly filename: string }
  | { readonly kind: 'postgres'; readonly connectionString: string }
  | { readonly kind: 'memory' }

export interface ServiceOptions {
  /** 0 takes a free port. */
  readonly port: number
  readonly store: StoreOption
  /** Whether simulated users use the service. */
  readonly traffic: boolean
}

/** A setting that cannot be used; the message is for whoever started the service. */
export class OptionError extends Error {}

export function readPort(text = '3000'): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new OptionError(`PORT must be a number from 0 to 65535; it is ${JSON.stringify(text)}`)
  return port
}

export function readStore(text = 'sqlite:daybook.db'): StoreOption {
  if (text === 'memory:') return { kind: 'memory' }
  if (/^postgres(ql)?:/.test(text)) return { kind: 'postgres', connectionString: readUrl(text) }
  const filename = /^sqlite:(.+)$/.exec(text)?.[1]
  if (filename === undefined || filename === ':memory:')
    throw new OptionError(
      `DAYBOOK_STORE must be sqlite:<file>, memory: or ${URL_FORM}; it is ${JSON.stringify(text)}`,
    )
  return { kind: 'sqlite', filename }
}

const URL_FORM = 'postgres://<user>:<password>@<host>:<port>/<database>'

/** The messages do not repeat the URL: there may be a password in it. */
function readUrl(text: string): string {
  try {
    const { username, password, pathname } = new URL(text)
    const parts = [username, password, pathname].map(decodeURIComponent)
    if (parts[2]!.length > 1) return text
  } catch {
    throw new OptionError(
      `DAYBOOK_STORE must be ${URL_FORM}, other characters than letters and digits as %XX; it cannot be read`,
    )
  }
  throw new OptionError(`DAYBOOK_STORE must be ${URL_FORM}; it names no database`)
}

export function readTraffic(text = 'on'): boolean {
  if (text !== 'on' && text !== 'off')
    throw new OptionError(`DAYBOOK_TRAFFIC must be on or off; it is ${JSON.stringify(text)}`)
  return text === 'on'
}

/** The file of the service's own data, beside the log's: `daybook.db` -> `daybook-service.db`. */
export function serviceFile(logFile: string): string {
  const { dir, name, ext } = parse(logFile)
  return join(dir, `${name}-service${ext}`)
}
