import { AuditLogError, type AuditLogErrorCode, errorCodes } from '../../../src/errors.js'
import { CommandError, type Exit } from '../terminal/exit-codes.js'

/* Errors of a command for the answers and the failures of a feed. */

interface Problem {
  readonly code?: unknown
  readonly title?: unknown
  readonly detail?: unknown
  readonly source?: { readonly parameter?: unknown; readonly pointer?: unknown }
}

/** The error of a feed that is out of reach, or whose service fails. A later attempt may succeed. */
export class OutageError extends CommandError {}

const JSON_TYPE = /^application\/(?:vnd\.api\+)?json\b/i

export const isJson = (response: Response): boolean =>
  JSON_TYPE.test(response.headers.get('content-type') ?? '')

export const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '')

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const isCoreCode = (code: string | undefined): code is AuditLogErrorCode =>
  code !== undefined && Object.hasOwn(errorCodes, code)

async function readProblem(response: Response): Promise<Problem | undefined> {
  if (!isJson(response)) return undefined
  try {
    const document = (await response.json()) as { readonly errors?: readonly Problem[] }
    return document.errors?.[0]
  } catch {
    return undefined
  }
}

/** Codes of statuses from 500 on that say what is wrong with the request or the log, and not that the service fails. */
const STATED: ReadonlySet<AuditLogErrorCode> = new Set([
  'QUERY_TIMEOUT',
  'NOT_SEALED',
  'LEDGER_DIVERGED',
])

const EXITS: Readonly<Record<number, Exit>> = {
  400: 'usage',
  401: 'forbidden',
  403: 'forbidden',
  422: 'usage',
  // Too many failed logins.
  429: 'forbidden',
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
}

function errorOf(status: number, message: string): CommandError {
  const exit = EXITS[status] ?? 'failed'
  return status >= 500 ? new OutageError(exit, message) : new CommandError(exit, message)
}

/** The error of a response that cannot come from an audit feed, such as an HTML page. */
function notOfAFeed({ status, url, headers }: Response): CommandError {
  const type = headers.get('content-type')?.split(';')[0] ?? 'nothing'
  const message = `${withoutQuery(url)} answers ${status} with ${type}, which no audit feed does`
  return status < 300 || status === 404
    ? new CommandError('unreachable', message)
    : errorOf(status, message)
}

/**
 * The error of an unexpected response. For codes that stores also use, it is the same error as theirs, so that
 * commands end in the same way on every target.
 */
export async function failureOf(response: Response): Promise<AuditLogError | CommandError> {
  const problem = await readProblem(response)
  if (!problem) {
    await response.body?.cancel()
    return notOfAFeed(response)
  }
  const { status } = response
  const code = text(problem.code)
  const detail = text(problem.detail) ?? text(problem.title) ?? `the server answers ${status}`
  const { parameter, pointer } = problem.source ?? {}
  if (isCoreCode(code) && (status < 500 || STATED.has(code)))
    return new AuditLogError(code, detail, { parameter: text(parameter), pointer: text(pointer) })
  return errorOf(status, `${new URL(response.url).host}: ${detail}`)
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'the network is out of reach',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; NODE_EXTRA_CA_CERTS names others',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is of an unknown authority; NODE_EXTRA_CA_CERTS names others',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is of an unknown authority; NODE_EXTRA_CA_CERTS names others',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

interface Cause {
  readonly code?: string
  readonly message?: string
  readonly cause?: Cause
  readonly errors?: readonly Cause[]
}

/** The innermost cause: `fetch` wraps the error with the reason. */
function innermost(error: Cause): Cause {
  const inner = error.cause ?? error.errors?.[0]
  return inner ? innermost(inner) : error
}

/** The error of a request without an answer, or with only a part of it. */
export function unreachable(url: string, error: unknown): OutageError {
  const { code, message } = innermost(error as Cause)
  const reason = (code && REASONS[code]) ?? message ?? String(error)
  return new OutageError('unreachable', `${new URL(url).host} is out of reach: ${reason}`)
}
