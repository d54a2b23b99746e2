import { parse, join } from 'node:path'
import type { Overrides } from './settings.js'
import type { Timings } from './timings.js'

/** The database of the log and of the service's own data. */
export type StoreOption =
  | { readonly kind: 'sqlite'; readonly filename: string }
  | { readonly kind: 'postgres'; readonly connectionString: string }
  | { readonly kind: 'memory' }

export interface ServiceOptions {
  /** 0 selects a free port. */
  readonly port: number
  readonly store: StoreOption
  /** True if simulated users send requests. */
  readonly traffic: boolean
  /** True if a log without events gets some days of history. */
  readonly history?: boolean
  /** True if the service has a receiver of webhooks and mails, and subscriptions that deliver to it. */
  readonly receivers?: boolean
  readonly overrides?: Overrides
  readonly timings?: Partial<Timings>
}

/** An invalid setting; the message is for the operator. */
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

/** The messages do not repeat the URL, which may contain a password. */
function readUrl(text: string): string {
  try {
    const { username, password, pathname } = new URL(text)
    const parts = [username, password, pathname].map(decodeURIComponent)
    if (parts[2]!.length > 1) return text
  } catch {
    throw new OptionError(
      `DAYBOOK_STORE must be ${URL_FORM}, with special characters as %XX; it is not a valid URL`,
    )
  }
  throw new OptionError(`DAYBOOK_STORE must be ${URL_FORM}; it names no database`)
}

export function readTraffic(text = 'on'): boolean {
  if (text !== 'on' && text !== 'off')
    throw new OptionError(`DAYBOOK_TRAFFIC must be on or off; it is ${JSON.stringify(text)}`)
  return text === 'on'
}

/** History is for people who try the service, not for scripts, nor for stores that are soon gone. */
export const wantsHistory = (
  isTerminal: boolean | undefined,
  { store, traffic }: Pick<ServiceOptions, 'store' | 'traffic'>,
): boolean => isTerminal === true && traffic && store.kind !== 'memory'

/** Receivers too are for people who try the service. */
export const wantsReceivers = (
  isTerminal: boolean | undefined,
  { traffic }: Pick<ServiceOptions, 'traffic'>,
): boolean => isTerminal === true && traffic

const OVERRIDE = /^WORKFLOW_OVERRIDE_(\w+)$/

/** Settings that variables such as `WORKFLOW_OVERRIDE_MAINTENANCE_MODE=true` override. */
export function readOverrides(environment: NodeJS.ProcessEnv): Overrides {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([variable, text]) => {
      const name = OVERRIDE.exec(variable)?.[1]?.toLowerCase()
      return name === undefined || text === undefined ? [] : [[name, scalarIn(text)]]
    }),
  )
}

/** A number, true, false or null, else the text itself. */
function scalarIn(text: string): string | number | boolean | null {
  return /^(-?\d+(\.\d+)?|true|false|null)$/.test(text)
    ? (JSON.parse(text) as number | boolean | null)
    : text
}

/** A path next to the log. */
const besideLog = (logFile: string, part: string, ending: string): string => {
  const { dir, name } = parse(logFile)
  return join(dir, `${name}-${part}${ending}`)
}

/** The file of the service's own data: `daybook.db` -> `daybook-service.db`. */
export const serviceFile = (logFile: string): string =>
  besideLog(logFile, 'service', parse(logFile).ext)

/** The file with the keys of persons: `daybook.db` -> `daybook-subjects.db`. */
export const subjectsFile = (logFile: string): string =>
  besideLog(logFile, 'subjects', parse(logFile).ext)

/** The folder of the ledger: `daybook.db` -> `daybook-ledger`. */
export const ledgerFolder = (logFile: string): string => besideLog(logFile, 'ledger', '')
