import { AuditLogError, type AuditLogErrorCode } from '../../../src/errors.js'

/** The exit codes of all commands, with their meanings. */
export const exitCodes = {
  done: [0, 'the command did what it was asked to do'],
  failed: [1, 'the command failed, or found something wrong'],
  usage: [2, 'an argument, an option or the query is wrong; nothing was done'],
  unproved: [2, 'no head from outside proves the log, or it could not be verified'],
  unreachable: [3, 'the log cannot be reached, or there is none'],
  forbidden: [4, 'the log refuses this user'],
  hungUp: [129, 'SIGHUP ended the command'],
  interrupted: [130, 'Ctrl-C ended the command'],
  terminated: [143, 'SIGTERM ended the command'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>

export type Exit = keyof typeof exitCodes

/** Exits of a command that a signal of the system ends. */
export const SIGNALS = {
  SIGHUP: 'hungUp',
  SIGINT: 'interrupted',
  SIGTERM: 'terminated',
} as const satisfies Partial<Record<NodeJS.Signals, Exit>>

/** An error with a message for the user; any other error is reported in the same form. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exit: Exit
  /** The nearest valid word, if one is similar. */
  readonly suggestion: string | undefined

  constructor(exit: Exit, message: string, suggestion?: string) {
    super(message)
    this.exit = exit
    this.suggestion = suggestion
  }
}

export const usageError = (message: string, suggestion?: string): CommandError =>
  new CommandError('usage', message, suggestion)

const EXIT_OF: Readonly<Partial<Record<AuditLogErrorCode, Exit>>> = {
  ABORTED: 'interrupted',
  INVALID_OPTION: 'usage',
  INVALID_VALUE: 'usage',
  MALFORMED_PARAMETER: 'usage',
  NO_LEDGER: 'usage',
  NOT_SEALED: 'usage',
  MALFORMED_PROOF: 'usage',
  QUERY_TOO_LARGE: 'usage',
  READ_ONLY: 'forbidden',
  UNKNOWN_ATTRIBUTE: 'usage',
  UNKNOWN_PARAMETER: 'usage',
  UNKNOWN_PREDICATE: 'usage',
}

/**
 * Exits by error codes in the causes of an error: codes of the operating system, of SQLite and of Postgres (SQLSTATE,
 * also by class).
 */
const EXIT_OF_CAUSE: readonly (readonly [RegExp, Exit])[] = [
  [/^(?:28...|42501|3D000|EACCES|EPERM|SQLITE_(?:AUTH|PERM|READONLY)\w*)$/, 'forbidden'],
  [
    /^(?:ENOENT|ENOTDIR|ECONN\w+|ENOTFOUND|EAI_\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|08...|57P0.|53300|SQLITE_CANTOPEN\w*)$/,
    'unreachable',
  ],
]

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  const several = error instanceof AggregateError ? error.errors.flatMap(codesOf) : []
  return [...own, ...several, ...codesOf(error.cause)]
}

/** The exit of a command that ended with this error. */
export function exitOf(error: unknown): Exit {
  if (error instanceof CommandError) return error.exit
  const known = error instanceof AuditLogError ? EXIT_OF[error.code] : undefined
  if (known) return known
  const codes = codesOf(error)
  const found = EXIT_OF_CAUSE.find(([pattern]) => codes.some((code) => pattern.test(code)))
  return found?.[1] ?? 'failed'
}

/** The message of an error, with messages of causes that add information. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const several = error instanceof AggregateError ? error.errors.map(messageOf) : []
  const own = [error.message, ...several].find((text) => text !== '') ?? error.name
  const cause = error.cause === undefined ? '' : messageOf(error.cause)
  return cause === '' || own.includes(cause) ? own : `${own}: ${cause}`
}
